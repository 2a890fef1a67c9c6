package experiment

import (
	"hubbub/internal/own"
	"hubbub/internal/strictyaml"
)

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
	c.Data.checkOwn(r)
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
	c.checkPrivacy(r)
	return r.list.Err()
}

// checkOwn refuses what has no meaning for a data set that is known, and what is impossible for files of the user's own.
func (d Data) checkOwn(r *refusals) {
	if d.Name != own.Name {
		r.unwanted("data.from", "belongs to name: own; files of %s are taken in by: hubbub data fetch %s --from FOLDER", d.Name, d.Name)
		for _, key := range []string{"label", "classes", "scale", "shape", "test_fraction", "sha256"} {
			r.unwanted("data."+key, "belongs to name: own, this is %s", d.Name)
		}
		return
	}
	if d.From == "" {
		r.refuse("data.from", "must be the folder or the file of your data")
	}
	if err := d.ownOptions().Check(); err != nil {
		r.refuse("data", "is impossible: %v", err)
	}
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
