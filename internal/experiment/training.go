package experiment

import (
	"slices"
	"strings"

	"hubbub/internal/algorithm"
)

// Algorithm says how the model is trained.
type Algorithm struct {
	Kind   string    `yaml:"kind" doc:"fedsgd: one gradient per client and round; fedavg: local training; fedprox: local training that is held near the model; prifedsync: local training of personal models (paper 004)" required:"true" enum:"fedsgd,fedavg,fedprox,prifedsync"`
	Helper string    `yaml:"helper" doc:"the model that a client trains from. interpolation (left out): its own with a part alpha of the global one; identity: the global one; per-client: interpolation with alphas of their own (prifedsync)" enum:"interpolation,identity,per-client"`
	Alpha  float64   `yaml:"alpha" doc:"part of the global model in a helper, the rest is the client's own (prifedsync, helper interpolation)" gt:"0" max:"1" alias:"interpolation"`
	Alphas []float64 `yaml:"alphas" doc:"such a part for each client, from 0 (trains alone) to 1; fewer than clients are dealt in turn (prifedsync, helper per-client)" min:"0" max:"1"`
	Mu     float64   `yaml:"mu" doc:"how strongly local training is held near the model: half of it times the squared distance is added to the loss (fedprox)" min:"0" max:"1000000" alias:"proximal_mu,prox"`
	Local  *Local    `yaml:"local" doc:"training on the client (fedavg, fedprox, prifedsync)"`
	Server Server    `yaml:"server"`
}

// Local is training on the client.
type Local struct {
	Optimizer   string    `yaml:"kind" doc:"optimizer" default:"sgd" enum:"sgd,momentum,adam,yogi,adagrad,rmsprop" alias:"optimizer"`
	Rate        float64   `yaml:"lr" doc:"learning rate" required:"true" gt:"0" alias:"learning_rate,rate"`
	Beta        float64   `yaml:"beta" doc:"decay of the moving mean (momentum, adam, yogi) or square (rmsprop); left out: 0.9" gt:"0" lt:"1" alias:"momentum,beta1"`
	Beta2       float64   `yaml:"beta2" doc:"decay of the moving square; left out: 0.999 (adam), 0.99 (yogi)" gt:"0" lt:"1"`
	Tau         float64   `yaml:"tau" doc:"added to the root; no privacy parameter; left out: 1e-8 (adam, rmsprop), 1e-3 (yogi, adagrad)" gt:"0" alias:"eps,adam_epsilon"`
	WeightDecay float64   `yaml:"weight_decay" doc:"weights shrink by lr times this in every step (decoupled)" min:"0" alias:"l2,wd"`
	Schedule    *Schedule `yaml:"schedule" doc:"what becomes of lr from round to round"`
	Batch       int       `yaml:"batch" doc:"records per step; expected number under dpsgd" required:"true" min:"1" alias:"batch_size"`
	Epochs      int       `yaml:"epochs" doc:"passes over the client's records in a round" min:"0" alias:"local_epochs"`
	Steps       int       `yaml:"steps" doc:"steps in a round, instead of epochs" min:"0" alias:"local_steps"`
	Keep        bool      `yaml:"keep_memory" doc:"the optimizer's memory stays with the client from round to round (prifedsync)"`
}

// Server is the step that the server takes with the mean of the updates. With adam, yogi and adagrad it is FedAdam, FedYogi and
// FedAdagrad.
type Server struct {
	Optimizer   string    `yaml:"kind" doc:"optimizer" default:"sgd" enum:"sgd,momentum,adam,yogi,adagrad,rmsprop" alias:"optimizer"`
	Rate        float64   `yaml:"lr" doc:"learning rate" default:"1" gt:"0" alias:"learning_rate,rate,server_lr"`
	Beta        float64   `yaml:"beta" doc:"decay of the moving mean (momentum, adam, yogi) or square (rmsprop); left out: 0.9" gt:"0" lt:"1" alias:"momentum,beta1"`
	Beta2       float64   `yaml:"beta2" doc:"decay of the moving square; left out: 0.999 (adam), 0.99 (yogi)" gt:"0" lt:"1"`
	Tau         float64   `yaml:"tau" doc:"added to the root; no privacy parameter; left out: 1e-8 (adam, rmsprop), 1e-3 (yogi, adagrad)" gt:"0" alias:"eps,adam_epsilon"`
	WeightDecay float64   `yaml:"weight_decay" doc:"weights shrink by lr times this in every round (decoupled)" min:"0" alias:"l2,wd"`
	Schedule    *Schedule `yaml:"schedule" doc:"what becomes of lr from round to round"`
}

