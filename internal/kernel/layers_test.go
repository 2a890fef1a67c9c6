package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// oddNumbers are random, with zeros of both signs, equal ones and a NaN among them.
func oddNumbers(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch r.IntN(8) {
		case 0:
			x[i] = 0
		case 1:
			x[i] = float32(math.Copysign(0, -1))
		case 2, 3:
			x[i] = float32(r.IntN(5) - 2)
		default:
			x[i] = float32(r.NormFloat64())
		}
	}
	if n > 3 && r.IntN(4) == 0 {
		x[r.IntN(n)] = float32(math.NaN())
	}
	return x
}

func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// Each loop is held against its definition, written out here, at every length around a group; the element after the end stays.
func TestLoopsOfLayersEqualTheirDefinition(t *testing.T) {
	const x = 0.37
	loops := []struct {
		name string
		run  func(a, b []float32)
		want func(a, b []float32)
	}{
		{"Axpy", func(a, b []float32) { Axpy(a, x, b) }, func(a, b []float32) {
			for i := range a {
				a[i] += float32(x * b[i])
			}
		}},
		{"Scale", func(a, _ []float32) { Scale(a, x) }, func(a, _ []float32) {
			for i := range a {
				a[i] *= x
			}
		}},
		{"ReLU", func(a, _ []float32) { ReLU(a) }, func(a, _ []float32) {
			for i := range a {
				if a[i] < 0 {
					a[i] = 0
				}
			}
		}},
		{"ReLUBack", func(a, b []float32) { ReLUBack(a, b) }, func(a, b []float32) {
			for i := range a {
				if !(b[i] > 0) {
					a[i] = 0
				}
			}
		}},
	}
	r := rand.New(rand.NewPCG(5, 5))
	for _, l := range loops {
		for n := range 70 {
			a, b := oddNumbers(r, n+1), oddNumbers(r, n+1)
			want := slices.Clone(a)
			l.want(want[:n], b[:n])
			for _, v := range versions() {
				v.with(func() {
					got := slices.Clone(a)
					l.run(got[:n], b[:n])
					if !equalBits(got, want) {
						t.Errorf("%s, %s of %d elements: %v, want %v", v.name, l.name, n, got, want)
					}
				})
			}
		}
	}
}

func TestLoopsOverRowsEqualTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, columns := range []int{1, 3, 15, 16, 17, 32, 48, 64, 80, 112} {
		for _, rows := range []int{0, 1, 2, 5} {
			x, y := oddNumbers(r, columns), oddNumbers(r, rows*columns)
			wantY, wantSum := slices.Clone(y), slices.Clone(x)
			for i, v := range y {
				wantY[i] = v + x[i%columns]
				wantSum[i%columns] += v
			}
			for _, v := range versions() {
				v.with(func() {
					gotY, gotSum := slices.Clone(y), slices.Clone(x)
					AddToRows(gotY, x)
					AddRows(gotSum, y)
					if !equalBits(gotY, wantY) || !equalBits(gotSum, wantSum) {
						t.Errorf("%s: %d rows of %d columns: not what the definition gives", v.name, rows, columns)
					}
				})
			}
		}
	}
}

func TestLoopsOverPixelsEqualTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, channels := range []int{1, 3, 16, 17, 32, 48} {
		for _, pixels := range []int{1, 2, 7} {
			for _, stride := range []int{channels, 2*channels + 1, 5 * channels} {
				spread := (pixels-1)*stride + channels
				x, dx := oddNumbers(r, spread), oddNumbers(r, spread)
				y, delta, which := oddNumbers(r, pixels*channels), oddNumbers(r, pixels*channels), oddNumbers(r, pixels*channels)
				const number = 2 // among the odd numbers
				wantY, wantDx, wantWhich, wantSet := slices.Clone(y), slices.Clone(dx), slices.Clone(which), slices.Clone(dx)
				for i := range y {
					at := i/channels*stride + i%channels
					if x[at] > y[i] {
						wantY[i], wantWhich[i] = x[at], number
					}
					wantSet[at] = 0
					if which[i] == number {
						wantSet[at] = delta[i]
						wantDx[at] += delta[i]
					}
				}
				for _, v := range versions() {
					v.with(func() {
						gotY, gotDx, gotWhich, gotSet := slices.Clone(y), slices.Clone(dx), slices.Clone(which), slices.Clone(dx)
						Larger(gotY, gotWhich, x, number, channels, stride)
						AddWhere(gotDx, delta, which, number, channels, stride)
						SetWhere(gotSet, delta, which, number, channels, stride)
						if !equalBits(gotY, wantY) || !equalBits(gotSet, wantSet) || !equalBits(gotDx, wantDx) || !equalBits(gotWhich, wantWhich) {
							t.Errorf("%s: %d pixels of %d channels, %d apart: not what the definition gives", v.name, pixels, channels, stride)
						}
					})
				}
			}
		}
	}
}

func TestAssemblyOfLayersIsWhatTheGeneratorWrites(t *testing.T) {
	checkedIn, err := os.ReadFile("layers_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	generated, err := exec.Command("go", "run", "generate_layers.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(checkedIn, generated) {
		t.Error("layers_amd64.s is not what generate_layers.go writes: run go generate ./internal/kernel")
	}
}
