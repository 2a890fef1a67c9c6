package audit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/accountant/fdp"
)

// The smallest p whose tail is small enough, by a fine scan of the binomial law: the dumb way.
func TestUpperRateAgreesWithTheBinomialLaw(t *testing.T) {
	for _, c := range []struct {
		count, trials int
		tail          float64
	}{{0, 1, .025}, {0, 10, .05}, {1, 10, .025}, {5, 10, .01}, {9, 10, .025}, {3, 1000, 1e-6}, {400, 1000, .025}, {120, 1_000_000, .025}} {
		p, err := UpperRate(c.count, c.trials, c.tail)
		if err != nil {
			t.Fatal(err)
		}
		got := distuv.Binomial{N: float64(c.trials), P: p}.CDF(float64(c.count))
		if math.Abs(got-c.tail) > 1e-6*c.tail {
			t.Errorf("%d of %d: P[count or fewer] at %g is %g, want %g", c.count, c.trials, p, got, c.tail)
		}
		lower, err := LowerRate(c.trials-c.count, c.trials, c.tail)
		if err != nil || lower != 1-p {
			t.Errorf("the lower rate %g (%v) is not the mirror image of the upper one, %g", lower, err, p)
		}
	}
}

func normals(random *rand.Rand, n int, mean float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + random.NormFloat64()
	}
	return x
}

// 200 audits of normal noise at 95%: the truth is exceeded 10 times or less on average, 21 times or more with probability 8e-4
// (binomial tail), and a threshold that is chosen on the counted trials themselves fails this test.
func TestTheBoundSeldomExceedsTheTruth(t *testing.T) {
	const repetitions, allowed, trials = 200, 20, 2000
	for _, c := range []struct {
		seed      uint64
		mu, delta float64
	}{{1, 0.5, 1e-5}, {2, 1, 1e-2}, {3, 0, 1e-5}} {
		truth := 0.0
		if c.mu > 0 {
			truth, _ = fdp.Epsilon(c.mu, c.delta)
		}
		random := rand.New(rand.NewPCG(c.seed, 7))
		exceeded, byGaussian := 0, 0
		for range repetitions {
			holdOut := Scores{normals(random, trials, 0), normals(random, trials, c.mu)}
			counted := Scores{normals(random, trials, 0), normals(random, trials, c.mu)}
			b, _, err := Audit(holdOut, counted, c.delta, .95)
			if err != nil {
				t.Fatal(err)
			}
			if b.Epsilon > truth {
				exceeded++
			}
			even, err := holdOut.Choose(Evenly)
			if err != nil {
				t.Fatal(err)
			}
			e, _ := counted.Count(even)
			g, err := e.Gaussian(c.delta, .95)
			if err != nil {
				t.Fatal(err)
			}
			if g.Epsilon > truth {
				byGaussian++
			}
		}
		if exceeded > allowed || byGaussian > allowed {
			t.Errorf("mu %g: %d direct and %d Gaussian bounds of %d exceed the truth, more than %d", c.mu, exceeded, byGaussian, repetitions, allowed)
		}
	}
}

// Two equal laws, epsilon 0. Honest audits exceed it in well below 1% of cases, as both rates must be off at once: 6 or more of 200
// happen with probability below 2e-2 even at 1%. Whoever chooses the threshold on the counted trials exceeds it far more often.
func TestChoosingOnTheCountedTrialsWouldBreakTheLevel(t *testing.T) {
	const repetitions, trials = 200, 1000
	random := rand.New(rand.NewPCG(4, 7))
	cheating, honest := 0, 0
	for range repetitions {
		s := Scores{normals(random, trials, 0), normals(random, trials, 0)}
		other := Scores{normals(random, trials, 0), normals(random, trials, 0)}
		bound := func(e Errors) float64 {
			return epsilonOf(upperEstimate(float64(e.FalsePositives)/trials, trials, .025), upperEstimate(float64(e.FalseNegatives)/trials, trials, .025), 0)
		}
		at, err := s.Choose(bound)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			counted  Scores
			exceeded *int
		}{{s, &cheating}, {other, &honest}} {
			e, _ := c.counted.Count(at)
			if b, _ := e.Bound(0, .95); b.Epsilon > 0 {
				*c.exceeded++
			}
		}
	}
	if honest >= 6 || cheating < 10 {
		t.Errorf("%d honest and %d cheating audits of %d exceed the truth", honest, cheating, repetitions)
	}
}

