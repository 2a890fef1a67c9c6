package noise

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

// reference numbers have far more bits than the tables.
const referenceBits = 400

func reference(x float64) *big.Float {
	return new(big.Float).SetPrec(referenceBits).SetFloat64(x)
}

// referenceExp is e^-x for x >= 0, as one over the plain series of e^x.
func referenceExp(x *big.Float) *big.Float {
	sum, term := reference(1), reference(1)
	for n := 1.0; term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-referenceBits; n++ {
		term.Mul(term, x)
		term.Quo(term, reference(n))
		sum.Add(sum, term)
	}
	return sum.Quo(reference(1), sum)
}

// probabilities reads a table back: the exact probability of every value that it can give, in units of 2^-129.
func probabilities(t *table) map[int64]*big.Int {
	p := map[int64]*big.Int{}
	give := func(value int64, units *big.Int) {
		if p[value] == nil {
			p[value] = new(big.Int)
		}
		p[value].Add(p[value], units)
	}
	share := new(big.Int).Lsh(big.NewInt(1), 128-t.columnBits)
	for c := range t.rest {
		var first, alias uint64
		var firstBits uint = 16
		if t.narrow != nil {
			first, alias = uint64(t.narrow.Entries[c]>>16), uint64(t.narrow.Entries[c]&0xffff)
		} else {
			first, alias, firstBits = t.wide[c]>>32, t.wide[c]&0xffffffff, 32
		}
		// first and rest, a fraction of 2^(firstBits + 128), as units of the column's share
		own := new(big.Int).SetUint64(first)
		own.Lsh(own, 64).Add(own, new(big.Int).SetUint64(t.rest[c].hi))
		own.Lsh(own, 64).Add(own, new(big.Int).SetUint64(t.rest[c].lo))
		own.Rsh(own, firstBits+t.columnBits)
		other := new(big.Int).Sub(share, own)
		for value, units := range map[int64]*big.Int{int64(c): own, int64(alias): new(big.Int)} {
			if value == int64(alias) {
				units = new(big.Int).Set(other)
				if value == int64(c) {
					units.Set(share)
				}
			}
			if t.signMask == 1 {
				give(value, units)
				give(-value, units)
			} else {
				give(t.lowest+value, new(big.Int).Lsh(units, 1))
			}
		}
	}
	return p
}

// TestTablesKeepTheirDistance measures the total variation distance between what a table gives, as read back from it, and
// the law's definition in 400 bits, and holds it against the bound that is stated.
func TestTablesKeepTheirDistance(t *testing.T) {
	poisson := func(rate float64) func(k int64) *big.Float {
		atZero := referenceExp(reference(rate))
		return func(k int64) *big.Float {
			p := new(big.Float).Set(atZero)
			for i := int64(1); i <= k; i++ {
				p.Mul(p, reference(rate))
				p.Quo(p, reference(float64(i)))
			}
			return p
		}
	}
	gaussian := func(sigma2 float64) func(k int64) *big.Float {
		return func(k int64) *big.Float {
			return referenceExp(new(big.Float).Quo(reference(float64(k*k)), reference(2*sigma2)))
		}
	}
	for _, c := range []struct {
		name         string
		make         func() (sampler, error)
		lowest, high int64
		p            func(k int64) *big.Float // up to a common factor
	}{
		{"poisson of rate 1", func() (sampler, error) { return NewPoisson(1) }, 0, 60, poisson(1)},
		{"poisson of rate 20.25", func() (sampler, error) { return NewPoisson(20.25) }, 0, 160, poisson(20.25)},
		{"poisson of rate 1e-3", func() (sampler, error) { return NewPoisson(1e-3) }, 0, 30, poisson(1e-3)},
		{"binomial of 300 trials at 0.3", func() (sampler, error) { return NewBinomial(300, 0.3) }, 0, 300, func(k int64) *big.Float {
			p := new(big.Float).SetPrec(referenceBits).SetInt(new(big.Int).Binomial(300, k))
			for i := range int64(300) {
				if i < k {
					p.Mul(p, reference(0.3))
				} else {
					p.Mul(p, new(big.Float).Sub(reference(1), reference(0.3)))
				}
			}
			return p
		}},
		{"skellam of rate 2.5, as a sum over pairs of poisson values", func() (sampler, error) { return NewSkellam(2.5) }, -60, 60, func(k int64) *big.Float {
			// e^-5 · sum over j of 2.5^(2j+|k|)/(j!(j+|k|)!)
			k = max(k, -k)
			term := reference(1)
			for i := int64(1); i <= k; i++ {
				term.Mul(term, reference(2.5))
				term.Quo(term, reference(float64(i)))
			}
			sum := new(big.Float).Set(term)
			for j := int64(1); j < 200; j++ {
				term.Mul(term, reference(6.25))
				term.Quo(term, reference(float64(j*(j+k))))
				sum.Add(sum, term)
			}
			return sum.Mul(sum, referenceExp(reference(5)))
		}},
		{"discrete gaussian of sigma2 7.5", func() (sampler, error) { return NewDiscreteGaussian(7.5) }, -60, 60, gaussian(7.5)},
		{"discrete gaussian of sigma2 0.1", func() (sampler, error) { return NewDiscreteGaussian(0.1) }, -8, 8, gaussian(0.1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			want := map[int64]*big.Float{}
			total := reference(0)
			for k := c.lowest; k <= c.high; k++ {
				want[k] = c.p(k)
				total.Add(total, want[k])
			}
			distance := reference(0)
			got := probabilities(tableOf(s))
			for k, p := range want {
				p.Quo(p, total) // what the range leaves out is below 2^-200
				if units := got[k]; units != nil {
					p.Sub(p, new(big.Float).SetPrec(referenceBits).SetMantExp(new(big.Float).SetInt(units), -129))
				}
				distance.Add(distance, p.Abs(p))
			}
			for k, units := range got {
				if want[k] == nil && units.Sign() != 0 {
					t.Errorf("the table gives %d, outside the range", k)
				}
			}
			measured, _ := distance.Quo(distance, reference(2)).Float64()
			if !(measured > 0 && measured <= s.Distance() && s.Distance() < 0x1p-105) {
				t.Errorf("distance 2^%.1f, stated 2^%.1f", math.Log2(measured), math.Log2(s.Distance()))
			}
		})
	}
}

