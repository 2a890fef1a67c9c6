package nn

import (
	"math"

	"hubbub/internal/kernel"
)

// softmax sets deltas to softmax(logits) - onehot(label), losses to -log softmax(logits)[label], and right to whether the label has the
// largest logit, for some examples.
func softmax(deltas, logits []float32, labels []uint8, losses []float64, right []bool) {
	classes := len(logits) / len(labels)
	for e, label := range labels {
		row, delta := logits[e*classes:(e+1)*classes], deltas[e*classes:(e+1)*classes]
		answer := largest(row)
		top := row[answer]
		for i, v := range row {
			delta[i] = v - top // at most 0: no overflow
		}
		right[e], losses[e] = answer == int(label), -float64(delta[label])
	}
	kernel.Exp(deltas)
	for e, label := range labels {
		delta := deltas[e*classes : (e+1)*classes]
		total := 0.0
		for _, v := range delta {
			total += float64(v)
		}
		losses[e] += math.Log(total)
		share := 1 / total
		for i, v := range delta {
			delta[i] = float32(float64(v) * share)
		}
		delta[label]--
	}
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
