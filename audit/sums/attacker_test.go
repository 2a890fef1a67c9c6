package sums

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// draw makes updates whose entries are correlated, with a mean that is not zero.
func draw(r *rand.Rand, rows, d int) []float32 {
	x := make([]float32, rows*d)
	for i := range rows {
		common := r.NormFloat64()
		for j := range d {
			x[i*d+j] = float32(3 + .5*common + (.2+.1*float64(j%5))*r.NormFloat64())
		}
	}
	return x
}

// backwards is an Each that runs in another order than [OneByOne].
func backwards(n int, do func(i int)) {
	for i := n - 1; i >= 0; i-- {
		do(i)
	}
}

// Mean and covariance against their definition in float64, on both sides of the size from which products are made in float32.
func TestMomentsAreThoseOfTheSample(t *testing.T) {
	for _, c := range []struct {
		d, rows   int
		tolerance float64 // of an entry, in standard deviations
	}{{1, 20, 1e-6}, {7, 50, 1e-6}, {tile + 3, 40, 1e-6}, {exactDim + 1, 30, 2e-6}} {
		t.Run(fmt.Sprintf("%d entries", c.d), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(c.d)))
			x := draw(r, c.rows, c.d)
			m, err := NewMoments(c.d)
			if err != nil {
				t.Fatal(err)
			}
			half := c.rows / 2 * c.d
			for _, batch := range [][]float32{x[:half], x[half:]} {
				if err := m.Add(append([]float32(nil), batch...), backwards); err != nil {
					t.Fatal(err)
				}
			}
			if m.Count() != c.rows {
				t.Fatalf("%d updates", m.Count())
			}
			mean, all := make([]float64, c.d), make([]int, c.d)
			for j := range mean {
				all[j] = j
				for i := range c.rows {
					mean[j] += float64(x[i*c.d+j]) / float64(c.rows)
				}
				if got := m.Mean()[j]; math.Abs(got-mean[j]) > 1e-6 {
					t.Fatalf("mean %d is %g, want %g", j, got, mean[j])
				}
			}
			got := m.covariance(all)
			for _, p := range [][2]int{{0, 0}, {c.d - 1, 0}, {c.d - 1, c.d - 1}, {c.d / 2, c.d / 3}, {c.d - 1, c.d / 2}} {
				i, j := p[0], p[1]
				want := 0.0
				for s := range c.rows {
					want += (float64(x[s*c.d+i]) - mean[i]) * (float64(x[s*c.d+j]) - mean[j]) / float64(c.rows-1)
				}
				if math.Abs(got.at(i, j)-want) > c.tolerance*math.Sqrt(got.at(i, i)*got.at(j, j)) {
					t.Errorf("covariance of %d and %d is %.9g, want %.9g", i, j, got.at(i, j), want)
				}
			}
		})
	}
}

