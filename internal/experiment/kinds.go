package experiment

import (
	"slices"
	"strings"
)

// kind says what belongs to a kind of mechanism.
type kind struct {
	keys   []string // of the mechanism, beside kind
	noise  string   // the one of them that is the noise, which a target replaces
	unit   string   // what it hides
	shares bool     // noise in shares, so that secure aggregation matters

	algorithms []string // those that it goes with; none: all
	broken     bool     // has no guarantee, whatever its noise
}

var localTraining = []string{"fedavg", "fedprox"}

var mechanismKinds = map[string]kind{
	"gaussian": {keys: []string{"place", "clip", "noise_multiplier"}, noise: "noise_multiplier", unit: "client"},
	"laplace":  {keys: []string{"place", "clip", "scale"}, noise: "scale", unit: "client"},
	"dpsgd":    {keys: []string{"clip", "noise_multiplier", "schedule"}, noise: "noise_multiplier", unit: "record", algorithms: append(slices.Clone(localTraining), "prifedsync")},
	"skellam":  {keys: []string{"clip", "granularity", "bits", "overflow", "rotate", "rounding", "k", "bound", "rate"}, noise: "rate", unit: "client", shares: true},
	"ddgauss":  {keys: []string{"clip", "granularity", "bits", "overflow", "rotate", "rounding", "sigma2"}, noise: "sigma2", unit: "client", shares: true},
	"smm":      {keys: []string{"clip", "granularity", "bits", "overflow", "rotate", "rate"}, noise: "rate", unit: "client", shares: true},
	"binomial": {keys: []string{"clip", "granularity", "bits", "overflow", "rotate", "trials"}, noise: "trials", unit: "client", shares: true},

	"adaptive":          {keys: []string{"beta", "sigma0", "reading", "budget"}, noise: "sigma0", unit: "client", algorithms: []string{"fedavg"}, broken: true},
	"adaptive-released": {keys: []string{"beta", "sigma0", "follow", "smallest", "largest"}, noise: "sigma0", unit: "client", algorithms: localTraining},
	"dpsgd-estimated":   {keys: []string{"clip", "noise_multiplier", "estimate"}, noise: "noise_multiplier", unit: "record", algorithms: localTraining, broken: true},
	"waterfill":         {keys: []string{"method", "batch", "groups", "clip", "variance"}, noise: "variance", unit: "record", algorithms: append([]string{"fedsgd"}, localTraining...)},

	"none": {},
}

// kind looks the mechanism's kind up; the file has been checked for it.
func (m Mechanism) kind() kind { return mechanismKinds[m.Kind] }

// noise is the value of the mechanism's noise key.
func (m Mechanism) noise() float64 {
	switch m.kind().noise {
	case "scale":
		return m.Scale
	case "rate":
		return m.Rate
	case "sigma2":
		return m.Sigma2
	case "trials":
		return float64(m.Trials)
	case "sigma0":
		return m.Sigma0
	case "variance":
		return m.Variance
	}
	return m.Noise
}

const mechanismPath = "privacy.mechanism."

// checkPrivacy refuses keys that do not belong together, and settings that promise what cannot be.
func (c *Config) checkPrivacy(r *refusals) {
	c.checkSecagg(r)
	p, m := c.Privacy, c.Privacy.Mechanism
	k := m.kind()
	checkKeys(r, mechanismPath, m.Kind, mechanismKeys())
	if !k.shares && m.Kind != "waterfill" {
		r.unwanted("secagg", "belongs to kinds that hide a contribution among others (%s, waterfill), this is %s: here the server adds up what it sees", strings.Join(kindsWith(mechanismKeys(), "granularity"), ", "), m.Kind)
	}
	if m.Kind == "none" {
		for _, key := range []string{"privacy.target", "privacy.delta"} {
			r.unwanted(key, "must be left out with kind none, which protects nothing")
		}
		return
	}
	if slices.Contains(k.keys, "clip") && !(m.Clip > 0) {
		r.refuse(mechanismPath+"clip", "must be above 0 for kind %s: noise hides only what is bounded", m.Kind)
	}
	if slices.Contains(k.keys, "place") && m.Place == "" {
		r.refuse(mechanismPath+"place", "must be central (the server adds the noise and is trusted) or local (every client adds its own)")
	}
	if p.Unit != k.unit {
		rule := "must be client for kind %s, which hides whole updates; a client's records are hidden with it"
		switch {
		case k.broken && k.unit == "client":
			rule = "must be client for kind %s, whose noise is on whole updates"
		case k.unit == "record":
			rule = "must be record for kind %s, which hides single records; for whole clients use kind gaussian"
		}
		r.refuse("privacy.unit", rule, m.Kind)
	}
	if len(k.algorithms) > 0 && !slices.Contains(k.algorithms, c.Algorithm.Kind) {
		what := "protects local training"
		if slices.Contains(k.algorithms, "fedsgd") {
			what = "protects gradients, or the updates of groups of records"
		}
		r.refuse("algorithm.kind", "must be %s for mechanism %s, which %s", strings.Join(k.algorithms, " or "), m.Kind, what)
	}
	if p.Target != nil && p.Target.Against == "server" && m.Place == "central" {
		r.refuse("privacy.target.against", "cannot be reached: with place central the server sees every update; use place local, or kind dpsgd")
	}
	if k.broken {
		c.checkBroken(r, k)
		if m.Kind == "adaptive" {
			c.checkPrinted(r)
		} else if m.Estimate == "" {
			r.refuse(mechanismPath+"estimate", "must be history, spread or layers; for a size that depends on no data use kind dpsgd")
		}
		return
	}
	c.checkNoise(r, k)
	c.checkNoiseSchedule(r)
	switch {
	case k.shares:
		c.checkShares(r)
	case m.Kind == "adaptive-released":
		c.checkFollowing(r)
	case m.Kind == "waterfill":
		c.checkFilling(r)
	}
}

