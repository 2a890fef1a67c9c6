package secagg

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Tests of distributions raise a false alarm with probability 10^-6 for each comparison that they make.
const falseAlarm = 4.7534 // the standard normal exceeds it with probability 10^-6

// chiSquareLimit is the value that a chi-square of so many degrees exceeds with that probability (Wilson and Hilferty 1931).
func chiSquareLimit(degrees int) float64 {
	k := 2 / (9 * float64(degrees))
	return float64(degrees) * math.Pow(1-k+falseAlarm*math.Sqrt(k), 3)
}

func uniformity(counts []int) float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	expected, sum := float64(total)/float64(len(counts)), 0.0
	for _, n := range counts {
		sum += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	return sum
}

// Whatever a client's vector is, the bytes that leave look uniform: 24 chi-squares over 65,536 bytes each, 255 degrees of freedom.
func TestMaskedVectorsLookUniform(t *testing.T) {
	inputs := map[string]func(i int) int64{
		"zeros":       func(int) int64 { return 0 },
		"ones":        func(int) int64 { return -1 }, // all bits set
		"a counter":   func(i int) int64 { return int64(i) },
		"alternating": func(i int) int64 { return int64(i % 2) },
	}
	for _, bits := range []int{1, 5, 8, 16, 32, 62} {
		for name, input := range inputs {
			p := Params{Cohort: 3, Threshold: 2, MinSurvivors: 3, Bits: bits, Dim: 65536 * 8 / bits, Chunk: 65536 * 8}
			x := seat(t, p, byte(bits))
			values := make([]int64, p.Dim)
			for i := range values {
				values[i] = input(i)
			}
			message, err := x.clients[0].MaskedChunk(0, values)
			if err != nil {
				t.Fatal(err)
			}
			counts := make([]int, 256)
			body := message[headerSize+4:]
			for _, b := range body[:len(body)-1] { // the last byte may be filled up
				counts[b]++
			}
			if got, limit := uniformity(counts), chiSquareLimit(255); got > limit {
				t.Errorf("%s with %d bits: chi-square %.0f over %.0f", name, bits, got, limit)
			}
		}
	}
}

// What the server sees of three survivors, when all their own masks are off, is made from the sum alone by a simulator: two
// vectors drawn uniformly, the third chosen so that the sum is right. Real views of two different inputs with one sum, and simulated ones, are
// compared: 20,000 elements modulo 4, so 64 cells; the sum, which all three have in common, is compared exactly.
func TestTheServersViewFollowsFromTheSum(t *testing.T) {
	const dim = 20_000
	sum := func(i int) int64 { return int64(i % 3) }
	inputs := map[string]func(client, i int) int64{
		"one client has it all": func(client, i int) int64 { return []int64{0, sum(i), 0}[client] },
		"opposites that cancel": func(client, i int) int64 { return []int64{3, -3, sum(i)}[client] },
	}
	simulated := make([]int, 64)
	random := rand.New(rand.NewPCG(21, 22))
	for i := range dim {
		a, b := random.IntN(4), random.IntN(4)
		simulated[cell(a, b, int(sum(i))-a-b)]++
	}
	for name, input := range inputs {
		x := seat(t, Params{Cohort: 3, Threshold: 2, MinSurvivors: 3, Bits: 2, Dim: dim}, 77)
		var views [3][]uint32
		for client, c := range x.clients {
			values := make([]int64, dim)
			for i := range values {
				values[i] = input(client, i)
			}
			message, err := c.MaskedChunk(0, values)
			if err != nil {
				t.Fatal(err)
			}
			views[client] = x.vector(message)
			addMask(views[client], &c.self, 0, true) // the server restores these
		}
		real := make([]int, 64)
		for i := range dim {
			a, b, c := int(views[0][i]), int(views[1][i]), int(views[2][i])
			if (a+b+c-int(sum(i)))&3 != 0 {
				t.Fatalf("%s: element %d of the views does not add up", name, i)
			}
			real[cell(a, b, c)]++
		}
		// homogeneity of two samples of one size; cells that nobody can reach are empty in both
		distance, cells := 0.0, 0
		for i := range real {
			if n := real[i] + simulated[i]; n > 0 {
				d := float64(real[i] - simulated[i])
				distance += d * d / float64(n)
				cells++
			}
		}
		if limit := chiSquareLimit(cells - 1); distance > limit {
			t.Errorf("%s: the view differs from the simulated one: chi-square %.0f over %.0f with %d cells", name, distance, limit, cells)
		}
	}
}

func cell(a, b, c int) int { return a&3 | b&3<<2 | c&3<<4 }

// The tests above can fail: without the masks of pairs the bytes are those of the vector.
func TestTheUniformityTestSeesABareVector(t *testing.T) {
	counts := make([]int, 256)
	for i := range 65536 {
		counts[byte(i%2)]++
	}
	if uniformity(counts) < chiSquareLimit(255) {
		t.Error("alternating bytes pass for uniform ones")
	}
	// golden: worked out by hand from the formula
	if got := chiSquareLimit(255); math.Abs(got-377.1) > 0.5 {
		t.Errorf("limit for 255 degrees is %.1f", got)
	}
}
