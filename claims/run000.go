package claims

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"hubbub/accountant"
	"hubbub/audit/sums"
	"hubbub/mechanism/waterfill"
	"hubbub/noise"
)

// heatMap is Figure 3: of 16 weights, the last quarter is zero in all updates but the fourth user's.
func heatMap() (Evidence, error) {
	const users, weights, trials = 4, 16, 2000
	random := noise.Seeded(3).Derive("figure 3").Stream()
	update := func(user int) []float64 {
		x := make([]float64, weights)
		random.Gaussian(x)
		if user < users-1 {
			clear(x[3*weights/4:])
		}
		return x
	}
	var picture []string
	for user := range users {
		shades := ""
		for _, v := range update(user) {
			shades += string(" .:*#"[min(4, int(math.Ceil(2*math.Abs(v))))])
		}
		picture = append(picture, fmt.Sprintf("user %d |%s|", user+1, shades))
	}
	// The covariance of three users' sum leaves the last quarter bare.
	covariance := sums.Covariance{Dim: weights, Values: make([]float64, weights*weights)}
	for i := range 3 * weights / 4 {
		covariance.Values[i*weights+i] = users - 1
	}
	var leak *sums.LeakError
	if _, err := sums.Distance(covariance, make([]float64, weights)); !errors.As(err, &leak) {
		return Evidence{}, fmt.Errorf("the covariance of the others was not refused (%v)", err)
	}
	first, second := update(users-1), update(users-1) // before and after one record of the fourth user changed
	right := 0
	for trial := range trials {
		sent := first
		if trial%2 == 1 {
			sent = second
		}
		sum := append([]float64(nil), sent...)
		for user := range users - 1 {
			for j, v := range update(user) {
				sum[j] += v
			}
		}
		looksFirst := true
		for j := 3 * weights / 4; j < weights; j++ {
			looksFirst = looksFirst && sum[j] == first[j]
		}
		if looksFirst == (trial%2 == 0) {
			right++
		}
	}
	return Evidence{
		Ran:        fmt.Sprintf("four users, %d weights, the last quarter zero for three of them; the fourth sends one of two updates, told apart by the sum", weights),
		Claimed:    number(trials/2, "of %d sums guessed right, as by tossing a coin", trials),
		Found:      number(float64(right), "of %d sums guessed right: no epsilon is large enough", trials),
		Contradict: right == trials, Detail: picture,
	}, nil
}

// sampling is the setting of the paper's section 5.3.
const (
	clients000, records000, batch000, clip000 = 50.0, 1200.0, 32.0, 10.0
)

// eq19 is the epsilon of Theorem 2 for a sum of smallest eigenvalues.
func eq19(order, eigenvalues, records, batch, clip float64) float64 {
	return numerator19(order, records, batch, clip) / (eigenvalues - order*clip*clip/records)
}

func numerator19(order, records, batch, clip float64) float64 {
	return 2*order*batch*clip*clip/(records*records) + order*clip*clip/((order-1)*records)
}

