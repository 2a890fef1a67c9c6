package experiment

import (
	"fmt"
	"math"
	"slices"

	"hubbub/internal/kernel"
	"hubbub/mechanism"
	"hubbub/noise"
)

// canaries are clients that an audit plants behind the others. Each has a random direction and a coin of its own: heads, and it sends
// an update along its direction whenever it is drawn; tails, and it sends zeros, which tell nothing.
type canaries struct {
	first  int // clients from here on are canaries
	norm   float64
	in     []bool     // the coins
	signs  [][]uint64 // the directions: a bit for each weight, set: minus
	weight float32    // of one coordinate of an update

	sum  []float64 // of all releases so far
	rest []float64 // the same without what is known of the other clients
	took []float64 // by canary: how far the rest lies along its direction, in those rounds that it took part in

	// knowsAll is an attack's right: privacy must hold against those who know all data but the target's. Only where the others'
	// presence tells of the target's own, in a cohort of fixed size, those who see releases must do without.
	knowsAll bool
	clipped  func(update []float32) (factor float64) // what a mechanism leaves of an update on average; nil: not known
}

// plantCanaries gives every canary its coin and its direction.
func (f *Federation) plantCanaries(count int) error {
	if _, ok := f.way.client.(updates); !ok || f.Facts.Unit == "record" {
		return f.Config.refuse("privacy.mechanism", "cannot be audited by canaries, which are clients with an update of their own: try hubbub audit mechanism %s", f.Config.Privacy.Mechanism.Kind)
	}
	d := f.Net.Size()
	k := &canaries{
		first: len(f.Parts) - count, norm: f.Facts.Clip, in: make([]bool, count), signs: make([][]uint64, count),
		sum: make([]float64, d), rest: make([]float64, d), took: make([]float64, count),
		knowsAll: f.Facts.Poisson || f.Facts.CohortSize == float64(len(f.Parts)),
		clipped:  f.clipped(),
	}
	switch {
	case f.Facts.AnyChange: // cut to the interval of each weight, whatever it is
		k.norm = 1e3 * math.Sqrt(float64(d))
	case k.norm == 0: // nothing clips
		k.norm = 1
	}
	k.weight = float32(k.norm / math.Sqrt(float64(d)))
	coins := f.key.Derive("canary coins").Stream()
	for i := range k.in {
		k.in[i] = coins.Coin(0.5)
		k.signs[i] = directionOf(f.key.Derive("canary", uint64(i)), d)
	}
	f.canaries = k
	return nil
}

// clipped gives the factor by which the mechanism shortens an update. The mixture mechanism and intervals bend it instead.
func (f *Federation) clipped() func([]float32) float64 {
	clip := f.Facts.Clip
	switch kind := f.Config.Privacy.Mechanism.Kind; {
	case kind == "smm" || f.Facts.AnyChange:
		return nil
	case kind == "none":
		return func([]float32) float64 { return 1 }
	case kind == "laplace":
		return func(update []float32) float64 {
			norm := 0.0
			for _, v := range update {
				norm += math.Abs(float64(v))
			}
			return min(1, clip/norm)
		}
	}
	return func(update []float32) float64 { return mechanism.ClipFactor(kernel.SumSquares(update), clip) }
}

// remember adds what an ordinary client sent, but for noise and rounding, to what is known.
func (k *canaries) remember(w *worker) {
	if k.clipped == nil {
		return
	}
	if w.known == nil {
		w.known = make([]float64, len(w.update))
	}
	factor := k.clipped(w.update)
	for j, v := range w.update {
		w.known[j] += factor * float64(v)
	}
}

func directionOf(key noise.Key, weights int) []uint64 {
	random, words := key.Stream(), make([]uint64, (weights+63)/64)
	for i := range words {
		words[i] = random.Uint64()
	}
	return words
}

// contribute sends what the canary's coin says, through the mechanism of the round.
func (k *canaries) contribute(w *worker, client clientSide, n int, random noise.Key) error {
	way, ok := client.(updates)
	if !ok {
		return fmt.Errorf("audit: internal error: a canary without a mechanism on updates")
	}
	i := n - k.first
	clear(w.update)
	if k.in[i] {
		for j := range w.update {
			w.update[j] = flip(k.weight, k.signs[i], j)
		}
	}
	return way.mechanism.Contribute(w.sum, w.update, random.Derive("noise").Stream())
}

// flip gives x the sign of the direction at weight j.
func flip(x float32, signs []uint64, j int) float32 {
	bit := uint32(signs[j/64]>>(j%64)) & 1
	return math.Float32frombits(math.Float32bits(x) ^ bit<<31)
}

// observe takes note of a release, as those do who attack. What the workers remember of the others is taken out, and forgotten.
func (k *canaries) observe(mean []float32, divisor float64, cohort []int, workers []*worker) {
	rest := make([]float64, len(mean))
	for j, v := range mean {
		k.sum[j] += float64(v)
		rest[j] = float64(v)
	}
	released := rest
	if !k.knowsAll {
		released = slices.Clone(rest)
	}
	for _, w := range workers {
		for j, v := range w.known {
			rest[j] -= v / divisor
		}
		clear(w.known)
	}
	for j, v := range released {
		k.rest[j] += v
	}
	for _, n := range cohort {
		if i := n - k.first; i >= 0 {
			k.took[i] += along(k.signs[i], rest)
		}
	}
}

// along is how far x lies along a direction, in units of its root of weights.
func along[T float32 | float64](signs []uint64, x []T) float64 {
	sum := 0.0
	for w, word := range signs {
		for _, v := range x[w*64 : min(len(x), (w+1)*64)] {
			bits := math.Float64bits(float64(v)) ^ word<<63
			sum += math.Float64frombits(bits)
			word >>= 1
		}
	}
	return sum
}

// all is how far the releases, without what is known of the others, lie along each direction.
func (k *canaries) all() []float64 {
	scores := make([]float64, len(k.signs))
	for i, signs := range k.signs {
		scores[i] = along(signs, k.rest)
	}
	return scores
}

// guess says of the highest scores that their canaries were in, and of the lowest that they were out; guesses in all. It counts
// the correct ones.
func (k *canaries) guess(scores []float64, guesses int) (correct int) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	low := guesses / 2
	for _, i := range order[:low] {
		if !k.in[i] {
			correct++
		}
	}
	for _, i := range order[len(order)-(guesses-low):] {
		if k.in[i] {
			correct++
		}
	}
	return correct
}

// cosines are those between the canaries that are in and the sum of all releases.
func (k *canaries) cosines() []float64 {
	square := 0.0
	for _, v := range k.sum {
		square += v * v
	}
	if square == 0 {
		return nil
	}
	scale := 1 / math.Sqrt(square*float64(len(k.sum)))
	var list []float64
	for i, signs := range k.signs {
		if k.in[i] {
			list = append(list, along(signs, k.sum)*scale)
		}
	}
	return list
}
