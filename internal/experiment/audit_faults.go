package experiment

import (
	"slices"
	"strings"
)

// Fault is a mistake that is planted to see whether the audit finds it.
type Fault string

// The faults.
const (
	HalfNoise     Fault = "half-noise"            // half the standard deviation that was calibrated
	NoClip        Fault = "no-clip"               // updates are not clipped
	KeyReused     Fault = "key-reused"            // two rounds draw their noise from the same keys
	SharesForAll  Fault = "shares-for-all"        // shares of noise are sized for all clients, while some drop out
	WrongModulus  Fault = "wrong-modulus"         // masks are drawn modulo less than contributions are reduced by
	NormTellsWhom Fault = "participation-in-norm" // noise comes with each contribution, so its norm tells who took part
)

// Faults lists them.
var Faults = []Fault{HalfNoise, NoClip, KeyReused, SharesForAll, WrongModulus, NormTellsWhom}

func (t Fault) check(kind string) error {
	if t == "" {
		return nil
	}
	if !slices.Contains(Faults, t) {
		names := make([]string, len(Faults))
		for i, f := range Faults {
			names[i] = string(f)
		}
		return inputError("audit: fault %q unknown: one of %s", t, strings.Join(names, ", "))
	}
	var fits bool
	switch t {
	case HalfNoise:
		fits = true
	case NoClip:
		fits = slices.Contains([]string{"gaussian", "laplace", "skellam", "ddgauss", "binomial"}, kind)
	case KeyReused:
		fits = kind != "dpsgd" && kind != "waterfill"
	default:
		fits = mechanismKinds[kind].shares
	}
	if !fits {
		return inputError("audit: fault %s cannot be planted in %s: try skellam", t, kind)
	}
	return nil
}

// inVariance kinds have a noise parameter that is in proportion to the variance.
var inVariance = []string{"skellam", "smm", "ddgauss", "binomial", "waterfill"}

// unclipped is how much further than the claimed clip a fault lets updates through: beyond what any game sends.
const unclipped = 64

// plant gives a copy of the federation whose mechanism has the fault. Its claims must be taken from the federation itself.
func (f *Federation) plant(t Fault) (*Federation, error) {
	g := *f
	config := *f.Config
	g.Config = &config
	m := &config.Privacy.Mechanism
	variance := slices.Contains(inVariance, m.Kind)
	switch t {
	case HalfNoise:
		g.Facts.Noise /= 2
		if variance {
			g.Facts.Noise /= 2
		}
	case NoClip:
		m.Clip *= unclipped
		g.Facts.Clip *= unclipped
		if !variance { // noise over the clip
			g.Facts.Noise /= unclipped
		}
	case SharesForAll:
		if f.Facts.ExactTotal {
			return f, nil // no shares that could be lacking
		}
		// Of kinds whose noise is that of one share, the share shrinks; of the others the total stays and is cut in more pieces.
		if m.Kind == "ddgauss" || m.Kind == "binomial" {
			g.Facts.Noise *= float64(g.Facts.MinSurvivors) / subjectClients
		}
		g.Facts.MinSurvivors = subjectClients
	case NormTellsWhom:
		if !f.Facts.ExactTotal {
			return f, nil // says so itself, and claims no amplification
		}
		secagg := *config.Secagg
		secagg.Noise = "minimum"
		config.Secagg = &secagg
		g.Facts.MinSurvivors = 1
	default: // the other faults are in how the game is played
		return f, nil
	}
	return &g, g.build(g.localTraining())
}
