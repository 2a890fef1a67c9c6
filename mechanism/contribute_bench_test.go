package mechanism

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hubbub/noise"
)

// One client's contribution of the network 784-80-10.
func BenchmarkContribute(b *testing.B) {
	const d = 63_610
	update := randomUpdate(rand.New(rand.NewPCG(1, 1)), d, 2)
	for _, rotate := range []bool{false, true} {
		for _, noised := range []bool{false, true} {
			b.Run(fmt.Sprintf("rotate=%v/noise=%v", rotate, noised), func(b *testing.B) {
				s, err := NewSkellam(SkellamConfig{
					Encoding: Encoding{Dimension: d, Clip: 1, Granularity: 0.1, Bits: 12, Rotate: rotate, RotationKey: noise.Seeded(1), AllowOverflow: true},
					Crowd:    Crowd{Shares: 200, Clients: 240},
					Rate:     200,
				})
				if err != nil {
					b.Fatal(err)
				}
				sum, random := make([]int64, s.Width()), noise.Seeded(1).Stream()
				for b.Loop() {
					if err := s.contribute(sum, update, nil, false, random, noised); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(d*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcoordinates/s")
			})
		}
	}
}
