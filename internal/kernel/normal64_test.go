package kernel

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// edges64 are words of every length from either end, and ties of rounding to 53 bits: where a conversion could go wrong.
func edges64() []uint64 {
	edges := []uint64{0}
	for bit := range 64 {
		power := uint64(1) << bit
		for _, w := range []uint64{power, power - 1, power + 1, power | power>>53, power | power>>53 | power>>52, 3 * power} {
			edges = append(edges, w, ^w)
		}
	}
	return edges
}

// words64 begins with every edge as a radius beside every edge as an angle, and goes on at random.
func words64(groups int) []byte {
	words := randomBytes(1, 8*Normal64Group*groups)
	edges := edges64()
	at := 0
	for _, radius := range edges {
		for _, angle := range edges {
			pair := 128*(at/8) + 8*(at%8)
			binary.LittleEndian.PutUint64(words[pair:], radius)
			binary.LittleEndian.PutUint64(words[pair+64:], angle)
			at++
		}
	}
	return words
}

func TestEveryVersionOfNormal64GivesTheSameBits(t *testing.T) {
	const groups = 1<<17 - 3 // of 8 pairs: 600 thousand of edges, 400 thousand random
	words := words64(groups)
	want := make([]float64, Normal64Group*groups)
	normal64Plain(want, words)
	farthest, nearest := 0.0, math.Inf(1)
	for i := 0; i < len(want); i++ {
		if i%Normal64Group >= Normal64Group/2 {
			continue
		}
		radius := math.Hypot(want[i], want[i+Normal64Group/2])
		farthest, nearest = max(farthest, radius), min(nearest, radius)
	}
	if largest := math.Sqrt(130 * math.Ln2); math.Abs(farthest/largest-1) > 1e-15 || math.Abs(nearest/0x1p-32-1) > 1e-15 {
		t.Errorf("radii from %g to %g, want 2^-32 to %g", nearest, farthest, largest)
	}
	for _, v := range versions() {
		v.with(func() {
			got := make([]float64, len(want)+1)
			got[len(want)] = untouched
			Normal64(got[:len(want)], words)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("%s: number %d is %v, the plain loop gives %v", v.name, i, got[i], want[i])
				}
			}
			if got[len(want)] != untouched {
				t.Errorf("%s: the number after the last was touched", v.name)
			}
		})
	}
}

// Numbers of 200 bits, for functions that are right to some 190.
const precision = 200

func newBig(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// series is the sum of x^n·c(n) over n = first, first+2, ..., where c(n+2) = c(n)·ratio(n), until terms no longer count.
func series(x *big.Float, first int, ratio func(n int) *big.Rat) *big.Float {
	term, square := newBig(1), newBig(0).Mul(x, x)
	if first == 1 {
		term.Set(x)
	}
	sum := newBig(0)
	for n := first; term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-precision); n += 2 {
		sum.Add(sum, term)
		term.Mul(term, square)
		term.Mul(term, newBig(0).SetRat(ratio(n)))
	}
	return sum
}

func bigSin(x *big.Float) *big.Float {
	return series(x, 1, func(n int) *big.Rat { return big.NewRat(-1, int64((n+1)*(n+2))) })
}

func bigCos(x *big.Float) *big.Float {
	return series(x, 0, func(n int) *big.Rat { return big.NewRat(-1, int64((n+1)*(n+2))) })
}

// bigLog is ln x = 2·artanh((x-1)/(x+1)) of a mantissa in [1/2, 1), and ln 2 = -ln(1/2) for each power.
func bigLog(x *big.Float) *big.Float {
	mantissa := newBig(0)
	exponent := x.MantExp(mantissa)
	ofMantissa := func(m *big.Float) *big.Float {
		s := newBig(0).Quo(newBig(0).Sub(m, newBig(1)), newBig(0).Add(m, newBig(1)))
		sum := series(s, 1, func(n int) *big.Rat { return big.NewRat(int64(n), int64(n+2)) })
		return sum.Mul(sum, newBig(2))
	}
	if newBig(0).Sub(newBig(1), x).MantExp(nil) < -1 { // beside 1 the two parts would cancel
		return ofMantissa(x)
	}
	powers := newBig(0).Mul(ofMantissa(newBig(0.5)), newBig(-float64(exponent)))
	return powers.Add(powers, ofMantissa(mantissa))
}

// relative is the error of got beside want.
func relative(got float64, want *big.Float) float64 {
	e := newBig(0).Sub(newBig(got), want)
	if e.Sign() == 0 {
		return 0
	}
	e.Quo(e, want)
	r, _ := e.Float64()
	return math.Abs(r)
}

func TestRelativeErrorsOfNormal64(t *testing.T) {
	halfPi, _, err := big.ParseFloat("1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931", 10, precision, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	words := edges64()
	r := rand.New(rand.NewPCG(64, 1))
	for range 1500 { // of every magnitude, from either end
		w := r.Uint64() >> r.IntN(64)
		words = append(words, w, ^w, r.Uint64())
	}
	var logError, sinError, cosError, numberError float64
	dst, pair := make([]float64, Normal64Group), make([]byte, 8*Normal64Group)
	for i, w := range words {
		u := newBig(0).Add(newBig(0).SetUint64(w), newBig(0.5)) // exact, as all of u is
		u.SetMantExp(u, -64)
		log := bigLog(u)
		logError = max(logError, relative(logUniform64(w), log))

		angle := words[(i*7919+1)%len(words)]
		quarters, rest := angle>>62, newBig(0).SetInt64(int64(angle<<2))
		rest.SetMantExp(rest, -64)
		rest.Mul(rest, halfPi)
		wantSin, wantCos := bigSin(rest), bigCos(rest)
		for range quarters { // sin(x + π/2) = cos x, cos(x + π/2) = -sin x
			wantSin, wantCos = wantCos, wantSin.Neg(wantSin)
		}
		sin, cos := turn64(angle)
		sinError = max(sinError, relative(sin, wantSin))
		cosError = max(cosError, relative(cos, wantCos))

		binary.LittleEndian.PutUint64(pair, w)
		binary.LittleEndian.PutUint64(pair[64:], angle)
		Normal64(dst, pair)
		radius := newBig(0).Sqrt(log.Mul(log, newBig(-2)))
		numberError = max(numberError, relative(dst[0], wantSin.Mul(wantSin, radius)), relative(dst[8], wantCos.Mul(wantCos, radius)))
	}
	t.Logf("largest relative errors: logarithm %.2g, sine %.2g, cosine %.2g, normal number %.2g", logError, sinError, cosError, numberError)
	for _, c := range []struct {
		name          string
		worst, stated float64
	}{
		{"logarithm", logError, 4e-16}, {"sine", sinError, 4e-16}, {"cosine", cosError, 4e-16}, {"normal number", numberError, 6e-16},
	} {
		if !(c.worst > 0 && c.worst < c.stated) {
			t.Errorf("%s: relative error %g, stated %g", c.name, c.worst, c.stated)
		}
	}
}

func BenchmarkNormal64(b *testing.B) {
	const n = 4096
	words, dst := randomBytes(1, 8*n), make([]float64, n)
	for _, v := range versions() {
		b.Run(v.name, func(b *testing.B) {
			v.with(func() {
				for b.Loop() {
					Normal64(dst, words)
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
		})
	}
}
