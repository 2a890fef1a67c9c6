package mechanism

import (
	"fmt"
	"iter"

	"hubbub/internal/kernel"
	"hubbub/noise"
)

// Runs says where an update may differ from zero: runs[i] is the first weight of a run and the first one behind it. They ascend, begin at
// multiples of 32, and end at multiples of 32 or with the update. Nil: anywhere. A gradient of one record often has few runs: those
// of a network's first layer belong to the inputs that are not zero.
type Runs [][2]int

const runUnit = 32

func (r Runs) check(length int) error {
	at := 0
	for _, run := range r {
		from, to := run[0], run[1]
		if from < at || to <= from || to > length || from%runUnit != 0 || to%runUnit != 0 && to != length {
			return fmt.Errorf("mechanism: a run from %d to %d after %d in an update of %d weights: runs must ascend in multiples of %d", from, to, at, length, runUnit)
		}
		at = to
	}
	return nil
}

// within walks through the parts of the runs between two weights.
func (r Runs) within(from, to int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for _, run := range r {
			if a, b := max(run[0], from), min(run[1], to); a < b && !yield(a, b) {
				return
			}
		}
	}
}

// copy sets dst to x, with zeros outside the runs.
func (r Runs) copy(dst, x []float32) {
	if r == nil {
		copy(dst, x)
		return
	}
	clear(dst)
	for _, run := range r {
		copy(dst[run[0]:run[1]], x[run[0]:run[1]])
	}
}

func (r Runs) sumSquares(x []float32) float64 {
	if r == nil {
		return kernel.SumSquares(x)
	}
	var s kernel.Squares
	for _, run := range r {
		s.Add(x[run[0]:run[1]])
	}
	return s.Sum()
}

// ContributeRuns is Contribute for an update that is zero outside the runs, without looking there: it draws no coins for zeros. The sum is
// the same modulo 2^Bits, and so decodes to the same bits. What it adds is not what a client sends, and its time tells how many
// weights differ from zero: it is for simulations, where only the sum is released. It adds whole numbers, so that Overflows can be counted.
func (m *Integer) ContributeRuns(sum []int64, update []float32, runs Runs, random *noise.Stream) error {
	if err := runs.check(len(update)); err != nil {
		return err
	}
	return m.contribute(sum, update, runs, true, random, !m.crowd.exact())
}
