package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

// farthest is the largest distance between the empirical distribution of the sample and cdf (Kolmogorov-Smirnov) on
// [low, high]. By the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant it exceeds farthestAllowed with
// probability at most 1e-8.
func farthest(sample []float64, low, high float64, cdf func(float64) float64) float64 {
	slices.Sort(sample)
	n, distance := float64(len(sample)), 0.0
	for i, x := range sample {
		if x >= low && x <= high {
			f := cdf(x)
			distance = max(distance, float64(i+1)/n-f, f-float64(i)/n)
		}
	}
	return distance
}

func farthestAllowed(n int) float64 { return math.Sqrt(math.Log(2/1e-8) / (2 * float64(n))) }

// 20,000 variates for each of 8 shapes: false-alarm rate 1e-8 each.
func TestLogGammaVariateFollowsTheGammaLaw(t *testing.T) {
	const n = 20_000
	for _, test := range []struct {
		shape float64
		seed  uint64
	}{{MinAlpha, 1}, {0.01, 2}, {0.3, 3}, {0.999, 4}, {1, 5}, {2.5, 6}, {1000, 7}, {MaxAlpha, 8}} {
		random := rand.New(seeded(test.seed))
		sample := make([]float64, n)
		for i := range sample {
			sample[i] = logGammaVariate(test.shape, random)
			if math.IsNaN(sample[i]) || math.IsInf(sample[i], 0) {
				t.Fatalf("shape %g: variate %d is %g", test.shape, i, sample[i])
			}
		}
		distance := farthest(sample, math.Inf(-1), math.Inf(1), func(logX float64) float64 {
			if logX < -40 { // the first term of the series; the next is smaller by x < 1e-17
				logGamma, _ := math.Lgamma(test.shape + 1)
				return math.Exp(test.shape*logX - logGamma)
			}
			return mathext.GammaIncReg(test.shape, math.Exp(logX))
		})
		if distance > farthestAllowed(n) {
			t.Errorf("shape %g: distance %.4f from the gamma law, allowed %.4f", test.shape, distance, farthestAllowed(n))
		}
	}
}

// One share of a symmetric Dirichlet over m clients is Beta(alpha, (m-1) alpha). 10,000 draws for each case: false-alarm
// rate 1e-8 each. A share below 1e-300 or above 1-1e-9 may have been rounded to 0 or 1, so the law is compared between.
func TestDirichletSharesFollowTheBetaLaw(t *testing.T) {
	const n = 10_000
	for _, test := range []struct {
		alpha   float64
		clients int
		seed    uint64
	}{{MinAlpha, 10, 1}, {0.1, 10, 2}, {0.5, 3, 3}, {1, 100, 4}, {100, 10, 5}, {MaxAlpha, 2, 6}} {
		random := rand.New(seeded(test.seed))
		sample := make([]float64, n)
		for i := range sample {
			shares := dirichletShares(test.clients, test.alpha, random)
			sum := 0.0
			for _, share := range shares {
				sum += share
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("alpha %g: shares sum to %g", test.alpha, sum)
			}
			sample[i] = shares[i%test.clients]
		}
		distance := farthest(sample, 1e-300, 1-1e-9, func(x float64) float64 {
			return mathext.RegIncBeta(test.alpha, float64(test.clients-1)*test.alpha, x)
		})
		if distance > farthestAllowed(n) {
			t.Errorf("alpha %g, %d clients: distance %.4f from the beta law, allowed %.4f",
				test.alpha, test.clients, distance, farthestAllowed(n))
		}
	}
}

func TestDealByShareStaysWithinOneOfTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.IntRange(1, 50).Draw(t, "clients")
		records := count(rapid.IntRange(0, 500).Draw(t, "records"))
		random := rand.New(seeded(rapid.Uint64().Draw(t, "seed")))
		alpha := rapid.SampledFrom([]float64{MinAlpha, 0.1, 1, MaxAlpha}).Draw(t, "alpha")
		share := dirichletShares(clients, alpha, random)
		parts := make(Partition, clients)
		dealByShare(parts, random.Perm(clients), records, share, random.Float64())
		dealt := 0
		for c := range parts {
			dealt += len(parts[c])
			if want := share[c] * float64(len(records)); math.Abs(float64(len(parts[c]))-want) > 1+1e-9 {
				t.Fatalf("client %d got %d records for a share of %g", c, len(parts[c]), want)
			}
		}
		if dealt != len(records) {
			t.Fatalf("%d of %d records were dealt", dealt, len(records))
		}
	})
}

// 20,000 offsets for a share of 0.3 of one record: the count is binomial with standard deviation 65, and 6 of them are
// exceeded with probability 2e-9.
func TestDealByShareIsRightOnAverage(t *testing.T) {
	random := rand.New(seeded(11))
	got := 0
	for range 20_000 {
		parts := make(Partition, 3)
		dealByShare(parts, []int{2, 0, 1}, []int{0}, []float64{0.3, 0.5, 0.2}, random.Float64())
		got += len(parts[0])
	}
	if math.Abs(float64(got)-6000) > 6*65 {
		t.Errorf("a share of 0.3 got a single record %d times of 20000, want 6000 +- 390", got)
	}
}

