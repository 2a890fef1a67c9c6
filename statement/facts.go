// Package statement says who is protected from whom, by how much, and under which assumptions.
//
// It turns the facts of a run into one price per adversary, and prices into (epsilon, delta). Where no valid bound
// exists it says "no guarantee" and why. Three adversaries are told apart:
//
//   - server: runs the rounds, knows every cohort and sees whatever arrives. No amplification by sampling holds against it; a
//     client pays when it takes part.
//   - clients: take part themselves and see the released models.
//   - public: sees the released models only.
//
// Against the last two, sampling amplifies only if the total noise does not depend on who took part and cohort sizes stay
// unpublished; then every enrolled client pays in every round. Otherwise the unamplified price is used.
package statement

import "hubbub/accountant"

// Adversary is who looks.
type Adversary string

// The adversaries.
const (
	Server  Adversary = "server"
	Clients Adversary = "clients"
	Public  Adversary = "public"
)

// Adversaries lists them, the strongest first.
var Adversaries = []Adversary{Server, Clients, Public}

// Protection is where the noise enters.
type Protection string

// The protections.
const (
	Unprotected Protection = "none"
	Central     Protection = "central" // the server noises the sum of clipped updates
	Local       Protection = "local"   // every client noises its own clipped update
	InTraining  Protection = "dpsgd"   // every client trains by DP-SGD
	Distributed Protection = "shares"  // every client adds a share of integer noise; what protects is their sum
	Together    Protection = "sum"     // every client is random in its own way, all take part; what protects is their sum
	Broken      Protection = "broken"  // noise of a mechanism whose published guarantee does not hold
)

// Facts are what a run did, or will do: nothing in here depends on data, except the number of each client's records.
type Facts struct {
	Protection Protection
	Unit       accountant.Unit
	Delta      float64
	Clip       float64
	Noise      float64 // Gaussian: standard deviation over the clip norm; Distributed: what Total and Share take

	Clients      int
	Rounds       int     // released rounds
	Poisson      bool    // each client tosses a coin; otherwise a fixed number is drawn
	CohortSize   float64 // expected
	MinSurvivors int     // rounds below it are abandoned
	MaxDropouts  float64 // rounds that lose a larger part of their cohort are abandoned; 0 unless Layered
	Dropout      float64 // the part of a cohort that vanishes, on average

	// Took[c] counts the released rounds that client c took part in.
	Took []int
	// BatchRate[c] and LocalSteps[c] are client c's DP-SGD settings; nil for the other protections.
	BatchRate  []float64
	LocalSteps []int
	// Factor is what the noise is multiplied by in a round, counted from 1; nil: the same noise in all of them. Every client must take part in
	// every round (InTraining).
	Factor func(round int) float64

	// Total prices the noise of a release or, for Distributed, what is in a sum for sure; nil: Gaussian noise. Share prices the noise of
	// a single contribution (Distributed).
	Total, Share func(noise float64) accountant.Event
	// Hidden prices what of Total a server and the clients that collude with it do not know, Fewer what a group of curious clients does
	// not (Distributed).
	Hidden, Fewer func(noise float64) accountant.Event
	// SumOf prices the sum over so many clients (Together).
	SumOf func(noise float64, clients int) accountant.Event
	// Claim says why there is no guarantee, and what the paper claims (Broken).
	Claim accountant.Unsound

	AnyChange  bool    // Local: the noise is sized for replacing a contribution by any other, not only for leaving it out
	Aggregated bool    // secure aggregation: the server sees sums only
	ExactTotal bool    // the noise in a sum does not depend on who took part
	Layered    bool    // because clients take back what too many of them added: each knows its own share of what is left
	Colluders  float64 // the part of a cohort that may tell the server all it knows (Distributed)
	Masked     bool    // the protocol of secure aggregation is run; otherwise sums in the clear stand for it
	Protocol   string  // what it is proved to show, and to whom (Masked)
	Failure    float64 // probability that a round hides less than is counted on, whatever the data: a bad graph, more colluders
	Distance   float64 // statistical distance of all samples of a round from their ideal law

	OwnTests bool // clients' own models are measured at the clients, on labels that they hold, and the mean is told as it is

	Seeded bool // the noise comes from a seed, as in a simulation

	NoiseRange [2]float64 // which noise a calibration tries; zero: what suits noise over a clip

	Memo *Memo // optional: remembers bounds between rows and rounds
}

// in is the facts as they are in one round: with its noise.
func (f Facts) in(round int) Facts {
	if f.Factor != nil {
		f.Noise *= f.Factor(round)
	}
	return f
}

func (f Facts) rate() float64 { return min(1, f.CohortSize/float64(f.Clients)) }
