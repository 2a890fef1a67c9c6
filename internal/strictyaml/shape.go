package strictyaml

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shape is what a Go type and its tags say a value must be. Decode, Encode and Schema all read the same shape.
type shape struct {
	kind    kind
	typ     reflect.Type // without the pointer
	pointer bool
	fields  []field  // of a group
	elem    *shape   // of a list
	enum    []string // of a text
	limits  []limit  // of a number
}

type kind int

const (
	groupKind kind = iota
	listKind
	textKind
	truthKind
	wholeKind
	realKind
	choicesKind
)

// field is one key of a group.
type field struct {
	key, doc  string
	index     int // in the struct
	shape     *shape
	required  bool
	byDefault *node
	aliases   []string
}

// limit is one bound of a number, with the words of its tag for the message.
type limit struct {
	tag, sign, text string
	bound           float64
}

func (l limit) holds(x float64) bool {
	switch l.tag {
	case "min":
		return x >= l.bound
	case "max":
		return x <= l.bound
	case "gt":
		return x > l.bound
	default:
		return x < l.bound
	}
}

var limitTags = []struct{ tag, sign string }{{"gt", ">"}, {"min", ">="}, {"lt", "<"}, {"max", "<="}}

// keyForm keeps keys free of what a path, a flag or YAML would read as something else.
var keyForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// shapeOf reads the type of a struct and checks its tags, so that a mistake there shows in the first test.
func shapeOf(t reflect.Type) (*shape, error) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("strictyaml: %v is not a struct", t)
	}
	return newShape(t, "", t.String(), 0)
}

func newShape(t reflect.Type, tag reflect.StructTag, name string, depth int) (*shape, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("strictyaml: %s: the type nests deeper than %d levels", name, maxDepth)
	}
	s := &shape{typ: t}
	if t.Kind() == reflect.Pointer {
		s.pointer, s.typ = true, t.Elem()
	}
	if s.typ == choicesType {
		s.kind = choicesKind
		return s, nil
	}
	var err error
	switch s.typ.Kind() {
	case reflect.Struct:
		s.kind = groupKind
		s.fields, err = newFields(s.typ, name, depth)
	case reflect.Slice:
		s.kind = listKind
		if s.typ.Elem().Kind() == reflect.Pointer {
			return nil, fmt.Errorf("strictyaml: %s: a list of pointers is not supported: list the values", name)
		}
		s.elem, err = newShape(s.typ.Elem(), tag, name+"[]", depth+1)
		return s, err // enum and limits belong to the elements
	case reflect.String:
		s.kind = textKind
	case reflect.Bool:
		s.kind = truthKind
	case reflect.Int, reflect.Int64, reflect.Uint64:
		s.kind = wholeKind
	case reflect.Float64:
		s.kind = realKind
	default:
		return nil, fmt.Errorf("strictyaml: %s: type %v is not supported", name, t)
	}
	if err == nil {
		err = s.readRules(tag, name)
	}
	return s, err
}

// readRules reads enum and limits.
func (s *shape) readRules(tag reflect.StructTag, name string) error {
	if words, ok := tag.Lookup("enum"); ok {
		if s.kind != textKind {
			return fmt.Errorf("strictyaml: %s: enum is for text only", name)
		}
		s.enum = strings.Split(words, ",")
	}
	for _, known := range limitTags {
		text, ok := tag.Lookup(known.tag)
		if !ok {
			continue
		}
		bound, err := strconv.ParseFloat(text, 64)
		if err != nil || s.kind != wholeKind && s.kind != realKind {
			return fmt.Errorf("strictyaml: %s: %s:%q wants a number on a number", name, known.tag, text)
		}
		s.limits = append(s.limits, limit{known.tag, known.sign, text, bound})
	}
	bounded := slices.ContainsFunc(s.limits, func(l limit) bool { return l.sign[0] == '>' && l.bound >= 0 })
	if s.typ.Kind() == reflect.Uint64 && !bounded {
		s.limits = append(s.limits, limit{tag: "min", sign: ">=", text: "0"})
	}
	return nil
}

func newFields(t reflect.Type, name string, depth int) ([]field, error) {
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		key, tagged := sf.Tag.Lookup("yaml")
		if !sf.IsExported() || key == "-" {
			continue
		}
		fieldName := name + "." + sf.Name
		if !tagged || !keyForm.MatchString(key) {
			return nil, fmt.Errorf("strictyaml: %s: tag yaml:%q is not a plain key", fieldName, key)
		}
		if slices.ContainsFunc(fields, func(f field) bool { return f.key == key }) {
			return nil, fmt.Errorf("strictyaml: %s: key %q is taken by another field", fieldName, key)
		}
		f := field{key: key, doc: sf.Tag.Get("doc"), index: i}
		if required, ok := sf.Tag.Lookup("required"); ok {
			if required != "true" {
				return nil, fmt.Errorf("strictyaml: %s: required:%q must be \"true\" or left out", fieldName, required)
			}
			f.required = true
		}
		if aliases := sf.Tag.Get("alias"); aliases != "" {
			f.aliases = strings.Split(aliases, ",")
		}
		var err error
		if f.shape, err = newShape(sf.Type, sf.Tag, fieldName, depth+1); err != nil {
			return nil, err
		}
		if text, ok := sf.Tag.Lookup("default"); ok {
			if f.byDefault, err = readDefault(text, f); err != nil {
				return nil, fmt.Errorf("strictyaml: %s: default: %w", fieldName, err)
			}
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// readDefault reads a default as the file would be read, and holds it to the field's own rules.
func readDefault(text string, f field) (*node, error) {
	if f.required {
		return nil, fmt.Errorf("%q is never used: the key is required", text)
	}
	inner := f.shape
	for inner.kind == listKind {
		inner = inner.elem
	}
	if inner.kind == groupKind {
		return nil, fmt.Errorf("%q stands on a struct: give its keys defaults instead", text)
	}
	src := &source{file: "tag", lines: []string{text}}
	n, errs := parse(src, text, place{byDefault: true})
	if len(errs) > 0 {
		return nil, errs.Err()
	}
	d := &decoder{src: src, places: map[string]*node{}}
	d.value(n, f.shape, f.key, reflect.New(f.shape.goType()).Elem())
	return n, d.errs.Err()
}

// goType is the type of the field, pointer included.
func (s *shape) goType() reflect.Type {
	if s.pointer {
		return reflect.PointerTo(s.typ)
	}
	return s.typ
}

// needs reports whether the group cannot be left out: a key inside is required.
func (s *shape) needs() bool {
	if s.kind != groupKind || s.pointer {
		return false
	}
	return slices.ContainsFunc(s.fields, func(f field) bool { return f.required || f.shape.needs() })
}
