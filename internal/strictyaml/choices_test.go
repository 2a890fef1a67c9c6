package strictyaml

import (
	"slices"
	"strings"
	"testing"
)

type grid struct {
	Name  string  `yaml:"name" required:"true"`
	Sweep Choices `yaml:"sweep" doc:"values to try"`
}

func TestChoicesKeepTheirOrderAndBecomeOverrides(t *testing.T) {
	const text = "name: a\nsweep:\n  privacy.target.epsilon: [1, 2.5, 1e-5]\n  model: [{kind: mlp, hidden: [80, 40]}, {kind: \"true\"}]\n  secagg: [null]\n  b: ['it: is', plain, true]\n"
	var g grid
	if _, err := Decode("f", []byte(text), nil, &g); err != nil {
		t.Fatal(err)
	}
	want := Choices{
		{"privacy.target.epsilon", []string{"1", "2.5", "1e-5"}},
		{"model", []string{"{kind: mlp, hidden: [80, 40]}", `{kind: "true"}`}},
		{"secagg", []string{"null"}},
		{"b", []string{`"it: is"`, "plain", "true"}},
	}
	if !slices.EqualFunc(g.Sweep, want, func(a, b Choice) bool { return a.Path == b.Path && slices.Equal(a.Values, b.Values) }) {
		t.Fatalf("read %q, want %q", g.Sweep, want)
	}
	written, err := Encode(g)
	if err != nil {
		t.Fatal(err)
	}
	var again grid
	if _, err := Decode("g", written, nil, &again); err != nil {
		t.Fatalf("%v in\n%s", err, written)
	}
	if len(again.Sweep) != 4 || again.Sweep[1].Values[1] != `{kind: "true"}` {
		t.Errorf("read back %q from\n%s", again.Sweep, written)
	}
	// Each value is what an override takes.
	for _, c := range g.Sweep {
		for _, v := range c.Values {
			if _, errs := parse(&source{}, v, place{}); len(errs) > 0 {
				t.Errorf("%s=%s: %v", c.Path, v, errs)
			}
		}
	}
	if _, err := Decode("f", []byte(text), []string{"sweep=null"}, &g); err != nil || g.Sweep != nil {
		t.Errorf("sweep=null leaves %v, %v", g.Sweep, err)
	}
}

func TestChoicesThatCannotBeTriedAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ sweep, want string }{
		"a value that is no list":     {"a: 1", "is not a list of values to try"},
		"a list of nothing":           {"a: []", "has no value to try"},
		"a path with an empty key":    {"a..b: [1]", "is not a path of keys"},
		"a path that stands twice":    {"a: [1]\n  a: [2]", "already has values"},
		"a list instead of a mapping": {"- a", "is not a mapping of paths to lists"},
	} {
		t.Run(name, func(t *testing.T) {
			var g grid
			_, err := Decode("f", []byte("name: a\nsweep:\n  "+c.sweep+"\n"), nil, &g)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestSchemaOfChoicesAllowsAnyPath(t *testing.T) {
	text, err := Schema(grid{}, "a grid")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"additionalProperties": {`) || !strings.Contains(string(text), `"minItems": 1`) {
		t.Errorf("schema:\n%s", text)
	}
}
