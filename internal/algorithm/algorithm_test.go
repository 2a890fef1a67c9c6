package algorithm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hubbub/internal/data"
	"hubbub/internal/kernel"
	"hubbub/internal/nn"
	"hubbub/mechanism"
	"hubbub/noise"
)

// task is a small data set and a network for it.
func task(t testing.TB, records int) (*nn.Net, *data.Set) {
	t.Helper()
	r := rand.New(rand.NewPCG(6, 6))
	s := &data.Set{Name: "blobs", Shape: []int{4}, Classes: 3}
	for range records {
		label := r.IntN(3)
		for j := range 4 {
			v := 0.3 * r.Float32()
			if j == label {
				v += 0.6
			}
			s.Features = append(s.Features, v)
		}
		s.Labels = append(s.Labels, uint8(label))
	}
	net, err := nn.MLP(4, []int{5}, 3, nn.Tanh)
	if err != nil {
		t.Fatal(err)
	}
	return net, s
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestOneFullBatchStepOfFedAvgIsFedSGD(t *testing.T) {
	net, set := task(t, 150) // more than one float batch
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	gradient, update := make([]float32, net.Size()), make([]float32, net.Size())
	if err := (FedSGD{}).Update(w, gradient, model, 1, upTo(150), nil); err != nil {
		t.Fatal(err)
	}
	average := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 0.5}, Batch: 150, Epochs: 1}
	if err := average.Update(w, update, model, 1, upTo(150), noise.Seeded(2).Stream()); err != nil {
		t.Fatal(err)
	}
	average.ServerGradient(update)
	for i := range update {
		if math.Abs(float64(update[i]-0.5*gradient[i])) > 1e-6 {
			t.Fatalf("weight %d: fedavg moves by %v, fedsgd by %v", i, -update[i], -0.5*gradient[i])
		}
	}
}

func TestAnEpochTouchesEveryRecordOnce(t *testing.T) {
	net, set := task(t, 10)
	a := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 1}, Batch: 4, Epochs: 2}
	if got := a.StepsFor(10); got != 6 {
		t.Errorf("%d steps for two epochs of ten records in fours, want 6", got)
	}
	if a.Epochs, a.Steps = 0, 9; a.StepsFor(10) != 9 {
		t.Error("steps were not taken as given")
	}
	w := NewWorker(net, set)
	a = FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 1}, Batch: 4}
	if err := w.training.begin(a, net.Init(noise.Seeded(1).Stream()), upTo(10)); err != nil {
		t.Fatal(err)
	}
	random := noise.Seeded(3).Stream()
	var seen []float32 // the inputs that the last batch held, in their order
	for range 3 {
		if err := a.plainBatch(w, random); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, w.inputs...)
	}
	slices.Sort(seen)
	all := slices.Clone(set.Features)
	slices.Sort(all)
	if !slices.Equal(seen, all) {
		t.Error("one epoch did not hold every record once")
	}
}

// Against a dumb version: every gradient by itself, clipped in float64, summed.
func TestClippedSumsEqualTheDefinition(t *testing.T) {
	net, set := task(t, 150)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	var norms []float64
	for r := range 150 {
		one := make([]float32, net.Size())
		if err := w.MeanGradient(one, model, []int{r}); err != nil {
			t.Fatal(err)
		}
		norms = append(norms, math.Sqrt(kernel.SumSquares(one)))
	}
	slices.Sort(norms)
	clip := norms[75] // half of them are clipped
	g, err := mechanism.NewGaussian(mechanism.Central, clip, 1)
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]int64, net.Size())
	if err := w.AddClipped(sum, model, upTo(150), g); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, net.Size())
	g.Decode(got, sum, 1)
	want := make([]float64, net.Size())
	clipped := 0
	for r := range 150 {
		one := make([]float32, net.Size())
		if err := w.MeanGradient(one, model, []int{r}); err != nil {
			t.Fatal(err)
		}
		factor := mechanism.ClipFactor(kernel.SumSquares(one), clip)
		if factor < 1 {
			clipped++
		}
		for i, v := range one {
			want[i] += factor * float64(v)
		}
	}
	if clipped == 0 || clipped == 150 {
		t.Fatalf("%d of 150 gradients were clipped: the test shows nothing", clipped)
	}
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > 1e-4 {
			t.Fatalf("weight %d: %v, want %v", i, got[i], want[i])
		}
	}
}

