package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomBytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// randomAliased is a table of random thresholds and aliases: no law, but every path through the loop.
func randomAliased(seed uint64, columnBits uint, signMask uint32, lowest int64) *Aliased {
	r := rand.New(rand.NewPCG(seed, 1))
	a := &Aliased{Bits: columnBits, SignMask: signMask, Lowest: lowest, Entries: make([]uint32, 1<<columnBits)}
	for i := range a.Entries {
		a.Entries[i] = r.Uint32()
	}
	return a
}

func TestEveryVersionOfTheAliasLoopAddsTheSame(t *testing.T) {
	lengths := []int{0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 100, 1000, 2048}
	for columnBits := uint(1); columnBits <= 15; columnBits++ {
		a := randomAliased(uint64(columnBits), columnBits, uint32(columnBits%2), -int64(columnBits)<<40)
		for _, n := range lengths {
			words := randomBytes(uint64(n), 4*n)
			for i := 0; i+4 <= len(words); i += 12 { // every third draw meets its threshold exactly
				w := binary.LittleEndian.Uint32(words[i:])
				w = w&^(0xffff<<1) | a.Entries[w>>(32-a.Bits)]>>16<<1
				binary.LittleEndian.PutUint32(words[i:], w)
			}
			const beyond = 32 // elements that must stay as they are
			start := make([]int64, n+beyond)
			for i := range start {
				start[i] = int64(i) << 33
			}
			want, wantOpen := slices.Clone(start), make([]byte, (n+7)/8)
			a.addPlain(want[:n], words, wantOpen)
			if n >= 12 && bytes.Count(wantOpen, []byte{0}) == len(wantOpen) {
				t.Fatalf("bits %d, %d draws: none met its threshold", columnBits, n)
			}
			for _, v := range versions() {
				v.with(func() {
					got, open := slices.Clone(start), make([]byte, (n+7)/8)
					a.Add(got[:n], words, open)
					if !slices.Equal(got, want) || !bytes.Equal(open, wantOpen) {
						t.Errorf("%s: bits %d, %d draws: not what the plain loop adds", v.name, columnBits, n)
					}
				})
			}
		}
	}
}

func TestEveryVersionOfTheNormalLoopGivesTheSameBits(t *testing.T) {
	const n = 1 << 16
	words := randomBytes(1, 4*n)
	extremes := []byte{0, 1, 0x7f, 0x80, 0xff} // the smallest and largest radius, the corners of the circle
	for i, b := range extremes {
		for j, c := range extremes {
			at := 4 * (32*(len(extremes)*i+j) + 3)
			copy(words[at:], []byte{b, b, b, b})
			copy(words[at+64:], []byte{c, c, c, c})
		}
	}
	want := make([]float32, n)
	normal32Plain(want, words)
	for i, x := range want {
		if math.IsNaN(float64(x)) || math.Abs(float64(x)) > 6.67 {
			t.Fatalf("number %d is %g", i, x)
		}
	}
	for _, v := range versions() {
		v.with(func() {
			got := make([]float32, n)
			Normal32(got, words)
			for i := range got {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%s: number %d is %g, the plain loop gives %g", v.name, i, got[i], want[i])
				}
			}
		})
	}
}

func TestNormal32FollowsBoxAndMullerInFloat64(t *testing.T) {
	const n = 1 << 16
	words := randomBytes(2, 4*n)
	got := make([]float32, n)
	Normal32(got, words)
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(words[4*i:]) }
	for base := 0; base < n; base += 32 {
		for i := base; i < base+16; i++ {
			u := (float64(word(i)>>1) + 0.5) * 0x1p-31
			angle := (float64(word(i+16)>>30) + float64(int32(word(i+16)<<2))*0x1p-32) * math.Pi / 2
			radius := math.Sqrt(-2 * math.Log(u))
			// Near u = 1 the float32 of u itself is what limits: 2^-24 in u is 2^-24/radius in the radius.
			allowed := 4e-7*radius + 0x1p-24/radius
			if e := math.Abs(float64(got[i]) - radius*math.Sin(angle)); e > allowed {
				t.Fatalf("number %d is off by %g, more than %g", i, e, allowed)
			}
			if e := math.Abs(float64(got[i+16]) - radius*math.Cos(angle)); e > allowed {
				t.Fatalf("number %d is off by %g, more than %g", i+16, e, allowed)
			}
		}
	}
}