// theoremTwoHolds compares the theorem with the exact divergence of Gaussians, over random neighbours whose eigenvalues are known.
func theoremTwoHolds() (Evidence, error) {
	r := rand.New(rand.NewPCG(19, 2))
	worst, compared := 0.0, 0
	for range 400 {
		const records, batch, clip = 8, 2., 1.
		g := make([][2]float64, records)
		for i := range g {
			angle, size := 2*math.Pi*r.Float64(), math.Sqrt(r.Float64())
			g[i] = [2]float64{size * math.Cos(angle), size * math.Sin(angle)}
		}
		angle := 2 * math.Pi * r.Float64()
		other := [2]float64{math.Cos(angle), math.Sin(angle)}
		covariance := func(first [2]float64) *mat.SymDense {
			s := mat.NewSymDense(2, nil)
			for i, v := range g {
				if i == 0 {
					v = first
				}
				s.SymRankOne(s, 1./records, mat.NewVecDense(2, v[:]))
			}
			return s
		}
		one, two := covariance(g[0]), covariance(other)
		smallest := min(waterfill.SmallestEigenvalue(one), waterfill.SmallestEigenvalue(two))
		for _, order := range []float64{1.1, 1.5, 2} {
			if order*clip*clip/records >= smallest {
				continue
			}
			bound := eq19(order, smallest, records, batch, clip)
			one, two := scaled(one, 1/batch), scaled(two, 1/batch)
			exact := divergence(order, []float64{(g[0][0] - other[0]) / records, (g[0][1] - other[1]) / records}, one, two)
			worst = max(worst, exact/bound)
			compared++
		}
	}
	return Evidence{
		Ran:        fmt.Sprintf("the exact divergence of two Gaussians, over the bound, for %d random neighbours and orders", compared),
		Claimed:    number(1, "times the bound, at the most"),
		Found:      number(worst, "times the bound, at the most"),
		Contradict: worst > 1 || compared < 100,
	}, nil
}

func scaled(s *mat.SymDense, by float64) *mat.SymDense {
	var out mat.SymDense
	out.ScaleSym(by, s)
	return &out
}

// divergence is the exact Renyi divergence of two normal distributions (Gil, Alajaji, Linder 2013).
func divergence(order float64, shift []float64, one, two *mat.SymDense) float64 {
	mixed := mix(order, one, two)
	var m, a, b mat.Cholesky
	if !m.Factorize(mixed) || !a.Factorize(one) || !b.Factorize(two) {
		return math.Inf(1)
	}
	delta, solved := mat.NewVecDense(len(shift), shift), new(mat.VecDense)
	if err := m.SolveVecTo(solved, delta); err != nil {
		return math.Inf(1)
	}
	return order/2*mat.Dot(delta, solved) - (m.LogDet()-(1-order)*a.LogDet()-order*b.LogDet())/(2*(order-1))
}

// mix is (1-α)Σ₁ + αΣ₂.
func mix(order float64, one, two *mat.SymDense) *mat.SymDense {
	var mixed mat.SymDense
	mixed.AddSym(scaled(one, 1-order), scaled(two, order))
	return &mixed
}

func equation30() (Evidence, error) {
	const order, eigenvalues = 2., 1.
	stated := eq19(order, eigenvalues, records000, batch000, clip000)
	printed := numerator19(order, records000, batch000, clip000) / (eigenvalues/batch000 - order*clip000*clip000/(batch000*records000))
	return Evidence{
		Ran:        "both sides for D = 1200, B = 32, C = 10, eigenvalues that add up to 1, order 2",
		Claimed:    number(stated, "in equation 19"),
		Found:      number(printed, "in the last line of equation 30: %.3g times as much", printed/stated),
		Contradict: math.Abs(printed/stated-1) > 1e-9,
	}, nil
}

func equation31() (Evidence, error) {
	const order, eigenvalues = 2., 1.
	if limit := records000 * eigenvalues / (clip000 * clip000); order >= limit {
		return Evidence{}, fmt.Errorf("order %g is outside of the range up to %g", order, limit)
	}
	printed := numerator19(order, records000, batch000, clip000) / (eigenvalues/batch000 - order*clip000*clip000/records000)
	return Evidence{
		Ran:        "equation 31 for D = 1200, B = 32, C = 10, eigenvalues that add up to 1, order 2 (orders up to 12 are allowed)",
		Claimed:    number(printed, "as epsilon, though no divergence is negative"),
		Found:      number(eq19(order, eigenvalues, records000, batch000, clip000), "by equation 34"),
		Contradict: printed < 0,
	}, nil
}

