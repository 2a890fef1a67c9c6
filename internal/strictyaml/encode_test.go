package strictyaml

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEncodeWritesTheResolvedFile(t *testing.T) {
	e := exampleValue()
	e.Stages = []stage{{From: 10, Rate: 0.5}, {From: 20, Decay: &struct{}{}}}
	e.Grid = [][]int64{{1, 2}, {}}
	e.Notes = "two lines:\n\"quoted\""
	got, err := Encode(&e)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/encoded.golden", string(got))
	again, err := Encode(e)
	if err != nil || string(again) != string(got) {
		t.Errorf("a second time it wrote\n%s\n%v", again, err)
	}
}

func TestTextIsQuotedWhenItWouldMeanSomethingElse(t *testing.T) {
	tests := map[string]string{
		"mnist": "mnist", "a-b_c/d.e": "a-b_c/d.e", "yes": `"yes"`, "Off": `"Off"`, "null": `"null"`, "true": `"true"`,
		"": `""`, "5": `"5"`, "-": `"-"`, "a: b": `"a: b"`, "a #b": `"a #b"`, " a": `" a"`, "a\nb": `"a\nb"`, "*a": `"*a"`,
		"\x00": `"\x00"`, "\u2028": `"\u2028"`, "\U0001f389": `"🎉"`, "\u0085": `"\u0085"`, "é": `"é"`,
	}
	for text, want := range tests {
		if got := encodeText(text); got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

func TestNumbersAreWrittenShort(t *testing.T) {
	tests := map[float64]string{
		0: "0", 3: "3", 0.005: "0.005", 1e-5: "1e-5", 1.5e-7: "1.5e-7", 1e21: "1e21", -2.5: "-2.5",
		math.MaxFloat64: "1.7976931348623157e308", math.SmallestNonzeroFloat64: "5e-324",
	}
	for x, want := range tests {
		if got := encodeReal(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}

func TestWhatNoFileCanSayIsNotWritten(t *testing.T) {
	tests := []struct {
		name   string
		change func(*experiment)
		want   string
	}{
		{"not a number", func(e *experiment) { e.Algorithm.Server.Rate = math.NaN() }, "is not a finite number"},
		{"infinite", func(e *experiment) { e.Privacy.Target.Epsilon = math.Inf(1) }, "is not a finite number"},
		{"out of range", func(e *experiment) { e.Rounds = -1 }, "rounds: -1 must be >= 1"},
		{"not one of the words", func(e *experiment) { e.Model.Kind = "cnn" }, "is not one of mlp, linear"},
		{"beyond 2^53", func(e *experiment) { e.Seed = 1<<53 + 1 }, "is too large"},
		{"not UTF-8", func(e *experiment) { e.Notes = "\xff" }, `"notes: \"\\xff\"" is read back as "notes: \"ÿ\""`},
		{"nil where there is a default", func(e *experiment) { e.Model.Hidden = nil }, `is read back as "  hidden: [80]"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := exampleValue()
			test.change(&e)
			text, err := Encode(e)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("wrote\n%s\nerror %v, want %q", text, err, test.want)
			}
		})
	}
	if _, err := Encode((*experiment)(nil)); err == nil {
		t.Error("a nil struct was written")
	}
}

// anything is every supported kind without rules, so that any value of it can be drawn.
type anything struct {
	Scalars  scalars   `yaml:"scalars"`
	Text     *string   `yaml:"text"`
	Truth    *bool     `yaml:"truth"`
	Whole    *int      `yaml:"whole"`
	Real     *float64  `yaml:"real"`
	Group    *scalars  `yaml:"group"`
	Texts    []string  `yaml:"texts"`
	Reals    []float64 `yaml:"reals"`
	Truths   [][]bool  `yaml:"truths"`
	Groups   []inner   `yaml:"groups"`
	Nested   [][]inner `yaml:"nested"`
	Optional *[]int64  `yaml:"optional"`
	Words    []string  `yaml:"words" default:"[a, b]"`
	Default  *float64  `yaml:"default" default:"0.5"`
}

type inner struct {
	Scalars scalars  `yaml:"scalars"`
	Items   []string `yaml:"items"`
	More    []inner2 `yaml:"more"`
}

type inner2 struct {
	Flag bool `yaml:"flag"`
}

func drawScalars(t *rapid.T) scalars {
	return scalars{
		Text:  rapid.String().Draw(t, "text"),
		Truth: rapid.Bool().Draw(t, "truth"),
		Whole: rapid.Int64Range(-maxWhole, maxWhole).Draw(t, "whole"),
		Count: rapid.Uint64Range(0, maxWhole).Draw(t, "count"),
		Real:  rapid.Float64().Draw(t, "real"),
	}
}

func drawInner(t *rapid.T) inner {
	return inner{
		Scalars: rapid.Custom(drawScalars).Draw(t, "scalars"),
		Items:   drawList(t, "items", rapid.String()),
		More: drawList(t, "more", rapid.Custom(func(t *rapid.T) inner2 {
			return inner2{rapid.Bool().Draw(t, "flag")}
		})),
	}
}

// drawList gives nil, empty and full lists.
func drawList[T any](t *rapid.T, name string, elem *rapid.Generator[T]) []T {
	if rapid.Bool().Draw(t, name+" is nil") {
		return nil
	}
	return rapid.SliceOfN(elem, 0, 3).Draw(t, name)
}

func TestDecodeUndoesEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anything{
			Scalars: drawScalars(t),
			Text:    rapid.Ptr(rapid.String(), true).Draw(t, "text pointer"),
			Truth:   rapid.Ptr(rapid.Bool(), true).Draw(t, "truth pointer"),
			Whole:   rapid.Ptr(rapid.IntRange(-maxWhole, maxWhole), true).Draw(t, "whole pointer"),
			Real:    rapid.Ptr(rapid.Float64(), true).Draw(t, "real pointer"),
			Group:   rapid.Ptr(rapid.Custom(drawScalars), true).Draw(t, "group"),
			Texts:   drawList(t, "texts", rapid.String()),
			Reals:   drawList(t, "reals", rapid.Float64()),
			Truths:  drawList(t, "truths", rapid.SliceOfN(rapid.Bool(), 0, 3)),
			Groups:  drawList(t, "groups", rapid.Custom(drawInner)),
			Nested:  drawList(t, "nested", rapid.SliceOfN(rapid.Custom(drawInner), 0, 2)),
			Words:   rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "words"),
			Default: rapid.Ptr(rapid.Float64(), false).Draw(t, "default"),
		}
		if rapid.Bool().Draw(t, "optional is given") {
			list := rapid.SliceOfN(rapid.Int64Range(-9, 9), 0, 3).Draw(t, "optional")
			want.Optional = &list
		}
		text, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		var got anything
		if _, err := Decode("f", text, nil, &got); err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
	})
}