// A Gaussian mechanism of epsilon 2 at delta 1e-5, with a million trials of either kind counted and as many held out. Over 60 seeds the
// direct bound was 1.62 in the middle, and below 1.4 with one of them.
func TestPowerOnAGaussianMechanism(t *testing.T) {
	const trials = 1_000_000
	mu, err := fdp.Mu(2, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 7))
	holdOut := Scores{normals(random, trials, 0), normals(random, trials, mu)}
	counted := Scores{normals(random, trials, 0), normals(random, trials, mu)}
	b, _, err := Audit(holdOut, counted, 1e-5, .95)
	if err != nil {
		t.Fatal(err)
	}
	if b.Epsilon < 1.4 || b.Epsilon > 2 {
		t.Errorf("direct bound %.4f, want one in [1.4, 2]", b.Epsilon)
	}
	even, _ := holdOut.Choose(Evenly)
	e, _ := counted.Count(even)
	g, err := e.Gaussian(1e-5, .95)
	if err != nil || g.Epsilon < 1.9 || g.Epsilon > 2 {
		t.Errorf("bound under a Gaussian trade-off %.4f (%v), want one in [1.9, 2]", g.Epsilon, err)
	}
	t.Logf("epsilon 2 audits to %.4f directly and %.4f by the Gaussian route", b.Epsilon, g.Epsilon)
}

// An attack on one tail is an ordinary one: both ways to its bound agree.
// Two binomials of unequal rates, added: Clopper and Pearson's upper end for one binomial of the mean rate covers it, in exact
// arithmetic over all outcomes.
func TestTheSumOfTwoTailsIsCovered(t *testing.T) {
	const n = 30
	for _, c := range []struct{ p, q, tail float64 }{{0.01, 0.3, .025}, {0.1, 0.9, .025}, {0, 0.2, .25}, {0.05, 0.05, .1}, {0.5, 0.01, .001}} {
		missed := 0.0
		for i := range n + 1 {
			for j := range n + 1 {
				if upperRate(i+j, 2*n, c.tail) < (c.p+c.q)/2 {
					missed += distuv.Binomial{N: n, P: c.p}.Prob(float64(i)) * distuv.Binomial{N: n, P: c.q}.Prob(float64(j))
				}
			}
		}
		if missed > c.tail {
			t.Errorf("rates %g and %g: the bound is below their mean with probability %g, more than %g", c.p, c.q, missed, c.tail)
		}
	}
}

func TestAThresholdChosenDirectlyLiesInATail(t *testing.T) {
	const trials = 100_000
	random := rand.New(rand.NewPCG(11, 7))
	holdOut := Scores{normals(random, trials, 0), normals(random, trials, 1)}
	counted := Scores{normals(random, trials, 0), normals(random, trials, 1)}
	bound := func(value func(Errors) float64) float64 {
		at, err := holdOut.Choose(value)
		if err != nil {
			t.Fatal(err)
		}
		e, err := counted.Count(at)
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.Bound(1e-5, .95)
		if err != nil {
			t.Fatal(err)
		}
		return b.Epsilon
	}
	// Two normal laws 1 apart: epsilon 4.38. In the middle log(0.69/0.31) = 0.81 shows, far out some 3.
	middle, tail := bound(Evenly), bound(Directly(trials, 1e-5, .95))
	if middle > 0.85 || tail < 2 || tail > 4.38 {
		t.Errorf("in the middle %.3f shows, in the tail %.3f", middle, tail)
	}
	half, rest, err := counted.Split(2)
	if err != nil || len(half.With) != trials/2 || len(rest.Without) != trials/2 {
		t.Errorf("halves of %d and %d (%v)", len(half.With), len(rest.Without), err)
	}
}

