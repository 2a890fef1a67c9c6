package accountant

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// fields reads one mapping and remembers which keys were asked for.
type fields struct {
	r      *reader
	t      *tree
	path   string
	wanted []string
}

func (r *reader) fields(t *tree, path string) *fields {
	if t.form != formMap {
		r.fail(t, path, "takes named values, not %s", t.form)
		t = &tree{form: formMap, line: t.line}
	}
	return &fields{r: r, t: t, path: path}
}

func (f *fields) find(key string) *tree {
	f.wanted = append(f.wanted, key)
	if i := slices.Index(f.t.keys, key); i >= 0 {
		return f.t.items[i]
	}
	return nil
}

func (f *fields) take(key string) *tree {
	t := f.find(key)
	if t == nil {
		// Blame a misspelt key rather than its absence, once all wanted keys are known.
		defer func() { f.wanted = append(f.wanted, "!"+key) }()
	}
	return t
}

func (f *fields) number(key string) float64 {
	if t := f.take(key); t != nil {
		return f.value(t, key)
	}
	return 0
}

func (f *fields) optionalWhole(key string) int { return f.wholeNumber(key, f.optionalNumber(key)) }

func (f *fields) optionalNumber(key string) float64 {
	if t := f.find(key); t != nil {
		v := f.value(t, key)
		if v == 0 { // zero would mean "not given": never a silent default
			f.r.fail(t, f.path+"."+key, "0 must be greater than 0, or leave %s out", key)
		}
		return v
	}
	return 0
}

func (f *fields) value(t *tree, key string) float64 {
	path := f.path + "." + key
	if t.form == formText && t.text == "?" {
		if f.r.hole != "" && f.r.hole != path {
			f.r.fail(t, path, "a second \"?\" beside %s: one number can be solved for", f.r.hole)
		}
		f.r.hole = path
		if f.r.fill != nil {
			return *f.r.fill
		}
		return 1
	}
	if t.form != formNumber {
		f.r.fail(t, path, "%s is not a number%s", t.show(), quotedNumber(t))
		return 0
	}
	return t.num
}

func (f *fields) whole(key string) int { return f.wholeNumber(key, f.number(key)) }

func (f *fields) wholeNumber(key string, v float64) int {
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		f.r.fail(f.t, f.path+"."+key, "%g is not a whole number below 2^53", v)
		return 0
	}
	return int(v)
}

func (f *fields) text(key string) string {
	if t := f.take(key); t != nil {
		return f.textOf(t, key)
	}
	return ""
}

func (f *fields) optionalText(key string) string {
	if t := f.find(key); t != nil {
		v := f.textOf(t, key)
		if v == "" {
			f.r.fail(t, f.path+"."+key, "is empty: give a value or leave it out")
		}
		return v
	}
	return ""
}

func (f *fields) textOf(t *tree, key string) string {
	if t.form != formText {
		f.r.fail(t, f.path+"."+key, "%s is not a text", t.show())
	}
	return t.text
}

func (f *fields) event(key string) Event {
	if t := f.take(key); t != nil {
		return f.r.event(t, f.path+"."+key)
	}
	return None{}
}

// done refuses keys that nobody asked for, then keys that are missing.
func (f *fields) done() {
	var allowed, missing []string
	for _, w := range f.wanted {
		if name, gone := strings.CutPrefix(w, "!"); gone {
			missing = append(missing, name)
		} else {
			allowed = append(allowed, w)
		}
	}
	for i, key := range f.t.keys {
		if !slices.Contains(allowed, key) {
			f.r.fail(f.t.items[i], f.path, "unknown key %q: it takes %s%s", key, orNothing(allowed), didYouMean(key, allowed...))
		}
	}
	if len(missing) > 0 {
		f.r.fail(f.t, f.path, "lacks %s", strings.Join(missing, ", "))
	}
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "no keys"
	}
	return strings.Join(names, ", ")
}

func (t *tree) show() string {
	switch t.form {
	case formText:
		return fmt.Sprintf("%q", t.text)
	case formNumber, formOther:
		return t.text
	default:
		return string(t.form)
	}
}

func quotedNumber(t *tree) string {
	if t.form == formText {
		if _, err := (&tree{}).number(t.text); err == nil {
			return ": take the quotes off"
		}
	}
	return ""
}
