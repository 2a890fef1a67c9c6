package sums

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Attacker is a curious server that sees a sum of updates and knows how updates are distributed: it takes the sum of the others for
// Gaussian, with the mean and the covariance that it estimated (the paper's section 4.5). What it assumes makes it weaker or
// stronger, but never makes what is measured of it wrong.
type Attacker struct {
	dim      int
	clients  int   // the others in a sum
	varying  []int // entries that differ between clients
	constant []int
	mean     []float64
	root     *Factor // of the covariance of one update
}

// A ridge is added to every variance, as a share of it, before the covariance is inverted: directions in which updates do not differ at
// all, up to rounding, must not be divided by. It is raised until the matrix is positive.
const (
	exactRidge   = 1e-9
	fastRidge    = 1e-5 // where the covariance comes from products in float32
	largestRidge = 1
)

// RoundingRidge keeps the directions in which updates differ by the rounding of float32 weights alone, some 1e-10 of their variances and
// less: who sees a sum to the last bit can use them too.
const RoundingRidge = 1e-11

// View is what an attacker sees.
type View struct {
	Clients int     // the others in a sum
	Noise   float64 // variance of the noise that is added to each entry of a sum; 0: none
	Ridge   float64 // added to every variance, as a share of it; 0: one that leaves rounding out
}

// NewAttacker uses the moments up. The others' covariances add, so those of one update are enough.
func NewAttacker(m *Moments, v View, each Each) (*Attacker, error) {
	switch {
	case v.Clients < 1:
		return nil, fmt.Errorf("sums: %d other clients: there must be at least 1", v.Clients)
	case !(v.Noise >= 0) || math.IsInf(v.Noise, 1):
		return nil, fmt.Errorf("sums: noise of variance %g: it must be finite and at least 0", v.Noise)
	case !(v.Ridge >= 0) || v.Ridge > largestRidge:
		return nil, fmt.Errorf("sums: ridge %g outside 0 to %d", v.Ridge, largestRidge)
	}
	if m.count < 2 {
		return nil, fmt.Errorf("sums: %d updates were sampled: a covariance needs at least 2, a good one several times the %d entries", m.count, m.dim)
	}
	a := &Attacker{dim: m.dim, clients: v.Clients, varying: m.varying(v.Noise), mean: m.Mean()}
	if len(a.varying) == 0 {
		return nil, fmt.Errorf("sums: all %d updates are the same: %w in any direction", m.count, ErrLeaks)
	}
	seen := make([]bool, m.dim)
	for _, j := range a.varying {
		seen[j] = true
	}
	for j, s := range seen {
		if !s {
			a.constant = append(a.constant, j)
		}
	}
	ridge := v.Ridge
	switch {
	case ridge > 0:
	case m.dim > exactDim:
		ridge = fastRidge
	default:
		ridge = exactRidge
	}
	var err error
	a.root, err = ridged(m.covariance(a.varying), ridge, v.Noise/float64(v.Clients), each)
	return a, err
}

// ridged factorizes a covariance with a ridge, and each client's part of the noise. What lies above the diagonal keeps the matrix for
// another try.
func ridged(c Covariance, ridge, noise float64, each Each) (*Factor, error) {
	d := c.Dim
	own := make([]float64, d)
	for i := range d {
		own[i] = c.at(i, i)
		for j := range i {
			c.Values[j*d+i] = c.at(i, j)
		}
	}
	for {
		for i := range d {
			c.Values[i*d+i] = own[i]*(1+ridge) + noise
			for j := range i {
				c.Values[i*d+j] = c.Values[j*d+i]
			}
		}
		f, err := Factorize(c, each)
		if err == nil || !errors.Is(err, ErrLeaks) || ridge >= largestRidge {
			return f, err
		}
		ridge *= 10
	}
}

// Varying is the number of entries that differ between clients. The others hide nothing, and are the same for everybody.
func (a *Attacker) Varying() int { return len(a.varying) }

// whiten takes the varying entries of updates, with the mean of one update off, to units in which the covariance of one is the identity.
func (a *Attacker) whiten(updates []float32, each Each) ([]float64, error) {
	if len(updates) == 0 || len(updates)%a.dim != 0 {
		return nil, fmt.Errorf("sums: %d numbers are no updates with %d entries", len(updates), a.dim)
	}
	n, k := len(updates)/a.dim, len(a.varying)
	white := make([]float64, n*k)
	for i := range n {
		for b, j := range a.varying {
			white[i*k+b] = float64(updates[i*a.dim+j]) - a.mean[j]
		}
	}
	return white, a.root.Whiten(white, each)
}

