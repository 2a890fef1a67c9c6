package spectrum

import "math"

// rotation turns two neighbouring coordinates.
type rotation struct{ cos, sin float64 }

// sweep is a chase of rotations up the matrix: the first turns coordinates from and from+1, the next those before.
type sweep struct {
	from      int
	rotations []rotation
}

// mostSweeps per eigenvalue; two are usual.
const mostSweeps = 60

// rotate makes a tridiagonal matrix diagonal by the implicit QL method, and returns the eigenvalues and what was done.
func rotate(diagonal, beside []float64) (values []float64, sweeps []sweep, err error) {
	d, e, n := diagonal, beside, len(diagonal)
	// An element beside the diagonal that vanishes in rounding beside the largest of the matrix is as good as zero: the matrix itself is
	// not known better. Measured against its neighbours alone, what rounding leaves of a rank that is missing may never vanish.
	negligible := 0.0
	for i := range d {
		negligible = max(negligible, 0x1p-53*(math.Abs(d[i])+math.Abs(e[i])))
	}
	if math.IsNaN(negligible) || math.IsInf(negligible, 1) {
		return nil, nil, ErrNotConverged
	}
	var spare []rotation // memory for some sweeps to come
	for at := 0; at < n; at++ {
		for tries := 0; ; tries++ {
			end := at
			for end < n-1 && !(math.Abs(e[end]) <= negligible) {
				end++
			}
			if end == at {
				break
			}
			if tries == mostSweeps {
				return nil, nil, ErrNotConverged
			}
			if len(spare) < end-at {
				spare = make([]rotation, max(min(1<<16, n*n), end-at))
			}
			done := chase(d, e, at, end, spare[:end-at])
			sweeps = append(sweeps, sweep{end - 1, spare[:done:done]})
			spare = spare[done:]
		}
	}
	return d, sweeps, nil
}

// chase makes one QL step on rows [at, end] with the shift of Wilkinson, and returns how many rotations it took. It ends early where
// the matrix falls into two.
func chase(d, e []float64, at, end int, rotations []rotation) int {
	half := (d[at+1] - d[at]) / (2 * e[at])
	root := math.Hypot(half, 1)
	g := d[end] - d[at] + e[at]/(half+math.Copysign(root, half))
	cos, sin, carried := 1.0, 1.0, 0.0
	for i := end - 1; i >= at; i-- {
		f, b := sin*e[i], cos*e[i]
		r := math.Hypot(f, g)
		e[i+1] = r
		if r == 0 {
			d[i+1] -= carried
			e[end] = 0
			return end - 1 - i
		}
		sin, cos = f/r, g/r
		g = d[i+1] - carried
		r = (d[i]-g)*sin + 2*cos*b
		carried = sin * r
		d[i+1] = g + carried
		g = cos*r - b
		rotations[end-1-i] = rotation{cos, sin}
	}
	d[at] -= carried
	e[at] = g
	e[end] = 0
	return end - at
}

func (w sweep) apply(x []float64) {
	for k, r := range w.rotations {
		i := w.from - k
		x[i], x[i+1] = r.cos*x[i]-r.sin*x[i+1], r.sin*x[i]+r.cos*x[i+1]
	}
}

func (w sweep) applyBack(x []float64) {
	for k := len(w.rotations) - 1; k >= 0; k-- {
		r, i := w.rotations[k], w.from-k
		x[i], x[i+1] = r.cos*x[i]+r.sin*x[i+1], r.cos*x[i+1]-r.sin*x[i]
	}
}