// checkBroken checks the noise of a mechanism that has no guarantee, so that there is nothing to aim at.
func (c *Config) checkBroken(r *refusals, k kind) {
	for _, key := range []string{"privacy.target", "privacy.delta"} {
		r.unwanted(key, "must be left out with kind %s, which has no guarantee as its paper prints it; %s is the sound variant", c.Privacy.Mechanism.Kind, soundVariant[c.Privacy.Mechanism.Kind])
	}
	if !(c.Privacy.Mechanism.noise() > 0) {
		r.refuse(mechanismPath+k.noise, "must be above 0; for no noise at all ask by name: mechanism {kind: none}")
	}
}

// soundVariant is what keeps the promise that a mechanism without a guarantee makes.
var soundVariant = map[string]string{"adaptive": "adaptive-released", "dpsgd-estimated": "dpsgd"}

// checkNoiseSchedule checks noise that changes from round to round: rounds have prices of their own, and someone who was in some of them pays
// for those, which the statement cannot sum up.
func (c *Config) checkNoiseSchedule(r *refusals) {
	const path = mechanismPath + "schedule"
	s := c.Privacy.Mechanism.Schedule
	if s == nil {
		return
	}
	checkSchedule(r, path, s, c.Rounds)
	if s.Warmup > 0 {
		r.refuse(path+".warmup", "must be left out: a warmup would begin with the least noise")
	}
	if c.Algorithm.Kind == "prifedsync" {
		r.refuse(path, "belongs to fedavg and fedprox, this is prifedsync")
	}
	if c.Cohort.Sampling != "fixed" || c.Cohort.Size != float64(c.Data.Partition.Clients) || c.Cohort.Dropout > 0 {
		r.refuse(path, "needs every client in every round: cohort {sampling: fixed, expected_size: %d}, without dropout", c.Data.Partition.Clients)
	}
}

// checkPrinted checks that local training is one of the paper's.
func (c *Config) checkPrinted(r *refusals) {
	l := c.Algorithm.Local
	if l == nil {
		return
	}
	if l.Optimizer == "yogi" || l.Optimizer == "adagrad" {
		r.refuse("algorithm.local.kind", "must be sgd, momentum, adam or rmsprop for mechanism adaptive: the paper has an estimate for these")
	}
	if l.WeightDecay > 0 {
		r.refuse("algorithm.local.weight_decay", "must be left out with mechanism adaptive: the paper's estimate knows none")
	}
}

// checkFollowing checks what belongs to intervals that follow the releases.
func (c *Config) checkFollowing(r *refusals) {
	m := c.Privacy.Mechanism
	if !(m.Largest > 0) {
		r.refuse(mechanismPath+"largest", "must be above 0: intervals that follow noised weights grow on their own noise unless they are capped")
	} else if m.Smallest > m.Largest {
		r.refuse(mechanismPath+"smallest", "must be at most the largest half interval, %g", m.Largest)
	}
	if m.Follow == "change" && !(m.Smallest > 0) {
		r.refuse(mechanismPath+"smallest", "must be above 0 when changes are followed: a round that changed nothing would end the training")
	}
}

// checkFilling checks what belongs to water-filling.
func (c *Config) checkFilling(r *refusals) {
	if c.Privacy.Mechanism.Method == "" {
		r.refuse(mechanismPath+"method", "must be sgd-dp, gd-dp, gsgd-dp or gsgd-isotropic")
	}
	if local := c.Algorithm.Kind != "fedsgd"; local && c.Privacy.Mechanism.Groups < 1 {
		r.refuse(mechanismPath+"groups", "must be at least 1 for %s: the updates of so many groups of records are mixed, in the place of gradients", c.Algorithm.Kind)
	} else if !local {
		r.unwanted(mechanismPath+"groups", "belongs to fedavg and fedprox: fedsgd mixes the gradients of single records")
	}
	if c.Cohort.Sampling != "fixed" {
		r.refuse("cohort.sampling", "must be fixed for kind waterfill: every client takes part in every round")
	}
	if c.Secagg == nil {
		r.refuse("secagg", "must say how contributions are added up: {kind: ideal}")
		return
	}
	r.unwanted("secagg.noise", "belongs to shares of integer noise (%s), this is waterfill", strings.Join(kindsWith(mechanismKeys(), "granularity"), ", "))
}