func TestMomentsDoNotDependOnTheOrderOfTiles(t *testing.T) {
	d := 2*tile + 9
	x := draw(rand.New(rand.NewPCG(2, 2)), 12, d)
	var scatter [2][]float64
	for k, each := range []Each{OneByOne, backwards} {
		m, err := NewMoments(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(append([]float32(nil), x...), each); err != nil {
			t.Fatal(err)
		}
		scatter[k] = m.scatter
	}
	for i := range d {
		for j := range i + 1 {
			if scatter[0][i*d+j] != scatter[1][i*d+j] {
				t.Fatalf("entry %d, %d differs", i, j)
			}
		}
	}
}

// attacker learns from updates, the last entry of which is the same for all clients.
func attacker(t *testing.T, samples []float32, d, clients int) *Attacker {
	t.Helper()
	m, err := NewMoments(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(append([]float32(nil), samples...), OneByOne); err != nil {
		t.Fatal(err)
	}
	a, err := NewAttacker(m, View{Clients: clients}, OneByOne)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func constantLast(x []float32, d int) []float32 {
	for i := d - 1; i < len(x); i += d {
		x[i] = .25
	}
	return x
}

// The search against the definition: Mahalanobis distances with the inverse of the sample's covariance, all pairs.
func TestTheWorstPairIsTheFarthest(t *testing.T) {
	const d, samples, candidates, clients = 6, 500, 2*block + 5, 9
	r := rand.New(rand.NewPCG(3, 3))
	x, c := constantLast(draw(r, samples, d), d), constantLast(draw(r, candidates, d), d)
	a := attacker(t, x, d, clients)
	if a.Varying() != d-1 {
		t.Fatalf("%d entries vary", a.Varying())
	}
	i, j, err := a.WorstPair(c, OneByOne)
	if err != nil {
		t.Fatal(err)
	}
	rows := mat.NewDense(samples, d-1, nil)
	for s := range samples {
		for k := range d - 1 {
			rows.Set(s, k, float64(x[s*d+k]))
		}
	}
	var inverse mat.Dense
	covariance := mat.NewSymDense(d-1, nil)
	for p := range d - 1 {
		for q := p; q < d-1; q++ {
			mp, mq, sum := mat.Sum(rows.ColView(p))/samples, mat.Sum(rows.ColView(q))/samples, 0.0
			for s := range samples {
				sum += (rows.At(s, p) - mp) * (rows.At(s, q) - mq)
			}
			covariance.SetSym(p, q, sum/(samples-1))
		}
	}
	if err := inverse.Inverse(covariance); err != nil {
		t.Fatal(err)
	}
	worst, wi, wj := 0.0, 0, 0
	for p := range candidates {
		for q := range p {
			diff := mat.NewVecDense(d-1, nil)
			for k := range d - 1 {
				diff.SetVec(k, float64(c[p*d+k])-float64(c[q*d+k]))
			}
			if s := mat.Inner(diff, &inverse, diff); s > worst {
				worst, wi, wj = s, q, p
			}
		}
	}
	if i != wi || j != wj {
		t.Errorf("pair %d, %d; the farthest is %d, %d", i, j, wi, wj)
	}
	test, err := a.Test(c[i*d:(i+1)*d], c[j*d:(j+1)*d])
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(worst / clients); math.Abs(test.Distance()/want-1) > 1e-6 {
		t.Errorf("distance %.9g, want %.9g", test.Distance(), want)
	}
}

// On updates that are Gaussian the statistic is Normal(∓distance/2, 1): 4,000 sums, limits of 5 standard errors, false alarm 6e-7 each.
func TestTheStatisticIsStandardOnGaussianUpdates(t *testing.T) {
	const d, clients, trials = 5, 12, 4000
	r := rand.New(rand.NewPCG(4, 4))
	a := attacker(t, draw(r, 40_000, d), d, clients)
	first, second := draw(r, 1, d), draw(r, 1, d)
	test, err := a.Test(first, second)
	if err != nil {
		t.Fatal(err)
	}
	var with [2]float64
	var sums, singles []float64
	for range trials {
		total := 0.0
		for _, x := range [][]float32{draw(r, clients, d)} {
			for i := range clients {
				s := test.Score(x[i*d : (i+1)*d])
				singles = append(singles, s)
				total += s
			}
		}
		one, two := test.Statistics(total)
		with[0] += one / trials
		with[1] += two / trials
		sums = append(sums, one+test.Distance()/2)
	}
	limit := 5 / math.Sqrt(trials) * 1.2 // a fifth more: mean and covariance are estimated too
	if math.Abs(with[0]+test.Distance()/2) > limit || math.Abs(with[1]-test.Distance()/2) > limit {
		t.Errorf("means %g and %g, want ±%g", with[0], with[1], test.Distance()/2)
	}
	g, err := Diagnose(sums, singles, clients)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(g.Deviate-1) > 5/math.Sqrt(2*trials)*1.2 || math.Abs(g.Skewness) > 5*math.Sqrt(6./trials) || math.Abs(g.Kurtosis) > 5*math.Sqrt(24./trials) {
		t.Errorf("%+v", g)
	}
	if g.Kolmogorov > 2*g.Expected {
		t.Errorf("Kolmogorov distance %g of a normal sample, 95%% stay below %g", g.Kolmogorov, g.Expected)
	}
}

// Sums of ten exponential updates have skewness 2/√10 and excess kurtosis 6/10: 20,000 sums, limits of 6 standard errors.
func TestSumsThatAreNotGaussianAreNoticed(t *testing.T) {
	const clients, trials = 10, 20_000
	r := rand.New(rand.NewPCG(5, 5))
	var sums, singles []float64
	for range trials {
		total := 0.0
		for range clients {
			x := r.ExpFloat64()
			singles = append(singles, x)
			total += x
		}
		sums = append(sums, total)
	}
	g, err := Diagnose(sums, singles, clients)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(g.Skewness-2/math.Sqrt(clients)) > .15 || math.Abs(g.Kurtosis-.6) > .5 || g.Kolmogorov < 2*g.Expected {
		t.Errorf("%+v", g)
	}
	// The distance that was measured is below what Berry and Esseen allow.
	if g.BerryEsseen < g.Kolmogorov || g.BerryEsseen > .6 || !(g.LargestShare > 0 && g.LargestShare < 1) {
		t.Errorf("Berry-Esseen %g, measured %g, largest share %g", g.BerryEsseen, g.Kolmogorov, g.LargestShare)
	}
}

// With fewer samples than entries the covariance is singular, and rounding may make it worse: the attacker is weak, but there is one.
func TestFewSamplesStillMakeAnAttacker(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, d := range []int{40, exactDim + 8} {
		a := attacker(t, draw(r, 12, d), d, 3)
		test, err := a.Test(draw(r, 1, d), draw(r, 1, d))
		if err != nil || !(test.Distance() > 0) || math.IsInf(test.Distance(), 0) {
			t.Errorf("%d entries: %v", d, err)
		}
	}
}

// A matrix that is far from positive is tried with larger ridges, each time as it was, and refused if none helps.
func TestRidgesGrowUntilTheMatrixIsPositive(t *testing.T) {
	f, err := ridged(Covariance{2, []float64{1, 0, 1.05, 1}}, 1e-5, 0, OneByOne)
	if err != nil {
		t.Fatal(err)
	}
	// 1.1 on the diagonal: the first ridge of 1e-5, 1e-4, ... above 0.05.
	if got := f.l[0] * f.l[0]; math.Abs(got-1.1) > 1e-12 {
		t.Errorf("a variance of %g, want 1.1", got)
	}
	if got := f.l[2] * f.l[0]; math.Abs(got-1.05) > 1e-12 {
		t.Errorf("a covariance of %g, want 1.05", got)
	}
	if _, err := ridged(Covariance{2, []float64{1, 0, 5, 1}}, 1e-5, 0, OneByOne); !errors.Is(err, ErrLeaks) {
		t.Errorf("a correlation of 5: %v", err)
	}
}

func TestAttacksThatCannotBeAreRefused(t *testing.T) {
	const d = 4
	r := rand.New(rand.NewPCG(6, 6))
	a := attacker(t, constantLast(draw(r, 50, d), d), d, 3)
	x, y := constantLast(draw(r, 1, d), d), constantLast(draw(r, 1, d), d)
	bare := append([]float32(nil), y...)
	bare[d-1] = 1
	if test, err := a.Test(x, bare); err != nil || test.Bare() != 1 || test.weights[d-1] != 0 {
		t.Errorf("an entry that nobody else changes: %+v (%v)", test, err)
	}
	for name, err := range map[string]error{
		"a short update":        second(a.Test(x[:2], y)),
		"the same update twice": second(a.Test(x, x)),
		"one candidate":         third(a.WorstPair(x, OneByOne)),
		"candidates alike":      third(a.WorstPair(append(append([]float32(nil), x...), x...), OneByOne)),
		"ragged candidates":     third(a.WorstPair(x[:3], OneByOne)),
		"no dimension":          second(NewMoments(0)),
		"too many dimensions":   second(NewMoments(maxMoments + 1)),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	m, err := NewMoments(d)
	if err != nil {
		t.Fatal(err)
	}
	if m.Add(x[:3], OneByOne) == nil || m.Add(nil, OneByOne) == nil || m.Add([]float32{1, 2, 3, float32(math.NaN())}, OneByOne) == nil {
		t.Error("a batch that is none was accepted")
	}
	if _, err := NewAttacker(m, View{Clients: 3}, OneByOne); err == nil {
		t.Error("an attacker without a sample")
	}
	if err := m.Add([]float32{1, 2, 3, 4, 1, 2, 3, 4}, OneByOne); err != nil {
		t.Fatal(err)
	}
	if _, err := NewAttacker(m, View{}, OneByOne); err == nil {
		t.Error("no other clients were accepted")
	}
	if _, err := NewAttacker(m, View{Clients: 3}, OneByOne); !errors.Is(err, ErrLeaks) {
		t.Errorf("updates that are all the same: %v", err)
	}
	if _, err := Diagnose([]float64{1, 2}, []float64{1, 2}, 3); err == nil {
		t.Error("a diagnosis of two sums")
	}
	if _, err := Diagnose(make([]float64, 10), make([]float64, 10), 3); !errors.Is(err, ErrLeaks) {
		t.Errorf("sums that are all the same: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

// A ball's worst pair lies along the direction of least variance.
func TestBallsAreMeasuredAlongTheLeastVariance(t *testing.T) {
	c := Covariance{2, []float64{4, 0, 0, .25}}
	got, err := BallDistance(c, 3)
	if err != nil || math.Abs(got-12) > 1e-12 {
		t.Errorf("%g (%v), want 12", got, err)
	}
	if _, err := BallDistance(c, 0); err == nil {
		t.Error("a radius of 0 was accepted")
	}
	if _, err := BallDistance(Covariance{2, []float64{1, 1, 1, 1}}, 1); !errors.Is(err, ErrLeaks) {
		t.Errorf("a singular covariance: %v", err)
	}
}

// All pieces of an update together tell what the update tells.
func TestPiecesTogetherAreTheWhole(t *testing.T) {
	for _, updates := range []Updates{Gamma, Uniform} {
		piece, err := New(updates, 20, 3)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := New(updates, 20, 12)
		if err != nil {
			t.Fatal(err)
		}
		a, err := piece.Together(4, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := whole.Delta(1)
		if err != nil {
			t.Fatal(err)
		}
		one, err := piece.Delta(1)
		if err != nil {
			t.Fatal(err)
		}
		if a.Lower > b.Upper || b.Lower > a.Upper || a.Upper-a.Lower > 1e-4 || one.Upper >= b.Lower {
			t.Errorf("%s: four pieces %v, the whole %v, one piece %v", updates, a, b, one)
		}
		if _, err := piece.Together(0, 1); err == nil {
			t.Error("no pieces were accepted")
		}
	}
}
