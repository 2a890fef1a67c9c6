package adaptive

import (
	"errors"
	"fmt"

	"hubbub/internal/kernel"
)

// Tensors says where in the flat vector of weights each tensor begins, and at last where the vector ends: a layer of 4
// weights and 2 biases is {0, 4, 6}.
type Tensors []int

// ErrNotFinite is returned for a model or update that holds a NaN or an infinity. Nothing was sent.
var ErrNotFinite = errors.New("adaptive: a value is not finite")

func (t Tensors) check() error {
	if len(t) < 2 || t[0] != 0 {
		return fmt.Errorf("adaptive: tensors %v: must begin with 0 and end with the number of weights", []int(t))
	}
	for i := range len(t) - 1 {
		if t[i+1] <= t[i] {
			return fmt.Errorf("adaptive: tensors: %d follows %d: boundaries must rise", t[i+1], t[i])
		}
	}
	return nil
}

// weights is the number of weights in all tensors, the paper's M.
func (t Tensors) weights() int { return t[len(t)-1] }

// number is how many tensors there are.
func (t Tensors) number() int { return len(t) - 1 }

// checkModel refuses a vector of the wrong length or with a value that is not finite.
func (t Tensors) checkModel(what string, x []float32) error {
	if len(x) != t.weights() {
		return fmt.Errorf("adaptive: %s has %d weights, the tensors have %d", what, len(x), t.weights())
	}
	if !kernel.Finite(x) {
		return fmt.Errorf("%w: in the %s", ErrNotFinite, what)
	}
	return nil
}
