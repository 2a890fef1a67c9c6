package experiment

import "hubbub/internal/strictyaml"

// refusals gathers what is wrong with a file, so that all of it is told at once.
type refusals struct {
	doc  *strictyaml.Document
	list strictyaml.Errors
}

func (r *refusals) refuse(path, rule string, args ...any) {
	r.list = append(r.list, r.doc.Refuse(path, rule, args...))
}

// unwanted refuses a key that has no meaning beside the others: someone who wrote it expects it to do something.
func (r *refusals) unwanted(path, rule string, args ...any) {
	if r.doc.Has(path) {
		r.refuse(path, rule, args...)
	}
}

// check refuses what no tag can express.
func (c *Config) check(doc *strictyaml.Document) error {
	r := &refusals{doc: doc}
	if !nameRule.MatchString(c.Name) {
		r.refuse("name", "must be up to 100 letters, digits, dots, dashes or underscores, as it names a folder")
	}
	c.Data.Partition.check(r)
	c.Algorithm.check(r)
	if c.Cohort.Sampling == "fixed" {
		if c.Cohort.Size != float64(int(c.Cohort.Size)) {
			r.refuse("cohort.expected_size", "must be a whole number when sampling is fixed")
		}
		if float64(c.Cohort.MinSurvivors) > c.Cohort.Size {
			r.refuse("cohort.min_survivors", "must be at most the cohort's size, %g: every round would be abandoned", c.Cohort.Size)
		}
	}
	c.Privacy.check(r, c.Algorithm)
	return r.list.Err()
}

func (p Partition) check(r *refusals) {
	const path = "data.partition."
	if p.Kind == "records" {
		r.unwanted(path+"clients", "must be left out: with kind records every record is a client")
	} else if p.Clients < 1 {
		r.refuse(path+"clients", "must be at least 1 for kind %s", p.Kind)
	}
	if p.Kind == "shards" {
		if p.Shards < 1 {
			r.refuse(path+"shards_per_client", "must be at least 1 for kind shards")
		}
	} else {
		r.unwanted(path+"shards_per_client", "belongs to kind shards, this is %s", p.Kind)
	}
	if p.Kind == "dirichlet" {
		if !(p.Alpha >= 1e-3 && p.Alpha <= 1e6) {
			r.refuse(path+"alpha", "must be from 0.001 to 1000000 for kind dirichlet")
		}
	} else {
		r.unwanted(path+"alpha", "belongs to kind dirichlet, this is %s", p.Kind)
		r.unwanted(path+"min_records", "belongs to kind dirichlet, this is %s", p.Kind)
	}
}

func (a Algorithm) check(r *refusals) {
	if a.Kind == "fedsgd" {
		r.unwanted("algorithm.local", "belongs to fedavg: fedsgd sends one gradient and trains nothing on the client")
		return
	}
	if a.Local == nil {
		r.refuse("algorithm.local", "must say how a client trains: {lr: 0.1, batch: 32, epochs: 1}")
		return
	}
	if (a.Local.Epochs > 0) == (a.Local.Steps > 0) {
		r.refuse("algorithm.local", "must have epochs or steps, exactly one of them")
	}
}

func (p Privacy) check(r *refusals, a Algorithm) {
	const path = "privacy.mechanism."
	m := p.Mechanism
	if m.Kind == "none" {
		for _, key := range []string{"privacy.target", "privacy.delta", path + "place", path + "clip", path + "noise_multiplier"} {
			r.unwanted(key, "must be left out with kind none, which protects nothing; kind gaussian or dpsgd gives a guarantee")
		}
		return
	}
	if !(m.Clip > 0) {
		r.refuse(path+"clip", "must be above 0 for kind %s: noise hides only what is bounded", m.Kind)
	}
	switch m.Kind {
	case "gaussian":
		if m.Place == "" {
			r.refuse(path+"place", "must be central (the server adds the noise and is trusted) or local (every client adds its own)")
		}
		if p.Unit == "record" {
			r.refuse("privacy.unit", "must be client for kind gaussian, which hides whole updates; a client's records are hidden with it")
		}
		if p.Target != nil && p.Target.Against == "server" && m.Place == "central" {
			r.refuse("privacy.target.against", "cannot be reached: with place central the server sees every update; use place local, or kind dpsgd")
		}
	case "dpsgd":
		r.unwanted(path+"place", "belongs to kind gaussian: dpsgd adds its noise inside the client's training")
		if a.Kind != "fedavg" {
			r.refuse("algorithm.kind", "must be fedavg for mechanism dpsgd, which protects local training")
		}
		if p.Unit != "record" {
			r.refuse("privacy.unit", "must be record for kind dpsgd, which hides single records; for whole clients use kind gaussian")
		}
	}
	switch hasNoise := r.doc.Has(path + "noise_multiplier"); {
	case p.Target != nil && hasNoise:
		r.refuse(path+"noise_multiplier", "must be left out beside a target, which chooses the noise")
	case p.Target == nil && !hasNoise:
		r.refuse("privacy", "must have a target {epsilon: 3, delta: 1e-5, against: public}, or a noise_multiplier in the mechanism and a delta")
	case p.Target == nil && !(m.Noise > 0):
		r.refuse(path+"noise_multiplier", "must be above 0; for no privacy at all ask by name: mechanism {kind: none}")
	}
	if p.Target != nil {
		r.unwanted("privacy.delta", "must be left out beside a target, which has its own delta")
	} else if !(p.Delta > 0) && r.doc.Has(path+"noise_multiplier") {
		r.refuse("privacy.delta", "must be above 0: a statement needs a delta, well below one over the number of clients")
	}
}
