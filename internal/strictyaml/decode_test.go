package strictyaml

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTheExampleDecodes(t *testing.T) {
	got := experiment{Notes: "before", Path: "before", computed: 5} // all of it is replaced
	doc, err := Decode("exp.yaml", []byte(example), nil, &got)
	if err != nil {
		t.Fatal(err)
	}
	if want := exampleValue(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for path, want := range map[string]bool{
		"": true, "rounds": true, "privacy.mechanism.clip": true, "model.hidden[0]": true, "privacy": true,
		"verbose": false, "privacy.mechanism.noise_multiplier": false, "model.hidden[1]": false, "nowhere": false,
	} {
		if doc.Has(path) != want {
			t.Errorf("Has(%q) is %v", path, !want)
		}
	}
}

// smallest is the shortest file that all required keys allow.
const smallest = "name: x\ndata: {name: mnist}\ncohort: {expected_size: 3}\nrounds: 2\n"

func TestDefaultsFillWhatIsAbsent(t *testing.T) {
	var got experiment
	doc, err := Decode("exp.yaml", []byte(smallest), nil, &got)
	if err != nil {
		t.Fatal(err)
	}
	want := experiment{
		Name: "x", Seed: 1, Rounds: 2,
		Data:      dataset{Name: "mnist", Partition: partition{Kind: "iid"}},
		Model:     model{Kind: "mlp", Hidden: []int{80}},
		Algorithm: algorithm{Kind: "fedsgd", Server: optimizer{Kind: "sgd", Rate: 0.1}},
		Cohort:    cohort{Sampling: "fixed", ExpectedSize: 3},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if doc.Has("seed") || doc.Has("model.hidden") || doc.Has("model") {
		t.Error("a default counts as given")
	}
}

type scalars struct {
	Text  string  `yaml:"text"`
	Truth bool    `yaml:"truth"`
	Whole int64   `yaml:"whole"`
	Count uint64  `yaml:"count"`
	Real  float64 `yaml:"real"`
}

func TestScalarsMeanWhatTheySay(t *testing.T) {
	tests := []struct {
		name, text string
		want       scalars
	}{
		{"an exponent without a point is a number", "real: 1e-5", scalars{Real: 1e-5}},
		{"a capital exponent is a number", "real: 5E2", scalars{Real: 500}},
		{"a number may start or end with a point", "{real: .5, whole: 3.}", scalars{Real: 0.5, Whole: 3}},
		{"a sign may be written", "{real: +1.5, whole: -3}", scalars{Real: 1.5, Whole: -3}},
		{"a whole number may have an exponent", "whole: 1e3", scalars{Whole: 1000}},
		{"a whole number may have a zero fraction", "whole: 250.0", scalars{Whole: 250}},
		{"2^53 is the largest whole number", "{whole: -9007199254740992, count: 9007199254740992}",
			scalars{Whole: -1 << 53, Count: 1 << 53}},
		{"a real number may be beyond 2^53", "real: 99999999999999999999", scalars{Real: 1e20}},
		{"the smallest number is not zero", "real: 5e-324", scalars{Real: math.SmallestNonzeroFloat64}},
		{"zero may have any exponent", "real: 0.0e-999", scalars{}},
		{"true may have capitals", "truth: True", scalars{Truth: true}},
		{"yes is text where text is wanted", "text: yes", scalars{Text: "yes"}},
		{"a date is text", "text: 2024-01-01", scalars{Text: "2024-01-01"}},
		{"a quoted number is text", "text: '5'", scalars{Text: "5"}},
		{"quoted nothing is text", `text: ""`, scalars{}},
		{"inf without a point is text", `text: inf`, scalars{Text: "inf"}},
		{"escapes are resolved", `text: "a\tb\u00e9\x41"`, scalars{Text: "a\tbéA"}},
		{"a block keeps its lines", "text: |\n  a\n  b\n", scalars{Text: "a\nb\n"}},
		{"a folded block joins its lines", "text: >-\n  a\n  b\n", scalars{Text: "a b"}},
		{"text may be of any script", "text: 日本 – é", scalars{Text: "日本 – é"}},
		{"a document may be marked", "---\nwhole: 3\n", scalars{Whole: 3}},
		{"the line ends of Windows are line ends", "whole: 3\r\ntext: a\r\n", scalars{Whole: 3, Text: "a"}},
		{"a byte order mark is not seen", "\ufeffwhole: 3", scalars{Whole: 3}},
		{"an empty mapping leaves everything absent", "{}", scalars{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got scalars
			if _, err := Decode("f", []byte(test.text), nil, &got); err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("%q: got %+v, want %+v", test.text, got, test.want)
			}
		})
	}
}

func TestScalarsThatAreRefused(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"true needs quotes to be text", "text: true", `f:1:7: text: true is read as true or false, not as text; write "true"`},
		{"infinity is not a number", "real: .inf", "f:1:7: real: .inf is not a finite number"},
		{"nan without a point is not a number", "real: NaN", `f:1:7: real: "NaN" is not a finite number`},
		{"on is not true", "truth: on", `f:1:8: truth: "on" is not true or false; did you mean true?`},
		{"1 is not true", "truth: 1", `f:1:8: truth: 1 is not true or false; did you mean true?`},
		{"a quoted truth is text", `truth: "false"`, `f:1:8: truth: "false" is not true or false; did you mean false?`},
		{"a count is not negative", "count: -1", "f:1:8: count: -1 must be >= 0"},
		{"2^53+1 is too large", "count: 9007199254740993", "f:1:8: count: 9007199254740993 is too large: whole numbers go up to 2^53 = 9007199254740992"},
		{"an exponent does not hide size", "whole: 1e16", "f:1:8: whole: 1e16 is too large: whole numbers go up to 2^53 = 9007199254740992"},
		{"the column counts characters, not bytes", "{text: é, whole: x}", `f:1:18: whole: "x" is not a whole number`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got scalars
			_, err := Decode("f", []byte(test.text), nil, &got)
			one, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%q: got %+v, %v", test.text, got, err)
			}
			if one.Message() != test.want {
				t.Errorf("got  %s\nwant %s", one.Message(), test.want)
			}
		})
	}
}

