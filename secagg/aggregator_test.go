package secagg_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"hubbub/noise"
	"hubbub/secagg"
	"hubbub/secagg/layers"
)

// Chunks are summed by three aggregators at the same time, two of them on "other machines": they know the parameters, the root, and the seeds
// that were sent to them.
func TestAggregatorsShareAVector(t *testing.T) {
	p := setting(6, 1000, 24)
	f := federate(t, p, nil, 5)
	for phase := range secagg.Upload {
		if phase == secagg.Advertise {
			if err := f.advertise(); err != nil {
				t.Fatal(err)
			}
		}
		out, err := f.server.Close(phase)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.deliver(out.Send); err != nil {
			t.Fatal(err)
		}
	}
	root, clients, _ := f.server.Root()
	var ranges []*secagg.Aggregator
	bounds := []int{0, 3, 4, p.Chunks()}
	for i := range 3 {
		a, err := secagg.NewAggregator(p, root, clients, bounds[i], bounds[i+1])
		if err != nil {
			t.Fatal(err)
		}
		ranges = append(ranges, a)
	}
	for i, c := range f.clients[:5] {
		place, _ := f.server.Place(f.id(i))
		for chunk := p.Chunks() - 1; chunk >= 0; chunk-- { // any order will do
			from := chunk * p.ChunkLen(0)
			values := f.vectors[i][from : from+p.ChunkLen(chunk)]
			message, err := c.MaskedChunk(chunk, values)
			if err != nil {
				t.Fatal(err)
			}
			if len(message) != p.ChunkSize(chunk) {
				t.Errorf("chunk %d has %d bytes, %d were announced", chunk, len(message), p.ChunkSize(chunk))
			}
			for at, a := range ranges {
				err := a.Add(place, message)
				if inside := chunk >= bounds[at] && chunk < bounds[at+1]; inside != (err == nil) {
					t.Errorf("chunk %d for the range from %d: %v", chunk, bounds[at], err)
				}
			}
			values = slices.Clone(values)
			values[0]++
			if _, err := c.MaskedChunk(chunk, values); !errors.Is(err, secagg.ErrConflict) {
				t.Errorf("another vector under the same masks: %v", err)
			}
		}
		for _, a := range ranges {
			if !a.Has(place) {
				t.Errorf("an aggregator lacks chunks of client %d", i)
			}
		}
		if err := f.server.Uploaded(f.id(i)); err != nil {
			t.Fatal(err)
		}
	}
	var opened *secagg.Unmasking
	for phase := secagg.Upload; phase <= secagg.Unmask; phase++ {
		out, err := f.server.Close(phase)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.deliver(out.Send); err != nil {
			t.Fatal(err)
		}
		opened = out.Unmasking
	}
	received, err := secagg.DecodeUnmasking(p, opened.Encode())
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]int64, p.Dim)
	var openings sync.WaitGroup
	for chunk := range p.Chunks() {
		openings.Go(func() {
			for i, a := range ranges {
				if chunk >= bounds[i] && chunk < bounds[i+1] {
					part, err := a.Sum(chunk, received, nil)
					if err != nil {
						t.Error(err)
					}
					copy(sum[chunk*p.ChunkLen(0):], part)
				}
			}
		})
	}
	openings.Wait()
	if !slices.Equal(sum, f.plainSum(all(5))) {
		t.Error("wrong sum")
	}
	opened.Erase()
	if _, err := ranges[0].Sum(0, opened, nil); err == nil {
		t.Error("a sum was opened with erased seeds")
	}
}

// The noise that is left after any number of dropouts is the same in law: vectors of zeros and Skellam layers with rates from secagg/layers. 30,000
// elements; the empirical variance of n elements has a standard deviation of about variance·√(2/n), and five of them are allowed: a false
// alarm in 10^6 for each of the four sums.
func TestTheNoiseLeftDoesNotDependOnDropouts(t *testing.T) {
	const rate, cohort, survivors, dim = 40.0, 8, 5, 30_000
	law, err := layers.New(layers.Config{Family: layers.Skellam, Hidden: rate, MinSurvivors: survivors})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := law.Cohort(cohort)
	if err != nil {
		t.Fatal(err)
	}
	samplers := make([]*noise.Skellam, cut.Count())
	for k := range samplers {
		if samplers[k], err = noise.NewSkellam(cut.Rate(k)); err != nil {
			t.Fatal(err)
		}
	}
	draw := func(layer int, seed secagg.Seed, dst []int64) { samplers[layer].Add(dst, noise.Key(seed).Stream()) }
	for drops := range survivors - 1 {
		p := setting(cohort, dim, 20)
		p.Chunk, p.Layers, p.MinSurvivors, p.Threshold = 0, cut.Tolerated(), survivors, 5
		f := federate(t, p, draw, uint64(drops))
		for i := range f.vectors { // zeros and the base layer, which is never removed
			clear(f.vectors[i])
			samplers[0].Add(f.vectors[i], noise.Seeded(uint64(100*drops+i)).Stream())
		}
		_, sum, err := f.run(map[secagg.Phase][]int{secagg.Upload: all(cohort)[:drops]})
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, x := range sum {
			total += float64(x * x)
		}
		variance, want := total/dim, 2*rate
		if tolerance := 5 * want * 0.00817; variance < want-tolerance || variance > want+tolerance { // √(2/30000) = 0.00817
			t.Errorf("%d dropouts: variance %.2f, want %.2f ± %.2f", drops, variance, want, tolerance)
		}
	}
}
