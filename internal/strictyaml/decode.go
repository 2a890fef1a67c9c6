package strictyaml

import (
	"fmt"
	"reflect"
	"strings"
)

// Decode reads text into the struct that out points to, after the overrides ("a.b=c") took effect; file is the name for
// messages. All of the struct is replaced, what is no key too. What is wrong is returned as [Errors], and the struct is
// then untouched.
//
// An override names a path of keys and a value in YAML: a scalar, [a, list] or {a: mapping}. A value replaces what the
// file has there as a whole, keys on the way are made, and null removes the key.
func Decode(file string, text []byte, overrides []string, out any) (*Document, error) {
	target := reflect.ValueOf(out)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return nil, fmt.Errorf("strictyaml: Decode wants a pointer to a struct, not %T", out)
	}
	root, err := shapeOf(target.Type())
	if err != nil {
		return nil, err
	}
	// A byte order mark and the line ends of Windows are invisible to the one who wrote the file.
	clean := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	src := &source{file: file, lines: strings.Split(clean, "\n"), overrides: overrides}
	tree, errs := parse(src, clean, place{})
	if len(errs) > 0 {
		return nil, errs.Err()
	}
	if tree.form == null {
		return nil, Errors{src.refuse(place{}, "", "", "the file is empty", "")}
	}
	if tree.form == mapping {
		tree.at = place{line: 1, column: 1, whole: true}
	}
	errs = override(src, tree)

	d := &decoder{src: src, errs: errs, homes: homesOf(root), places: map[string]*node{}}
	decoded := reflect.New(root.typ).Elem()
	d.value(tree, root, "", decoded)
	if err := d.errs.Err(); err != nil {
		return nil, err
	}
	target.Elem().Set(decoded)
	return &Document{src: src, places: d.places}, nil
}

// decoder walks tree and shape together, collecting what does not fit.
type decoder struct {
	src    *source
	errs   Errors
	homes  map[string][]string // where a key may stand, for guesses
	places map[string]*node    // what was found at each path
}

func (d *decoder) refuse(at place, path, value, rule, guess string) {
	d.errs = append(d.errs, d.src.refuse(at, path, value, rule, guess))
}

func (d *decoder) value(n *node, s *shape, path string, dst reflect.Value) {
	d.places[path] = n
	if n.form == null {
		d.refuse(n.at, path, "", "has no value", "give it one or remove the key")
		return
	}
	if s.pointer {
		dst.Set(reflect.New(s.typ))
		dst = dst.Elem()
	}
	switch s.kind {
	case groupKind:
		if d.wants(n, path, mapping, "a mapping (lines of key: value)") {
			d.group(n, s, path, dst)
		}
	case listKind:
		if d.wants(n, path, sequence, "a list") {
			d.list(n, s, path, dst)
		}
	case choicesKind:
		if d.wants(n, path, mapping, "a mapping of paths to lists (privacy.target.epsilon: [1, 2, 3])") {
			d.choices(n, path, dst)
		}
	default:
		d.scalar(n, s, path, dst)
	}
}

func (d *decoder) wants(n *node, path string, want form, name string) bool {
	if n.form == want {
		return true
	}
	guess := ""
	if want == sequence && n.form != mapping {
		guess = fmt.Sprintf("write [%s]", shorten(n.text))
	}
	d.refuse(n.at, path, n.describe(), "is not "+name, guess)
	return false
}

func (d *decoder) group(n *node, s *shape, path string, dst reflect.Value) {
	given := map[string]entry{}
	meant := map[string]bool{} // keys that an unknown key probably stands for: not missing, only misspelt
	for _, e := range n.entries {
		if first, ok := given[e.key]; ok {
			d.refuse(e.at, below(path, e.key), "", fmt.Sprintf("repeated: this key already stands in line %d", first.at.line), "keep one of them")
			continue
		}
		given[e.key] = e
		if s.field(e.key) == nil {
			guess, key := d.guessKey(e.key, s, n)
			meant[key] = true
			d.refuse(e.at, path, fmt.Sprintf("%q", shorten(e.key)), "is not a key here", guess)
		}
	}
	for _, f := range s.fields {
		at, inner := below(path, f.key), dst.Field(f.index)
		e, ok := given[f.key]
		switch {
		case ok && e.value.form == null:
			d.refuse(e.at, at, "", "has no value", "give it one or remove the key")
		case ok:
			d.value(e.value, f.shape, at, inner)
		case f.byDefault != nil:
			d.value(f.byDefault, f.shape, at, inner)
		case f.required && !meant[f.key]:
			d.refuse(n.at, at, "", missing(f), "")
		case f.shape.kind == groupKind && !f.shape.pointer && !meant[f.key]:
			// An absent struct still has its defaults, and its required keys.
			d.group(&node{form: mapping, at: n.at}, f.shape, at, inner)
		}
	}
}

func missing(f field) string {
	if f.doc == "" {
		return "is required, but missing"
	}
	return "is required, but missing: " + f.doc
}

func (s *shape) field(key string) *field {
	for i := range s.fields {
		if s.fields[i].key == key {
			return &s.fields[i]
		}
	}
	return nil
}

func (d *decoder) list(n *node, s *shape, path string, dst reflect.Value) {
	dst.Set(reflect.MakeSlice(s.typ, len(n.items), len(n.items)))
	for i, item := range n.items {
		d.value(item, s.elem, fmt.Sprintf("%s[%d]", path, i), dst.Index(i))
	}
}

func (d *decoder) scalar(n *node, s *shape, path string, dst reflect.Value) {
	if n.form == mapping || n.form == sequence {
		d.refuse(n.at, path, n.describe(), "is not "+s.name(), "")
		return
	}
	var why *refusal
	switch s.kind {
	case textKind:
		var text string
		if text, why = parseText(n); why == nil {
			why = s.checkText(text)
		}
		dst.SetString(text)
	case truthKind:
		var truth bool
		truth, why = parseTruth(n)
		dst.SetBool(truth)
	case wholeKind:
		var whole int64
		if whole, why = parseWhole(n); why == nil {
			why = s.checkNumber(float64(whole))
		}
		if dst.CanUint() {
			dst.SetUint(uint64(max(whole, 0)))
		} else {
			dst.SetInt(whole)
		}
	case realKind:
		var x float64
		if x, why = parseReal(n); why == nil {
			why = s.checkNumber(x)
		}
		dst.SetFloat(x)
	}
	if why != nil {
		d.refuse(n.at, path, n.describe(), why.rule, why.guess)
	}
}

// name is what a person calls such a scalar.
func (s *shape) name() string {
	switch s.kind {
	case truthKind:
		return "true or false"
	case wholeKind:
		return "a whole number"
	case realKind:
		return "a number"
	default:
		return "text"
	}
}

func (s *shape) checkText(text string) *refusal {
	if s.enum == nil {
		return nil
	}
	for _, word := range s.enum {
		if word == text {
			return nil
		}
	}
	why := &refusal{rule: "is not one of " + strings.Join(s.enum, ", ")}
	if near, ok := nearest(text, s.enum); ok {
		why.guess = didYouMean(near)
	}
	return why
}

func (s *shape) checkNumber(x float64) *refusal {
	var bounds []string
	holds := true
	for _, l := range s.limits {
		bounds = append(bounds, l.sign+" "+l.text)
		holds = holds && l.holds(x)
	}
	if holds {
		return nil
	}
	return &refusal{rule: "must be " + strings.Join(bounds, " and ")}
}