func TestFilesThatAreNoText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "f: the file is empty"},
		{"only spaces", " \n ", "f: the file is empty"},
		{"only the mark of a document", "---\n", "f: the file is empty"},
		{"over a mebibyte", strings.Repeat("#", maxBytes+1), "f: has 1048577 bytes: more than 1048576 (1 MiB) are not read"},
		{"not UTF-8", "text: a\xff", "f:1:8: byte 0xff is not UTF-8; save the file as UTF-8"},
		{"a zero byte", "text: \x00", "f:1:7: character U+0000 is not text; remove it"},
		{"a lone carriage return", "text: a\rwhole: 3", "f:1:8: character U+000D is not text; remove it"},
		{"a directive", "%YAML 1.2\n---\nwhole: 3", "f:1:1: a directive (%) is not allowed; write the value where it is needed, or put quotes around text"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got scalars
			_, err := Decode("f", []byte(test.text), nil, &got)
			list, ok := errors.AsType[Errors](err)
			if !ok || len(list) != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			if list[0].Message() != test.want {
				t.Errorf("got  %s\nwant %s", list[0].Message(), test.want)
			}
		})
	}
}

// The parser below needs minutes for a mebibyte of keys: the limits must stop it before.
func TestHostileFilesEndSoon(t *testing.T) {
	for name, unit := range map[string]string{
		"brackets": "[", "dashes": "- ", "keys": "a: 1\n", "anchors": "&a ", "comments": "#\n", "long word": "x", "steps": "a:\n ",
	} {
		start := time.Now()
		var got scalars
		_, err := Decode("f", []byte(strings.Repeat(unit, maxBytes/len(unit))), nil, &got)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if took := time.Since(start); took > time.Minute { // without them it is several, and a loaded machine is slow
			t.Errorf("%s: took %v", name, took)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
}

func TestOverridesChangeTheFile(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		want  func(*experiment)
	}{
		{"a scalar of the file", []string{"rounds=3"}, func(e *experiment) { e.Rounds = 3 }},
		{"the last one wins", []string{"rounds=3", "rounds=4"}, func(e *experiment) { e.Rounds = 4 }},
		{"a key that the file does not have", []string{"verbose=true"}, func(e *experiment) { e.Verbose = true }},
		{"a path that the file does not have", []string{"data.partition.kind=shards"},
			func(e *experiment) { e.Data.Partition.Kind = "shards" }},
		{"a group behind a pointer", []string{"secagg.kind=ideal"},
			func(e *experiment) { e.Secagg = &secagg{Kind: "ideal", MaxDropouts: 0.1} }},
		{"a list", []string{"model.hidden=[1, 2]"}, func(e *experiment) { e.Model.Hidden = []int{1, 2} }},
		{"a mapping replaces the whole mapping", []string{"cohort={expected_size: 9}"},
			func(e *experiment) { e.Cohort = cohort{Sampling: "fixed", ExpectedSize: 9} }},
		{"null removes the key", []string{"cohort.sampling=null", "secagg=null"},
			func(e *experiment) { e.Cohort.Sampling = "fixed" }},
		{"text needs no quotes", []string{"name=5"}, func(e *experiment) { e.Name = "5" }},
		{"text may have quotes", []string{`name="a=b"`}, func(e *experiment) { e.Name = "a=b" }},
	}
	const file = "name: x\ndata: {name: mnist}\ncohort: {expected_size: 3, sampling: poisson}\nrounds: 2\n"
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got, want experiment
			if _, err := Decode("f", []byte(smallest), nil, &want); err != nil {
				t.Fatal(err)
			}
			want.Cohort.Sampling = "poisson"
			test.want(&want)
			if _, err := Decode("f", []byte(file), test.flags, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

// The same value, laid out as people do.
func TestLayoutsThatMeanTheSame(t *testing.T) {
	type group struct {
		Text  string   `yaml:"text"`
		Items []group2 `yaml:"items"`
		Sizes []int    `yaml:"sizes"`
	}
	want := group{Text: "a # b: c", Items: []group2{{1, "x"}, {2, ""}}, Sizes: []int{80, 40}}
	for name, text := range map[string]string{
		"block":                      "text: 'a # b: c'\nitems:\n  - from: 1\n    to: x\n  - from: 2\nsizes:\n  - 80\n  - 40\n",
		"lists not indented":         "text: 'a # b: c'\nitems:\n- from: 1\n  to: x\n- from: 2\nsizes:\n- 80\n- 40\n",
		"flow":                       "{text: 'a # b: c', items: [{from: 1, to: x}, {from: 2}], sizes: [80, 40]}",
		"flow over several lines":    "text: 'a # b: c'\nitems: [\n  {from: 1, to: x},  # one\n  {from: 2},\n]\nsizes: [80,\n  40]\n",
		"JSON":                       `{"text": "a # b: c", "items": [{"from": 1, "to": "x"}, {"from":2}], "sizes":[80,40]}`,
		"comments everywhere":        "# a\ntext: \"a # b: c\"   # b\n   # c\nitems: # d\n# e\n  - from: 1 # f\n    # g\n    to: x\n\n  # h\n  - {from: 2}\nsizes: # i\n  [80, 40] # j\n# k",
		"deep indentation":           "text: 'a # b: c'\nitems:\n      -   from: 1\n          to:   x\n      -   from: 2\nsizes:\n    - 80\n    - 40\n",
		"value on the next line":     "text:\n  'a # b: c'\nitems:\n  -\n    from: 1\n    to:\n      x\n  - from: 2\nsizes:\n  [80, 40]\n",
		"spaces at the end of lines": "text: 'a # b: c'  \nitems:  \n  - from: 1  \n    to: x  \n  - from: 2  \nsizes: [80, 40]  \n  \n",
	} {
		var got group
		if _, err := Decode("f", []byte(text), nil, &got); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

type group2 struct {
	From int    `yaml:"from"`
	To   string `yaml:"to"`
}

func TestAnOverrideMendsTheFile(t *testing.T) {
	var got experiment
	doc, err := Decode("f", []byte(smallest+"seed: many\n"), []string{"seed=3"}, &got)
	if err != nil || got.Seed != 3 || !doc.Has("seed") {
		t.Errorf("seed %d, %v", got.Seed, err)
	}
}

func TestTheCallersRefusalsPointIntoTheFile(t *testing.T) {
	var e experiment
	doc, err := Decode("exp.yaml", []byte(example), []string{"cohort.expected_size=7"}, &e)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"a value of the file", "privacy.mechanism.clip", `exp.yaml:10:36: privacy.mechanism.clip: 1.0 must be below 5
  10 |   mechanism: {kind: skellam, clip: 1.0, granularity: 0.1, bits: 8, rounding: stochastic}   # or cond…
     |                                    ^`},
		{"an element of a list", "model.hidden[0]", `exp.yaml:4:31: model.hidden[0]: 80 must be below 5
  4 | model:   {kind: mlp, hidden: [80]}                     # 784-80-10 has 63,610 weights
    |                               ^`},
		{"a value of an override", "cohort.expected_size", "--set cohort.expected_size=7: 7 must be below 5"},
		{"a group", "privacy", `exp.yaml:8:1: privacy: must be below 5
  8 | privacy:
    | ^`},
		{"an absent key points at its group", "privacy.mechanism.noise_multiplier", `exp.yaml:10:14: privacy.mechanism.noise_multiplier: must be below 5
  10 |   mechanism: {kind: skellam, clip: 1.0, granularity: 0.1, bits: 8, rounding: stochastic}   # or cond…
     |              ^`},
		{"a path that is nowhere", "nowhere.at.all", "exp.yaml:1:1: nowhere.at.all: must be below 5"},
		{"the whole", "", "exp.yaml:1:1: must be below 5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := doc.Refuse(test.path, "must be below %d", 5).Error()
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	var list Errors
	if list.Err() != nil {
		t.Error("no refusals are an error")
	}
	list = append(list, doc.Refuse("cohort.expected_size", "late"), doc.Refuse("rounds", "later"), doc.Refuse("seed", "first"))
	var order []string
	for _, e := range list.Err().(Errors) {
		order = append(order, e.Path)
	}
	if want := []string{"seed", "rounds", "cohort.expected_size"}; !reflect.DeepEqual(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestARefusedDefaultIsCalledOne(t *testing.T) {
	var e experiment
	doc, err := Decode("f", []byte(smallest), nil, &e)
	if err != nil {
		t.Fatal(err)
	}
	got := doc.Refuse("algorithm.server.lr", "must be below 0.01").Error()
	if want := "f:1:1: algorithm.server.lr: 0.1 (the default) must be below 0.01"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
