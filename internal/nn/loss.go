package nn

import "math"

// softmaxLoss sets delta to softmax(logits) - onehot(label) and returns -log softmax(logits)[label].
func softmaxLoss(delta, logits []float32, label uint8) float64 {
	largest := logits[0]
	for _, v := range logits {
		largest = max(largest, v)
	}
	total := 0.0
	for i, v := range logits {
		e := math.Exp(float64(v - largest)) // at most 1: no overflow
		delta[i] = float32(e)
		total += e
	}
	share := 1 / total
	for i, e := range delta {
		delta[i] = float32(float64(e) * share)
	}
	delta[label]--
	return math.Log(total) - float64(logits[label]-largest)
}

// largest is the index of the first largest number.
func largest(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
