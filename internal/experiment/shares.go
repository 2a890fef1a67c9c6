package experiment

import (
	"errors"
	"math"

	"hubbub/accountant"
	"hubbub/mechanism"
	"hubbub/secagg/graph"
	"hubbub/statement"
)

// shares is a mechanism of integer noise with its noise left open: a price for every amount, and the mechanism itself.
type shares struct {
	total  price // of the noise that is in a sum for certain
	hidden price // what of it a server does not know, and those who collude with it
	fewer  price // what of it curious clients do not know
	share  price // of a single contribution
	build  func(noise float64, bits int) (integerMechanism, error)
}

type price func(noise float64) (accountant.Event, error)

type integerMechanism interface {
	protector
	Width() int
	Distance() float64 // of a round
}

func (f *Federation) encoding(bits int) mechanism.Encoding {
	m := f.Config.Privacy.Mechanism
	return mechanism.Encoding{
		Dimension: f.Net.Size(), Clip: m.Clip, Granularity: f.granularity, Bits: bits, Rotate: m.Rotate, RotationKey: f.key.Derive("rotation"),
		AllowOverflow: m.Overflow == "allow",
	}
}

// addingUp is for noise whose shares add up to noise of the same law: a part of it costs as much as a total of that size.
func (f *Federation) addingUp(total price, build func(float64, int) (integerMechanism, error)) shares {
	part := func(of float64) price {
		return func(noise float64) (accountant.Event, error) {
			if !(of > 0) {
				return accountant.Unsound{Why: "those who pool what they know may hold all of the noise"}, nil
			}
			return total(noise * of)
		}
	}
	share := 1 / float64(f.crowd().Shares)
	if !f.Config.layered() { // each share was sized for those who do not collude
		fewer := part(1)
		if f.Config.Secagg.MaxColluders == 0 {
			fewer = part(max(share, 1-share))
		}
		return shares{total, total, fewer, part(share), build}
	}
	known := f.Config.Secagg.MaxColluders / (1 - f.Config.Secagg.maxDropouts()) // c of U clients, of whom (1 - max_dropouts)·U hold all noise
	return shares{total, part(1 - known), part(1 - max(known, share)), part(share), build}
}

// someBits stands in where a price is asked for: it does not depend on them.
const someBits = 8

// shares sets up the mechanism of the file.
func (f *Federation) shares() shares {
	m := f.Config.Privacy.Mechanism
	crowd := f.crowd()
	rounding := mechanism.Rounding(m.Rounding)
	switch m.Kind {
	case "ddgauss":
		c := mechanism.DiscreteGaussianConfig{Encoding: f.encoding(someBits), Crowd: crowd, Rounding: rounding}
		fewer, one := c, c
		fewer.Shares, one.Shares = max(1, c.Shares-1), 1
		price := func(c mechanism.DiscreteGaussianConfig) price {
			return func(sigma2 float64) (accountant.Event, error) {
				c.Sigma2 = sigma2
				return c.Event()
			}
		}
		return shares{price(c), price(c), price(fewer), price(one), func(sigma2 float64, bits int) (integerMechanism, error) {
			c.Sigma2, c.Bits = sigma2, bits
			return mechanism.NewDiscreteGaussian(c)
		}}
	case "smm":
		steps := m.Clip / f.granularity
		// A flat update of the clip's norm, which costs most in its norm, passes its clip unchanged.
		c := mechanism.SMMConfig{Encoding: f.encoding(someBits), Crowd: crowd, C: max(steps*steps, steps*math.Sqrt(float64(f.Net.Size()))), Linf: 1}
		c.Clip = 0
		return f.addingUp(func(rate float64) (accountant.Event, error) {
			c.Rate = rate
			return c.Event()
		}, func(rate float64, bits int) (integerMechanism, error) {
			c.Rate, c.Bits = rate, bits
			return mechanism.NewSMM(c)
		})
	case "binomial":
		c := mechanism.BinomialConfig{Encoding: f.encoding(someBits), Crowd: crowd, Levels: 2*int(math.Ceil(m.Clip/f.granularity)) + 1}
		c.Granularity = 0
		fewer, one := c, c
		fewer.Shares, one.Shares = max(1, c.Shares-1), 1
		coins := func(x float64) int { return 2 * int(math.Ceil(x/2)) } // an even number has a whole mean
		price := func(c mechanism.BinomialConfig) price {
			return func(x float64) (accountant.Event, error) {
				c.Trials = coins(x)
				return c.Event()
			}
		}
		return shares{price(c), price(c), price(fewer), price(one), func(x float64, bits int) (integerMechanism, error) {
			c.Trials, c.Bits = coins(x), bits
			return mechanism.NewBinomial(c)
		}}
	}
	c := mechanism.SkellamConfig{Encoding: f.encoding(someBits), Crowd: crowd, Rounding: rounding, K: m.K, Bound: accountant.SkellamBound(m.Bound)}
	return f.addingUp(func(rate float64) (accountant.Event, error) {
		c.Rate = rate
		return c.Event()
	}, func(rate float64, bits int) (integerMechanism, error) {
		c.Rate, c.Bits = rate, bits
		return mechanism.NewSkellam(c)
	})
}

