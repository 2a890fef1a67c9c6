package accountant

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// oneOfEach holds every kind of event once, nested where it can be.
var oneOfEach = []About{
	{AddRemove, Record, Gaussian{1.1}},
	{ZeroOut, Client, Gaussian{1e-300}},
	{ReplaceOne, Record, Laplace{Scale: 0.1}},
	{ZeroOut, Client, Skellam{Rate: 702.2, L2: 50, Linf: 50, Bound: SkellamDSM}},
	{ZeroOut, Client, Skellam{Rate: 702.2, L2: 50}},
	{ZeroOut, Client, RoundedSkellam{22.38, 10}},
	{ZeroOut, Client, SMM{100, 4, 2}},
	{ZeroOut, Client, DiscreteGaussian{4, 10}},
	{ZeroOut, Client, DiscreteGaussianSum{100, 4, 10, 63610}},
	{ZeroOut, Client, Binomial{1000, .5, 1}},
	{ZeroOut, Client, CPSGD{100000, .5, 10, 5, 2, 100}},
	{ReplaceOne, Record, Waterfill{50, 1200, 32, 10, .01}},
	{ReplaceOne, Record, GaussianSampling{50, 1200, 32, 10, .01}},
	{ReplaceOne, Record, Subspace{50, 1200, 32, 10, .01}},
	{AddRemove, Record, GDP{0.3}},
	{AddRemove, Record, None{}},
	{AddRemove, Client, Unsound{"the scale depends on the data", "epsilon 0.5"}},
	{AddRemove, Record, Repeat{250, Poisson{.004, Gaussian{1.1}}}},
	{ReplaceOne, Record, Repeat{3534, WithoutReplacement{16. / 600, Gaussian{1}}}},
	{AddRemove, Record, Compose{}},
	{AddRemove, Record, Compose{Gaussian{1}, Compose{Laplace{Scale: 2}, Repeat{0, GDP{1}}}}},
}

func TestEventsSurviveTheRoundTrip(t *testing.T) {
	for _, want := range oneOfEach {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatalf("%+v: %v", want, err)
		}
		var got About
		if err := json.Unmarshal(text, &got); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %+v", text, got)
		}
	}
	seen := map[string]bool{}
	for _, a := range oneOfEach {
		leaves(a.Event, func(e Event) { seen[e.kind()] = true })
		seen[a.Event.kind()] = true
	}
	for _, kind := range kindNames() {
		if !seen[kind] && kind != "poisson" && kind != "without_replacement" { // these are inside the repeats
			t.Errorf("no round trip of %s", kind)
		}
	}
}

