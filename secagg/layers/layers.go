package layers

import (
	"fmt"
	"math/big"
)

// Layers are the layers of every client of one cohort.
type Layers struct {
	law     *Law
	clients int
	rates   []float64
}

// Count is the number of layers of a client, T + 1: it draws so many seeds.
func (l *Layers) Count() int { return len(l.rates) }

// Tolerated is T, the number of dropouts up to which the total is exact.
func (l *Layers) Tolerated() int { return len(l.rates) - 1 }

// Rate is the parameter of layer k, from 0 to Tolerated, of one client. It is rounded up by 2^-52 of itself at most, and so is
// the total: the totals after different numbers of dropouts are equal up to that, a difference that 10^12 coordinates of noise do not show.
func (l *Layers) Rate(k int) float64 { return l.rates[k] }

// Kept is how many layers, counted from the base, stay in the sum after so many of the cohort sent no contribution. The layers
// from there on are removed.
func (l *Layers) Kept(dropped int) (int, error) {
	if dropped < 0 || dropped > l.Tolerated() {
		return 0, fmt.Errorf("%w: %d of %d, at most %d are made up for: abandon the round", ErrDropped, dropped, l.clients, l.Tolerated())
	}
	return dropped + 1, nil
}

// Unknown is the least noise that stays unknown to an adversary who knows all noise of the law's colluders, after so many
// dropouts: all colluders survived. It is rounded down, and never below the law's Hidden.
func (l *Layers) Unknown(dropped int) (float64, error) {
	if _, err := l.Kept(dropped); err != nil {
		return 0, err
	}
	survivors := int64(l.clients - dropped)
	honest := survivors - int64(l.law.config.Colluders)
	r := new(big.Rat).Mul(l.law.total, big.NewRat(honest, survivors))
	return max(down(r), l.law.config.Hidden), nil
}