func assumptionFour() (Evidence, error) {
	// All gradients are the same vector of length C = 1.
	const records, clip = 1200, 1.
	eigenvalue := 0.0
	for range records {
		eigenvalue += clip * clip
	}
	return Evidence{
		Ran:        "1200 records with the same gradient of length C = 1: the covariance's largest eigenvalue",
		Claimed:    number(clip*clip, "at the most, by Lemma 2"),
		Found:      number(eigenvalue, "by Assumption 4 as printed; %.3g with the factor 1/D", eigenvalue/records),
		Contradict: eigenvalue > clip*clip,
	}, nil
}

// eq35 is Theorem 4's epsilon.
func eq35(order, clients, variance, records, batch, clip float64) float64 {
	return (2*order*clip*clip/(records*records) + 2*order*clip*clip/((order-1)*batch*records)) / (clients*variance - 2*order*clip*clip/(batch*records))
}

func overfullRange() (Evidence, error) {
	const clients, variance, records, batch, clip = 10., .1, 1000., .5, 1.
	printedLimit := clients * variance * records / (2 * clip * clip)
	order := .75 * printedLimit
	epsilon := eq35(order, clients, variance, records, batch, clip)
	event := accountant.Waterfill{Clients: int(clients), Records: int(records), Batch: batch, Clip: clip, Variance: variance}
	ours := math.Inf(1)
	if d, err := accountant.RDP(accountant.About{Event: event}, order); err == nil {
		ours = d
	}
	return Evidence{
		Ran:        fmt.Sprintf("equation 35 for N = 10, σ² = 0.1, D = 1000, B = 0.5, C = 1 at order %g, inside the printed range up to %g", order, printedLimit),
		Claimed:    number(epsilon, "as epsilon, though no divergence is negative"),
		Found:      number(ours, "by the corrected bound: there is none at this order"),
		Contradict: epsilon < 0 && math.IsInf(ours, 1),
	}, nil
}