// WorstPair finds the two candidates that are easiest to tell apart in a sum (the paper's equation 10).
func (a *Attacker) WorstPair(candidates []float32, each Each) (i, j int, err error) {
	white, err := a.whiten(candidates, each)
	if err != nil {
		return 0, 0, err
	}
	k := len(a.varying)
	n := len(white) / k
	if n < 2 {
		return 0, 0, fmt.Errorf("sums: %d candidate: a pair needs 2", n)
	}
	square := make([]float64, n)
	for r := range n {
		square[r] = squares(white[r*k : (r+1)*k])
	}
	blocks := (n + block - 1) / block
	type pair struct {
		distance float64
		i, j     int
	}
	best := make([]pair, blocks)
	each(blocks, func(b int) {
		from, to := b*block, min((b+1)*block, n)
		products := blas64.General{Rows: to - from, Cols: n, Stride: n, Data: make([]float64, (to-from)*n)}
		rows := blas64.General{Rows: to - from, Cols: k, Stride: k, Data: white[from*k : to*k]}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, rows, blas64.General{Rows: n, Cols: k, Stride: k, Data: white}, 0, products)
		for r := from; r < to; r++ {
			for s := range r {
				if d := square[r] + square[s] - 2*products.Data[(r-from)*n+s]; d > best[b].distance {
					best[b] = pair{d, s, r}
				}
			}
		}
	})
	worst := best[0]
	for _, p := range best[1:] {
		if p.distance > worst.distance {
			worst = p
		}
	}
	if worst.distance == 0 {
		return 0, 0, fmt.Errorf("sums: all candidates are alike: nothing tells them apart")
	}
	return worst.i, worst.j, nil
}

// Farthest finds the candidate that is easiest to tell, in a sum, from one update.
func (a *Attacker) Farthest(candidates, from []float32, each Each) (int, error) {
	if len(candidates) == 0 || len(from) != a.dim {
		return 0, fmt.Errorf("sums: no candidate, or an update of %d entries instead of %d", len(from), a.dim)
	}
	white, err := a.whiten(append(append([]float32(nil), candidates...), from...), each)
	if err != nil {
		return 0, err
	}
	k := len(a.varying)
	n := len(white)/k - 1
	origin := white[n*k:]
	best, at := 0.0, 0
	for i := range n {
		distance := 0.0
		for b, v := range white[i*k : (i+1)*k] {
			distance += (v - origin[b]) * (v - origin[b])
		}
		if distance > best {
			best, at = distance, i
		}
	}
	return at, nil
}

// Test tells from a sum which of two updates went in, by the likelihood ratio of two Gaussians (the paper's equation 11). It is
// linear in the sum, so that each client's update can be scored by itself.
type Test struct {
	weights  []float64
	first    float64 // score of the one update, and
	second   float64 // of the other
	clients  int     // the others in a sum
	distance float64 // between them, in standard deviations of the others' sum, if that is as it was estimated
	expected float64 // score of the sum of the others
	bare     int     // entries that differ between the two and in no sampled update
}

// Test prepares to tell two updates apart.
func (a *Attacker) Test(first, second []float32) (*Test, error) {
	if len(first) != a.dim || len(second) != a.dim {
		return nil, fmt.Errorf("sums: updates of %d and %d entries, sampled ones have %d", len(first), len(second), a.dim)
	}
	bare := 0
	for _, j := range a.constant {
		if first[j] != second[j] {
			bare++
		}
	}
	both, err := a.whiten(append(append([]float32(nil), first...), second...), OneByOne)
	if err != nil {
		return nil, err
	}
	k := len(a.varying)
	white := make([]float64, k)
	for b := range white {
		white[b] = both[k+b] - both[b]
	}
	square := squares(white)
	if square == 0 {
		return nil, fmt.Errorf("sums: the two updates are the same: nothing tells them apart")
	}
	a.root.unwhiten(white)
	t := &Test{weights: make([]float64, a.dim), bare: bare, clients: a.clients, distance: math.Sqrt(square / float64(a.clients))}
	// In units of the standard deviation of the others' sum.
	scale := 1 / math.Sqrt(square*float64(a.clients))
	for b, j := range a.varying {
		t.weights[j] = white[b] * scale
		t.expected += float64(a.clients) * t.weights[j] * a.mean[j]
	}
	t.first, t.second = t.Score(first), t.Score(second)
	return t, nil
}

// Among is the same test for sums over another number of other clients, where there is no noise but theirs. Its scores are those of t
// times the factor.
func (t *Test) Among(clients int) (other *Test, factor float64, err error) {
	if clients < 1 {
		return nil, 0, fmt.Errorf("sums: %d other clients: there must be at least 1", clients)
	}
	factor = math.Sqrt(float64(t.clients) / float64(clients))
	o := *t
	o.clients = clients
	o.weights = make([]float64, len(t.weights))
	for j, w := range t.weights {
		o.weights[j] = w * factor
	}
	o.first, o.second, o.distance = t.first*factor, t.second*factor, t.distance*factor
	o.expected = t.expected * factor * float64(clients) / float64(t.clients)
	return &o, factor, nil
}

// Distance is how far apart the two updates are, in standard deviations of the others' sum as it was estimated.
func (t *Test) Distance() float64 { return t.distance }

// Bare counts the entries in which the two updates differ and no sampled update did: what stands there is seen as it is. The test leaves
// them out, since what it measures should be hidden by something.
func (t *Test) Bare() int { return t.bare }

// Score is a client's share of the statistic. Scores add up as updates do.
func (t *Test) Score(update []float32) float64 {
	total := 0.0
	for j, v := range update {
		total += t.weights[j] * float64(v)
	}
	return total
}

// Whole is what the test makes of the score of a whole sum, the target's update in it.
func (t *Test) Whole(score float64) float64 { return score - t.expected - (t.first+t.second)/2 }

// Statistics are what the test sees of a sum in which the others' scores add up to this, with the first and with the second update:
// about Normal(-distance/2, 1) and Normal(distance/2, 1).
func (t *Test) Statistics(others float64) (withFirst, withSecond float64) {
	return t.Whole(others + t.first), t.Whole(others + t.second)
}
