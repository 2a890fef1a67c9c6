package graph

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCompleteThresholds(t *testing.T) {
	for _, c := range []struct {
		name    string
		setting Setting
		want    int // threshold; 0 for a refusal
		why     string
	}{
		{"100 clients, nobody colludes: 51 of 100", Setting{Clients: 100}, 51, ""},
		{"100 clients, 10 colluders: 2t > 110", Setting{Clients: 100, Colluders: 10, MaliciousServer: true}, 56, ""},
		{"odd sum is rounded up", Setting{Clients: 101, Colluders: 10, MaliciousServer: true}, 56, ""},
		{"dropouts that leave exactly t", Setting{Clients: 100, Colluders: 10, Dropouts: 44, MaliciousServer: true}, 56, ""},
		{"one dropout more is too many against a malicious server", Setting{Clients: 100, Colluders: 10, Dropouts: 45, MaliciousServer: true}, 0, "2t > n + c"},
		{"but not against a curious one, with a lower threshold", Setting{Clients: 100, Colluders: 10, Dropouts: 45}, 55, ""},
		{"three clients, one of whom may drop out", Setting{Clients: 3, Dropouts: 1, MaliciousServer: true}, 2, ""},
		{"no clients", Setting{}, 0, "at least 3"},
		{"one client", Setting{Clients: 1}, 0, "at least 3"},
		{"two clients", Setting{Clients: 2}, 0, "at least 3"},
		{"negative colluders", Setting{Clients: 10, Colluders: -1}, 0, "negative"},
		{"one honest survivor", Setting{Clients: 10, Colluders: 5, Dropouts: 4}, 0, "fewer than 2 honest"},
		{"colluders reach what survivors can reach", Setting{Clients: 10, Colluders: 4, Dropouts: 4}, 6, ""},
		{"malicious server and a graph that is not complete", Setting{Clients: 257, MaliciousServer: true}, 0, "no proof"},
		{"security of NaN", Setting{Clients: 10, Security: math.NaN()}, 0, "bits"},
		{"negative security", Setting{Clients: 10, Security: -1}, 0, "bits"},
		{"too many clients", Setting{Clients: MaxClients + 1}, 0, "over the maximum"},
		{"everybody colludes or leaves", Setting{Clients: 300, Colluders: 149, Dropouts: 149}, 0, "allow fewer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := New(c.setting)
			if c.want == 0 {
				if !errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), c.why) {
					t.Fatalf("plan %+v, error %v, want a refusal with %q", plan, err, c.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if plan.Threshold != c.want || !plan.Complete || plan.Shares != c.setting.Clients {
				t.Errorf("got %+v, want threshold %d", plan, c.want)
			}
		})
	}
}

// Every complete plan satisfies what its claim says, whatever the setting.
func TestCompletePlansKeepTheirConditions(t *testing.T) {
	for n := 3; n <= 40; n++ {
		for c := 0; c < n; c++ {
			for d := 0; d < n; d++ {
				for _, malicious := range []bool{false, true} {
					plan, err := New(Setting{Clients: n, Colluders: c, Dropouts: d, MaliciousServer: malicious})
					if err != nil {
						continue
					}
					threshold := plan.Threshold
					if threshold <= c || threshold > n-d || malicious && 2*threshold <= n+c {
						t.Fatalf("n=%d c=%d d=%d malicious=%v: threshold %d", n, c, d, malicious, threshold)
					}
				}
			}
		}
	}
}

