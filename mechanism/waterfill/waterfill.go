package waterfill

import (
	"fmt"
	"math"
	"slices"

	"hubbub/accountant"
)

// Method names a way to make a client's update private together with the others'.
type Method string

// The methods: three of the paper's section 5.3, and the remaining row of its Table 1 that has a guarantee.
const (
	SGDDP         Method = "sgd-dp"         // the mean of B sampled gradients, isotropic noise
	GDDP          Method = "gd-dp"          // the mean of all gradients, isotropic noise
	GSGDDP        Method = "gsgd-dp"        // a Gaussian mix of all gradients, water-filling
	GSGDIsotropic Method = "gsgd-isotropic" // a Gaussian mix of all gradients, isotropic noise
)

// Config describes a mechanism. Every client has the same.
type Config struct {
	Method    Method
	Clients   int     // whose noise is in the sum for certain: those who take part, less colluders and dropouts
	Records   int     // D, of each client
	Dimension int     // d, the number of weights
	Batch     float64 // B: of sgd-dp a whole number of records, of the Gaussian methods a scale; gd-dp has none
	Clip      float64 // C, of each example's gradient
	Variance  float64 // σ², of the noise of one client in its mean gradient, or the floor of water-filling
	Blocks    []int   // gsgd-dp only: where each block of weights begins, and the end; nil is one block
}

// Mechanism is a checked Config with its grid.
type Mechanism struct {
	config Config
	count  float64 // a contribution encodes this many times the client's mean
	step   float64 // of the grid, in those units
	bits   int     // of a contribution
}

// New checks the settings; past here nothing re-checks.
func New(c Config) (*Mechanism, error) {
	if c.Clients < 1 || c.Records < 1 || c.Dimension < 1 {
		return nil, fmt.Errorf("waterfill: %d clients, %d records, %d weights: each must be at least 1", c.Clients, c.Records, c.Dimension)
	}
	if err := checkClip(c.Clip); err != nil {
		return nil, err
	}
	if !(c.Variance > 0) || math.IsInf(c.Variance, 1) {
		return nil, fmt.Errorf("waterfill: variance %g must be finite and greater than 0", c.Variance)
	}
	if c.Blocks != nil && c.Method != GSGDDP {
		return nil, fmt.Errorf("waterfill: %s has no blocks: isotropic noise needs no eigenvectors, leave them out", c.Method)
	}
	m := &Mechanism{config: c}
	switch c.Method {
	case SGDDP:
		if c.Batch != math.Trunc(c.Batch) || !(c.Batch >= 1 && c.Batch <= float64(c.Records)) {
			return nil, fmt.Errorf("waterfill: batch %g of sgd-dp must be a whole number from 1 to %d, the records", c.Batch, c.Records)
		}
		m.count = c.Batch
	case GDDP:
		if c.Batch != 0 {
			return nil, fmt.Errorf("waterfill: batch %g: gd-dp uses all records, leave it out", c.Batch)
		}
		m.count = float64(c.Records)
	case GSGDDP, GSGDIsotropic:
		if !(c.Batch > 0 && c.Batch <= 1e12) {
			return nil, fmt.Errorf("waterfill: batch %g outside (0, 1e12]", c.Batch)
		}
		m.count = 1
	default:
		return nil, fmt.Errorf("waterfill: method %q is none of %s, %s, %s, %s", c.Method, SGDDP, GDDP, GSGDDP, GSGDIsotropic)
	}
	if c.Blocks == nil {
		m.config.Blocks = []int{0, c.Dimension}
	} else if err := checkBlocks(c.Blocks, c.Dimension); err != nil {
		return nil, err
	}
	m.config.Blocks = slices.Clone(m.config.Blocks)
	if err := m.layGrid(); err != nil {
		return nil, err
	}
	return m, nil
}

func checkBlocks(blocks []int, dimension int) error {
	if len(blocks) < 2 || blocks[0] != 0 || blocks[len(blocks)-1] != dimension {
		return fmt.Errorf("waterfill: blocks %v: must begin with 0 and end with %d, the number of weights", blocks, dimension)
	}
	for i := range len(blocks) - 1 {
		if blocks[i+1] <= blocks[i] {
			return fmt.Errorf("waterfill: blocks: %d follows %d: boundaries must rise", blocks[i+1], blocks[i])
		}
	}
	return nil
}

// Records is how many gradients a client has.
func (m *Mechanism) Records() int { return m.config.Records }

// Event is the price of one round: of the sum over all clients, for all data sets of one client that differ in one record.
func (m *Mechanism) Event() accountant.Event {
	// The noise in the sum of N means has variance Nσ²; one record moves a mean of k gradients by 2C/k at the most.
	multiplier := func(k float64) float64 {
		return math.Sqrt(float64(m.config.Clients)*m.config.Variance) * k / (2 * m.config.Clip)
	}
	switch m.config.Method {
	case SGDDP:
		inner := accountant.Gaussian{NoiseMultiplier: multiplier(m.config.Batch)}
		return accountant.WithoutReplacement{Rate: m.config.Batch / float64(m.config.Records), Event: inner}
	case GDDP:
		return accountant.Gaussian{NoiseMultiplier: multiplier(float64(m.config.Records))}
	case GSGDIsotropic:
		return accountant.GaussianSampling{Clients: m.config.Clients, Records: m.config.Records, Batch: m.config.Batch, Clip: m.config.Clip, Variance: m.config.Variance}
	default:
		// Blocks change nothing: the proof needs the covariance to move by at most √2C²/(BD) in Frobenius norm, and a matrix
		// loses norm when the parts outside its diagonal blocks are struck out.
		return accountant.Waterfill{Clients: m.config.Clients, Records: m.config.Records, Batch: m.config.Batch, Clip: m.config.Clip, Variance: m.config.Variance}
	}
}

// About is the event with what it protects: one record of one client, replaced by any other.
func (m *Mechanism) About() accountant.About {
	return accountant.About{Adjacency: accountant.ReplaceOne, Unit: accountant.Record, Event: m.Event()}
}
