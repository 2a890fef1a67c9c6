package pld

import (
	"fmt"
	"testing"
)

// BenchmarkTenThousandSubsampledGaussians is the case of oracle/speed.py, which runs it and dp-accounting side by side.
// The metric "width" is that of the bracket, in epsilon.
func BenchmarkTenThousandSubsampledGaussians(b *testing.B) {
	for _, tolerance := range []float64{1e-1, 1e-2, 1e-3, 1e-4, 2e-5, 1e-5} {
		b.Run(fmt.Sprintf("tolerance=%g", tolerance), func(b *testing.B) {
			p := gaussianPair(b, 1, 0.01)
			var bracket Bracket
			for b.Loop() {
				bracket = epsilon(b, []Term{{p, 10_000}}, 1e-5, Options{Tolerance: tolerance})
			}
			b.ReportMetric(bracket.Upper-bracket.Lower, "width")
			b.ReportMetric(bracket.Upper*1e6, "epsilon*1e6") // metrics are printed with four digits, unless large
		})
	}
}
