package strictyaml

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTheSchemaOfTheExperiment(t *testing.T) {
	got, err := Schema(experiment{}, "experiment")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/schema.golden", string(got))
}

// valid is the part of JSON Schema 2020-12 that we write, read straight from the standard: the dumb version.
func valid(schema map[string]any, v any) bool {
	number, isNumber := v.(float64)
	switch schema["type"] {
	case "object":
		object, ok := v.(map[string]any)
		if !ok {
			return false
		}
		properties, _ := schema["properties"].(map[string]any)
		for key, value := range object {
			property, known := properties[key].(map[string]any)
			if !known && schema["additionalProperties"] == false || known && !valid(property, value) {
				return false
			}
		}
		required, _ := schema["required"].([]any)
		return !slices.ContainsFunc(required, func(key any) bool { _, ok := object[key.(string)]; return !ok })
	case "array":
		items, ok := v.([]any)
		return ok && !slices.ContainsFunc(items, func(item any) bool { return !valid(schema["items"].(map[string]any), item) })
	case "string":
		_, ok := v.(string)
		enum, limited := schema["enum"].([]any)
		return ok && (!limited || slices.Contains(enum, v))
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "integer":
		if !isNumber || number != math.Trunc(number) {
			return false
		}
	case "number":
		if !isNumber {
			return false
		}
	default:
		panic(fmt.Sprintf("schema without a type: %v", schema))
	}
	holds := func(keyword string, compare func(bound float64) bool) bool {
		bound, ok := schema[keyword].(float64)
		return !ok || compare(bound)
	}
	return holds("minimum", func(b float64) bool { return number >= b }) &&
		holds("maximum", func(b float64) bool { return number <= b }) &&
		holds("exclusiveMinimum", func(b float64) bool { return number > b }) &&
		holds("exclusiveMaximum", func(b float64) bool { return number < b })
}

// An editor with the schema and Decode must agree. JSON is YAML, so both read the same drawn text: the example with
// some of its values replaced, removed, or put under another key.
func TestSchemaAndDecodeAgree(t *testing.T) {
	text, err := Schema(&experiment{}, "")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	const base = `{"name":"x","seed":7,"data":{"name":"mnist","partition":{"kind":"records","alpha":0.5}},"model":{"hidden":[80]},
		"cohort":{"expected_size":240,"min_survivors":200},"rounds":250,"verbose":true,"stages":[{"from":3,"lr":0.1}],
		"privacy":{"unit":"client","mechanism":{"kind":"skellam","clip":1},"target":{"epsilon":3,"delta":1e-5}},
		"secagg":{"kind":"masked","max_colluders":0.1}}`
	odd := []any{0.0, 1.0, -1.0, 0.5, 33.0, 5000.0, float64(maxWhole), 1e16, 1e-5, "x", "mnist", "5", "true", true, []any{}, []any{1.0},
		map[string]any{}, map[string]any{"kind": "none"}}
	keys := []string{"kind", "nowhere", "clip", "alpha", "rounds"}
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var file map[string]any
		if err := json.Unmarshal([]byte(base), &file); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			change(t, file, odd, keys)
		}
		text, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Decode("f", text, nil, &experiment{})
		if want := valid(schema, file); want != (err == nil) {
			t.Fatalf("%s\nschema says %v, Decode says %v", text, want, err)
		}
		if err == nil {
			accepted++
		} else {
			refused++
		}
	})
	if accepted == 0 || refused == 0 {
		t.Errorf("%d accepted, %d refused: the test saw one side only", accepted, refused)
	}
}

// change walks to some mapping and changes one of its keys.
func change(t *rapid.T, object map[string]any, odd []any, more []string) {
	var names []string
	for key := range object {
		names = append(names, key)
	}
	slices.Sort(names)
	key := rapid.SampledFrom(append(names, more...)).Draw(t, "key")
	if inner, ok := object[key].(map[string]any); ok && rapid.IntRange(0, 3).Draw(t, "deeper") > 0 {
		change(t, inner, odd, more)
		return
	}
	if rapid.IntRange(0, 4).Draw(t, "remove") == 0 {
		delete(object, key)
		return
	}
	object[key] = rapid.SampledFrom(odd).Draw(t, "value")
}

func TestStructsThatAreNoFile(t *testing.T) {
	type node struct {
		Next *node `yaml:"next"`
	}
	tests := []struct {
		name string
		v    any
		want string
	}{
		{"not a struct", 5, "int is not a struct"},
		{"nothing", nil, "is not a struct"},
		{"a field without a key", struct{ A int }{}, `yaml:"" is not a plain key`},
		{"a key with a point", struct {
			A int `yaml:"a.b"`
		}{}, `yaml:"a.b" is not a plain key`},
		{"a key twice", struct {
			A int `yaml:"a"`
			B int `yaml:"a"`
		}{}, "taken by another field"},
		{"a map", struct {
			A map[string]int `yaml:"a"`
		}{}, "map[string]int is not supported"},
		{"a pointer to a pointer", struct {
			A **int `yaml:"a"`
		}{}, "is not supported"},
		{"a list of pointers", struct {
			A []*int `yaml:"a"`
		}{}, "list of pointers"},
		{"a type inside itself", node{}, "nests deeper than 32"},
		{"a limit on text", struct {
			A string `yaml:"a" min:"1"`
		}{}, "wants a number on a number"},
		{"a limit that is no number", struct {
			A int `yaml:"a" min:"one"`
		}{}, "wants a number on a number"},
		{"an enum of numbers", struct {
			A int `yaml:"a" enum:"1,2"`
		}{}, "enum is for text only"},
		{"required said oddly", struct {
			A int `yaml:"a" required:"yes"`
		}{}, "must be \"true\""},
		{"a default that is out of range", struct {
			A int `yaml:"a" default:"0" min:"1"`
		}{}, "0 (the default) must be >= 1"},
		{"a default of the wrong type", struct {
			A []int `yaml:"a" default:"3"`
		}{}, "is not a list"},
		{"a default that is never used", struct {
			A int `yaml:"a" default:"3" required:"true"`
		}{}, "never used"},
		{"a default on a struct", struct {
			A struct{} `yaml:"a" default:"{}"`
		}{}, "give its keys defaults"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Schema(test.v, "")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "strictyaml: ") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Decode("f", []byte("a: 1"), nil, experiment{}); err == nil {
		t.Error("decoded into a copy")
	}
	if _, err := Decode("f", []byte("a: 1"), nil, (*experiment)(nil)); err == nil {
		t.Error("decoded into nil")
	}
}
