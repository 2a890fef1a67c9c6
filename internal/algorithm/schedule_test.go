package algorithm

import (
	"math"
	"testing"
)

func TestSchedulesByHand(t *testing.T) {
	for name, c := range map[string]struct {
		schedule Schedule
		want     map[int]float64 // by round
	}{
		"nothing said":          {Schedule{}, map[int]float64{1: 1, 1000: 1}},
		"constant after warmup": {Schedule{Kind: "constant", Warmup: 4}, map[int]float64{1: 0.25, 3: 0.75, 4: 1, 5: 1, 9: 1}},
		"linear to nothing":     {Schedule{Kind: "linear", Rounds: 10}, map[int]float64{1: 1, 2: 0.9, 10: 0.1}},
		"linear to a half":      {Schedule{Kind: "linear", Rounds: 10, Final: 0.5}, map[int]float64{1: 1, 6: 0.75, 10: 0.55}},
		"linear after warmup":   {Schedule{Kind: "linear", Rounds: 12, Warmup: 2}, map[int]float64{1: 0.5, 2: 1, 3: 1, 4: 0.9, 12: 0.1}},
		"cosine":                {Schedule{Kind: "cosine", Rounds: 4}, map[int]float64{1: 1, 2: (1 + math.Sqrt2/2) / 2, 3: 0.5, 4: (1 - math.Sqrt2/2) / 2}},
		"cosine to a fifth":     {Schedule{Kind: "cosine", Rounds: 4, Final: 0.2}, map[int]float64{1: 1, 3: 0.6}},
		"steps":                 {Schedule{Kind: "step", Every: 3, Drop: 0.5}, map[int]float64{1: 1, 3: 1, 4: 0.5, 6: 0.5, 7: 0.25}},
		"steps after warmup":    {Schedule{Kind: "step", Every: 3, Drop: 0.5, Warmup: 2}, map[int]float64{1: 0.5, 2: 1, 5: 1, 6: 0.5}},
		"inverse root":          {Schedule{Kind: "inverse-sqrt"}, map[int]float64{1: 1, 4: 0.5, 100: 0.1}},
		"inverse root, warmed":  {Schedule{Kind: "inverse-sqrt", Warmup: 25}, map[int]float64{5: 0.2, 25: 1, 100: 0.5}},
		"steps without an end":  {Schedule{Kind: "step", Every: 1, Drop: 0.1}, map[int]float64{3: 0.01}},
		"all but one is warmup": {Schedule{Kind: "cosine", Rounds: 5, Warmup: 4}, map[int]float64{2: 0.5, 4: 1, 5: 1}},
	} {
		if err := c.schedule.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for round, want := range c.want {
			if got := c.schedule.Factor(round); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: %g of the rate in round %d, want %g", name, got, round, want)
			}
		}
	}
}

// source: torch.optim.lr_scheduler.CosineAnnealingLR(T_max=10, eta_min=0.2) of PyTorch 1.13, rate 1, before each of ten steps.
func TestCosineIsPyTorchs(t *testing.T) {
	s := Schedule{Kind: "cosine", Rounds: 10, Final: 0.2}
	for i, want := range []float64{1, 0.980423, 0.923607, 0.835114, 0.723607, 0.6, 0.476393, 0.364886, 0.276393, 0.219577} {
		if got := s.Factor(i + 1); math.Abs(got-want) > 5e-7 {
			t.Errorf("round %d: %g of the rate, want %g", i+1, got, want)
		}
	}
}

func TestNoRoundGoesByWithoutAStep(t *testing.T) {
	for _, kind := range []string{"constant", "linear", "cosine", "step", "inverse-sqrt"} {
		for _, rounds := range []int{1, 2, 7, 1000} {
			s := Schedule{Kind: kind, Rounds: rounds, Warmup: rounds / 3, Every: 1 + rounds/5, Drop: 0.3}
			for round := 1; round <= rounds; round++ {
				if f := s.Factor(round); !(f > 0 && f <= 1) {
					t.Errorf("%s: %g of the rate in round %d of %d", kind, f, round, rounds)
				}
			}
		}
	}
}

func TestBadSchedulesAreRefused(t *testing.T) {
	for _, s := range []Schedule{
		{Kind: "sine"}, {Warmup: -1}, {Kind: "linear"}, {Kind: "cosine", Rounds: 5, Warmup: 5}, {Kind: "linear", Rounds: 5, Final: 2}, {Kind: "linear", Rounds: 5, Final: math.NaN()},
		{Kind: "step", Drop: 0.5}, {Kind: "step", Every: 3}, {Kind: "step", Every: 3, Drop: 1},
	} {
		if s.Check() == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
}
