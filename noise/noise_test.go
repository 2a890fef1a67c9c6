package noise

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestStreamIsAES256CounterMode(t *testing.T) {
	key := Seeded(7)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	stream := key.Stream()
	for counter := range uint64(200) { // past one refill of the buffer
		var in, want [16]byte
		binary.BigEndian.PutUint64(in[8:], counter)
		block.Encrypt(want[:], in[:])
		for half := 0; half < 16; half += 8 {
			if got, want := stream.Uint64(), binary.LittleEndian.Uint64(want[half:]); got != want {
				t.Fatalf("block %d: %x, AES of the counter is %x", counter, got, want)
			}
		}
	}
}

func TestDerivedKeysDifferWheneverTheirArgumentsDo(t *testing.T) {
	k := Seeded(1)
	seen := map[Key]string{k: "the key itself"}
	for name, d := range map[string]Key{
		"noise":            k.Derive("noise"),
		"noise 0":          k.Derive("noise", 0),
		"noise 0 0":        k.Derive("noise", 0, 0),
		"noise 1":          k.Derive("noise", 1),
		"noise 0 1":        k.Derive("noise", 0, 1),
		"number in name":   k.Derive("noise\x00\x00\x00\x00\x00\x00\x00\x00"),
		"other seed":       Seeded(2).Derive("noise"),
		"second derive":    k.Derive("noise").Derive("noise"),
		"cohort, not that": k.Derive("cohort"),
	} {
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q share a key", name, other)
		}
		seen[d] = name
	}
	if k.Derive("noise", 3) != Seeded(1).Derive("noise", 3) {
		t.Error("the same arguments gave different keys")
	}
}

func TestKeyNeverPrintsItself(t *testing.T) {
	k := Seeded(7)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%d", "%q"} {
		if got := fmt.Sprintf(verb, k); got != "noise.Key(hidden)" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func TestNewKeyFailsWithItsGenerator(t *testing.T) {
	for name, random := range map[string]interface{ Read([]byte) (int, error) }{
		"an error":        iotest.ErrReader(errors.New("no entropy")),
		"too few bytes":   bytes.NewReader(make([]byte, 31)),
		"nothing at all":  strings.NewReader(""),
		"error after ten": iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(make([]byte, 40)))),
	} {
		if k, err := NewKey(random); err == nil || k != (Key{}) {
			t.Errorf("%s: got a key, error %v", name, err)
		}
	}
	if k, err := NewKey(bytes.NewReader(bytes.Repeat([]byte{9}, 32))); err != nil || k[31] != 9 {
		t.Errorf("32 bytes: %v", err)
	}
}

// Statistical tests. Each statistic is asymptotically standard normal; a two-sided limit of 6 gives a false alarm with
// probability 2e-9, and the seeds are fixed, so a failure is a change of code.
const alarm = 6

func TestBelowIsUniform(t *testing.T) {
	const perCell = 20_000
	for _, n := range []uint64{1, 2, 3, 10, 1000} {
		stream := Seeded(n).Stream()
		counts := make([]float64, n)
		draws := perCell * min(n, 50)
		for range draws {
			counts[stream.Below(n)]++
		}
		expected := float64(draws) / float64(n)
		chi := 0.0
		for _, c := range counts {
			chi += (c - expected) * (c - expected) / expected
		}
		free := float64(n) - 1
		if z := (chi - free) / math.Sqrt(2*free+1); z > alarm {
			t.Errorf("below %d: chi-square %.0f on %.0f degrees of freedom", n, chi, free)
		}
	}
	// A bound near 2^64 makes nearly every second draw a rejection.
	stream := Seeded(9).Stream()
	for range 1000 {
		if n := uint64(1)<<63 + 1; stream.Below(n) >= n {
			t.Fatal("drew a number outside its range")
		}
	}
}

func TestShuffleReachesEveryOrderEquallyOften(t *testing.T) {
	const n = 60_000
	stream := Seeded(4).Stream()
	orders := map[[4]int]float64{}
	for range n {
		p := []int{0, 1, 2, 3}
		stream.Shuffle(p)
		orders[[4]int(p)]++
	}
	chi := 0.0
	for _, c := range orders {
		chi += (c - n/24) * (c - n/24) / (n / 24)
	}
	if len(orders) != 24 || (chi-23)/math.Sqrt(46) > alarm {
		t.Errorf("%d orders of 24, chi-square %.0f on 23 degrees of freedom", len(orders), chi)
	}
}

func BenchmarkGaussian(b *testing.B) {
	x := make([]float64, 1<<16)
	s := Seeded(1).Stream()
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		s.Gaussian(x)
	}
	b.ReportMetric(float64(b.N)*float64(len(x))/b.Elapsed().Seconds()/1e6, "Msamples/s")
}

func TestHeadsAreCoinsTossedOneByOne(t *testing.T) {
	together, one := Seeded(8).Stream(), Seeded(8).Stream()
	for _, p := range []float64{0, -1, math.NaN(), 0x1p-60, 0.004, 1.0 / 3, 0.5, 1 - 0x1p-53, 1, 2} {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 129, 5000, 10001} {
			var want []int
			for i := range n {
				if one.Coin(p) {
					want = append(want, i)
				}
			}
			if got := together.Heads(nil, n, p); !slices.Equal(got, want) {
				t.Fatalf("%d coins of probability %g: %d heads, %d if tossed one by one", n, p, len(got), len(want))
			}
			if together.Uint64() != one.Uint64() {
				t.Fatalf("after %d coins the streams part", n)
			}
		}
	}
}
