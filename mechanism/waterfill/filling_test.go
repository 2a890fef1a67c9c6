package waterfill

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/noise"
)

// liftDumbly is water-filling by its definition, on the full covariance.
func liftDumbly(t testing.TB, g *Gradients, batch, variance float64) *mat.SymDense {
	t.Helper()
	d := g.Dimension()
	covariance := mat.NewSymDense(d, nil)
	for i := range g.Rows() {
		row := g.matrix.RawRowView(i)
		for a := range d {
			for b := a; b < d; b++ {
				covariance.SetSym(a, b, covariance.At(a, b)+row[a]*row[b]/(batch*float64(g.Rows())))
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		t.Fatal("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	lifted := mat.NewSymDense(d, nil)
	for i, v := range eigen.Values(nil) {
		lifted.SymRankOne(lifted, max(v, variance), vectors.ColView(i))
	}
	return lifted
}

// shapes of gradient matrices: few examples, as many as weights, more, rank deficient.
var shapes = []struct{ rows, dimension, repeats int }{
	{1, 1, 1}, {1, 9, 1}, {5, 20, 1}, {12, 12, 1}, {30, 8, 1}, {20, 30, 4}, {40, 10, 8},
}

func shaped(t testing.TB, seed uint64, s struct{ rows, dimension, repeats int }) *Gradients {
	values := randomGradients(rand.New(rand.NewPCG(seed, 77)), s.rows, s.dimension)
	for i := range s.rows { // each example several times: the rank falls
		copy(values[i*s.dimension:(i+1)*s.dimension], values[i/s.repeats*s.dimension:])
	}
	return gradients(t, values, s.rows, 1)
}

func TestTheGramSideEqualsTheFullSide(t *testing.T) {
	for _, s := range shapes {
		for _, variance := range []float64{1e-6, 1e-2, 1, 100} {
			t.Run(fmt.Sprintf("%d examples, %d weights, floor %g", s.rows, s.dimension, variance), func(t *testing.T) {
				g := shaped(t, 1, s)
				scale := 1 / (4 * float64(s.rows))
				full, err := fill(g.matrix, scale, variance, false)
				if err != nil {
					t.Fatal(err)
				}
				gram, err := fill(g.matrix, scale, variance, true)
				if err != nil {
					t.Fatal(err)
				}
				a, b := full.Eigenvalues(), gram.Eigenvalues()
				for i := range max(len(a), len(b)) {
					x, y := 0.0, 0.0
					if i < len(a) {
						x = a[i]
					}
					if i < len(b) {
						y = b[i]
					}
					if math.Abs(x-y) > 1e-12 {
						t.Errorf("eigenvalue %d: %g and %g", i, x, y)
					}
				}
				z, one, other := make([]float64, s.dimension), make([]float64, s.dimension), make([]float64, s.dimension)
				noise.Seeded(5).Stream().Gaussian(z)
				full.spread(one, z)
				gram.spread(other, z)
				for j := range one {
					// The root near an eigenvalue that equals the floor turns an error of 1e-16 into one of 1e-8.
					if math.Abs(one[j]-other[j]) > 1e-6*math.Sqrt(variance) {
						t.Errorf("weight %d: noise %g and %g", j, one[j], other[j])
					}
				}
			})
		}
	}
}

// Σ plus the noise's covariance is Σ with its eigenvalues lifted, as the definition has it, on both sides.
func TestTheCovarianceIsTheLiftedOne(t *testing.T) {
	for _, s := range shapes {
		for _, variance := range []float64{1e-4, 1e-2, 1} {
			g := shaped(t, 2, s)
			m := mechanism(t, Config{Method: GSGDDP, Clients: 1, Records: s.rows, Dimension: s.dimension, Batch: 4, Clip: 1, Variance: variance})
			got, err := m.Covariance(g)
			if err != nil {
				t.Fatal(err)
			}
			want := liftDumbly(t, g, 4, m.floor())
			var off mat.Dense
			off.Sub(got, want)
			if worst := mat.Norm(&off, 2); worst > 1e-9*(variance+.25) {
				t.Errorf("%v at %g: off by %g", s, variance, worst)
			}
			// No eigenvalue below σ², though the arithmetic rounds: the floor is that much higher.
			if smallest := SmallestEigenvalue(got); smallest < variance {
				t.Errorf("%v: smallest eigenvalue %g, want at least %g", s, smallest, variance)
			}
		}
	}
}

func TestLiftedEigenvaluesAreAtLeastTheFloor(t *testing.T) {
	for _, s := range shapes {
		filling, err := Fill(shaped(t, 3, s), 4, .01)
		if err != nil {
			t.Fatal(err)
		}
		lifted := filling.Lifted()
		if len(lifted) != s.dimension {
			t.Fatalf("%d eigenvalues of %d weights", len(lifted), s.dimension)
		}
		for i, v := range lifted {
			if v < .01*(1-1e-15) || i > 0 && v > lifted[i-1] {
				t.Errorf("%v: eigenvalue %d is %g", s, i, v)
			}
		}
		for i, v := range filling.Eigenvalues() {
			if v > .25 { // C²/B
				t.Errorf("%v: eigenvalue %d is %g, more than clip and batch allow", s, i, v)
			}
			if v > .01 && lifted[i] != v {
				t.Errorf("%v: eigenvalue %d was changed from %g to %g", s, i, v, lifted[i])
			}
		}
	}
}

// Updates that are released have the mean and covariance promised: whitened by the promised covariance, each has d
// components that are standard normal and independent. 3,000 updates; the mean of each component, and each entry of the sample
// covariance, within 6 standard errors, and the sum of all squares as a chi-square between its 1e-9 quantiles: with 10
// weights 65 limits of 2e-9 each and one of 2e-9, four times.
func TestReleasedUpdatesHaveThePromisedLaw(t *testing.T) {
	const trials = 3000
	for _, c := range []struct {
		name            string
		rows, dimension int
		blocks          []int
		seed            uint64
	}{
		{"fewer examples than weights", 6, 10, nil, 1},
		{"more examples than weights", 25, 10, nil, 2},
		{"in blocks", 6, 10, []int{0, 3, 9, 10}, 3},
		{"in blocks, more examples", 25, 10, []int{0, 5, 10}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gradients(t, randomGradients(rand.New(rand.NewPCG(c.seed, 5)), c.rows, c.dimension), c.rows, 1)
			m := mechanism(t, Config{Method: GSGDDP, Clients: 1, Records: c.rows, Dimension: c.dimension, Batch: 4, Clip: 1, Variance: .003, Blocks: c.blocks})
			covariance, err := m.Covariance(g)
			if err != nil {
				t.Fatal(err)
			}
			// Some directions must be lifted and some not, or the test would be about half the mechanism.
			if v := liftedShare(t, m, g); v == 0 || v == 1 {
				t.Fatalf("a share of %g of the directions is lifted", v)
			}
			var root mat.Cholesky
			if !root.Factorize(covariance) {
				t.Fatal("the covariance is singular")
			}
			var lower mat.TriDense
			root.LTo(&lower)
			d := c.dimension
			sums, products, energy := make([]float64, d), mat.NewDense(d, d, nil), 0.0
			for trial := range trials {
				sum := make([]int64, d)
				if err := m.Contribute(sum, g, noise.Seeded(c.seed).Derive("trial", uint64(trial)).Stream()); err != nil {
					t.Fatal(err)
				}
				off := mat.NewVecDense(d, nil)
				for j, v := range sum {
					mean := 0.0
					for i := range c.rows {
						mean += g.matrix.At(i, j) / float64(c.rows)
					}
					off.SetVec(j, float64(v)*m.step-mean)
				}
				var white mat.VecDense
				if err := white.SolveVec(&lower, off); err != nil {
					t.Fatal(err)
				}
				for a := range d {
					sums[a] += white.AtVec(a)
					energy += white.AtVec(a) * white.AtVec(a)
					for b := range a + 1 {
						products.Set(a, b, products.At(a, b)+white.AtVec(a)*white.AtVec(b))
					}
				}
			}
			for a := range d {
				if z := sums[a] / math.Sqrt(trials); math.Abs(z) > 6 {
					t.Errorf("component %d: mean off by %.1f standard errors", a, z)
				}
				for b := range a + 1 {
					want, spread := 0.0, math.Sqrt(trials)
					if a == b {
						want, spread = trials, math.Sqrt(2*trials)
					}
					if z := (products.At(a, b) - want) / spread; math.Abs(z) > 6 {
						t.Errorf("components %d and %d: covariance off by %.1f standard errors", a, b, z)
					}
				}
			}
			law := distuv.ChiSquared{K: float64(d * trials)}
			if energy < law.Quantile(1e-9) || energy > law.Quantile(1-1e-9) {
				t.Errorf("energy %g of %d squares", energy, d*trials)
			}
		})
	}
}

// liftedShare is how many of all directions, of all blocks, get noise.
func liftedShare(t *testing.T, m *Mechanism, g *Gradients) float64 {
	t.Helper()
	above := 0
	for b := range len(m.config.Blocks) - 1 {
		filling, err := m.fill(g.columns(m.config.Blocks[b], m.config.Blocks[b+1]))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range filling.Eigenvalues() {
			if v > m.floor() {
				above++
			}
		}
	}
	return 1 - float64(above)/float64(m.config.Dimension)
}

// Isotropic noise on top of a Gaussian mix: the variance of each weight is that of the sampling plus σ². 4,000 updates, limits of 6
// standard errors, false alarm 2e-9 each.
func TestIsotropicNoiseIsAddedToTheSampling(t *testing.T) {
	const rows, dimension, trials = 5, 8, 4000
	g := gradients(t, randomGradients(rand.New(rand.NewPCG(6, 6)), rows, dimension), rows, 1)
	m := mechanism(t, Config{Method: GSGDIsotropic, Clients: 1, Records: rows, Dimension: dimension, Batch: 4, Clip: 1, Variance: .01})
	squares := make([]float64, dimension)
	for trial := range trials {
		sum := make([]int64, dimension)
		if err := m.Contribute(sum, g, noise.Seeded(9).Derive("trial", uint64(trial)).Stream()); err != nil {
			t.Fatal(err)
		}
		for j, v := range sum {
			off := float64(v) * m.step
			for i := range rows {
				off -= g.matrix.At(i, j) / rows
			}
			squares[j] += off * off
		}
	}
	for j, got := range squares {
		variance := .01
		for i := range rows {
			variance += math.Pow(g.matrix.At(i, j), 2) / (4 * rows)
		}
		if z := (got/variance - trials) / math.Sqrt(2*trials); math.Abs(z) > 6 {
			t.Errorf("weight %d: variance off by %.1f standard errors", j, z)
		}
	}
}
