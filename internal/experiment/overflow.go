package experiment

import "hubbub/internal/rounds"

// Overflows are the coordinates of sums that left the range of their bits and came back wrong, where the file allows that. They are for
// research: only a simulation has the sums before the remainder is taken, no client or server of a federation does, and no statement
// speaks of them.
type Overflows struct {
	Count       int     `json:"count"`       // coordinates, over all rounds
	Coordinates int     `json:"coordinates"` // of all the sums together
	NoiseAlone  float64 `json:"noise_alone"` // the chance that noise alone takes a coordinate out of the range
}

// Rate is the part of the coordinates that overflowed.
func (o Overflows) Rate() float64 { return float64(o.Count) / float64(max(1, o.Coordinates)) }

// overflowing is a mechanism whose sums may leave the range of their bits.
type overflowing interface {
	Overflows(sum []int64) int
	NoiseOverflow(contributors int) float64
}

// mayOverflow returns the mechanism if overflows are allowed and can be seen: unmasking gives remainders only.
func (f *Federation) mayOverflow() (overflowing, bool) {
	if f.Config.Privacy.Mechanism.Overflow != "allow" || f.Facts.Masked {
		return nil, false
	}
	m, ok := f.way.server.(overflowing)
	return m, ok
}

// overflows counts those of a release; nil: they are not allowed.
func (r *run) overflows(release *rounds.Release) *int {
	m, may := r.f.mayOverflow()
	if !may {
		return nil
	}
	count := m.Overflows(release.Sum)
	return &count
}

// allOverflows adds up those of all rounds.
func (r *run) allOverflows() *Overflows {
	m, may := r.f.mayOverflow()
	if !may {
		return nil
	}
	all := &Overflows{NoiseAlone: m.NoiseOverflow(int(r.f.Config.Cohort.Size))}
	for _, line := range r.lines {
		if line.Overflows != nil {
			all.Count += *line.Overflows
			all.Coordinates += r.f.width()
		}
	}
	return all
}
