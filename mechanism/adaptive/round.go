package adaptive

import (
	"fmt"
	"math"

	"hubbub/noise"
)

// Round is [Released] with its intervals fixed. Its contributions are integers of 32 bits, as those of package mechanism.
//
// Guarantee: for all updates of one client and all others in their place, the contribution is a post-processing of a
// Gaussian mechanism with noise multiplier σ0. Weight m moves by at most D_m = 2q_m, exactly 2^(k+1) steps of its grid, and
// gets noise of variance σ0²·D_m·ΣD_k, so that Σ D_m²/σ_m² = 1/σ0². Among all allocations with that sum it has the
// smallest total variance (Cauchy and Schwarz). Data lie on the grid, so rounding the noise equals rounding data plus noise.
type Round struct {
	tensors Tensors
	grids   []tensorGrid
}

// tensorGrid is how one tensor's weights are sent.
type tensorGrid struct {
	halfInterval float64 // q
	sigma        float64 // standard deviation of the noise
	step         float64 // q / clip; 0 when nothing is sent
	clip         int64   // q in steps, a power of two
}

const (
	bits      = 32
	limit     = 1<<(bits-1) - 1
	mostSteps = 30    // q is at the most 2^30 steps
	smallest  = 1e-60 // below this a half interval counts as none: its square must not vanish
)

// lay chooses noise and grid for a tensor, given Σ_k D_k over all weights.
func (t *tensorGrid) lay(noiseLevel, total float64) {
	if t.halfInterval < smallest {
		return // the weights stay where they are, whatever the data: nothing to hide
	}
	// Rounded up by 2^-40, more than the floating-point error of this formula.
	t.sigma = noiseLevel * math.Sqrt(2*t.halfInterval*total) * (1 + 0x1p-40)
	// Noise past 12 standard deviations is cut off: that is post-processing, and has probability 4e-33.
	room := math.Floor(math.Log2(limit / (1 + 12*t.sigma/t.halfInterval)))
	if room < 0 {
		// The noise is more than a hundred million intervals wide. Whether it is depends on public values only.
		*t = tensorGrid{halfInterval: t.halfInterval}
		return
	}
	t.clip = 1 << int(min(room, mostSteps))
	t.step = t.halfInterval / float64(t.clip)
}

// HalfIntervals are the q of each tensor.
func (r *Round) HalfIntervals() []float64 {
	return r.each(func(t tensorGrid) float64 { return t.halfInterval })
}

// Sigmas are the standard deviations of the noise in each tensor's weights: 0 for a tensor of which nothing is sent.
func (r *Round) Sigmas() []float64 { return r.each(func(t tensorGrid) float64 { return t.sigma }) }

func (r *Round) each(value func(tensorGrid) float64) []float64 {
	out := make([]float64, len(r.grids))
	for g, t := range r.grids {
		out[g] = value(t)
	}
	return out
}

// BitsPerWeight is the size of a contribution on its way to the server.
func (r *Round) BitsPerWeight() int { return bits }

// Contribute cuts each weight's change to its interval, encodes it, adds noise, and adds the result to sum.
// An update is what the client trained less the newest model.
func (r *Round) Contribute(sum []int64, update []float32, random *noise.Stream) error {
	if len(sum) != r.tensors.weights() {
		return fmt.Errorf("adaptive: a sum of %d values, the tensors have %d", len(sum), r.tensors.weights())
	}
	if err := r.tensors.checkModel("update", update); err != nil {
		return err
	}
	var z [512]float64
	for g, t := range r.grids {
		if t.step == 0 {
			continue
		}
		sigma := t.sigma / t.step
		for start := r.tensors[g]; start < r.tensors[g+1]; start += len(z) {
			end := min(start+len(z), r.tensors[g+1])
			random.Gaussian(z[:end-start])
			for m := start; m < end; m++ {
				v := t.encode(update[m]) + int64(math.RoundToEven(z[m-start]*sigma))
				sum[m] += max(-limit, min(limit, v))
			}
		}
	}
	return nil
}

// encode rounds a change to the grid and cuts it to the interval, in integers, so that the bound on it is exact.
func (t tensorGrid) encode(change float32) int64 {
	steps := max(-float64(t.clip), min(float64(t.clip), float64(change)/t.step))
	return int64(math.RoundToEven(steps))
}

// Decode turns a sum of contributions into a mean update.
func (r *Round) Decode(mean []float32, sum []int64, divisor float64) {
	for g, t := range r.grids {
		for m := r.tensors[g]; m < r.tensors[g+1]; m++ {
			mean[m] = float32(float64(sum[m]) * t.step / divisor)
		}
	}
}