// Degrees and thresholds that Google's implementation of Bell et al. computes, for an honest-but-curious server with 40 bits of
// security and 20 of correctness.
// source: google/federated-compute, fcp/secagg/server/graph_parameter_finder_test.cc
//
// Ours counts the two long gaps that it takes to tear a ring, and fractions are rounded differently, so a few per cent of
// difference are allowed.
func TestDegreesAgreeWithAnotherImplementation(t *testing.T) {
	for _, c := range []struct {
		clients              int
		colluders, dropouts  float64
		theirDegree, theirTs int
	}{
		{1000, 0.45, 0.45, 822, 417},
		{10000, 0.45, 0.45, 3494, 1771},
		{1000, 0.33, 0.33, 286, 150},
		{10000, 0.33, 0.33, 422, 221},
		{100000, 0.33, 0.33, 480, 251},
		{1000000, 0.33, 0.33, 518, 270},
		{1000, 0.05, 0.33, 72, 24},
		{10000, 0.05, 0.33, 86, 29},
		{100000, 0.05, 0.33, 96, 32},
		{1000000, 0.05, 0.33, 102, 34},
		{1000, 0.33, 0.05, 78, 60},
		{10000, 0.33, 0.05, 92, 70},
		{100000, 0.33, 0.05, 102, 77},
		{1000000, 0.33, 0.05, 110, 83},
	} {
		s := Setting{
			Clients: c.clients, Colluders: AtMost(c.colluders, c.clients), Dropouts: AtMost(c.dropouts, c.clients),
			Security: 40, Correctness: 20,
		}
		plan, err := New(s)
		if err != nil {
			t.Errorf("%+v: %v", s, err)
			continue
		}
		t.Logf("n=%d colluders %g dropouts %g: k=%d t=%d, theirs k=%d t=%d", c.clients, c.colluders, c.dropouts, plan.Degree, plan.Threshold, c.theirDegree, c.theirTs)
		if plan.Degree > c.theirDegree+4 || float64(plan.Degree) < 0.95*float64(c.theirDegree)-4 {
			t.Errorf("n=%d colluders %g dropouts %g: degree %d, theirs %d", c.clients, c.colluders, c.dropouts, plan.Degree, c.theirDegree)
		}
	}
}

// exactTail is P[at least hits], in whole numbers.
func exactTail(h hypergeometric, hits int) *big.Rat {
	choose := func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }
	ways := new(big.Int)
	for x := max(hits, 0); x <= min(h.drawn, h.marked); x++ {
		if h.drawn-x <= h.all-h.marked {
			ways.Add(ways, new(big.Int).Mul(choose(h.marked, x), choose(h.all-h.marked, h.drawn-x)))
		}
	}
	return new(big.Rat).SetFrac(ways, choose(h.all, h.drawn))
}

func log2(r *big.Rat) float64 {
	f, exponent := new(big.Float).SetRat(r), 0
	exponent = f.MantExp(f)
	m, _ := f.Float64()
	return math.Log2(m) + float64(exponent)
}

func TestTailsAgreeWithWholeNumbersAndRoundUp(t *testing.T) {
	random := rand.New(rand.NewChaCha8([32]byte{1}))
	for range 300 {
		all := 1 + random.IntN(400)
		h := hypergeometric{all, random.IntN(all + 1), random.IntN(all + 1)}
		hits := random.IntN(h.drawn + 2)
		check := func(name string, got float64, want *big.Rat) {
			if want.Sign() == 0 {
				if !math.IsInf(got, -1) {
					t.Fatalf("%s of %+v at %d: %g, want nothing", name, h, hits, got)
				}
				return
			}
			if exact := log2(want); got < exact-1e-12 || got > exact+2e-6 {
				t.Fatalf("%s of %+v at %d: %g, exactly %g", name, h, hits, got, exact)
			}
		}
		check("tail", h.atLeast(hits), exactTail(h, hits))
		check("head", h.atMost(hits-1), new(big.Rat).Sub(big.NewRat(1, 1), exactTail(h, hits)))
	}
}

// A tail that begins far on the other side of the mean is everything, and ends.
func TestATailAroundTheMeanIsEverything(t *testing.T) {
	h := hypergeometric{1000000, 500000, 10000}
	if got := h.atLeast(0); got != 0 {
		t.Errorf("at least none: 2^%g", got)
	}
	if got := h.atMost(10000); got != 0 {
		t.Errorf("at most all: 2^%g", got)
	}
}

// connected walks from one survivor along the edges.
func connected(g *Graph, gone []bool) bool {
	start := slices.Index(gone, false)
	if start < 0 {
		return true
	}
	reached := slices.Clone(gone)
	reached[start] = true
	for todo := []int{start}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range g.Neighbours(i) {
			if !reached[j] {
				reached[j] = true
				todo = append(todo, j)
			}
		}
	}
	return !slices.Contains(reached, false)
}

// ring is a graph with a chosen degree, whatever New would say.
func ring(n, degree int, seed byte) *Graph {
	return Plan{Setting: Setting{Clients: n}, Degree: degree, Shares: degree}.Graph([32]byte{seed})
}