func TestJSONAndYAMLReadTheSame(t *testing.T) {
	want := About{AddRemove, Client, Repeat{250, Poisson{.004, Gaussian{1.1}}}}
	for name, text := range map[string]string{
		"JSON":            `{"adjacency":"add-remove","unit":"client","event":{"repeat":{"count":250,"event":{"poisson":{"rate":0.004,"event":{"gaussian":{"noise_multiplier":1.1}}}}}}}`,
		"YAML flow":       `{unit: client, event: {repeat: {count: 250, event: {poisson: {rate: 4e-3, event: {gaussian: {noise_multiplier: 1.1}}}}}}}`,
		"YAML block":      "unit: client\nevent:\n  repeat:\n    count: 250\n    event:\n      poisson:\n        rate: 0.004 # 240 of 60,000\n        event:\n          gaussian: {noise_multiplier: 1.1}\n",
		"count as 2.5e2":  `{"unit":"client","event":{"repeat":{"count":2.5e2,"event":{"poisson":{"rate":0.004,"event":{"gaussian":{"noise_multiplier":1.1}}}}}}}`,
		"exponent in map": `{unit: client, event: {repeat: {count: 2.5e2, event: {poisson: {rate: 4.0E-3, event: {gaussian: {noise_multiplier: 11e-1}}}}}}}`,
	} {
		got, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
	for text, want := range map[string]Event{"none": None{}, `"none"`: None{}, "none: {}": None{}, "none:": None{}, "compose: []": Compose{}} {
		got, err := Parse([]byte(text))
		if err != nil || !reflect.DeepEqual(got.Event, want) {
			t.Errorf("%q read as %+v, %v", text, got, err)
		}
	}
}

func TestDefaultsFollowTheEvent(t *testing.T) {
	for text, want := range map[string]About{
		"gaussian: {noise_multiplier: 1}":                                                           {Adjacency: AddRemove, Unit: Record},
		"skellam: {rate: 10, l2: 2}":                                                                {Adjacency: ZeroOut, Unit: Client},
		"poisson: {rate: 0.1, event: {skellam: {rate: 10, l2: 2}}}":                                 {Adjacency: ZeroOut, Unit: Client},
		"without_replacement: {rate: 0.1, event: {gaussian: {noise_multiplier: 1}}}":                {Adjacency: ReplaceOne, Unit: Record},
		"waterfill: {clients: 5, records: 10, batch: 2, clip: 1, variance: 1}":                      {Adjacency: ReplaceOne, Unit: Record},
		"compose: [{gdp: {mu: 1}}, {rounded_skellam: {rate: 5, l2: 1}}]":                            {Adjacency: AddRemove, Unit: Record},
		"{unit: client, adjacency: zero-out, event: {gaussian: {noise_multiplier: 1}}}":             {Adjacency: ZeroOut, Unit: Client},
		"{adjacency: replace-one, event: {compose: [{gdp: {mu: 1}}, {laplace: {scale: 1}}]}}":       {Adjacency: ReplaceOne, Unit: Record},
		"repeat: {count: 2, event: {poisson: {rate: 1, event: {gaussian: {noise_multiplier: 1}}}}}": {Adjacency: AddRemove, Unit: Record},
	} {
		got, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got.Adjacency != want.Adjacency || got.Unit != want.Unit {
			t.Errorf("%s: %s, %s; want %s, %s", text, got.Adjacency, got.Unit, want.Adjacency, want.Unit)
		}
	}
}

// Every refusal names the offending value and the rule or a guess.
func TestBadTextIsRefusedWithTheReason(t *testing.T) {
	for text, words := range map[string]string{
		"":                                     "empty",
		"{}":                                   "one key",
		"[]":                                   "one key",
		"42":                                   "one key",
		`{"gausian": {"noise_multiplier": 1}}`: "gausian|did you mean gaussian",
		`{"gaussian": {"sigma": 1}}`:           "sigma|did you mean noise_multiplier",
		`{"gaussian": {"noise_multiplier": 1, "x": 2}}`: `unknown key "x"`,
		`{"gaussian": {}}`:                                                                  "lacks noise_multiplier",
		`{"gaussian": {"noise_multiplier": "1.1"}}`:                                         "not a number|quotes",
		`{"gaussian": {"noise_multiplier": null}}`:                                          "not a number",
		`{"gaussian": {"noise_multiplier": 0}}`:                                             "noise_multiplier 0|greater than 0",
		`{"gaussian": {"noise_multiplier": -1}}`:                                            "noise_multiplier -1|greater than 0",
		`{"gaussian": {"noise_multiplier": 1e999}}`:                                         "1e999|not finite",
		"gaussian: {noise_multiplier: .nan}":                                                "not finite",
		"gaussian: {noise_multiplier: .inf}":                                                "not finite",
		`{"gaussian": {"noise_multiplier": 1, "noise_multiplier": 2}}`:                      "twice",
		`{"gaussian": {"noise_multiplier": "?"}}`:                                           "calibration",
		`{"gaussian": 1}`:                                                                   "named values",
		`{"gaussian": {"noise_multiplier": 1}, "laplace": {"scale": 1}}`:                    "one key",
		`{"laplace": {"scale": 0}}`:                                                         "scale 0",
		`{"gdp": {"mu": -2}}`:                                                               "mu -2",
		`{"poisson": {"rate": 1.5, "event": {"gdp": {"mu": 1}}}}`:                           "rate 1.5|[0, 1]",
		`{"poisson": {"rate": -0.1, "event": {"gdp": {"mu": 1}}}}`:                          "rate -0.1|[0, 1]",
		`{"poisson": {"rate": 0.1}}`:                                                        "lacks event",
		`{"poisson": {"sample_rate": 0.1, "event": {"gdp": {"mu": 1}}}}`:                    "did you mean rate",
		`{"repeat": {"count": 1.5, "event": {"gdp": {"mu": 1}}}}`:                           "1.5|whole",
		`{"repeat": {"count": -1, "event": {"gdp": {"mu": 1}}}}`:                            "count -1",
		`{"repeat": {"steps": 3, "event": {"gdp": {"mu": 1}}}}`:                             "did you mean count",
		`{"compose": {"gdp": {"mu": 1}}}`:                                                   "takes a list",
		`{"skellam": {"rate": 1, "l2": 2, "linf": 3}}`:                                      "linf 3 exceeds l2 2",
		`{"skellam": {"rate": 1, "l2": 2, "linf": 0}}`:                                      "leave linf out",
		`{"skellam": {"rate": 1, "l2": 0.5}}`:                                               "rounded_skellam",
		`{"skellam": {"rate": 1, "l2": 2, "bound": "tight"}}`:                               "tight|exact, dsm or akl",
		`{"skellam": {"rate": 0, "l2": 2}}`:                                                 "rate 0",
		`{"binomial": {"trials": 10, "p": 1, "shift": 1}}`:                                  "p 1 outside (0, 1)",
		`{"binomial": {"trials": 0, "p": 0.5, "shift": 1}}`:                                 "trials 0",
		`{"unsound": {"claimed": "x"}}`:                                                     "lacks why",
		`{"waterfill": {"clients": 0, "records": 2, "batch": 1, "clip": 1, "variance": 1}}`: "clients 0",
		`{"adjacency": "substitute", "event": {"gdp": {"mu": 1}}}`:                          "substitute|did you mean replace-one",
		`{"unit": "user", "event": {"gdp": {"mu": 1}}}`:                                     "user|did you mean client",
		`{"unit": "client", "evnt": {"gdp": {"mu": 1}}}`:                                    "evnt|did you mean event",
		`{"unit": "client", "event": {"waterfill": {"clients": 1, "records": 2, "batch": 1, "clip": 1, "variance": 1}}}`:                              "unit client does not fit",
		`{"adjacency": "replace-one", "event": {"poisson": {"rate": 0.1, "event": {"gdp": {"mu": 1}}}}}`:                                              "replace-one does not fit poisson",
		`{"adjacency": "add-remove", "event": {"without_replacement": {"rate": 0.1, "event": {"gdp": {"mu": 1}}}}}`:                                   "add-remove does not fit",
		`{"compose": [{"poisson": {"rate": 0.1, "event": {"gdp": {"mu": 1}}}}, {"without_replacement": {"rate": 0.1, "event": {"gdp": {"mu": 1}}}}]}`: "no adjacency in common",
		`{"without_replacement": {"rate": 0.1, "event": {"rounded_skellam": {"rate": 5, "l2": 1}}}}`:                                                  "no adjacency in common",
		"gaussian: &x {noise_multiplier: 1}":                              "not supported",
		"gaussian: {noise_multiplier: 1}\n---\ngdp: {}":                   "documents",
		"gaussian: {noise_multiplier: 1":                                  "not readable",
		"a: b: c":                                                         "not readable",
		strings.Repeat("[", 100000):                                       "nested too deep",
		strings.Repeat(`{"compose":[`, 5000) + strings.Repeat("]}", 5000): "nested too deep",
		strings.Repeat("- ", 20000) + "x":                                 "",
		strings.Repeat(" ", 2<<20) + "1":                                  "bytes",
	} {
		_, err := Parse([]byte(text))
		if err == nil {
			t.Errorf("accepted: %.80s", text)
			continue
		}
		for word := range strings.SplitSeq(words, "|") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%.80s: error %q does not mention %q", text, err, word)
			}
		}
	}
}

