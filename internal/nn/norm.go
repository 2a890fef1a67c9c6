package nn

import (
	"math"

	"hubbub/internal/kernel"
)

// groupNorm gives each group of channels of one example mean 0 and variance 1, then scales and shifts each channel
// (Wu and He 2018, arXiv:1803.08494). One example's statistics tell nothing of another's.
type groupNorm struct {
	plain
	shape  picture
	groups int
	at     int // of scales, then shifts, in the weight vector
}

// spread keeps a group of equal numbers from a division by zero; PyTorch and the paper's code use the same value.
const spread = 1e-5

func (n groupNorm) keeps() int { return 2 * n.groups } // mean and 1/deviation of every group

// weights are the scales and shifts of a vector laid out as the network's weights.
func (n groupNorm) weights(params []float32) (scales, shifts []float32) {
	c := n.shape.channels
	return params[n.at : n.at+c], params[n.at+c : n.at+2*c]
}

func (n groupNorm) forward(_ *kernel.Workspace, v visit) {
	c, width := n.shape.channels, n.shape.channels/n.groups
	scales, shifts := n.weights(v.params)
	members := float64(n.shape.size() / n.groups)
	for g := range n.groups {
		sum, squares := 0.0, 0.0
		for at := g * width; at < len(v.in); at += c {
			for _, x := range v.in[at : at+width] {
				sum += float64(x)
			}
		}
		mean := sum / members
		for at := g * width; at < len(v.in); at += c {
			for _, x := range v.in[at : at+width] {
				squares += (float64(x) - mean) * (float64(x) - mean)
			}
		}
		v.kept[2*g], v.kept[2*g+1] = float32(mean), float32(1/math.Sqrt(squares/members+spread))
	}
	for at := 0; at < len(v.in); at += c {
		for j := range c {
			mean, inverse := v.kept[j/width*2], v.kept[j/width*2+1]
			v.out[at+j] = (v.in[at+j]-mean)*inverse*scales[j] + shifts[j]
		}
	}
}

// backward: with x̂ the normalised input and δ = scale·dOut, dIn = (δ - mean(δ) - x̂·mean(δ·x̂)) / deviation, means over the group.
func (n groupNorm) backward(_ *kernel.Workspace, v visit) {
	c, width := n.shape.channels, n.shape.channels/n.groups
	scales, _ := n.weights(v.params)
	dScales, dShifts := n.weights(v.gradient)
	members := float64(n.shape.size() / n.groups)
	for g := range n.groups {
		mean, inverse := v.kept[2*g], v.kept[2*g+1]
		sum, along := 0.0, 0.0 // of δ and δ·x̂ over the group
		for j := g * width; j < (g+1)*width; j++ {
			dShift, dScale := 0.0, 0.0
			for at := j; at < len(v.in); at += c {
				normal, delta := float64((v.in[at]-mean)*inverse), float64(v.dOut[at])
				dShift += delta
				dScale += delta * normal
			}
			sum += float64(scales[j]) * dShift
			along += float64(scales[j]) * dScale
			if v.add {
				dShift, dScale = dShift+float64(dShifts[j]), dScale+float64(dScales[j])
			}
			dShifts[j], dScales[j] = float32(dShift), float32(dScale)
		}
		if v.dIn == nil {
			continue
		}
		sum, along = sum/members, along/members
		for at := g * width; at < len(v.in); at += c {
			for j := range width {
				normal := float64((v.in[at+j] - mean) * inverse)
				delta := float64(scales[g*width+j]) * float64(v.dOut[at+j])
				v.dIn[at+j] = float32((delta - sum - normal*along) * float64(inverse))
			}
		}
	}
}