// 4,000 noisy gradients of the same model: their mean is the clipped sum over the expected batch, their variance that of the
// noise and the sampling. Limits of 6 standard errors; false alarm 2e-9 per weight, 53 weights.
func TestNoisyBatchesHaveTheRightMeanAndVariance(t *testing.T) {
	net, set := task(t, 30)
	const draws, batch, clip, z = 4000, 6, 0.5, 2.0
	g, err := mechanism.NewGaussian(mechanism.Central, clip, z)
	if err != nil {
		t.Fatal(err)
	}
	a := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 1}, Batch: batch, Noise: g}
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	single := make([][]float32, 30)
	for r := range single {
		single[r] = make([]float32, net.Size())
		sum := make([]int64, net.Size())
		if err := w.AddClipped(sum, model, []int{r}, g); err != nil {
			t.Fatal(err)
		}
		g.Decode(single[r], sum, 1)
	}
	if err := w.training.begin(a, model, upTo(30)); err != nil {
		t.Fatal(err)
	}
	random := noise.Seeded(5).Stream()
	mean, square := make([]float64, net.Size()), make([]float64, net.Size())
	for range draws {
		if err := a.noisyBatch(w, upTo(30), random); err != nil {
			t.Fatal(err)
		}
		for i, v := range w.training.gradient {
			mean[i] += float64(v) / draws
			square[i] += float64(v) * float64(v) / draws
		}
	}
	const rate = batch / 30.0
	for i := range mean {
		want, variance := 0.0, z*z*clip*clip
		for _, s := range single {
			want += rate * float64(s[i])
			variance += rate * (1 - rate) * float64(s[i]) * float64(s[i])
		}
		want, variance = want/batch, variance/(batch*batch)
		if off := (mean[i] - want) / math.Sqrt(variance/draws); math.Abs(off) > 6 {
			t.Errorf("weight %d: the mean is off by %.1f standard errors", i, off)
		}
		if off := (square[i] - mean[i]*mean[i] - variance) / (variance * math.Sqrt(2.0/draws)); math.Abs(off) > 6 {
			t.Errorf("weight %d: the variance is off by %.1f standard errors", i, off)
		}
	}
}

func TestDivergenceIsReported(t *testing.T) {
	net, set := task(t, 10)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	model[0] = float32(math.NaN())
	out := make([]float32, net.Size())
	if err := w.MeanGradient(out, model, upTo(10)); !errors.Is(err, ErrDiverged) {
		t.Errorf("a NaN weight: %v", err)
	}
	model = net.Init(noise.Seeded(1).Stream())
	a := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 1e38}, Batch: 2, Epochs: 5}
	if err := a.Update(w, out, model, 1, upTo(10), noise.Seeded(1).Stream()); !errors.Is(err, ErrDiverged) {
		t.Errorf("a rate of 1e38: %v", err)
	}
}

func TestLearningSeparatesTheBlobs(t *testing.T) {
	net, set := task(t, 300)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	a := FedAvg{Local: OptimizerConfig{Kind: "adam", Rate: 0.02}, Batch: 20, Epochs: 20}
	update := make([]float32, net.Size())
	if err := a.Update(w, update, model, 1, upTo(300), noise.Seeded(4).Stream()); err != nil {
		t.Fatal(err)
	}
	for i, v := range update {
		model[i] += v
	}
	if _, correct := w.Evaluate(model, set.Features, set.Labels); correct < 295 {
		t.Errorf("%d of 300 right after training", correct)
	}
}

func TestImpossibleLocalTrainingIsRefused(t *testing.T) {
	sgd := OptimizerConfig{Kind: "sgd", Rate: 1}
	for _, a := range []FedAvg{
		{Local: sgd, Batch: 1}, {Local: sgd, Batch: 1, Epochs: 1, Steps: 1}, {Local: sgd, Batch: 0, Epochs: 1}, {Local: sgd, Batch: 1, Epochs: -1}, {Batch: 1, Epochs: 1},
	} {
		if a.Check() == nil {
			t.Errorf("%+v was accepted", a)
		}
	}
}

// The norms are measured roughly and the gradients are summed in float32, but what is released obeys the clip exactly.
func TestNoRecordMovesTheIntegersByMoreThanTheClip(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for _, size := range []float64{1e-25, 1e-12, 1, 1e6, 1e15} {
		for _, clip := range []float64{1e-12, 1e-3, 1, 1e3} {
			net, err := nn.MLP(784, []int{80}, 10, nn.ReLU)
			if err != nil {
				t.Fatal(err)
			}
			set := &data.Set{Name: "random", Shape: []int{784}, Classes: 10}
			for range mechanism.MaxBatch {
				for range 784 {
					set.Features = append(set.Features, float32(size*r.NormFloat64()))
				}
				set.Labels = append(set.Labels, uint8(r.IntN(10)))
			}
			protect, err := mechanism.NewGaussian(mechanism.Central, clip, 1)
			if err != nil {
				t.Fatal(err)
			}
			w, model := NewWorker(net, set), net.Init(noise.Seeded(1).Stream())
			all, without := make([]int64, net.Size()), make([]int64, net.Size())
			if err := w.AddClipped(all, model, upTo(mechanism.MaxBatch), protect); err != nil {
				t.Fatal(err)
			}
			if err := w.AddClipped(without, model, upTo(mechanism.MaxBatch-1), protect); err != nil {
				t.Fatal(err)
			}
			square := 0.0
			for i := range all {
				square += float64(all[i]-without[i]) * float64(all[i]-without[i])
			}
			if norm := math.Sqrt(square) / (1 << 30); norm > 1 || size >= 1 && norm < 0.99 && clip <= 1 { // the clip is 2^30 steps
				t.Errorf("features of size %g, clip %g: a record moves the sum by %.9f clips", size, clip, norm)
			}
		}
	}
}