func TestNestedTooDeepIsRefusedAlsoInGo(t *testing.T) {
	var e Event = GDP{1}
	for range 101 {
		e = Compose{e}
	}
	if err := Validate(About{Event: e}); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("got %v", err)
	}
	for _, bad := range []Event{nil, Poisson{.5, nil}, Compose{nil}, Repeat{1, nil}} {
		if err := Validate(About{Event: bad}); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
}

func TestUnknownIsOneQuestionMark(t *testing.T) {
	u, err := ParseUnknown([]byte(`repeat: {count: 10, event: {poisson: {rate: 0.1, event: {gaussian: {noise_multiplier: "?"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if u.Key != "noise_multiplier" || u.Path != "event.repeat.event.poisson.event.gaussian.noise_multiplier" || u.Whole() {
		t.Errorf("found %+v", u)
	}
	got, err := u.With(2.5)
	if want := (Repeat{10, Poisson{.1, Gaussian{2.5}}}); err != nil || !reflect.DeepEqual(got.Event, want) {
		t.Errorf("with 2.5: %+v, %v", got, err)
	}
	if _, err := u.With(-1); err == nil {
		t.Error("accepted noise -1")
	}
	for _, text := range []string{
		`{"gaussian": {"noise_multiplier": 1}}`,
		`{"compose": [{"gdp": {"mu": "?"}}, {"gdp": {"mu": "?"}}]}`,
		`{"unsound": {"why": "?"}}`,
	} {
		if _, err := ParseUnknown([]byte(text)); err == nil {
			t.Errorf("accepted %s", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, a := range oneOfEach {
		text, err := json.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("repeat: {count: 250, event: {poisson: {rate: 4e-3, event: {gaussian: {noise_multiplier: 1.1}}}}}"))
	f.Add([]byte("unit: client\nevent:\n  skellam: {rate: '?', l2: 50}\n"))
	f.Add([]byte("- - - {a: [b, c"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Parse(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("%q was read as %+v, which does not write: %v", text, got, err)
		}
		back, err := Parse(again)
		if err != nil || !reflect.DeepEqual(back, got) {
			t.Fatalf("%q became %s, which reads as %+v, %v", text, again, back, err)
		}
	})
}