func tableOf(s sampler) *table {
	switch s := s.(type) {
	case *Skellam:
		return s.table
	case *DiscreteGaussian:
		return s.table
	case *Poisson:
		return s.table
	case *Binomial:
		return s.table
	}
	return nil
}

// TestLargeLawsFollowTheirDefinition reads wide tables back too, against float64 formulas good to 1e-9.
func TestLargeLawsFollowTheirDefinition(t *testing.T) {
	for _, s := range []subject{skellamSubject(0, 5e3), gaussianSubject(0, 2e7), poissonSubject(0, 4e5), binomialSubject(0, 1<<33, 1e-4)} {
		made, err := s.make()
		if err != nil {
			t.Fatal(err)
		}
		p := probabilities(tableOf(made))
		sum := new(big.Int)
		for _, units := range p {
			sum.Add(sum, units)
		}
		if sum.Cmp(new(big.Int).Lsh(big.NewInt(1), 129)) != 0 {
			t.Errorf("%s: the probabilities sum to %v / 2^129", s.name, sum)
		}
		deviation := math.Sqrt(s.variance)
		for _, at := range []float64{-5, -2.5, -1, 0, 0.3, 2, 4.5} {
			k := math.Round(s.mean + at*deviation)
			got, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(p[int64(k)]), -129).Float64()
			if want := math.Exp(s.logP(k)); math.Abs(got/want-1) > 1e-8 {
				t.Errorf("%s: probability of %g is %g, the definition gives %g", s.name, k, got, want)
			}
		}
		if made.Distance() > 0x1p-105 {
			t.Errorf("%s: distance 2^%.1f", s.name, math.Log2(made.Distance()))
		}
	}
}

func TestExpNegHasTheKnownDigits(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits string // OEIS A068985, and the square root of it, A092605
	}{
		{1, "0.36787944117144232159552377016146086744581113103177"},
		{0.5, "0.60653065971263342360379953499118045344191813548719"},
	} {
		if got := expNeg(exact(c.x)).Text('f', 50); got != c.digits {
			t.Errorf("e^-%g = %s, not %s", c.x, got, c.digits)
		}
	}
	big := expNeg(exact(600)) // e^-600 = (e^-1)^600
	power := reference(1)
	for range 600 {
		power.Mul(power, referenceExp(reference(1)))
	}
	ratio, _ := power.Quo(power, big).Float64()
	if math.Abs(ratio-1) > 1e-15 {
		t.Errorf("e^-600 is wrong by a factor of %g", ratio)
	}
}

func TestSkellamOfHalfIsTheBesselFunction(t *testing.T) {
	s, err := NewSkellam(0.5)
	if err != nil {
		t.Fatal(err)
	}
	p := probabilities(s.table)
	// e^-1·I_k(1), by mpmath 1.3's besseli at 25 digits
	for k, want := range map[int64]float64{0: 0.4657596075936404365, 1: 0.20791041534970844887, -1: 0.20791041534970844887, 7: 5.8831950920540457859e-7} {
		got, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(p[k]), -129).Float64()
		if math.Abs(got/want-1) > 1e-15 {
			t.Errorf("probability of %d is %.17g, not %.17g", k, got, want)
		}
	}
}

