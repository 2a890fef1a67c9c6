package nn

import (
	"fmt"

	"hubbub/internal/kernel"
)

// pool says where the windows of maxPool and avgPool lie.
type pool struct {
	weightless
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

// at is where an output pixel's channels begin, and those of the first pixel of its window.
func (p pool) at(row, column int) (in, out int) {
	return (row*p.stride*p.in.width + column*p.stride) * p.in.channels, (row*p.out.width + column) * p.out.channels
}

// maxPool takes the largest number of each window, channel by channel.
type maxPool struct{ pool }

func (p maxPool) forward(_ *kernel.Workspace, v visit) {
	c, line := p.in.channels, p.in.width*p.in.channels
	for row := range p.out.height {
		for column := range p.out.width {
			in, out := p.at(row, column)
			best := v.out[out : out+c]
			copy(best, v.in[in:])
			for i := range p.size {
				for j := range p.size {
					if i+j > 0 {
						from := in + i*line + j*c
						kernel.Larger(best, v.in[from:from+c])
					}
				}
			}
		}
	}
}

// backward gives each delta to the first pixel of the window that equals the maximum.
func (p maxPool) backward(_ *kernel.Workspace, v visit) {
	if v.dIn == nil {
		return
	}
	clear(v.dIn)
	c, line := p.in.channels, p.in.width*p.in.channels
	for row := range p.out.height {
		for column := range p.out.width {
			in, out := p.at(row, column)
			for i := range p.size {
				for j := range p.size {
					from := in + i*line + j*c
					kernel.GiveToEqual(v.dIn[from:from+c], v.dOut[out:out+c], v.in[from:from+c], v.out[out:out+c])
				}
			}
		}
	}
}

// avgPool takes the mean of each window.
type avgPool struct{ pool }

func (p avgPool) forward(_ *kernel.Workspace, v visit) {
	c, line := p.in.channels, p.in.width*p.in.channels
	share := 1 / float32(p.size*p.size)
	for row := range p.out.height {
		for column := range p.out.width {
			in, out := p.at(row, column)
			mean := v.out[out : out+c]
			clear(mean)
			for i := range p.size {
				for j := range p.size {
					from := in + i*line + j*c
					kernel.Axpy(mean, share, v.in[from:from+c])
				}
			}
		}
	}
}

func (p avgPool) backward(_ *kernel.Workspace, v visit) {
	if v.dIn == nil {
		return
	}
	clear(v.dIn)
	c, line := p.in.channels, p.in.width*p.in.channels
	share := 1 / float32(p.size*p.size)
	for row := range p.out.height {
		for column := range p.out.width {
			in, out := p.at(row, column)
			for i := range p.size {
				for j := range p.size {
					from := in + i*line + j*c
					kernel.Axpy(v.dIn[from:from+c], share, v.dOut[out:out+c])
				}
			}
		}
	}
}
