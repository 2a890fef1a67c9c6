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
	c.checkShares(r)
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
		for _, key := range []string{"privacy.target", "privacy.delta", path + "place", path + "clip", path + "noise_multiplier", path + "rate"} {
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
	key := m.noiseKey()
	switch hasNoise := r.doc.Has(path + key); {
	case p.Target != nil && hasNoise:
		r.refuse(path+key, "must be left out beside a target, which chooses the noise")
	case p.Target == nil && !hasNoise:
		r.refuse("privacy", "must have a target {epsilon: 3, delta: 1e-5, against: public}, or a %s in the mechanism and a delta", key)
	case p.Target == nil && !(m.noise() > 0):
		r.refuse(path+key, "must be above 0; for no privacy at all ask by name: mechanism {kind: none}")
	}
	if p.Target != nil {
		r.unwanted("privacy.delta", "must be left out beside a target, which has its own delta")
	} else if !(p.Delta > 0) && r.doc.Has(path+key) {
		r.refuse("privacy.delta", "must be above 0: a statement needs a delta, well below one over the number of clients")
	}
}

// noiseKey is the key of the mechanism's noise, noise its value.
func (m Mechanism) noiseKey() string {
	if m.Kind == "skellam" {
		return "rate"
	}
	return "noise_multiplier"
}

func (m Mechanism) noise() float64 {
	if m.Kind == "skellam" {
		return m.Rate
	}
	return m.Noise
}

// checkShares checks what belongs to shares of integer noise, and refuses it elsewhere.
func (c *Config) checkShares(r *refusals) {
	const path = "privacy.mechanism."
	m := c.Privacy.Mechanism
	if m.Kind != "skellam" {
		for _, key := range []string{"granularity", "bits", "rounding", "k", "bound", "rotate", "rate"} {
			r.unwanted(path+key, "belongs to kind skellam, this is %s", m.Kind)
		}
		r.unwanted("secagg", "belongs to mechanism skellam, this is %s: here the server adds contributions in the clear", m.Kind)
		return
	}
	r.unwanted(path+"place", "belongs to kind gaussian: skellam noise is the sum of the clients' shares")
	r.unwanted(path+"noise_multiplier", "must be left out: the noise of skellam is given as rate, the total Poisson rate in a sum")
	if c.Privacy.Unit == "record" {
		r.refuse("privacy.unit", "must be client for kind skellam, which hides whole updates; a client's records are hidden with it")
	}
	if !(m.Granularity > 0) {
		r.refuse(path+"granularity", "must be above 0: the step of the integer grid, such as a tenth of the clip")
	}
	if m.Bits < 2 {
		r.refuse(path+"bits", "must be from 2 to 40: bits per weight of a contribution")
	}
	if m.Rounding == "conditional" {
		if !(m.K >= 1) {
			r.refuse(path+"k", "must be at least 1 for conditional rounding")
		}
	} else {
		r.unwanted(path+"k", "belongs to rounding conditional")
		r.unwanted(path+"bound", "belongs to rounding conditional: stochastic rounding is priced exactly")
	}
	switch s := c.Secagg; {
	case s == nil:
		r.refuse("secagg", "must say how contributions are added up: {kind: ideal, noise: exact}")
	case s.Kind == "none" && s.Noise == "exact":
		r.refuse("secagg.noise", "must be minimum with kind none: exact noise is added to sums, and here the server sees single contributions")
	case s.Noise == "minimum" && c.Cohort.MinSurvivors < 1:
		r.refuse("cohort.min_survivors", "must be at least 1: shares of noise are sized for the clients that come for sure")
	}
}