func TestSamplersRefuseWhatTheyCannotDraw(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() (any, error)
		says string
	}{
		{"skellam of rate zero", func() (any, error) { return NewSkellam(0) }, "skellam with rate 0 has variance 0: outside [1e-09, 1e+09]"},
		{"skellam of negative rate", func() (any, error) { return NewSkellam(-1) }, "rate -1"},
		{"skellam of rate NaN", func() (any, error) { return NewSkellam(math.NaN()) }, "rate NaN"},
		{"skellam of infinite rate", func() (any, error) { return NewSkellam(math.Inf(1)) }, "rate +Inf"},
		{"skellam of variance two thousand million", func() (any, error) { return NewSkellam(1e9) }, "variance 2e+09"},
		{"discrete gaussian of sigma2 zero", func() (any, error) { return NewDiscreteGaussian(0) }, "sigma2 0"},
		{"discrete gaussian of sigma2 NaN", func() (any, error) { return NewDiscreteGaussian(math.NaN()) }, "sigma2 NaN"},
		{"discrete gaussian of sigma2 1e10", func() (any, error) { return NewDiscreteGaussian(1e10) }, "sigma2 1e+10"},
		{"poisson of rate zero", func() (any, error) { return NewPoisson(0) }, "poisson with rate 0"},
		{"poisson of infinite rate", func() (any, error) { return NewPoisson(math.Inf(1)) }, "rate +Inf"},
		{"binomial of no trials", func() (any, error) { return NewBinomial(0, 0.5) }, "0 trials: outside [1, 2^50]"},
		{"binomial of negative trials", func() (any, error) { return NewBinomial(-5, 0.5) }, "-5 trials"},
		{"binomial that always succeeds", func() (any, error) { return NewBinomial(5, 1) }, "success probability 1: outside (0, 1)"},
		{"binomial that never succeeds", func() (any, error) { return NewBinomial(5, 0) }, "success probability 0"},
		{"binomial of probability NaN", func() (any, error) { return NewBinomial(5, math.NaN()) }, "success probability NaN"},
		{"binomial of too large a variance", func() (any, error) { return NewBinomial(1<<40, 0.5) }, "outside [1e-09, 1e+09]"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", c.name, err, c.says)
		}
	}
}

func TestEveryDecadeOfVarianceCanBeDrawn(t *testing.T) {
	for exponent := -8; exponent <= 5; exponent++ {
		for _, digit := range []float64{1, 1.7, 4.999} {
			v := digit * math.Pow10(exponent)
			for name, make := range map[string]func() (sampler, error){
				"skellam":           func() (sampler, error) { return NewSkellam(v / 2) },
				"discrete gaussian": func() (sampler, error) { return NewDiscreteGaussian(v) },
				"poisson":           func() (sampler, error) { return NewPoisson(v) },
				"binomial":          func() (sampler, error) { return NewBinomial(int(5*v)+2, 0.01+0.9*digit/5) },
			} {
				s, err := make()
				if err != nil {
					t.Fatal(err)
				}
				if d := s.Distance(); !(d > 0 && d < 0x1p-107) {
					t.Errorf("%s of variance %g: distance 2^%.1f", name, v, math.Log2(d))
				}
				var x [1]int64
				s.Add(x[:], Seeded(1).Stream())
				if mean := map[string]float64{"poisson": v, "binomial": float64(int(5*v)+2) * (0.01 + 0.9*digit/5)}[name]; math.Abs(float64(x[0])-mean) > 1+10*math.Sqrt(s.Variance()) {
					t.Errorf("%s of variance %g: drew %d", name, v, x[0])
				}
			}
		}
	}
}

func TestSmallestVariancesAreDrawn(t *testing.T) {
	x := make([]int64, 100)
	for name, s := range map[string]func() (sampler, error){
		"skellam":           func() (sampler, error) { return NewSkellam(0.5e-9) },
		"discrete gaussian": func() (sampler, error) { return NewDiscreteGaussian(1e-9) },
		"poisson":           func() (sampler, error) { return NewPoisson(1e-9) },
		"binomial":          func() (sampler, error) { return NewBinomial(1, 2e-9) },
	} {
		made, err := s()
		if err != nil {
			t.Fatal(err)
		}
		made.Add(x, Seeded(1).Stream())
		for _, v := range x {
			if v != 0 { // false alarm: 4e-7
				t.Errorf("%s of variance 1e-9 gave %d", name, v)
			}
		}
	}
}