func (f *Federation) crowd() mechanism.Crowd {
	c := mechanism.Crowd{Noise: mechanism.Exact, Shares: max(1, f.Facts.MinSurvivors), Clients: f.largestCohort()}
	switch {
	case f.Config.layered():
		c.Noise = mechanism.InLayers
	case f.Config.Secagg.Noise == "minimum":
		c.Noise = mechanism.ByShares
		// The colluders are counted in a cohort that is exceeded only with probability rareCohort, which aggregate takes from delta; the
		// client itself is honest, so one share is certain.
		c.Shares = max(1, c.Shares-graph.AtMost(f.Config.Secagg.MaxColluders, f.cohortBelow(rareCohort)))
	}
	return c
}

// largestCohort is a size that a cohort hardly ever exceeds; a larger one could only overflow the bits, and would leak nothing.
func (f *Federation) largestCohort() int { return f.cohortBelow(1e-6) }

// rareCohort is a probability that no guarantee notices.
const rareCohort = 1e-18

// cohortBelow is a size that a cohort exceeds with at most this probability (Chernoff).
func (f *Federation) cohortBelow(probability float64) int {
	if !f.Facts.Poisson {
		return int(f.Facts.CohortSize)
	}
	m, tail := f.Facts.CohortSize, -math.Log(probability)
	return min(f.Facts.Clients, int(math.Ceil(m+tail/3+math.Sqrt(tail*tail/9+2*m*tail))))
}

// presumedDistance is more than any sampler is off in a round; the calibration counts on it, and the real one is checked later.
const presumedDistance = 1e-20

// shareNoise states the facts of shares of integer noise.
func (f *Federation) shareNoise() error {
	c := f.Config
	f.Facts.Protection = statement.Distributed
	f.Facts.ExactTotal = c.Secagg.Noise != "minimum"
	f.aggregate()
	if f.Config.layered() {
		f.Facts.Layered, f.Facts.MaxDropouts = true, c.Secagg.maxDropouts()
		switch given := c.doc.Has("cohort.min_survivors"); {
		case !given && f.Facts.Poisson:
			f.Facts.MinSurvivors = max(1, f.Facts.UsualSurvivors())
		case !given:
			f.Facts.MinSurvivors = int(c.Cohort.Size) - f.tolerated(int(c.Cohort.Size))
		}
	}
	f.Facts.Distance = presumedDistance // until the mechanism is there to be asked
	f.granularity = c.Privacy.Mechanism.Granularity
	if f.granularity == 0 {
		if err := f.fitGranularity(); err != nil {
			return err
		}
	}
	return f.priceShares(&f.Facts)
}