func TestARuleOfOneTailIsAThreshold(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 7))
	s := Scores{normals(random, 5000, 0), normals(random, 5000, 1)}
	said, err := Rule{In: 2, Out: math.Inf(-1)}.Count(s)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Count(2)
	if err != nil || said.Wrong != e.FalsePositives || said.Correct != e.Positives-e.FalseNegatives || said.Trials != 5000 {
		t.Fatalf("%+v by the rule, %+v by the threshold (%v)", said, e, err)
	}
	a, _ := said.Bound(1e-5, .95)
	b, _ := e.Bound(1e-5, .95)
	if math.Abs(a.Epsilon-b.Epsilon) > 1e-9 || math.Abs(a.Largest-b.Largest) > 1e-9 {
		t.Errorf("%+v by the rule, %+v by the threshold", a, b)
	}
}

func TestAClaimedCurveIsHeldAgainstTheCountedOne(t *testing.T) {
	const trials = 100_000
	random := rand.New(rand.NewPCG(6, 7))
	counted := Scores{normals(random, trials, 0), normals(random, trials, 1)}
	thresholds, err := Scores{normals(random, trials, 0), normals(random, trials, 1)}.Spread(8)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		mu       float64
		violated bool
	}{{"the truth stands", 1, false}, {"a weaker claim stands", 1.2, false}, {"a claim of more privacy falls", 0.9, true}} {
		t.Run(c.name, func(t *testing.T) {
			claim, err := fdp.Gaussian(c.mu)
			if err != nil {
				t.Fatal(err)
			}
			points, err := counted.Curve(thresholds, claim, .999) // false-alarm rate 1e-3
			if err != nil {
				t.Fatal(err)
			}
			violated := false
			for _, p := range points {
				violated = violated || p.Violated
			}
			if violated != c.violated {
				t.Errorf("violated: %v, want %v: %+v", violated, c.violated, points)
			}
		})
	}
}

func TestADiscriminantFindsTheCoordinateThatMoves(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var without, with []float32
	for range 2000 {
		for i := range 4 {
			without = append(without, float32(random.NormFloat64()*float64(i+1)))
			shift := 0.0
			if i == 2 {
				shift = 3
			}
			with = append(with, float32(random.NormFloat64()*float64(i+1)+shift))
		}
	}
	d, err := Learn(without, with, 4)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(d[2]-3.0/9) > 0.1 { // 3 over a variance of 9; the estimate's deviation is about 0.01
		t.Errorf("weight %g, want about 1/3", d[2])
	}
	for _, i := range []int{0, 1, 3} { // a coordinate that stays passes 3 deviations with probability 0.3%
		if math.Abs(d[i]) > 0 {
			t.Errorf("coordinate %d, which stays, has weight %g", i, d[i])
		}
	}
}