// Schedule says what becomes of a learning rate from round to round.
type Schedule struct {
	Kind   string  `yaml:"kind" doc:"constant; linear and cosine: falls until the last round; step: drops now and then; inverse-sqrt: falls with the root of the round" required:"true" enum:"constant,linear,cosine,step,inverse-sqrt"`
	Warmup int     `yaml:"warmup" doc:"first rounds, over which the rate grows evenly" min:"0" alias:"warmup_rounds"`
	Final  float64 `yaml:"final" doc:"part of lr that is fallen towards (linear, cosine)" min:"0" max:"1" alias:"end,min_factor"`
	Every  int     `yaml:"every" doc:"rounds from one drop to the next (step)" min:"0" alias:"step_size"`
	Drop   float64 `yaml:"drop" doc:"what a drop leaves of the rate (step)" min:"0" lt:"1" alias:"gamma,factor"`
}

// optimizerKeys are those that a kind of optimizer reads, beside the rate.
var optimizerKeys = map[string][]string{
	"sgd": {}, "momentum": {"beta"}, "adam": {"beta", "beta2", "tau"}, "yogi": {"beta", "beta2", "tau"}, "adagrad": {"tau"}, "rmsprop": {"beta", "tau"},
}

// scheduleKeys are those that a kind of schedule reads, beside the warmup.
var scheduleKeys = map[string][]string{
	"constant": {}, "linear": {"final"}, "cosine": {"final"}, "step": {"every", "drop"}, "inverse-sqrt": {},
}

// serverOptimizer is what the server steps with.
func (c *Config) serverOptimizer() algorithm.OptimizerConfig {
	s := c.Algorithm.Server
	return algorithm.OptimizerConfig{
		Kind: s.Optimizer, Rate: s.Rate, Schedule: c.schedule(s.Schedule), Beta: s.Beta, Beta2: s.Beta2, Tau: s.Tau, WeightDecay: s.WeightDecay,
	}
}

// localTraining is what a client does; nothing for fedsgd.
func (c *Config) localTraining() algorithm.FedAvg {
	l := c.Algorithm.Local
	if l == nil {
		return algorithm.FedAvg{}
	}
	return algorithm.FedAvg{
		Local: algorithm.OptimizerConfig{
			Kind: l.Optimizer, Rate: l.Rate, Schedule: c.schedule(l.Schedule), Beta: l.Beta, Beta2: l.Beta2, Tau: l.Tau, WeightDecay: l.WeightDecay,
		},
		Batch: l.Batch, Epochs: l.Epochs, Steps: l.Steps, Sizes: c.schedule(c.Privacy.Mechanism.Schedule),
	}
}

func (c *Config) schedule(s *Schedule) algorithm.Schedule {
	if s == nil {
		return algorithm.Schedule{}
	}
	return algorithm.Schedule{Kind: s.Kind, Warmup: s.Warmup, Rounds: c.Rounds, Final: s.Final, Every: s.Every, Drop: s.Drop}
}

func (c *Config) checkTraining(r *refusals) {
	a := c.Algorithm
	checkKeys(r, "algorithm.server.", a.Server.Optimizer, optimizerKeys)
	checkOptimizer(r, "algorithm.server", c.serverOptimizer())
	checkSchedule(r, "algorithm.server.schedule", a.Server.Schedule, c.Rounds)
	if a.Kind == "fedprox" {
		if !(a.Mu > 0) {
			r.refuse("algorithm.mu", "must be above 0 for fedprox, 0.01 to 1 as a rule; without it this is fedavg")
		}
	} else {
		r.unwanted("algorithm.mu", "belongs to fedprox, this is %s", a.Kind)
	}
	if a.Kind == "prifedsync" {
		c.checkPersonal(r)
	} else {
		for _, key := range []string{"helper", "alpha", "alphas"} {
			r.unwanted("algorithm."+key, "belongs to prifedsync, this is %s", a.Kind)
		}
		r.unwanted("algorithm.local.keep_memory", "belongs to prifedsync, this is %s: a client of it has no memory", a.Kind)
		r.unwanted("data.personal_test", "belongs to prifedsync, this is %s: its clients have no model of their own", a.Kind)
	}
	if a.Kind == "fedsgd" {
		r.unwanted("algorithm.local", "belongs to fedavg, fedprox and prifedsync: fedsgd sends one gradient and trains nothing on the client")
		return
	}
	if a.Local == nil {
		r.refuse("algorithm.local", "must say how a client trains: {lr: 0.1, batch: 32, epochs: 1}")
		return
	}
	checkKeys(r, "algorithm.local.", a.Local.Optimizer, optimizerKeys)
	checkOptimizer(r, "algorithm.local", c.localTraining().Local)
	checkSchedule(r, "algorithm.local.schedule", a.Local.Schedule, c.Rounds)
	if (a.Local.Epochs > 0) == (a.Local.Steps > 0) {
		r.refuse("algorithm.local", "must have epochs or steps, exactly one of them")
	}
}