// priceShares states what any amount of noise costs.
func (f *Federation) priceShares(facts *statement.Facts) error {
	s := f.shares()
	for _, p := range []price{s.total, s.hidden, s.fewer, s.share} {
		if _, err := p(1000); err != nil {
			return f.Config.refuse("privacy.mechanism", "is impossible: %v", err)
		}
	}
	certain := func(p price) func(float64) accountant.Event {
		return func(noise float64) accountant.Event {
			event, err := p(noise)
			if err != nil {
				return accountant.Unsound{Why: err.Error()} // the settings were checked above: only an impossible amount is left
			}
			return event
		}
	}
	facts.Total, facts.Hidden, facts.Fewer, facts.Share = certain(s.total), certain(s.hidden), certain(s.fewer), certain(s.share)
	return nil
}

// buildShares makes the mechanism, with as few bits as hold the sum if the file gives none.
func (f *Federation) buildShares() (protector, error) {
	s := f.shares()
	first, last := f.Config.Privacy.Mechanism.Bits, f.Config.Privacy.Mechanism.Bits
	if first == 0 {
		first, last = 2, 40
	}
	var problem error
	for bits := first; bits <= last; bits++ {
		m, err := s.build(f.Facts.Noise, bits)
		if err == nil {
			f.Facts.Distance, err = f.distance(m)
			return m, err
		}
		problem = err
		if !errors.Is(err, mechanism.ErrTooFewBits) {
			break
		}
	}
	return nil, problem
}

// fitGranularity chooses the finest grid whose sums fit the bits of the file. The finer the grid, the less rounding adds to the noise.
func (f *Federation) fitGranularity() error {
	c := f.Config
	m := c.Privacy.Mechanism
	// On a very fine grid rounding is nothing and the noise is as good as Gaussian: its size, in clips, hardly depends on the grid. Where
	// much noise is needed, beyond the 2^20 of a rate (1448 steps) that are tried, 200 steps are as good, and quicker to price.
	rate, t := m.Rate, c.Privacy.Target
	f.granularity = m.Clip / 256
	if t != nil {
		if multiplier := f.asIfGaussian(); multiplier*256 > 1300 {
			f.granularity = min(m.Clip, m.Clip*multiplier/200)
		}
	}
	for t != nil {
		tried := f.Facts
		tried.Delta, tried.Took = t.Delta, f.participation(c.Rounds)
		if err := f.priceShares(&tried); err != nil {
			return err
		}
		tried, err := tried.Calibrate(t.Epsilon, statement.Adversary(t.Against))
		if err == nil {
			rate = tried.Noise
			break
		}
		if f.granularity *= 4; f.granularity > m.Clip {
			return c.refuse("privacy.target", "cannot be reached: %v", err)
		}
	}
	multiplier := math.Sqrt(2*rate) * f.granularity / m.Clip
	fitted, _, err := mechanism.SkellamConfig{Encoding: f.encoding(m.Bits), Crowd: f.crowd(), Rounding: mechanism.Rounding(m.Rounding)}.FitGranularity(multiplier)
	if err != nil {
		return c.refuse("privacy.mechanism.bits", "must hold the sums: %v", err)
	}
	f.granularity = fitted
	return nil
}

// asIfGaussian is about the noise over the clip that the target needs; 0 where even that is out of reach.
func (f *Federation) asIfGaussian() float64 {
	t, tried := f.Config.Privacy.Target, f.Facts
	gaussian := func(noise float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: noise} }
	tried.Total, tried.Hidden, tried.Fewer, tried.Share = gaussian, gaussian, gaussian, gaussian
	tried.Delta, tried.Took = t.Delta, f.participation(f.Config.Rounds)
	if calibrated, err := tried.Calibrate(t.Epsilon, statement.Adversary(t.Against)); err == nil {
		return calibrated.Noise
	}
	return 0
}