// All sets of removed clients of small rings are tried, so the probability is known exactly: the bound must not be below
// it, and where two gaps are rare it must not be far above.
func TestTornBoundsEverySmallRing(t *testing.T) {
	for n := 5; n <= 13; n++ {
		for half := 1; 2*half < n; half++ {
			g := ring(n, 2*half, 1)
			apart, all := make([]int, n+1), make([]int, n+1)
			for set := 0; set < 1<<n; set++ {
				gone, removed := make([]bool, n), 0
				for i := range gone {
					if gone[i] = set>>i&1 == 1; gone[i] {
						removed++
					}
				}
				all[removed]++
				if !connected(g, gone) {
					apart[removed]++
				}
			}
			for removed := range all {
				exact, bound := float64(apart[removed])/float64(all[removed]), math.Exp2(torn(n, removed, half))
				if bound < exact-1e-12 {
					t.Errorf("n=%d half=%d removed=%d: bound %g below the truth %g", n, half, removed, bound, exact)
				}
				if removed < 3*half && math.Abs(bound-exact) > 2e-6 { // no room for three gaps: the bound is exact
					t.Errorf("n=%d half=%d removed=%d: bound %g, truth %g", n, half, removed, bound, exact)
				}
			}
		}
	}
}

func TestEveryClientHasItsDegreeAndNeighboursAgree(t *testing.T) {
	for _, c := range []struct {
		plan Plan
		n    int
	}{
		{Plan{Setting: Setting{Clients: 7}, Complete: true, Degree: 6, Shares: 7}, 7},
		{Plan{Setting: Setting{Clients: 300}, Degree: 50, Shares: 50}, 300},
		{Plan{Setting: Setting{Clients: 301}, Degree: 2, Shares: 2}, 301},
		{Plan{Setting: Setting{Clients: 9}, Degree: 8, Shares: 8}, 9},
	} {
		g := c.plan.Graph([32]byte{3})
		for i := range c.n {
			neighbours := g.Neighbours(i)
			if len(neighbours) != c.plan.Degree || !slices.IsSorted(neighbours) || len(slices.Compact(slices.Clone(neighbours))) != len(neighbours) {
				t.Fatalf("n=%d: client %d has neighbours %v", c.n, i, neighbours)
			}
			for j := range c.n {
				if in := slices.Contains(neighbours, j); in != g.Adjacent(i, j) || in != g.Adjacent(j, i) {
					t.Fatalf("n=%d: clients %d and %d disagree", c.n, i, j)
				}
			}
			holders := g.Holders(i)
			if len(holders) != c.plan.Shares || slices.Contains(holders, i) != c.plan.Complete || !slices.IsSorted(holders) {
				t.Fatalf("n=%d: holders of %d are %v", c.n, i, holders)
			}
		}
		if !connected(g, make([]bool, c.n)) {
			t.Errorf("n=%d: not connected", c.n)
		}
	}
}

func TestTheSeedDecidesTheGraph(t *testing.T) {
	a, b, c := ring(1000, 20, 1), ring(1000, 20, 1), ring(1000, 20, 2)
	if !slices.Equal(a.at, b.at) {
		t.Error("the same seed gave two graphs")
	}
	if slices.Equal(a.at, c.at) {
		t.Error("two seeds gave one graph")
	}
}

// Sample size 40,000 rings of 8 clients: every pair is joined with probability 2/7. A count may be off by 4.9 standard
// deviations, which one of the 28 is with probability 2.7e-5 at most.
func TestPairsAreJoinedEquallyOften(t *testing.T) {
	const draws, n = 40000, 8
	var joined [n][n]int
	for draw := range draws {
		g := Plan{Setting: Setting{Clients: n}, Degree: 2, Shares: 2}.Graph([32]byte{byte(draw), byte(draw >> 8), 7})
		for i := range n {
			for _, j := range g.Neighbours(i) {
				joined[i][j]++
			}
		}
	}
	p := 2.0 / (n - 1)
	limit := 4.9 * math.Sqrt(draws*p*(1-p))
	for i := range n {
		for j := range i {
			if d := math.Abs(float64(joined[i][j]) - draws*p); d > limit {
				t.Errorf("clients %d and %d joined %d times, expected %.0f", i, j, joined[i][j], draws*p)
			}
		}
	}
}

