package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// MinAlpha and MaxAlpha bound the concentration of [Dirichlet]. At MinAlpha a class that is split over ten clients lies
// almost whole with one of them; at MaxAlpha the shares are equal to about one part in a thousand.
const (
	MinAlpha = 0.001
	MaxAlpha = 1e6
)

// Dirichlet splits each class over the clients by shares drawn from a symmetric Dirichlet distribution with concentration
// alpha ([YAGGHK19], experiments): the smaller alpha, the fewer clients hold most of a class. A client's part of a class is
// its share of the class rounded up or down at random, so that it is right on average.
//
// Clients that then hold fewer than minRecords are filled up with records drawn from the clients that hold the most, which
// are cut down to a common level. This always ends, where redrawing until every client has enough may never do for a small
// alpha; with minRecords 1 it moves one record for each client that the draw left empty.
func Dirichlet(labels []uint8, classes, clients int, alpha float64, minRecords int, source rand.Source) (Partition, error) {
	n := len(labels)
	if err := checkClients(n, clients); err != nil {
		return nil, err
	}
	if !(alpha >= MinAlpha && alpha <= MaxAlpha) { // so written that NaN is refused too
		return nil, fmt.Errorf("data: dirichlet alpha %g outside [%g, %g]", alpha, MinAlpha, MaxAlpha)
	}
	if minRecords < 1 {
		return nil, fmt.Errorf("data: minimum of %d records per client: a client needs at least 1", minRecords)
	}
	if minRecords > n/clients {
		return nil, fmt.Errorf("data: %d clients with at least %d records each need more than the %d records there are: "+
			"use a minimum of at most %d, or fewer clients", clients, minRecords, n, n/clients)
	}
	byClass, err := recordsByClass(labels, classes)
	if err != nil {
		return nil, err
	}

	random := rand.New(source)
	parts := make(Partition, clients)
	order := count(clients)
	for _, records := range byClass {
		if len(records) == 0 {
			continue
		}
		shuffle(random, records)
		// A fresh order per class: with nearly equal shares and more clients than records the rounding would otherwise
		// favour the same clients in every class.
		shuffle(random, order)
		dealByShare(parts, order, records, dirichletShares(clients, alpha, random), random.Float64())
	}
	fillUp(parts, minRecords, random)
	return sorted(parts), nil
}

func recordsByClass(labels []uint8, classes int) ([][]int, error) {
	if classes < 1 || classes > 256 {
		return nil, fmt.Errorf("data: %d classes outside [1, 256]", classes)
	}
	byClass := make([][]int, classes)
	for i, label := range labels {
		if int(label) >= classes {
			return nil, fmt.Errorf("data: label %d of record %d outside [0, %d]", label, i, classes-1)
		}
		byClass[label] = append(byClass[label], i)
	}
	return byClass, nil
}

// dealByShare appends to each client its share of records, visiting the clients in the given order. The cuts lie at
// cumulative share * len(records) + offset, rounded down: for an offset uniform in [0, 1) a client gets its share times
// len(records) on average, and never one record more or less than that.
func dealByShare(parts Partition, order, records []int, share []float64, offset float64) {
	cumulative, from := 0.0, 0
	for i, c := range order {
		cumulative += share[c]
		to := min(int(cumulative*float64(len(records))+offset), len(records))
		if i == len(order)-1 {
			to = len(records) // the shares may sum to 1 - 1e-16
		}
		parts[c] = append(parts[c], records[from:to]...)
		from = to
	}
}