// lifted raises the eigenvalues of a 2x2 covariance to a floor, by definition.
func lifted(s *mat.SymDense, floor float64) (*mat.SymDense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, errors.New("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	out := mat.NewSymDense(s.SymmetricDim(), nil)
	for i, v := range eigen.Values(nil) {
		out.SymRankOne(out, max(v, floor), vectors.ColView(i))
	}
	return out, nil
}

// changeOfFilling is ΔΣ_Δ: how the noise that water-filling adds changes when the record first becomes second; the gradients are in units
// of √(BD).
func changeOfFilling(rest *mat.SymDense, first, second []float64, floor float64) (*mat.SymDense, error) {
	missing := func(g []float64) (*mat.SymDense, error) {
		s := mat.NewSymDense(2, nil)
		s.SymRankOne(rest, 1, mat.NewVecDense(2, g))
		up, err := lifted(s, floor)
		if err != nil {
			return nil, err
		}
		up.AddSym(up, scaled(s, -1))
		return up, nil
	}
	before, err := missing(first)
	if err != nil {
		return nil, err
	}
	after, err := missing(second)
	if err != nil {
		return nil, err
	}
	after.AddSym(after, scaled(before, -1))
	return after, nil
}

func largestEigenvalue(s *mat.SymDense) float64 { return -waterfill.SmallestEigenvalue(scaled(s, -1)) }

func equation38Upper() (Evidence, error) {
	change, err := changeOfFilling(mat.NewSymDense(2, []float64{1, 0, 0, 0}), []float64{0, 0}, []float64{.5, .5}, 1)
	if err != nil {
		return Evidence{}, err
	}
	found := largestEigenvalue(change)
	return Evidence{
		Ran:        "Σ = diag(1, 0), floor 1, the record 0 becomes (.5, .5): the largest eigenvalue of the change of the added noise",
		Claimed:    number(0, "at the most"),
		Found:      number(found, ""),
		Contradict: found > 1e-9,
	}, nil
}

func equation38Lower() (Evidence, error) {
	r := rand.New(rand.NewPCG(38, 1))
	worst, tried := 0.0, 20_000
	for range tried {
		rest := mat.NewSymDense(2, nil)
		for range 2 {
			rest.SymRankOne(rest, 1, mat.NewVecDense(2, []float64{r.NormFloat64(), r.NormFloat64()}))
		}
		first, second := []float64{r.NormFloat64(), r.NormFloat64()}, []float64{r.NormFloat64(), r.NormFloat64()}
		change, err := changeOfFilling(rest, first, second, 1+2*r.Float64())
		if err != nil {
			return Evidence{}, err
		}
		change.SymRankOne(change, 1, mat.NewVecDense(2, second)) // ΔΣ + g2g2ᵀ must be positive
		worst = min(worst, waterfill.SmallestEigenvalue(change))
	}
	return Evidence{
		Ran:        fmt.Sprintf("the smallest eigenvalue of ΔΣ + g2g2ᵀ/(BD) over %d random 2x2 covariances and records", tried),
		Claimed:    number(0, "at the least"),
		Found:      number(worst, ""),
		Contradict: worst < -1e-9,
	}, nil
}

func equation43() (Evidence, error) {
	const order, variance = 2., .01
	left := eq35(order, clients000, variance, records000, batch000, clip000)
	right := (2*order*clip000*clip000/(records000*records000) + 2*order*clip000*clip000/((order-1)*batch000*records000)) /
		(clients000*variance - 2*order*clip000*clip000/records000)
	return Evidence{
		Ran:        "the last line of equation 43 and equation 35 for N = 50, σ² = 0.01, D = 1200, B = 32, C = 10, order 2",
		Claimed:    number(left, "in equation 35"),
		Found:      number(right, "in the last line of equation 43"),
		Contradict: math.Abs(right/left-1) > 1e-9,
	}, nil
}

// tableRow runs the real mechanism on two neighbours.
func tableRow() (Evidence, error) {
	const records, order, variance = 2000, 200, 210. / 2000
	covariance := func(angle float64) (*mat.SymDense, error) {
		// All records but one have the covariance 210·I + [[2.138, 3.742], [3.742, 4.092]], over 2,000: 500 along each of its axes.
		var eigen mat.EigenSym
		var axes mat.Dense
		if !eigen.Factorize(mat.NewSymDense(2, []float64{210 + 2.138, 3.742, 3.742, 210 + 4.092}), true) {
			return nil, errors.New("no eigenvalues")
		}
		eigen.VectorsTo(&axes)
		values := make([]float64, 2*records)
		values[0], values[1] = math.Cos(angle), math.Sin(angle)
		for i := 1; i <= 1000; i++ {
			size := math.Sqrt(eigen.Values(nil)[i%2] / 500)
			values[2*i], values[2*i+1] = size*axes.At(0, i%2), size*axes.At(1, i%2)
		}
		m, err := waterfill.New(waterfill.Config{Method: waterfill.GSGDDP, Clients: 1, Records: records, Dimension: 2, Batch: 1, Clip: 1, Variance: variance})
		if err != nil {
			return nil, err
		}
		g, err := waterfill.NewGradients(values, records, 1)
		if err != nil {
			return nil, err
		}
		return m.Covariance(g)
	}
	one, err := covariance(.4208)
	if err != nil {
		return Evidence{}, err
	}
	two, err := covariance(1.9916)
	if err != nil {
		return Evidence{}, err
	}
	smallest := waterfill.SmallestEigenvalue(mix(order, one, two))
	claimed := (2*order/float64(records*records) + order/(float64(order-1)*records)) / (variance - order/float64(records))
	found := 0.0
	if smallest < 0 {
		found = math.Inf(1)
	}
	return Evidence{
		Ran:        "one client, 2000 records, B = C = 1, σ² = 0.105, order 200; one record turns from 0.4208 to 1.9916 rad; the mechanism's own covariances",
		Claimed:    number(claimed, "as Renyi divergence, by the table"),
		Found:      number(found, "divergence: (1-α)Σ₁ + αΣ₂ has the eigenvalue %.7f", smallest),
		Contradict: smallest < 0,
	}, nil
}

func isotropicRow() (Evidence, error) {
	event := accountant.GaussianSampling{Clients: clients000, Records: records000, Batch: batch000, Clip: clip000, Variance: .01}
	const order = 3.
	row := (2*order*clip000*clip000/(records000*records000) + order*clip000*clip000/((order-1)*batch000*records000)) /
		(clients000*.01 - order*clip000*clip000/(batch000*records000))
	ours, err := accountant.RDP(accountant.About{Event: event}, order)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "the row and the accountant's event for N = 50, D = 1200, B = 32, C = 10, σ² = 0.01, order 3",
		Claimed:    number(row, "by the row"),
		Found:      number(ours, "by the accountant, which proves as much or more"),
		Contradict: ours > row*(1+1e-9),
	}, nil
}