// Drawing from a stream is filling and then drawing, for tables of all sizes and from any block of the stream on.
func TestDrawingFromAStreamIsFillingFirst(t *testing.T) {
	const perChunk = Chunk / 4
	for _, v := range versions() {
		v.with(func() {
			for columnBits := uint(1); columnBits <= 15; columnBits++ {
				a := randomAliased(uint64(columnBits), columnBits, uint32(columnBits%2), -3)
				for _, chunks := range []int{0, 1, 2, 3, 32} {
					n := chunks * perChunk
					one, two := NewKeystream([32]byte{1}), NewKeystream([32]byte{1})
					one.Move(int64(7 + chunks))
					two.Move(int64(7 + chunks))
					got, gotWords, gotOpen := make([]int64, n), make([]byte, 4*n), make([]byte, n/8)
					want, words, open := make([]int64, n), make([]byte, 4*n), make([]byte, n/8)
					for i := range got {
						got[i], want[i] = int64(i), int64(i)
					}
					a.Draw(one, got, gotWords, gotOpen)
					two.Fill(words)
					a.Add(want, words, open)
					if !slices.Equal(got, want) || !bytes.Equal(gotWords, words) || !bytes.Equal(gotOpen, open) || one.counter != two.counter {
						t.Fatalf("%s: a table of %d bits, %d chunks: not what filling first gives", v.name, columnBits, chunks)
					}
					floats, wantFloats := make([]float32, n), make([]float32, n)
					one.Normal32(floats, gotWords)
					two.Fill(words)
					Normal32(wantFloats, words)
					if !slices.Equal(floats, wantFloats) || !bytes.Equal(gotWords, words) || one.counter != two.counter {
						t.Fatalf("%s: %d chunks of normal numbers: not what filling first gives", v.name, chunks)
					}
				}
			}
		})
	}
}

func TestFusedMultiplyAddRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	twice := 0 // results that a second rounding would change
	for range 200000 {
		x, y := float32(r.NormFloat64()), float32(r.NormFloat64())
		z := float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30))
		if r.IntN(2) == 0 { // the sum lies near the middle between two float32 numbers
			little := float32(math.Ldexp(1, -16-r.IntN(7)))
			x, y, z = 1-little, 0.5+little/2, float32(1<<23+r.IntN(1<<23)) // x·y is just below 1/2
			if r.IntN(2) == 0 {
				x, z = -x, -z
			}
		}
		exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		want, _ := exact.Add(exact, big.NewFloat(float64(z))).Float32()
		if got := fusedMultiplyAdd(x, y, z); got != want {
			t.Fatalf("%g·%g + %g is %g, want %g", x, y, z, got, want)
		}
		if float32(float64(x)*float64(y)+float64(z)) != want {
			twice++
		}
	}
	if twice < 1000 {
		t.Errorf("only %d of the results would differ if rounded twice: the test is too easy", twice)
	}
}

func TestFastKeystreamIsTheStandardLibrarys(t *testing.T) {
	for seed := range uint64(20) {
		key := [32]byte(randomBytes(seed, 32))
		fast, portable := NewKeystream(key), portableKeystream(key)
		for _, chunks := range []int{1, 2, 0, 7, 32} { // 42 chunks are 1344 blocks: past a carry out of the counter's low byte
			a, b := make([]byte, chunks*Chunk), make([]byte, chunks*Chunk)
			fast.Fill(a)
			portable.Fill(b)
			if !bytes.Equal(a, b) {
				t.Fatalf("seed %d: the streams differ", seed)
			}
		}
	}
}

