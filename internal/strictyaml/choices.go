package strictyaml

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Choices is a mapping from paths to the values that are tried there, in file order: {a.b: [1, 2], c: [{d: 3}]}. Each value is kept
// as text that an override takes: a.b=1.
type Choices []Choice

// Choice is one path and its values.
type Choice struct {
	Path   string
	Values []string
}

var choicesType = reflect.TypeFor[Choices]()

func (d *decoder) choices(n *node, path string, dst reflect.Value) {
	var all Choices
	seen := map[string]bool{}
	for _, e := range n.entries {
		at := below(path, e.key)
		switch {
		case seen[e.key]:
			d.refuse(e.at, at, "", "repeated: this path already has values", "write all of them in one list")
			continue
		case !pathForm(e.key):
			d.refuse(e.at, path, fmt.Sprintf("%q", shorten(e.key)), "is not a path of keys", "write privacy.target.epsilon: [1, 2, 3]")
			continue
		case e.value.form != sequence:
			d.refuse(e.value.at, at, e.value.describe(), "is not a list of values to try", "write [a, b]")
			continue
		case len(e.value.items) == 0:
			d.refuse(e.value.at, at, "", "has no value to try", "write [a, b], or remove the line")
			continue
		}
		seen[e.key] = true
		c := Choice{Path: e.key}
		for _, item := range e.value.items {
			c.Values = append(c.Values, item.flow())
		}
		all = append(all, c)
	}
	dst.Set(reflect.ValueOf(all))
}

// pathForm reports whether a text is keys with dots between them.
func pathForm(text string) bool {
	for _, key := range strings.Split(text, ".") {
		if !keyForm.MatchString(key) {
			return false
		}
	}
	return true
}

// flow writes a value on one line, so that it is read back as the same.
func (n *node) flow() string {
	switch n.form {
	case mapping:
		pairs := make([]string, len(n.entries))
		for i, e := range n.entries {
			pairs[i] = encodeText(e.key) + ": " + e.value.flow()
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case sequence:
		items := make([]string, len(n.items))
		for i, item := range n.items {
			items[i] = item.flow()
		}
		return "[" + strings.Join(items, ", ") + "]"
	case null:
		return "null"
	case quoted:
		return strconv.Quote(n.text)
	}
	if readAs(n.text) == "text" {
		return encodeText(n.text)
	}
	return n.text
}

func (c Choices) encode() []string {
	var lines []string
	for _, one := range c {
		lines = append(lines, one.Path+": ["+strings.Join(one.Values, ", ")+"]")
	}
	return lines
}
