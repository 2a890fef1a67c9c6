package sums

import (
	"fmt"
	"math"

	"hubbub/internal/kernel"
)

// Moments gathers the mean and the covariance of updates that come in batches, so that they need not be kept.
type Moments struct {
	dim     int
	count   int
	pilot   []float32 // mean of the first batch: taken off before products are made, so that they do not cancel
	sum     []float64 // of what is left
	scatter []float64 // sums of its products, on and below the diagonal
}

// maxMoments bounds the dimension: its square, in float64, must fit into memory.
const maxMoments = 30_000

// MomentsMemory is how many bytes [Moments] take.
func MomentsMemory(dim int) int64 { return 8*int64(dim)*int64(dim) + 12*int64(dim) }

// NewMoments starts with no update.
func NewMoments(dim int) (*Moments, error) {
	if dim < 1 || dim > maxMoments {
		return nil, fmt.Errorf("sums: updates of %d entries outside 1 to %d: the covariance is kept in memory, audit a smaller model", dim, maxMoments)
	}
	return &Moments{dim: dim, sum: make([]float64, dim), scatter: make([]float64, dim*dim)}, nil
}

// Below exactDim products are summed in float64. Above it they are made in float32 over a batch, which is fifty times as fast, and
// summed in float64 over batches: entries are then good to some 1e-7 of their standard deviations.
const exactDim = 1024

// tile is the side of the squares in which the covariance is computed.
const tile = 256

// Add takes a batch of updates, one after the other, and overwrites it.
func (m *Moments) Add(batch []float32, each Each) error {
	d := m.dim
	rows := len(batch) / d
	if rows == 0 || len(batch)%d != 0 {
		return fmt.Errorf("sums: %d numbers are no batch of updates with %d entries", len(batch), d)
	}
	if !kernel.Finite(batch) {
		return fmt.Errorf("sums: an update holds a value that is not finite")
	}
	if m.pilot == nil {
		m.pilot = make([]float32, d)
		for i := range rows {
			kernel.Axpy(m.pilot, 1/float32(rows), batch[i*d:(i+1)*d])
		}
	}
	for i := range rows {
		row := batch[i*d : (i+1)*d]
		kernel.Axpy(row, -1, m.pilot)
		for j, v := range row {
			m.sum[j] += float64(v)
		}
	}
	m.count += rows
	tiles := (d + tile - 1) / tile
	each(tiles*(tiles+1)/2, func(i int) {
		r := int((math.Sqrt(8*float64(i)+1) - 1) / 2) // i counts the tiles of the triangle row by row
		m.addTile(batch, rows, r*tile, (i-r*(r+1)/2)*tile)
	})
	return nil
}

// addTile adds the products of one tile, whose first entries are top and left.
func (m *Moments) addTile(batch []float32, rows, top, left int) {
	d := m.dim
	height, width := min(tile, d-top), min(tile, d-left)
	if d <= exactDim {
		for s := range rows {
			row := batch[s*d : (s+1)*d]
			for i := range height {
				x := float64(row[top+i])
				if x == 0 {
					continue
				}
				out := m.scatter[(top+i)*d+left : (top+i)*d+left+width]
				for j, v := range row[left : left+width] {
					out[j] += x * float64(v)
				}
			}
		}
		return
	}
	var space kernel.Workspace
	products := make([]float32, height*width)
	space.Multiply(products, width, kernel.View{Data: batch[top:], Row: 1, Col: d}, kernel.View{Data: batch[left:], Row: d, Col: 1}, height, width, rows, false)
	for i := range height {
		out := m.scatter[(top+i)*d+left : (top+i)*d+left+width]
		for j, v := range products[i*width : (i+1)*width] {
			out[j] += float64(v)
		}
	}
}

// Count is the number of updates so far.
func (m *Moments) Count() int { return m.count }

// Mean is that of one update.
func (m *Moments) Mean() []float64 {
	mean := make([]float64, m.dim)
	for j := range mean {
		mean[j] = float64(m.pilot[j]) + m.sum[j]/float64(m.count)
	}
	return mean
}

// covariance is the unbiased estimate for the given entries of one update. It is moved together in place: the moments are used up.
func (m *Moments) covariance(entries []int) Covariance {
	n := float64(m.count)
	k := len(entries)
	for a, i := range entries {
		for b, j := range entries[:a+1] { // never behind what is still to be read
			m.scatter[a*k+b] = (m.scatter[i*m.dim+j] - m.sum[i]*m.sum[j]/n) / (n - 1)
		}
	}
	c := Covariance{k, m.scatter[:k*k]}
	m.scatter = nil
	return c
}

// varying lists the entries that are not the same in all sums: with noise, all of them.
func (m *Moments) varying(noise float64) []int {
	var entries []int
	for j := range m.dim {
		if noise > 0 || m.scatter[j*m.dim+j]-m.sum[j]*m.sum[j]/float64(m.count) > 1e-12*m.scatter[j*m.dim+j] {
			entries = append(entries, j)
		}
	}
	return entries
}