// fillUp moves records, chosen at random, from the largest clients to those below minRecords. The caller has checked that
// there are enough records for all.
func fillUp(parts Partition, minRecords int, random *rand.Rand) {
	missing, largest := 0, 0
	for _, records := range parts {
		missing += max(minRecords-len(records), 0)
		largest = max(largest, len(records))
	}
	if missing == 0 {
		return
	}
	above := func(level int) (surplus int) {
		for _, records := range parts {
			surplus += max(len(records)-level, 0)
		}
		return surplus
	}
	// Cutting to level gives at most what is missing and cutting one deeper would give too much, so the rest comes, one
	// record each, from clients that are at the level. Because clients*minRecords <= records, level >= minRecords, and
	// where they are equal there is no rest.
	level := sort.Search(largest, func(level int) bool { return above(level) <= missing })
	rest := missing - above(level)

	var moved []int
	for c, records := range parts {
		keep := level
		if rest > 0 && len(records) >= level {
			keep--
			rest--
		}
		if len(records) > keep {
			shuffle(random, records)
			moved = append(moved, records[keep:]...)
			parts[c] = records[:keep]
		}
	}
	shuffle(random, moved)
	for c, records := range parts {
		if need := minRecords - len(records); need > 0 {
			parts[c] = append(records, moved[:need]...)
			moved = moved[need:]
		}
	}
}

// dirichletShares draws n shares that sum to 1 from the symmetric Dirichlet distribution: independent gamma variates,
// divided by their sum. They are kept as logarithms until the largest is known, because for alpha = 0.001 half of them are
// smaller than the smallest float64 and all of them may be.
func dirichletShares(n int, alpha float64, random *rand.Rand) []float64 {
	shares := make([]float64, n)
	largest := math.Inf(-1)
	for i := range shares {
		shares[i] = logGammaVariate(alpha, random)
		largest = max(largest, shares[i])
	}
	sum := 0.0
	for i, logVariate := range shares {
		shares[i] = math.Exp(logVariate - largest)
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// logGammaVariate draws the logarithm of a gamma variate of the given shape and scale 1.
//
// [MT00] Marsaglia, Tsang, A Simple Method for Generating Gamma Variables, ACM TOMS 26(3), 2000: for shape >= 1 by
// rejection (section 2), below that by G(shape) = G(shape+1) * U^(1/shape) (section 6), where -log U is exponential.
func logGammaVariate(shape float64, random *rand.Rand) float64 {
	if shape < 1 {
		return logGammaVariate(shape+1, random) - random.ExpFloat64()/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := random.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		logV := math.Log(v)
		if -random.ExpFloat64() < x*x/2+d-d*v+d*logV {
			return math.Log(d) + logV
		}
	}
}

func shuffle(random *rand.Rand, records []int) {
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
}

// EqualDirichlet gives every client the same number of records, its labels drawn by shares of its own from a symmetric Dirichlet
// distribution with concentration alpha (Hsu, Qi, Brown 2019, arXiv:1909.06335, section 3). A class that has run out is left out of the
// shares of whoever draws later. Records that do not divide evenly go to nobody's disadvantage: sizes differ by at most one.
func EqualDirichlet(labels []uint8, classes, clients int, alpha float64, source rand.Source) (Partition, error) {
	n := len(labels)
	if err := checkClients(n, clients); err != nil {
		return nil, err
	}
	if !(alpha >= MinAlpha && alpha <= MaxAlpha) {
		return nil, fmt.Errorf("data: dirichlet alpha %g outside [%g, %g]", alpha, MinAlpha, MaxAlpha)
	}
	byClass, err := recordsByClass(labels, classes)
	if err != nil {
		return nil, err
	}
	random := rand.New(source)
	for _, records := range byClass {
		shuffle(random, records)
	}
	parts := make(Partition, clients)
	for c := range parts {
		shares := dirichletShares(classes, alpha, random)
		for range n*(c+1)/clients - n*c/clients {
			class := drawClass(shares, byClass, random)
			last := len(byClass[class]) - 1
			parts[c] = append(parts[c], byClass[class][last])
			byClass[class] = byClass[class][:last]
		}
	}
	return sorted(parts), nil
}

// drawClass draws a class by its share among those that have records left; if all shares left are zero, the one with the most records.
func drawClass(shares []float64, byClass [][]int, random *rand.Rand) int {
	total, most := 0.0, 0
	for class, records := range byClass {
		if len(records) > 0 {
			total += shares[class]
		}
		if len(records) > len(byClass[most]) {
			most = class
		}
	}
	at := random.Float64() * total
	for class, records := range byClass {
		if len(records) == 0 {
			continue
		}
		if at -= shares[class]; at < 0 {
			return class
		}
	}
	return most
}
