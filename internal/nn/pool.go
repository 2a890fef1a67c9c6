package nn

import (
	"fmt"

	"hubbub/internal/kernel"
)

// pool says where the windows of maxPool and avgPool lie.
type pool struct {
	plain
	in, out      picture
	size, stride int
}

func newPool(in picture, l Layer) (pool, string) {
	p := pool{in: in, size: l.Size, stride: l.Stride}
	if p.size == 0 {
		p.size = 2
	}
	if p.stride == 0 {
		p.stride = p.size
	}
	if p.size > in.height || p.size > in.width {
		return p, fmt.Sprintf("a window of %dx%d does not fit into %dx%d pixels: lower size, or leave the layer out", p.size, p.size, in.height, in.width)
	}
	p.out = picture{(in.height-p.size)/p.stride + 1, (in.width-p.size)/p.stride + 1, in.channels}
	return p, ""
}

// eachPixel calls do for every row of the output and every pixel of a window, with where the row begins, where the pixel lies in the
// row's first window, and its number. From one window to the next it is stride pixels.
func (p pool) eachPixel(do func(out, in, pixel int)) {
	for row := range p.out.height {
		for i := range p.size {
			for j := range p.size {
				do(row*p.out.width*p.out.channels, ((row*p.stride+i)*p.in.width+j)*p.in.channels, i*p.size+j)
			}
		}
	}
}

// maxPool takes the largest number of each window, channel by channel, and keeps where in the window it was.
type maxPool struct{ pool }

func (p maxPool) keeps() int { return p.out.size() }

func (p maxPool) forward(_ *kernel.Workspace, v visit) {
	c, step := p.in.channels, p.stride*p.in.channels
	p.eachPixel(func(out, in, pixel int) {
		row, which := v.out[out:out+p.out.width*c], v.kept[out:out+p.out.width*c]
		if pixel > 0 {
			kernel.Larger(row, which, v.in[in:], float32(pixel), c, step)
			return
		}
		clear(which)
		for column := range p.out.width {
			copy(row[column*c:(column+1)*c], v.in[in+column*step:])
		}
	})
}

// backward gives each delta to the first pixel of the window that had the maximum.
func (p maxPool) backward(_ *kernel.Workspace, v visit) {
	if v.dIn == nil {
		return
	}
	give := kernel.SetWhere // each pixel lies in one window
	if p.stride < p.size {
		give = kernel.AddWhere
	}
	if p.stride != p.size || p.in.height%p.size > 0 || p.in.width%p.size > 0 { // or in several, or in none
		clear(v.dIn)
	}
	c := p.in.channels
	p.eachPixel(func(out, in, pixel int) {
		end := out + p.out.width*c
		give(v.dIn[in:], v.dOut[out:end], v.kept[out:end], float32(pixel), c, p.stride*c)
	})
}

// avgPool takes the mean of each window.
type avgPool struct{ pool }

func (p avgPool) share() float32 { return 1 / float32(p.size*p.size) }

func (p avgPool) forward(_ *kernel.Workspace, v visit) {
	clear(v.out)
	p.eachPair(func(out, in int) { kernel.Axpy(v.out[out:out+p.out.channels], p.share(), v.in[in:in+p.in.channels]) })
}

func (p avgPool) backward(_ *kernel.Workspace, v visit) {
	if v.dIn == nil {
		return
	}
	clear(v.dIn)
	p.eachPair(func(out, in int) { kernel.Axpy(v.dIn[in:in+p.in.channels], p.share(), v.dOut[out:out+p.out.channels]) })
}

// eachPair calls do for every output pixel and every input pixel of its window, with where they begin.
func (p pool) eachPair(do func(out, in int)) {
	p.eachPixel(func(out, in, _ int) {
		for column := range p.out.width {
			do(out+column*p.out.channels, in+column*p.stride*p.in.channels)
		}
	})
}
