package mechanism

import (
	"errors"
	"fmt"
	"math"

	"hubbub/accountant"
	"hubbub/noise"
)

// unclippedGrid and unclippedLimit leave room for 2^20 clients in an int64: 2^12 · 2^31 · 2^20 = 2^63.
const (
	unclippedGrid  = grid(0x1p-31)
	unclippedLimit = 1 << 12
)

// ErrTooLarge is returned for an update that does not fit the grid. Nothing was added to the sum.
var ErrTooLarge = errors.New("mechanism: the update is out of all range: the training diverges")

// None sends updates as they are: it protects nothing. Training that adds its own noise (DP-SGD) uses it too.
type None struct{}

// Event says that nothing protects.
func (None) Event() accountant.Event { return accountant.None{} }

// ClipNorm is 0: updates are not clipped.
func (None) ClipNorm() float64 { return 0 }

// BitsPerWeight is the size of a contribution on its way to the server.
func (None) BitsPerWeight() int { return 64 }

// Contribute encodes the update and adds it to sum. An update past the grid's range is refused: such a model has diverged.
func (None) Contribute(sum []int64, update []float32, _ *noise.Stream) error {
	if err := checkUpdate(update, len(sum)); err != nil {
		return err
	}
	for _, v := range update {
		if math.Abs(float64(v)) > unclippedLimit {
			return fmt.Errorf("%w: more than %d in one weight", ErrTooLarge, unclippedLimit)
		}
	}
	unclippedGrid.add(sum, update, 1)
	return nil
}

// ContributeSum does the same for the sum of several updates.
func (n None) ContributeSum(sum []int64, updates []float32) error {
	return n.Contribute(sum, updates, nil)
}

// ServerNoise adds nothing.
func (None) ServerNoise([]int64, *noise.Stream) {}

// Decode turns a sum of contributions into a mean.
func (None) Decode(mean []float32, sum []int64, divisor float64) {
	unclippedGrid.decode(mean, sum, divisor)
}