func TestACosineEstimateIsNearTheTruth(t *testing.T) {
	const dimension, canaries = 10_000, 2000
	for _, c := range []struct {
		seed uint64
		mu   float64
	}{{8, 1}, {9, 2}} {
		random := rand.New(rand.NewPCG(c.seed, 7))
		cosines := normals(random, canaries, c.mu)
		for i := range cosines {
			cosines[i] /= math.Sqrt(dimension)
		}
		e, err := EstimateByCosines(cosines, dimension, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		truth, _ := fdp.Epsilon(c.mu, 1e-5)
		// The deviation's own error of 1/sqrt(2·2000) moves the tail: within 15%, four times what it moves it by.
		if math.Abs(e.Epsilon/truth-1) > .15 {
			t.Errorf("estimate %.3f, truth %.3f", e.Epsilon, truth)
		}
	}
	// Two normal laws of different widths: against numeric integration.
	for _, c := range []struct{ mean, deviation, epsilon float64 }{{1, 1.5, 0.5}, {0.3, 0.7, 1}, {2, 1, 1}, {0, 2, 0.2}} {
		sum := 0.0
		const step = 1e-4
		for x := -40.0; x < 40; x += step {
			p := math.Exp(-(x-c.mean)*(x-c.mean)/(2*c.deviation*c.deviation)) / c.deviation
			q := math.Exp(-x * x / 2)
			sum += step * max(0, p-math.Exp(c.epsilon)*q) / math.Sqrt(2*math.Pi)
		}
		if got := hockeyStick(c.mean, c.deviation, 0, 1, c.epsilon); math.Abs(got-sum) > 1e-6 {
			t.Errorf("%+v: %.8f, by integration %.8f", c, got, sum)
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	nan := math.NaN()
	bound := func(e Errors, delta, confidence float64) error {
		_, err := e.Bound(delta, confidence)
		return err
	}
	good := Errors{1, 10, 1, 10}
	only := func(_ float64, err error) error { return err }
	_, badScores := Scores{[]float64{1, nan}, []float64{1}}.Count(0)
	_, noScores := Scores{nil, []float64{1}}.Choose(Evenly)
	_, _, split := Scores{[]float64{1}, []float64{1}}.Split(1)
	_, curve := Scores{[]float64{1}, []float64{1}}.Curve(nil, nil, .95)
	_, ragged := Learn(make([]float32, 7), make([]float32, 8), 4)
	_, few := Learn(make([]float32, 4), make([]float32, 8), 4)
	_, crossed := Rule{In: 1, Out: 2}.Count(Scores{[]float64{1}, []float64{1}})
	_, uneven := Rule{In: 1, Out: 0}.Count(Scores{[]float64{1, 2}, []float64{1}})
	_, tooMany := Sure{Correct: 3, Wrong: 0, Trials: 2}.Bound(1e-5, .95)
	_, unsure := Sure{Correct: 2, Wrong: 0, Trials: 2}.Bound(1e-5, .3)
	_, gaussian := Errors{1, 0, 1, 5}.Gaussian(1e-5, .95)
	_, cosine := EstimateByCosines([]float64{.1, 2}, 10, 1e-5)
	_, equal := EstimateByCosines([]float64{.1, .1}, 10, 1e-5)
	_, lone := EstimateByCosines([]float64{.1}, 10, 1e-5)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no trials", bound(Errors{0, 0, 0, 10}, 1e-5, .95), "0 trials"},
		{"more mistakes than trials", bound(Errors{1, 10, 11, 10}, 1e-5, .95), "11 false negatives in 10 trials"},
		{"a negative count", bound(Errors{-1, 10, 1, 10}, 1e-5, .95), "-1 false positives"},
		{"delta NaN", bound(good, nan, .95), "delta NaN"},
		{"delta one", bound(good, 1, .95), "delta 1"},
		{"confidence zero", bound(good, 1e-5, 0), "confidence 0"},
		{"confidence NaN", bound(good, 1e-5, nan), "confidence NaN"},
		{"a rate above one", only(Epsilon(1.1, 0, 1e-5)), "rate 1.1"},
		{"a rate that is NaN", only(Epsilon(0, nan, 1e-5)), "rate NaN"},
		{"a count above its trials", only(UpperRate(11, 10, .05)), "11 of 10"},
		{"a tail of zero", only(LowerRate(1, 10, 0)), "tail probability 0"},
		{"a score that is NaN", badScores, "score 1 without the target is NaN"},
		{"no scores", noScores, "0 scores without"},
		{"a rule that contradicts itself", crossed, "out at 2 and in above 1"},
		{"more trials without than with", uneven, "2 scores without the target and 1 with it"},
		{"more guesses than trials", tooMany, "3 correct"},
		{"a confidence that is none", unsure, "confidence 0.3"},
		{"nothing left to count", split, "leaves none"},
		{"a curve without thresholds", curve, "0 thresholds"},
		{"outputs that are not whole", ragged, "not whole outputs of 4"},
		{"one output to learn from", few, "at least 2"},
		{"a Gaussian bound without trials", gaussian, "0 trials"},
		{"a cosine of two", cosine, "cosine 1 is 2"},
		{"equal cosines", equal, "no law to fit"},
		{"one cosine", lone, "1 cosines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", c.err, c.want)
			}
		})
	}
}
