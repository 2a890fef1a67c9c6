package strictyaml

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Encode writes a struct as YAML, in the order of its fields: the same value always gives the same bytes, and [Decode]
// gives the value back. A value that Decode would refuse is an error. Nil pointers, nil lists and optional zeros are
// left out: to the struct they are the same as an absent key.
func Encode(v any) ([]byte, error) {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	s, err := shapeOf(reflect.TypeOf(v))
	if err != nil {
		return nil, err
	}
	if value.Kind() != reflect.Struct {
		return nil, fmt.Errorf("strictyaml: Encode wants a struct, not a nil %T", v)
	}
	text := encodeRoot(value, s)
	// The promise is checked rather than argued: a struct can be filled by hand with what no file can say.
	again := reflect.New(s.typ)
	if _, err := Decode("encoded", text, nil, again.Interface()); err != nil {
		return nil, fmt.Errorf("strictyaml: %T holds a value that cannot be read back: %w", v, err)
	}
	if back := encodeRoot(again.Elem(), s); !bytes.Equal(back, text) {
		return nil, fmt.Errorf("strictyaml: %T holds a value that no file can give (nil where there is a default, or text "+
			"that is not UTF-8): %s", v, firstDifference(text, back))
	}
	return text, nil
}

// firstDifference shows where two texts part.
func firstDifference(wrote, read []byte) string {
	a, b := strings.Split(string(wrote), "\n"), strings.Split(string(read), "\n")
	i := 0
	for i < min(len(a), len(b))-1 && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%q is read back as %q", shorten(a[i]), shorten(b[i]))
}

func encodeRoot(v reflect.Value, s *shape) []byte {
	lines := encodeGroup(v, s)
	if len(lines) == 0 {
		lines = []string{"{}"}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// encodeGroup gives the lines of a group, without indentation.
func encodeGroup(v reflect.Value, s *shape) []string {
	var lines []string
	for _, f := range s.fields {
		value := v.Field(f.index)
		if f.absent(value) {
			continue
		}
		if f.shape.pointer {
			value = value.Elem()
		}
		switch {
		case f.shape.kind == groupKind:
			inner := encodeGroup(value, f.shape)
			if len(inner) > 0 {
				lines = append(lines, f.key+":")
				lines = append(lines, indent(inner, "  ", "  ")...)
			} else if f.shape.pointer || f.required {
				lines = append(lines, f.key+": {}")
			}
		case f.shape.kind == choicesKind:
			lines = append(lines, f.key+":")
			lines = append(lines, indent(value.Interface().(Choices).encode(), "  ", "  ")...)
		case f.shape.kind == listKind && f.shape.elem.kind == groupKind && value.Len() > 0:
			lines = append(lines, f.key+":")
			for i := range value.Len() {
				inner := encodeGroup(value.Index(i), f.shape.elem)
				if len(inner) == 0 {
					inner = []string{"{}"}
				}
				lines = append(lines, indent(inner, "  - ", "    ")...)
			}
		default:
			lines = append(lines, f.key+": "+encodeInline(value, f.shape))
		}
	}
	return lines
}

// absent reports whether leaving the key out says the same as writing it.
func (f *field) absent(v reflect.Value) bool {
	switch {
	case f.shape.kind == choicesKind:
		return v.Len() == 0
	case f.shape.pointer || f.shape.kind == listKind:
		return v.IsNil()
	case f.shape.kind == groupKind:
		return false
	default:
		return v.IsZero() && !f.required && f.byDefault == nil
	}
}

func indent(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		out[i] = prefix + line
	}
	return out
}

// encodeInline writes a scalar or, on one line, a list.
func encodeInline(v reflect.Value, s *shape) string {
	switch s.kind {
	case listKind:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = encodeInline(v.Index(i), s.elem)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case groupKind: // only inside a list of lists
		var pairs []string
		for _, f := range s.fields {
			value := v.Field(f.index)
			if f.absent(value) {
				continue
			}
			if f.shape.pointer {
				value = value.Elem()
			}
			pairs = append(pairs, f.key+": "+encodeInline(value, f.shape))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case truthKind:
		return strconv.FormatBool(v.Bool())
	case wholeKind:
		if v.CanUint() {
			return strconv.FormatUint(v.Uint(), 10)
		}
		return strconv.FormatInt(v.Int(), 10)
	case realKind:
		return encodeReal(v.Float())
	default:
		return encodeText(v.String())
	}
}

// encodeReal writes the shortest decimal that reads back as the same number: 1e-5 rather than Go's 1e-05.
func encodeReal(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	mantissa, exponent, ok := strings.Cut(text, "e")
	if !ok {
		return text
	}
	power, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	return mantissa + "e" + strconv.Itoa(power)
}

// bareForm is text that needs no quotes; what it leaves out, quotes do not harm.
var bareForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

func encodeText(text string) string {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off": // booleans to a reader of YAML 1.1
		return strconv.Quote(text)
	}
	if bareForm.MatchString(text) && readAs(text) == "text" {
		return text
	}
	// Go's escapes are a subset of those of YAML 1.2, section 5.7.
	return strconv.Quote(text)
}