// helperKeys are those that a kind of helper model reads.
var helperKeys = map[string][]string{"interpolation": {"alpha"}, "identity": {}, "per-client": {"alphas"}}

// helperKind is the kind of helper models of prifedsync.
func (a Algorithm) helperKind() string {
	if a.Helper == "" {
		return "interpolation"
	}
	return a.Helper
}

// helperAlphas are the parts of the global model in the clients' helpers.
func (a Algorithm) helperAlphas() []float64 {
	switch a.helperKind() {
	case "identity":
		return []float64{1}
	case "per-client":
		return a.Alphas
	}
	return []float64{a.Alpha}
}

// checkPersonal checks what belongs to personal models.
func (c *Config) checkPersonal(r *refusals) {
	helper := c.Algorithm.helperKind()
	checkKeys(r, "algorithm.", helper, helperKeys)
	if helper == "interpolation" && !(c.Algorithm.Alpha > 0) {
		r.refuse("algorithm.alpha", "must be above 0 for prifedsync, 0.1 in its paper: the part of the global model that a client takes over")
	}
	if helper == "per-client" && len(c.Algorithm.Alphas) == 0 {
		r.refuse("algorithm.alphas", "must list parts of the global model for helper per-client: one for each client, or a few that are dealt in turn")
	}
	if k := c.Privacy.Mechanism.Kind; k != "dpsgd" && k != "none" {
		r.refuse(mechanismPath+"kind", "must be dpsgd for prifedsync, whose noise is in local training, or none")
	}
	if k := c.Algorithm.Server.Optimizer; k != "sgd" {
		r.refuse("algorithm.server.kind", "must be sgd for prifedsync: the server mixes the mean of the clients' models in, with lr as its eta")
	}
	if c.Cohort.MinSurvivors > 0 || c.Cohort.Dropout > 0 {
		r.refuse("cohort", "must have neither min_survivors nor dropout for prifedsync: a client that trained keeps its model")
	}
}

func checkOptimizer(r *refusals, path string, o algorithm.OptimizerConfig) {
	if shrink := o.Rate * o.WeightDecay; shrink >= 1 {
		r.refuse(path+".weight_decay", "must be below 1/lr, %g: a step would take all of every weight", 1/o.Rate)
	}
}

func checkSchedule(r *refusals, path string, s *Schedule, rounds int) {
	if s == nil {
		return
	}
	checkKeys(r, path+".", s.Kind, scheduleKeys)
	if s.Warmup >= rounds {
		r.refuse(path+".warmup", "must be below the %d rounds of the run", rounds)
	}
	if s.Kind == "step" {
		if s.Every < 1 {
			r.refuse(path+".every", "must be at least 1 for kind step")
		}
		if !(s.Drop > 0) {
			r.refuse(path+".drop", "must be above 0 for kind step, such as 0.5")
		}
	}
}

// checkKeys refuses keys that belong to other kinds.
func checkKeys(r *refusals, path, kind string, keys map[string][]string) {
	var all []string
	for _, some := range keys {
		all = append(all, some...)
	}
	slices.Sort(all)
	for _, key := range slices.Compact(all) {
		if !slices.Contains(keys[kind], key) {
			r.unwanted(path+key, "belongs to %s, this is %s", strings.Join(kindsWith(keys, key), ", "), kind)
		}
	}
}

// kindsWith lists the kinds that read a key.
func kindsWith(keys map[string][]string, key string) []string {
	var names []string
	for name, some := range keys {
		if slices.Contains(some, key) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