// With few bits asked for, the failures that are allowed can be counted. Sample size 1,500 graphs with one fixed set of
// colluders and one of dropouts; the frequency may exceed the stated probability by 5 standard deviations (3e-7 a case).
func TestFailuresAreAsRareAsStated(t *testing.T) {
	for _, s := range []Setting{
		{Clients: 300, Colluders: 60, Dropouts: 30, Security: 5, Correctness: 5},
		{Clients: 300, Colluders: 15, Dropouts: 120, Security: 6, Correctness: 4},
	} {
		plan, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		const draws = 1500
		insecure, incorrect := 0, 0
		gone, colluder := make([]bool, s.Clients), make([]bool, s.Clients)
		for i := range s.Colluders + s.Dropouts {
			gone[i], colluder[i] = true, i < s.Colluders
		}
		for draw := range draws {
			g := plan.Graph([32]byte{byte(draw), byte(draw >> 8), 9})
			reached, missed := !connected(g, gone), false
			for i := range s.Clients {
				bad, stay := 0, 0
				for _, j := range g.Holders(i) {
					if colluder[j] {
						bad++
					}
					if !gone[j] || colluder[j] {
						stay++
					}
				}
				reached = reached || !colluder[i] && bad >= plan.Threshold
				missed = missed || stay < plan.Threshold
			}
			if reached {
				insecure++
			}
			if missed {
				incorrect++
			}
		}
		for name, c := range map[string]struct {
			count int
			bound float64
		}{"insecure": {insecure, plan.Insecure}, "incorrect": {incorrect, plan.Incorrect}} {
			p := math.Exp2(c.bound)
			if float64(c.count) > draws*p+5*math.Sqrt(draws*p)+5 {
				t.Errorf("%+v: %s %d times in %d, stated %g", s, name, c.count, draws, p)
			}
			t.Logf("k=%d t=%d: %s %d in %d, stated at most %.1f", plan.Degree, plan.Threshold, name, c.count, draws, draws*p)
		}
	}
}

// A plan keeps both conditions, and no smaller even degree does: looked for by brute force over all thresholds.
func TestNoSmallerDegreeWouldDo(t *testing.T) {
	for _, s := range []Setting{
		{Clients: 300, Colluders: 30, Dropouts: 30},
		{Clients: 1000, Colluders: 100, Dropouts: 100},
		{Clients: 1000, Colluders: 0, Dropouts: 100},
		{Clients: 1000, Colluders: 0, Dropouts: 0},
		{Clients: 10000, Colluders: 1000, Dropouts: 1000},
	} {
		plan, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		s = plan.Setting
		t.Logf("n=%d c=%d d=%d: k=%d t=%d, insecure 2^%.1f, incorrect 2^%.1f", s.Clients, s.Colluders, s.Dropouts, plan.Degree, plan.Threshold, plan.Insecure, plan.Incorrect)
		works := func(k, threshold int) bool {
			apart := torn(s.Clients, s.Colluders+s.Dropouts, k/2)
			reached := hypergeometric{s.Clients - 1, s.Colluders, k}.atLeast(threshold)
			missed := hypergeometric{s.Clients - 1, s.Clients - 1 - s.Dropouts, k}.atMost(threshold - 1)
			insecure := logAdd(apart, math.Log2(float64(s.Clients-s.Colluders))+reached)
			incorrect := math.Log2(float64(s.Clients)) + missed
			return insecure <= -s.Security && incorrect <= -s.Correctness
		}
		if !works(plan.Degree, plan.Threshold) || plan.Insecure > -s.Security || plan.Incorrect > -s.Correctness {
			t.Errorf("%+v does not keep its conditions", plan)
		}
		for k := 2; k < plan.Degree; k += 2 {
			for threshold := 2; threshold <= k; threshold++ {
				if works(k, threshold) {
					t.Errorf("%+v: degree %d with threshold %d would do", plan, k, threshold)
				}
			}
		}
	}
}

func TestFractionsAllowWholeClients(t *testing.T) {
	for _, c := range []struct {
		fraction float64
		clients  int
		want     int
	}{{0.1, 55, 5}, {0.1, 100, 10}, {0.07, 100, 7}, {0.29, 100, 29}, {0, 10, 0}, {1.0 / 3, 300, 100}} {
		if got := AtMost(c.fraction, c.clients); got != c.want {
			t.Errorf("AtMost(%g, %d) = %d, want %d", c.fraction, c.clients, got, c.want)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(Setting{Clients: 10000, Colluders: 1000, Dropouts: 1000}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	plan, err := New(Setting{Clients: 10000, Colluders: 1000, Dropouts: 1000})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		plan.Graph([32]byte{1}).Neighbours(5)
	}
}
