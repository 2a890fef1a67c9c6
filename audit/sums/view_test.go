package sums

import (
	"math"
	"math/rand/v2"
	"testing"
)

// learned is an attacker of Gaussian updates with this view.
func learned(t *testing.T, samples []float32, d int, v View) *Attacker {
	t.Helper()
	m, err := NewMoments(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(append([]float32(nil), samples...), OneByOne); err != nil {
		t.Fatal(err)
	}
	a, err := NewAttacker(m, v, OneByOne)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A test for fewer clients is the one that an attacker of fewer clients makes, and its scores differ by the factor.
func TestATestServesAnyNumberOfClients(t *testing.T) {
	const d = 5
	r := rand.New(rand.NewPCG(11, 1))
	x, first, second := draw(r, 200, d), draw(r, 1, d), draw(r, 1, d)
	many, err := learned(t, x, d, View{Clients: 50}).Test(first, second)
	if err != nil {
		t.Fatal(err)
	}
	want, err := learned(t, x, d, View{Clients: 8}).Test(first, second)
	if err != nil {
		t.Fatal(err)
	}
	got, factor, err := many.Among(8)
	if err != nil {
		t.Fatal(err)
	}
	if close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) }; !close(got.Distance(), want.Distance()) ||
		!close(got.Score(first), want.Score(first)) || !close(many.Score(first)*factor, want.Score(first)) || !close(got.expected, want.expected) {
		t.Errorf("for 8 clients %+v, want %+v", got, want)
	}
	if _, _, err := many.Among(0); err == nil {
		t.Error("a sum over no clients was accepted")
	}
}

// With noise the distance is that of the sum of both covariances: of one entry, the difference over the root of n·variance + noise.
func TestNoiseCountsAsVariance(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	x := draw(r, 1000, 1)
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += float64(v) / 1000
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / 999
	}
	test, err := learned(t, x, 1, View{Clients: 9, Noise: 2}).Test([]float32{1}, []float32{4})
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 / math.Sqrt(9*variance+2); math.Abs(test.Distance()/want-1) > 1e-6 {
		t.Errorf("distance %g, want %g", test.Distance(), want)
	}
	// What no update changes is hidden by noise alone, and is no longer in the open.
	last := constantLast(draw(r, 100, 3), 3)
	a := learned(t, last, 3, View{Clients: 9, Noise: 4})
	one, other := []float32{3, 3, 0}, []float32{3, 3, 6}
	if test, err = a.Test(one, other); err != nil || a.Varying() != 3 || test.Bare() != 0 || math.Abs(test.Distance()-3) > 1e-9 {
		t.Errorf("%d entries vary, test %+v (%v), want a distance of 3", a.Varying(), test, err)
	}
}

// The farthest candidate against all of them, one by one.
func TestTheFarthestCandidateIsFound(t *testing.T) {
	const d, candidates = 4, 60
	r := rand.New(rand.NewPCG(11, 3))
	a := learned(t, draw(r, 300, d), d, View{Clients: 5, Noise: .5})
	c, from := draw(r, candidates, d), make([]float32, d)
	got, err := a.Farthest(c, from, OneByOne)
	if err != nil {
		t.Fatal(err)
	}
	best, want := 0.0, 0
	for i := range candidates {
		test, err := a.Test(from, c[i*d:(i+1)*d])
		if err != nil {
			t.Fatal(err)
		}
		if test.Distance() > best {
			best, want = test.Distance(), i
		}
	}
	if got != want {
		t.Errorf("candidate %d, the farthest is %d", got, want)
	}
	if _, err := a.Farthest(nil, from, OneByOne); err == nil {
		t.Error("no candidates were accepted")
	}
	if _, err := a.Farthest(c, from[:2], OneByOne); err == nil {
		t.Error("a short update was accepted")
	}
}

// Two entries that are the same up to a rounding of 1e-5 of their deviation: the usual ridge passes over their difference, a small one sees it.
func TestASmallRidgeSeesRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	x := make([]float32, 2*2000)
	for i := range 2000 {
		v := r.NormFloat64()
		x[2*i], x[2*i+1] = float32(v), float32(v+1e-5*r.NormFloat64())
	}
	first, second := []float32{0, 0}, []float32{0, 1e-4}
	usual, err := learned(t, x, 2, View{Clients: 1}).Test(first, second)
	if err != nil {
		t.Fatal(err)
	}
	sharp, err := learned(t, x, 2, View{Clients: 1, Ridge: RoundingRidge}).Test(first, second)
	if err != nil {
		t.Fatal(err)
	}
	// Ten deviations of the difference; the usual ridge of 1e-9 in both variances makes it some two.
	if sharp.Distance() < 8 || usual.Distance() > 3 {
		t.Errorf("distances %g and %g", sharp.Distance(), usual.Distance())
	}
	m, err := NewMoments(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []View{{Clients: 1, Ridge: -1}, {Clients: 1, Ridge: 2}, {Clients: 1, Noise: -1}, {Clients: 1, Noise: math.Inf(1)}} {
		if _, err := NewAttacker(m, v, OneByOne); err == nil {
			t.Errorf("%+v was accepted", v)
		}
	}
}
