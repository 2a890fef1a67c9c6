package mechanism

import (
	"fmt"
	"math"

	"hubbub/accountant"
	"hubbub/internal/kernel"
	"hubbub/noise"
)

// Place says who adds the noise.
type Place string

// The places.
const (
	Central Place = "central" // the server, once, to the sum: it must be trusted with every update
	Local   Place = "local"   // every client, to its own update: the server need not be trusted
)

// Gaussian clips updates to an L2 norm and adds normal noise of standard deviation NoiseMultiplier·Clip.
//
// Guarantee: for all cohorts and all updates of one client, or none of it, the noised sum (central) or the noised
// contribution (local) is a post-processing of the Gaussian mechanism with sensitivity 1 and this noise multiplier: data
// lie on the grid, so rounding the noise alone equals rounding data plus noise.
type Gaussian struct {
	place           Place
	clip            float64
	noiseMultiplier float64
	grid            grid
}

// largestContribution is the largest integer that a noised contribution holds: it fits 32 bits.
const largestContribution = 1<<31 - 1

// maxNoise keeps the noise of 2^20 clients on the central grid within an int64.
const maxNoise = 1 << 20

// NewGaussian checks its arguments; past here nothing re-checks.
func NewGaussian(place Place, clip, noiseMultiplier float64) (*Gaussian, error) {
	if place != Central && place != Local {
		return nil, fmt.Errorf("mechanism: place %q is neither %q nor %q", place, Central, Local)
	}
	if !(clip > 0 && clip <= math.MaxFloat32) {
		return nil, fmt.Errorf("mechanism: clip %g outside (0, 3.4e38]", clip)
	}
	if !(noiseMultiplier > 0 && noiseMultiplier <= maxNoise) {
		return nil, fmt.Errorf("mechanism: noise multiplier %g outside (0, %d]", noiseMultiplier, maxNoise)
	}
	g := &Gaussian{place: place, clip: clip, noiseMultiplier: noiseMultiplier}
	largest := clip
	if place == Local {
		// Noise past 12 standard deviations is cut off: that is post-processing, and has probability 4e-33.
		largest += 12 * noiseMultiplier * clip
	}
	g.grid = grid(largest * 0x1p-30) // a contribution fits 32 bits
	return g, nil
}

// Scaled is the mechanism with so many times the noise.
func (g *Gaussian) Scaled(factor float64) (*Gaussian, error) {
	return NewGaussian(g.place, g.clip, g.noiseMultiplier*factor)
}

// Event is the price of one release (central) or of one contribution (local).
func (g *Gaussian) Event() accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: g.noiseMultiplier}
}

// ClipNorm is the L2 bound on one client's update.
func (g *Gaussian) ClipNorm() float64 { return g.clip }

// BitsPerWeight is the size of a contribution on its way to the server.
func (g *Gaussian) BitsPerWeight() int { return 32 }

// Contribute clips and encodes the update, adds the client's own noise if it is local, and adds the result to sum.
func (g *Gaussian) Contribute(sum []int64, update []float32, random *noise.Stream) error {
	if err := checkUpdate(update, len(sum)); err != nil {
		return err
	}
	factor := ClipFactor(kernel.SumSquares(update), g.clip)
	if g.place == Central {
		g.grid.add(sum, update, factor)
		return nil
	}
	var space [noiseBlock]int64
	for at := 0; at < len(update); at += noiseBlock {
		noised := space[:min(noiseBlock, len(update)-at)]
		// Towards zero: much noise makes the grid coarse, and rounding to the nearest step could then exceed the clip.
		kernel.Truncate(noised, update[at:at+len(noised)], factor/float64(g.grid))
		g.addNoise(noised, random)
		kernel.AddClamped(sum[at:at+len(noised)], noised, largestContribution)
	}
	return nil
}

// noiseBlock is how many numbers are noised at a time; a multiple of 16, since normal numbers are drawn in such groups.
const noiseBlock = 512

// ContributeSum adds the float32 sum of at most MaxBatch updates that were already scaled by [ClipFactor].
// Local noise belongs to each client's own update, so only a central mechanism has it.
func (g *Gaussian) ContributeSum(sum []int64, clipped []float32) error {
	if g.place == Local {
		panic("mechanism: internal error: local noise cannot be added to a sum of clients")
	}
	if err := checkUpdate(clipped, len(sum)); err != nil {
		return err
	}
	g.grid.add(sum, clipped, 1)
	return nil
}

// ServerNoise adds the server's noise to a sum of contributions; a local mechanism's is in there already.
func (g *Gaussian) ServerNoise(sum []int64, random *noise.Stream) {
	if g.place == Central {
		g.addNoise(sum, random)
	}
}

func (g *Gaussian) addNoise(x []int64, random *noise.Stream) {
	sigma := g.noiseMultiplier * g.clip / float64(g.grid) // σ = z·C, in steps of the grid
	var block [noiseBlock]float64
	for len(x) > 0 {
		n := min(len(x), len(block))
		random.Gaussian(block[:n])
		kernel.AddNearest64(x[:n], block[:n], sigma)
		x = x[n:]
	}
}

// Decode turns a sum of contributions into a mean.
func (g *Gaussian) Decode(mean []float32, sum []int64, divisor float64) {
	g.grid.decode(mean, sum, divisor)
}
