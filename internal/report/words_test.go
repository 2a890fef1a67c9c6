package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPrivacyParametersAreRoundedUp(t *testing.T) {
	tests := map[float64]string{
		0: "0", 2.99: "2.99", 2.9812: "2.99", 2.990000001: "3.00", 3: "3", 0.1: "0.1", 0.30000000000000004: "0.301",
		9.999: "10.0", 12.34: "12.4", 123.4: "124", 999.1: "1000", 1234: "1240", 1e-5: "1e-5", 1.0 / 60000: "1.67e-5", 0.00123456: "0.00124",
		0.0009999: "0.001", 1e9: "1e9", 5e-324: "5e-324",
	}
	for v, want := range tests {
		if got := roundUp(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestRoundingUpNeverPromisesMoreAndLosesLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-12, 1e12).Draw(t, "value")
		said, err := strconv.ParseFloat(roundUp(v), 64)
		if err != nil {
			t.Fatal(err)
		}
		if said < v || said > v*1.0101 {
			t.Fatalf("%v is written as %v", v, said)
		}
	})
}

func TestQuantitiesInWords(t *testing.T) {
	tests := []struct{ got, want string }{
		{size(0), "0 bytes"}, {size(999), "999 bytes"}, {size(63610), "63.6 kB (63,610 bytes)"}, {size(math.MaxInt64), "9.2 EB (9,223,372,036,854,775,807 bytes)"},
		{duration(0.04), "0.0 s"}, {duration(59.9), "59.9 s"}, {duration(192), "3 min 12 s"}, {duration(3599.6), "60 min 0 s"}, {duration(7500), "2 h 5 min"},
		{percent(0.93412), "93.41%"}, {percent(1), "100.00%"}, {percent(math.NaN()), "not measured"},
		{plain(0.23456), "0.2346"}, {plain(math.Inf(1)), "infinite"},
		{reason("it sees everything. "), "it sees everything."}, {reason(""), "the run recorded no reason."},
		{list([]string{"a"}), "a"}, {list([]string{"a", "b"}), "a and b"}, {list([]string{"a", "b", "c"}), "a, b and c"},
		{ordinal(2), "2nd"}, {ordinal(3), "3rd"}, {ordinal(11), "11th"}, {ordinal(21), "21st"},
		{against("server"), "the server"}, {against("auditor"), "auditor"}, {protects("record"), "one record"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*Run)
		want  string
	}{
		{"accuracy in per cent", func(r *Run) { r.Accuracy = 93 }, "accuracy 93 outside [0, 1]"},
		{"negative time", func(r *Run) { r.Seconds = -1 }, "run time of -1 seconds"},
		{"time that is not a number", func(r *Run) { r.Seconds = math.NaN() }, "run time of NaN seconds"},
		{"negative rounds", func(r *Run) { r.Rounds = -1 }, "-1 of 250 rounds"},
		{"negative bytes", func(r *Run) { r.BytesUp = -5 }, "-5 bytes up"},
		{"an epsilon that is none", func(r *Run) { r.Statement[0].Guarantee = "none" }, `row 1 of the statement: epsilon 2.9812 with guarantee "none"`},
		{"an infinite epsilon", func(r *Run) { r.Statement[0].Epsilon = new(math.Inf(1)) }, "epsilon +Inf: it must be finite"},
		{"a negative epsilon", func(r *Run) { r.Statement[0].Epsilon = new(-0.1) }, "epsilon -0.1"},
		{"an epsilon that is not a number", func(r *Run) { r.Statement[0].Epsilon = new(math.NaN()) }, "epsilon NaN"},
		{"delta of one", func(r *Run) { r.Statement[0].Delta = 1 }, "delta 1 outside [0, 1)"},
		{"mu that is not a number", func(r *Run) { r.Statement[0].Mu = new(math.NaN()) }, "mu NaN"},
		{"no adversary", func(r *Run) { r.Statement[0].Adversary = "" }, `adversary "", unit "client"`},
		{"rounds that go back", func(r *Run) { r.Metrics[2].Round = 1 }, "metrics of round 1 after round 10"},
		{"an epsilon without delta", func(r *Run) { r.Metrics[0].Epsilon["moon"] = new(1.0) }, `epsilon against "moon", which the statement does not name`},
		{"an infinite epsilon in the metrics", func(r *Run) { r.Metrics[0].Epsilon["public"] = new(math.Inf(1)) }, `metrics of round 1: against "public": epsilon +Inf`},
		{"an epsilon where there is no guarantee", func(r *Run) { r.Metrics[0].Epsilon["server"] = new(1.0) }, `epsilon 1 against "server", where the statement has no guarantee`},
		{"a wrong accuracy in the metrics", func(r *Run) { r.Metrics[0].Accuracy = new(1.5) }, "metrics of round 1: accuracy 1.5"},
		{"a negative count", func(r *Run) { r.LabelHistogram = []LabelCount{{"3", -1}} }, `label "3" has -1 examples`},
		{"a picture that is no PNG", func(r *Run) { r.DataPicture = []byte("GIF89a") }, "picture of the data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := small()
			tt.spoil(&r)
			doc, err := Page(r)
			if err == nil {
				t.Fatalf("accepted; want an error with %q", tt.want)
			}
			if doc != nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), `report of "skellam-mnist": `) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
		})
	}
}