// checkSecagg checks how contributions are added up, if they are.
func (c *Config) checkSecagg(r *refusals) {
	s := c.Secagg
	if s == nil {
		return
	}
	if s.Kind == "none" {
		r.unwanted("secagg.hybrid", "belongs to kinds masked and ideal, this is none")
		r.unwanted("secagg.max_dropouts", "belongs to kinds masked and ideal, this is none")
		r.unwanted("secagg.max_colluders", "belongs to kinds masked and ideal: with none the server sees every contribution anyway")
		return
	}
	if s.MaxColluders+s.maxDropouts() >= 1 {
		r.refuse("secagg", "must leave honest survivors: %g colluders and %g dropouts are everyone", s.MaxColluders, s.maxDropouts())
	}
}

// layered says whether clients make noise that is the same whoever came by taking layers of it back. Only Skellam noise can be cut so; for
// the others a committee stands in, which only a simulation has.
func (c *Config) layered() bool {
	kind := c.Privacy.Mechanism.Kind
	return c.Secagg != nil && c.Secagg.Noise != "minimum" && (kind == "skellam" || kind == "smm")
}

func mechanismKeys() map[string][]string {
	keys := map[string][]string{}
	for name, k := range mechanismKinds {
		keys[name] = k.keys
	}
	return keys
}

// checkNoise wants a target, or the noise and a delta, and not both.
func (c *Config) checkNoise(r *refusals, k kind) {
	p := c.Privacy
	path := mechanismPath + k.noise
	switch given := r.doc.Has(path); {
	case p.Target != nil && given:
		r.refuse(path, "must be left out beside a target, which chooses the noise")
	case p.Target == nil && !given:
		r.refuse("privacy", "must have a target {epsilon: 3, delta: 1e-5, against: public}, or a %s in the mechanism and a delta", k.noise)
	case p.Target == nil && !(p.Mechanism.noise() > 0):
		r.refuse(path, "must be above 0; for no privacy at all ask by name: mechanism {kind: none}")
	}
	if p.Target != nil {
		r.unwanted("privacy.delta", "must be left out beside a target, which has its own delta")
	} else if !(p.Delta > 0) && r.doc.Has(path) {
		r.refuse("privacy.delta", "must be above 0: a statement needs a delta, well below one over the number of clients")
	}
}

// checkShares checks what belongs to shares of integer noise.
func (c *Config) checkShares(r *refusals) {
	m := c.Privacy.Mechanism
	if fits := m.Kind == "skellam" && m.Bits > 0 && !r.doc.Has(mechanismPath+"granularity"); !(m.Granularity > 0) && !fits {
		r.refuse(mechanismPath+"granularity", "must be above 0: the step of the integer grid, such as a tenth of the clip; kind skellam chooses it for given bits when it is left out")
	}
	if m.Granularity == 0 && m.Rate > 0 {
		r.refuse(mechanismPath+"granularity", "must be given beside a rate, which counts in its steps; a target chooses both")
	}
	if m.Kind == "skellam" && m.Rounding == "conditional" {
		if !(m.K >= 1) {
			r.refuse(mechanismPath+"k", "must be at least 1 for conditional rounding")
		}
	} else if m.Kind == "skellam" {
		r.unwanted(mechanismPath+"k", "belongs to rounding conditional")
		r.unwanted(mechanismPath+"bound", "belongs to rounding conditional: stochastic rounding is priced exactly")
	}
	if m.Overflow == "allow" && m.Bits == 0 {
		r.refuse(mechanismPath+"overflow", "must be left out, or beside a number of bits: without one, as many are taken as hold the sum")
	}
	switch s := c.Secagg; {
	case s == nil:
		r.refuse("secagg", "must say how contributions are added up: {kind: ideal, noise: exact}")
	case s.Kind == "none" && s.Noise != "minimum":
		r.refuse("secagg.noise", "must be minimum with kind none: exact noise is added to sums, and here the server sees single contributions")
	case s.Kind == "masked" && s.Noise != "minimum" && !c.layered():
		r.refuse("secagg.noise", "must be minimum with kind masked for %s: only skellam and smm noise can be cut into layers that make the total exact", m.Kind)
	case s.Noise == "minimum" && c.Cohort.MinSurvivors < 1:
		r.refuse("cohort.min_survivors", "must be at least 1: shares of noise are sized for the clients that come for sure")
	}
}