// fillUp finds its level by bisection; the plain way is to move one record at a time from the largest client.
func TestFillUpLeavesTheSizesThatMovingOneByOneLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 20).Draw(t, "sizes")
		parts, n := make(Partition, len(before)), 0
		for c, size := range before {
			for range size {
				parts[c] = append(parts[c], n)
				n++
			}
		}
		minRecords := rapid.IntRange(0, n/len(before)).Draw(t, "minimum")

		plain := slices.Clone(before)
		for slices.Min(plain) < minRecords {
			plain[slices.Index(plain, slices.Max(plain))]--
			plain[slices.Index(plain, slices.Min(plain))]++
		}
		fillUp(parts, minRecords, rand.New(seeded(rapid.Uint64().Draw(t, "seed"))))

		var after []int
		for _, records := range parts {
			after = append(after, len(records))
		}
		slices.Sort(plain)
		slices.Sort(after)
		if !slices.Equal(plain, after) {
			t.Fatalf("sizes %v with minimum %d become %v, one by one %v", before, minRecords, after, plain)
		}
		all := slices.Concat(parts...)
		slices.Sort(all)
		if !slices.Equal(all, count(n)) {
			t.Fatalf("after filling up the records are %v, want 0 ... %d once each", all, n-1)
		}
	})
}

func TestDirichletGoesFromOneHolderToEqualShares(t *testing.T) {
	labels := balanced(10_000)
	set := &Set{Classes: 10, Labels: labels}
	for _, test := range []struct {
		alpha     float64
		low, high float64 // of the mean over classes of the largest part that one client of 10 holds
	}{
		// For alpha 1 the largest of ten shares is H(10)/10 = 0.293 on average, and the mean over ten classes has a
		// standard deviation of about 0.03. For 0.001 nine of ten shares vanish; for 1e6 all are 0.1 to within 1 %.
		{MinAlpha, 0.9, 1}, {1, 0.15, 0.5}, {MaxAlpha, 0.1, 0.102},
	} {
		t.Run(fmt.Sprintf("alpha %g", test.alpha), func(t *testing.T) {
			p, err := Dirichlet(labels, 10, 10, test.alpha, 1, seeded(3))
			if err != nil {
				t.Fatal(err)
			}
			largest := make([]int, 10)
			for _, records := range p {
				for label, k := range set.Histogram(records) {
					largest[label] = max(largest[label], k)
				}
			}
			mean := 0.0
			for _, k := range largest {
				mean += float64(k) / 1000 / 10
			}
			if mean < test.low || mean > test.high {
				t.Errorf("the largest holder of a class has %.3f of it, want between %g and %g", mean, test.low, test.high)
			}
		})
	}
}

func TestDirichletWithAsManyClientsAsRecordsEnds(t *testing.T) {
	const n = 20_000
	for _, alpha := range []float64{MinAlpha, 1, MaxAlpha} {
		p, err := Dirichlet(balanced(n), 10, n, alpha, 1, seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPartition(p, n, n); err != nil {
			t.Errorf("alpha %g: %v", alpha, err)
		}
	}
}

// Every record goes to exactly one client, everyone has as many, and a small alpha leaves a client few labels.
func TestEqualDirichletGivesEveryoneAsMany(t *testing.T) {
	labels := make([]uint8, 5003)
	for i := range labels {
		labels[i] = uint8(i % 10)
	}
	for _, alpha := range []float64{0.001, 0.5, 100} {
		parts, err := EqualDirichlet(labels, 10, 100, alpha, rand.NewPCG(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, len(labels))
		most := 0.0
		for c, records := range parts {
			if len(records) != 50 && len(records) != 51 {
				t.Fatalf("alpha %g: client %d has %d records", alpha, c, len(records))
			}
			counts := make([]int, 10)
			for _, r := range records {
				if seen[r] {
					t.Fatalf("alpha %g: record %d is dealt twice", alpha, r)
				}
				seen[r] = true
				counts[labels[r]]++
			}
			most += float64(slices.Max(counts)) / float64(len(records)) / 100
		}
		for r, dealt := range seen {
			if !dealt {
				t.Fatalf("alpha %g: record %d is dealt to nobody", alpha, r)
			}
		}
		// The largest share of a label, on average over the clients: nearly all at the smallest alpha, nearly a tenth at a large one.
		if alpha == 0.001 && most < 0.8 || alpha == 100 && most > 0.25 {
			t.Errorf("alpha %g: the commonest label of a client has %g of its records", alpha, most)
		}
	}
	if _, err := EqualDirichlet(labels, 10, 100, 0, rand.NewPCG(1, 2)); err == nil {
		t.Error("alpha 0 was accepted")
	}
}
