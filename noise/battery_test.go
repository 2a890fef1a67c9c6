package noise

// sampler is what the integer samplers have in common.
type sampler interface {
	Add(dst []int64, random *Stream)
	Distance() float64
	Variance() float64
}
