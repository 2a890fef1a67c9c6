package reproduce

import (
	"strings"
	"testing"
	"time"

	"hubbub/internal/experiment"
)

// seeds is a tally of these accuracies, in percent.
func seeds(values ...float64) experiment.Tally {
	t := experiment.Tally{Seeds: len(values)}
	for _, v := range values {
		t.Results = append(t.Results, experiment.Result{Accuracy: v / 100})
	}
	t.Accuracy, t.Error = experiment.MeanError(scaled(values))
	return t
}

// Each of the six statements about a figure holds on numbers that obey it, and is the one that fails when it alone is broken.
func TestEveryCheckOfPaper002CanFail(t *testing.T) {
	good := map[string][2]float64{
		"plain": {95, 95.2}, "a central 3": {90, 90.1}, "a ours 3": {89.8, 89.9}, "a dsm 3": {82, 82.3}, "a ddg 3": {72, 72.5}, "a cpsgd 3": {45, 46},
		"b ours 6": {88.9, 89}, "b ours 12": {90, 90.2},
	}
	for _, data := range []string{"mnist", "fashion-mnist"} {
		for _, point := range stated002 {
			if _, ok := good[point]; !ok || len(good) != len(stated002) {
				t.Errorf("%q is stated something of, or not: the checks and the list must agree", point)
			}
		}
		for _, c := range []struct {
			change string // a tally, moved by so many points
			by     float64
			fails  string
		}{
			{"", 0, ""},
			{"plain", -6, "no privacy is ahead"},
			{"a ours 3", -0.8, "within 0.5 points of central"},
			{"a dsm 3", 3.5, "by 5 points"},
			{"a ddg 3", 11, "DSM is ahead of DDG"},
			{"a cpsgd 3", 28, "DDG is ahead of cpSGD"},
			{"b ours 6", -1, "within 1.5 points of ours with 12"},
		} {
			at := map[string]experiment.Tally{}
			for key, v := range good {
				if key == c.change {
					v[0], v[1] = v[0]+c.by, v[1]+c.by
				}
				at[key] = seeds(v[0], v[1])
			}
			checks := checks002(at, data)
			if len(checks) != 6 {
				t.Fatalf("%d checks", len(checks))
			}
			for _, check := range checks {
				if !strings.Contains(check.States, data) {
					t.Errorf("%q does not say that it is about %s", check.States, data)
				}
				if fails := c.fails != "" && strings.Contains(check.States, c.fails); check.Holds == fails {
					t.Errorf("%s moved by %g: %+v", c.change, c.by, check)
				}
			}
		}
	}
}

func TestOverflowsAreAddedUpOverSeeds(t *testing.T) {
	panels := panels002(Full)
	at := map[string]experiment.Tally{}
	for _, r := range rivals002 {
		for _, v := range panels[1].values {
			at["b "+r.file+" "+v] = seeds(80, 81)
		}
	}
	two := at["b dsm 8"]
	two.Results[0].Overflows = &experiment.Overflows{Count: 3, Coordinates: 1000, NoiseAlone: 0.002}
	two.Results[1].Overflows = &experiment.Overflows{Count: 1, Coordinates: 1000, NoiseAlone: 0.002}
	text := overflows002(panels[1], at, "mnist").Markdown()
	for _, want := range []string{
		"| DSM as printed | 8 | 0.002 | 0.001 | 0.002 | +0.001 | 4 of 2000 |",
		"| DSM as printed | 6 | - | - | - | - |  |", // runs that did not count
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "cpSGD") || strings.Contains(text, "central") {
		t.Errorf("they have no few bits to overflow:\n%s", text)
	}
}

// 5 seeds of 6 mechanisms at 5 values of epsilon, of 4 at 4 numbers of bits, of 6 at 4 batch sizes, and of none.
func TestFullTakesAsLongAsItsRuns(t *testing.T) {
	if got, least := full002(), (5*6*5+5*4*4+5*6*4+5)*time.Second; got < least || got > 60*least {
		t.Errorf("%v for %v runs", got, least.Seconds())
	}
}
