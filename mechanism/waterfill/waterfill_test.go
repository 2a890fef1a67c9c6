package waterfill

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hubbub/noise"
)

func mechanism(t testing.TB, c Config) *Mechanism {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func gradients[T float32 | float64](t testing.TB, values []T, rows int, clip float64) *Gradients {
	t.Helper()
	g, err := NewGradients(values, rows, clip)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// randomGradients have a common direction and a few strong ones, as gradients of real examples do.
func randomGradients(r *rand.Rand, rows, dimension int) []float32 {
	common := make([]float64, dimension)
	for j := range common {
		common[j] = r.NormFloat64()
	}
	values := make([]float32, rows*dimension)
	for i := range values {
		j := i % dimension
		values[i] = float32(common[j] + r.NormFloat64()/(1+float64(j)))
	}
	return values
}

func norm(x []float64) float64 {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	return math.Sqrt(square)
}

func TestGradientsAreClippedRowByRow(t *testing.T) {
	g := gradients(t, []float64{3, 4, 0, .3, .4, 0, 0, 0, 0, 1e300, 1e300, 0}, 4, 1)
	for i, want := range []float64{1, .5, 0, 1} {
		if got := norm(g.matrix.RawRowView(i)); got > want || got < want*(1-2*slack) {
			t.Errorf("row %d has norm %g, want %g", i, got, want)
		}
	}
	if g.matrix.At(1, 1) != .4 {
		t.Errorf("a short row was changed: %g", g.matrix.At(1, 1))
	}
}

func TestFloat32AndFloat64GradientsAgree(t *testing.T) {
	a := randomGradients(rand.New(rand.NewPCG(1, 1)), 5, 7)
	b := make([]float64, len(a))
	for i, v := range a {
		b[i] = float64(v)
	}
	x, y := gradients(t, a, 5, 2), gradients(t, b, 5, 2)
	for i := range 5 {
		for j := range 7 {
			if x.matrix.At(i, j) != y.matrix.At(i, j) {
				t.Fatalf("row %d, weight %d: %g and %g", i, j, x.matrix.At(i, j), y.matrix.At(i, j))
			}
		}
	}
}

// Mean and variance of the decoded sum over clients, weight by weight in the axes of the weights: limits of 6 standard
// errors, false alarm 2e-9 each. With isotropic noise the variance is known; sampling adds to it otherwise.
func TestSumsDecodeToTheTrueMeanWithThePredictedNoise(t *testing.T) {
	const clients, records = 4, 6
	for _, method := range []Method{GDDP, SGDDP} {
		for _, d := range []int{1, 50, 20_000} {
			t.Run(fmt.Sprintf("%s %d", method, d), func(t *testing.T) {
				r := rand.New(rand.NewPCG(2, uint64(d)))
				c := Config{Method: method, Clients: clients, Records: records, Dimension: d, Clip: 1, Variance: .04}
				if method == SGDDP {
					c.Batch = records // all of them: the sample is no source of variance here
				}
				m := mechanism(t, c)
				sum, want := make([]int64, d), make([]float64, d)
				for client := range clients {
					g := gradients(t, randomGradients(r, records, d), records, 1)
					random := noise.Seeded(3).Derive("client", uint64(client)).Stream()
					if len(m.Sample(random)) != records {
						t.Fatal("a sample of all records has another size")
					}
					if err := m.Contribute(sum, g, random); err != nil {
						t.Fatal(err)
					}
					for i := range records {
						for j, v := range g.matrix.RawRowView(i) {
							want[j] += v / (records * clients)
						}
					}
				}
				mean := make([]float32, d)
				m.Decode(mean, sum, clients)
				bias, square, n := 0.0, 0.0, float64(d)
				for j, v := range mean {
					z := (float64(v) - want[j]) / (.2 / math.Sqrt(clients))
					bias += z
					square += z * z
				}
				if z := bias / math.Sqrt(n); math.Abs(z) > 6 {
					t.Errorf("bias of %.1f standard errors", z)
				}
				if z := (square - n) / math.Sqrt(2*n); math.Abs(z) > 6 && d > 1 {
					t.Errorf("variance off by %.1f standard errors", z)
				}
			})
		}
	}
}

// The bound of the proof, on the integers: no example's gradient, rounded, has a norm above the clip.
func TestRoundedGradientsKeepTheClip(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, d := range []int{1, 3, 1000, 50_000} {
		m := mechanism(t, Config{Method: GDDP, Clients: 1, Records: 1, Dimension: d, Clip: 3, Variance: 1})
		row := gradients(t, randomGradients(r, 1, d), 1, 3).matrix.RawRowView(0)
		steps := make([]float64, d)
		for j, v := range row {
			steps[j] = math.RoundToEven(v / m.step)
		}
		if got := norm(steps) * m.step; got > 3 {
			t.Errorf("%d weights: norm %g, the clip is 3", d, got)
		}
	}
}

// Each record is in a sample of 3 of 10 with probability 0.3: 4,000 samples, limits of 6 standard errors, false alarm 2e-9 each.
func TestSamplesAreUniform(t *testing.T) {
	m := mechanism(t, Config{Method: SGDDP, Clients: 1, Records: 10, Dimension: 1, Batch: 3, Clip: 1, Variance: 1})
	random := noise.Seeded(8).Stream()
	const samples = 4000
	var counts [10]int
	for range samples {
		sample := m.Sample(random)
		if len(sample) != 3 || sample[0] == sample[1] || sample[1] == sample[2] || sample[0] == sample[2] {
			t.Fatalf("sample %v", sample)
		}
		for _, i := range sample {
			counts[i]++
		}
	}
	for i, n := range counts {
		if z := (float64(n) - .3*samples) / math.Sqrt(.21*samples); math.Abs(z) > 6 {
			t.Errorf("record %d in %d of %d samples", i, n, samples)
		}
	}
	all := mechanism(t, Config{Method: GSGDDP, Clients: 1, Records: 10, Dimension: 1, Batch: 3, Clip: 1, Variance: 1})
	if got := all.Sample(random); len(got) != 10 || got[9] != 9 {
		t.Errorf("gsgd-dp asks for records %v", got)
	}
}

func TestBadGradientsAreRefusedAndAddNothing(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		rows   int
		clip   float64
	}{
		"no values": {nil, 1, 1}, "no rows": {[]float64{1}, 0, 1}, "ragged rows": {[]float64{1, 2, 3}, 2, 1},
		"NaN": {[]float64{1, math.NaN()}, 1, 1}, "infinity": {[]float64{1, math.Inf(-1)}, 2, 1},
		"no clip": {[]float64{1}, 1, 0}, "a clip of NaN": {[]float64{1}, 1, math.NaN()},
	} {
		_, err := NewGradients(c.values, c.rows, c.clip)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if (name == "NaN" || name == "infinity") && !errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, method := range []Method{SGDDP, GDDP, GSGDDP, GSGDIsotropic} {
		c := Config{Method: method, Clients: 1, Records: 2, Dimension: 2, Clip: 1, Variance: 1}
		if method != GDDP {
			c.Batch = 2
		}
		m := mechanism(t, c)
		for name, g := range map[string]*Gradients{
			"too few examples": gradients(t, []float64{1, 2}, 1, 1),
			"too many weights": gradients(t, []float64{1, 2, 3, 4, 5, 6}, 2, 1),
			"a looser clip":    gradients(t, []float64{1, 2, 3, 4}, 2, 1.5),
		} {
			sum := []int64{5, 6}
			if err := m.Contribute(sum, g, noise.Seeded(1).Stream()); err == nil || sum[0] != 5 || sum[1] != 6 {
				t.Errorf("%s, %s: error %v, sum %v", method, name, err, sum)
			}
		}
		if err := m.Contribute(make([]int64, 3), gradients(t, []float64{1, 2, 3, 4}, 2, 1), noise.Seeded(1).Stream()); err == nil {
			t.Errorf("%s: a long sum was accepted", method)
		}
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := Config{Method: GSGDDP, Clients: 50, Records: 1200, Dimension: 10, Batch: 32, Clip: 10, Variance: .01}
	for name, change := range map[string]func(*Config){
		"an unknown method":           func(c *Config) { c.Method = "adam-dp" },
		"no clients":                  func(c *Config) { c.Clients = 0 },
		"no records":                  func(c *Config) { c.Records = 0 },
		"no weights":                  func(c *Config) { c.Dimension = 0 },
		"no batch":                    func(c *Config) { c.Batch = 0 },
		"a batch of NaN":              func(c *Config) { c.Batch = nan },
		"no clip":                     func(c *Config) { c.Clip = 0 },
		"no variance":                 func(c *Config) { c.Variance = 0 },
		"an infinite variance":        func(c *Config) { c.Variance = inf },
		"blocks without a beginning":  func(c *Config) { c.Blocks = []int{1, 10} },
		"blocks without the end":      func(c *Config) { c.Blocks = []int{0, 9} },
		"an empty block":              func(c *Config) { c.Blocks = []int{0, 5, 5, 10} },
		"blocks of isotropic noise":   func(c *Config) { c.Method, c.Blocks = GSGDIsotropic, []int{0, 10} },
		"half a record in a batch":    func(c *Config) { c.Method, c.Batch = SGDDP, 1.5 },
		"a batch beyond the records":  func(c *Config) { c.Method, c.Batch = SGDDP, 1201 },
		"a batch of gradient descent": func(c *Config) { c.Method = GDDP },
		"noise far below the clip":    func(c *Config) { c.Variance = 1e-20 },
		"noise below the grid":        func(c *Config) { c.Method, c.Batch, c.Variance = SGDDP, 1, 1e-12 },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}