func BenchmarkKeystream(b *testing.B) {
	k := NewKeystream([32]byte{1})
	buffer := make([]byte, 1<<13)
	b.SetBytes(int64(len(buffer)))
	for b.Loop() {
		k.Fill(buffer)
	}
}

func BenchmarkAliased(b *testing.B) {
	for _, bits := range []uint{5, 8, 11, 14, 15} {
		a := randomAliased(1, bits, 1, 0)
		dst, words, open := make([]int64, 2048), randomBytes(1, 4*2048), make([]byte, 256)
		for _, v := range versions() {
			b.Run(fmt.Sprintf("%s/bits=%d", v.name, bits), func(b *testing.B) {
				v.with(func() {
					for b.Loop() {
						a.Add(dst, words, open)
					}
				})
				b.ReportMetric(2048*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			})
		}
	}
}

func BenchmarkNormal32(b *testing.B) {
	dst, words := make([]float32, 2048), randomBytes(1, 4*2048)
	for _, v := range versions() {
		b.Run(v.name, func(b *testing.B) {
			v.with(func() {
				for b.Loop() {
					Normal32(dst, words)
				}
			})
			b.ReportMetric(2048*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}

// Every version gives the bits of the definition, at every length and leaves what lies beyond alone.
func TestRoundingLoopsEqualTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for _, v := range versions() {
		v.with(func() {
			for n := range 131 {
				x, y, coins := make([]float32, n+3), make([]int64, n+3), make([]byte, 4*n+3)
				dst, sum := make([]int64, n+3), make([]int64, n+3)
				for i := range x {
					x[i], y[i], dst[i], sum[i] = float32(r.NormFloat64()*50), r.Int64N(1<<40)-1<<39, 77, r.Int64N(1<<40)
				}
				for i := range coins {
					coins[i] = byte(r.Uint32())
				}
				const scale, half, mask = 3.7 * (1 << 32), 1 << 9, 1<<10 - 1
				before, square := slices.Clone(sum), [32]float64{}
				Round(dst[:n], x[:n], scale, coins)
				AddWrapped(sum[:n], y[:n], half, mask)
				for i := range n {
					if want := (int64(float64(x[i])*scale) + int64(binary.LittleEndian.Uint32(coins[4*i:]))) >> 32; dst[i] != want {
						t.Fatalf("%s: round %d of %d: %d, want %d", v.name, i, n, dst[i], want)
					}
					rest := ((y[i]+half)%(mask+1) + mask + 1) % (mask + 1)
					if want := before[i] + rest - half; sum[i] != want {
						t.Fatalf("%s: wrap %d of %d: %d, want %d", v.name, i, n, sum[i], want)
					}
					square[i%32] += float64(float64(x[i]) * float64(x[i]))
				}
				means := make([]float32, n+1)
				means[n] = untouched
				Unwrap(means[:n], y[:n], half, mask, 0.1)
				for i := range n {
					rest := ((y[i]+half)%(mask+1) + mask + 1) % (mask + 1)
					if want := float32(float64(rest-half) * 0.1); means[i] != want {
						t.Fatalf("%s: unwrap %d of %d: %g, want %g", v.name, i, n, means[i], want)
					}
				}
				if means[n] != untouched {
					t.Fatalf("%s: unwrapping %d elements touched the next one", v.name, n)
				}
				if dst[n] != 77 || sum[n] != before[n] {
					t.Fatalf("%s: %d elements: the next one was touched", v.name, n)
				}
				var eight [8]float64 // then halves are added to halves
				for j := range eight {
					eight[j] = (square[j] + square[j+16]) + (square[j+8] + square[j+24])
				}
				want := ((eight[0] + eight[4]) + (eight[2] + eight[6])) + ((eight[1] + eight[5]) + (eight[3] + eight[7]))
				if got := SumSquares(x[:n]); got != want {
					t.Fatalf("%s: squares of %d elements: %v, want %v", v.name, n, got, want)
				}
			}
		})
	}
}
