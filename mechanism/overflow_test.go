package mechanism

import (
	"math"
	"slices"
	"testing"

	"hubbub/noise"
)

// An overflow is a coordinate that decodes to something else than it would with bits for everything.
func TestOverflowsAreTheCoordinatesThatDecodeWrong(t *testing.T) {
	const d, few = 512, 5
	for _, c := range []struct {
		name       string
		rotate     bool
		rate, clip float64
		runs       Runs
	}{
		{"noise leaves the range", false, 40, 1, Runs{{0, d}}},
		{"noise leaves the range, the update is anywhere", false, 40, 1, nil},
		{"noise leaves the range after a rotation", true, 40, 1, nil},
		{"each update leaves the range by itself", false, 1e-3, 400, nil},
		{"rotated updates leave the range by themselves", true, 1e-3, 400, Runs{{0, d}}},
	} {
		contribute := func(bits int) (*Skellam, []int64) {
			m := skellam(t, SkellamConfig{
				Encoding: Encoding{Dimension: d, Clip: c.clip, Granularity: 1, Bits: bits, Rotate: c.rotate, RotationKey: noise.Seeded(9), AllowOverflow: true},
				Crowd:    Crowd{Noise: Exact, Shares: 3, Clients: 3}, Rate: c.rate,
			})
			update := make([]float32, d)
			for i := range update {
				update[i] = float32(c.clip * math.Sin(float64(i)))
			}
			sum, random := make([]int64, m.Width()), noise.Seeded(4).Stream()
			for range 3 {
				if err := m.ContributeRuns(sum, update, c.runs, random); err != nil {
					t.Fatal(err)
				}
			}
			m.ServerNoise(sum, random)
			return m, sum
		}
		tight, sum := contribute(few)
		ample, same := contribute(maxBits)
		if !slices.Equal(sum, same) {
			t.Errorf("%s: the sum before the remainder depends on the bits", c.name)
		}
		if n := ample.Overflows(same); n != 0 {
			t.Errorf("%s: %d overflows of %d bits", c.name, n, maxBits)
		}
		wrong := 0
		for i := range sum {
			var got, want [1]float32
			// Coordinate by coordinate, before a rotation is undone.
			plain := &codec{Encoding: Encoding{Granularity: 1}, half: tight.codec.half, mask: tight.codec.mask}
			plain.decode(got[:], sum[i:i+1], 1)
			plain.half, plain.mask = ample.codec.half, ample.codec.mask
			plain.decode(want[:], sum[i:i+1], 1)
			if got != want {
				wrong++
			}
		}
		if n := tight.Overflows(sum); n != wrong || n == 0 || n == len(sum) {
			t.Errorf("%s: %d overflows counted of %d coordinates, %d decode wrong", c.name, n, len(sum), wrong)
		}
	}
}
