package mechanism

import (
	"fmt"
	"math"

	"hubbub/accountant"
	"hubbub/noise"
)

// Laplace clips updates to an L1 norm and adds Laplace noise of scale Scale·Clip: pure differential privacy.
//
// Guarantee: for all cohorts and all updates of one client, or none of it, the noised sum (central) or the noised
// contribution (local) is a post-processing of the Laplace mechanism with sensitivity 1 and this scale: data lie on the
// grid, so rounding the noise alone equals rounding data plus noise.
//
// [DMNS06] Dwork, McSherry, Nissim, Smith, Calibrating noise to sensitivity in private data analysis, TCC 2006
type Laplace struct {
	place Place
	clip  float64
	scale float64
	grid  grid
}

// laplaceReach is the largest standard Laplace number that 64 bits can make: ln 2^64 = 44.4.
const laplaceReach = 45

// NewLaplace checks its arguments; past here nothing re-checks. scale is the noise's scale relative to clip.
func NewLaplace(place Place, clip, scale float64) (*Laplace, error) {
	if place != Central && place != Local {
		return nil, fmt.Errorf("mechanism: place %q is neither %q nor %q", place, Central, Local)
	}
	if !(clip > 0 && clip <= math.MaxFloat32) {
		return nil, fmt.Errorf("mechanism: clip %g outside (0, 3.4e38]", clip)
	}
	if !(scale > 0 && scale <= maxNoise) {
		return nil, fmt.Errorf("mechanism: scale %g outside (0, %d]: it is relative to the clip", scale, maxNoise)
	}
	l := &Laplace{place: place, clip: clip, scale: scale}
	largest := clip
	if place == Local {
		largest += laplaceReach * scale * clip
	}
	l.grid = grid(largest * 0x1p-30) // a contribution fits 32 bits
	return l, nil
}

// Event is the price of one release (central) or of one contribution (local).
func (l *Laplace) Event() accountant.Event { return accountant.Laplace{Scale: l.scale} }

// ClipNorm is the L1 bound on one client's update, and so a bound on its L2 norm.
func (l *Laplace) ClipNorm() float64 { return l.clip }

// BitsPerWeight is the size of a contribution on its way to the server.
func (l *Laplace) BitsPerWeight() int { return 32 }

// Contribute clips and encodes the update, adds the client's own noise if it is local, and adds the result to sum.
func (l *Laplace) Contribute(sum []int64, update []float32, random *noise.Stream) error {
	if err := checkUpdate(update, len(sum)); err != nil {
		return err
	}
	factor := 1.0
	if norm, bound := sumAbsolute(update), l.clip*(1-clipSlack); norm > bound {
		factor = bound / norm
	}
	// Towards zero: rounding d coordinates to the nearest step could add d/2 steps to the norm.
	steps := factor / float64(l.grid)
	for i, v := range update {
		sum[i] += int64(float64(v) * steps)
	}
	if l.place == Local {
		l.addNoise(sum, random)
	}
	return nil
}

func sumAbsolute(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(float64(v))
	}
	return sum
}

// ContributeSum refuses: callers that sum clipped updates clip their L2 norm, which does not bound the L1 norm.
func (l *Laplace) ContributeSum([]int64, []float32) error { return ErrOneByOne }

// ServerNoise adds the server's noise to a sum of contributions; a local mechanism's is in there already.
func (l *Laplace) ServerNoise(sum []int64, random *noise.Stream) {
	if l.place == Central {
		l.addNoise(sum, random)
	}
}

// addNoise turns 64 bits into the size and one more into the sign, so the tail ends at 44.4 scales, beyond which a Laplace
// number lies with probability 5e-20.
func (l *Laplace) addNoise(x []int64, random *noise.Stream) {
	scale := l.scale * l.clip / float64(l.grid)
	var signs uint64
	for i := range x {
		if i%64 == 0 {
			signs = random.Uint64()
		}
		u := (float64(random.Uint64()) + 0.5) * 0x1p-64 // in (0, 1]
		size := int64(math.RoundToEven(-math.Log(u) * scale))
		sign := int64(signs & 1)
		signs >>= 1
		x[i] += (size ^ -sign) + sign // size or -size
	}
}

// Decode turns a sum of contributions into a mean.
func (l *Laplace) Decode(mean []float32, sum []int64, divisor float64) {
	l.grid.decode(mean, sum, divisor)
}