func samplingRow() (Evidence, error) {
	// The exact curve of one sampled Gaussian step against the row.
	const rate, multiplier, delta = batch000 / records000, 1., 1e-4
	inner, err := accountant.Epsilon(accountant.About{Event: accountant.Gaussian{NoiseMultiplier: multiplier}}, delta, accountant.Best)
	if err != nil {
		return Evidence{}, err
	}
	row := math.Log1p(rate * math.Expm1(inner.Epsilon))
	exact, err := accountant.Epsilon(accountant.About{Event: accountant.WithoutReplacement{Rate: rate, Event: accountant.Gaussian{NoiseMultiplier: multiplier}}}, delta, accountant.Best)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "a Gaussian step of noise multiplier 1 on 32 of 1200 records at delta 1e-4: the row against the exact privacy loss",
		Claimed:    number(row, "as epsilon, by the row"),
		Found:      number(exact.Epsilon, "as epsilon, exactly"),
		Contradict: exact.Lower > row,
	}, nil
}

func plainBlocks() (Evidence, error) {
	const a, clip = math.Sqrt2 / 2, 1.5
	smallest := func(values []float64) (float64, error) {
		g, err := waterfill.NewGradients(values, 4, clip)
		if err != nil {
			return 0, err
		}
		c, err := waterfill.PlainBlocks(g, 1, .1, []int{0, 1, 2})
		if err != nil {
			return 0, err
		}
		return waterfill.SmallestEigenvalue(c), nil
	}
	same, err := smallest([]float64{a, a, a, a, a, a, a, a})
	if err != nil {
		return Evidence{}, err
	}
	neighbour, err := smallest([]float64{a, -a, a, a, a, a, a, a})
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "four gradients (1, 1)/√2 in two blocks of one weight, floor 0.1; the neighbour has one (1, -1)/√2",
		Claimed:    number(.1, "at the least, as smallest eigenvalue"),
		Found:      number(math.Round(same*1e12)/1e12, "as smallest eigenvalue, and %.2f for the neighbour: epsilon is infinite", neighbour),
		Contradict: same < 1e-9 && neighbour > .1,
	}, nil
}

func colluders() (Evidence, error) {
	epsilon := func(clients int) (float64, error) {
		event := accountant.Waterfill{Clients: clients, Records: records000, Batch: batch000, Clip: clip000, Variance: .01}
		b, err := accountant.Epsilon(accountant.About{Event: event}, 1e-4, accountant.ByRDP)
		return b.Epsilon, err
	}
	all, err := epsilon(clients000)
	if err != nil {
		return Evidence{}, err
	}
	honest, err := epsilon(clients000 / 2)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        strings.Join([]string{"N = 50 users, half of whom collude", "D = 1200, B = 32, C = 10, σ² = 0.01, delta 1e-4: epsilon by the corrected bound"}, "; "),
		Claimed:    number(all, "with N users"),
		Found:      number(honest, "with the N - T honest ones"),
		Contradict: honest > all,
	}, nil
}
