package accountant

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Parse reads an event, or an event with what it is about, from JSON or YAML. It is strict: an unknown or missing key,
// a wrong type, an impossible value or a combination that does not fit is refused.
func Parse(text []byte) (About, error) {
	root, err := parseTree(text)
	if err != nil {
		return About{}, fmt.Errorf("accountant: %w", err)
	}
	r := reader{}
	a := r.about(root)
	if r.err == nil && r.hole != "" {
		r.err = fmt.Errorf("%s is \"?\": only calibration solves for a value", r.hole)
	}
	if r.err != nil {
		return About{}, fmt.Errorf("accountant: %w", r.err)
	}
	return a.resolve()
}

// Unknown is an event with one number left open, written as "?" in its text.
type Unknown struct {
	Path string // where the "?" stands, such as event.poisson.event.gaussian.noise_multiplier
	Key  string // its last word
	root *tree
}

// ParseUnknown reads the text of an event in which exactly one number is written as "?".
func ParseUnknown(text []byte) (Unknown, error) {
	root, err := parseTree(text)
	if err != nil {
		return Unknown{}, fmt.Errorf("accountant: %w", err)
	}
	r := reader{}
	r.about(root)
	if r.err != nil {
		return Unknown{}, fmt.Errorf("accountant: %w", r.err)
	}
	if r.hole == "" {
		return Unknown{}, errors.New("accountant: nothing to solve for: write \"?\" in place of one number")
	}
	return Unknown{Path: r.hole, Key: r.hole[strings.LastIndex(r.hole, ".")+1:], root: root}, nil
}

// With returns the event with x in place of the "?".
func (u Unknown) With(x float64) (About, error) {
	r := reader{fill: &x}
	a := r.about(u.root)
	if r.err != nil {
		return About{}, fmt.Errorf("accountant: %w", r.err)
	}
	return a.resolve()
}

// Whole says that the unknown is a count, which takes whole numbers only.
func (u Unknown) Whole() bool {
	return slices.Contains([]string{"count", "clients", "records", "dim", "trials", "shift"}, u.Key)
}

// reader turns a tree into events. The first error sticks, so that the table below reads as plain data.
type reader struct {
	err  error
	hole string   // path of a "?"
	fill *float64 // what to put there; nil while parsing
}

func (r *reader) fail(t *tree, path, format string, args ...any) {
	if r.err != nil {
		return
	}
	where := path
	if t.line > 0 {
		where = fmt.Sprintf("line %d: %s", t.line, path)
	}
	r.err = fmt.Errorf("%s: %s", strings.TrimSuffix(where, ": "), fmt.Sprintf(format, args...))
}

func (r *reader) about(root *tree) About {
	wrapped := root.form == formMap && (slices.Contains(root.keys, "event") ||
		slices.Contains(root.keys, "adjacency") || slices.Contains(root.keys, "unit"))
	if !wrapped {
		return About{Event: r.event(root, "event")}
	}
	f := r.fields(root, "about")
	a := About{Adjacency: Adjacency(f.optionalText("adjacency")), Unit: Unit(f.optionalText("unit"))}
	if inner := f.take("event"); inner != nil {
		a.Event = r.event(inner, "event")
	}
	f.done()
	return a
}

// kinds lists every event's key and how to read what stands under it.
var kinds = map[string]func(f *fields) Event{
	"gaussian": func(f *fields) Event { return Gaussian{f.number("noise_multiplier")} },
	"laplace":  func(f *fields) Event { return Laplace{f.number("scale"), f.optionalWhole("dim")} },
	"skellam": func(f *fields) Event {
		return Skellam{f.number("rate"), f.number("l2"), f.optionalNumber("linf"), SkellamBound(f.optionalText("bound"))}
	},
	"rounded_skellam":   func(f *fields) Event { return RoundedSkellam{f.number("rate"), f.number("l2")} },
	"smm":               func(f *fields) Event { return SMM{f.number("rate"), f.number("c"), f.number("linf")} },
	"discrete_gaussian": func(f *fields) Event { return DiscreteGaussian{f.number("sigma2"), f.number("l2")} },
	"discrete_gaussian_sum": func(f *fields) Event {
		return DiscreteGaussianSum{f.whole("clients"), f.number("sigma2"), f.number("l2"), f.whole("dim")}
	},
	"binomial": func(f *fields) Event { return Binomial{f.whole("trials"), f.number("p"), f.whole("shift")} },
	"cpsgd": func(f *fields) Event {
		return CPSGD{f.whole("trials"), f.number("p"), f.number("l1"), f.number("l2"), f.number("linf"), f.whole("dim")}
	},
	"waterfill": func(f *fields) Event {
		return Waterfill{f.whole("clients"), f.whole("records"), f.number("batch"), f.number("clip"), f.number("variance")}
	},
	"gaussian_sampling": func(f *fields) Event {
		return GaussianSampling{f.whole("clients"), f.whole("records"), f.number("batch"), f.number("clip"), f.number("variance")}
	},
	"subspace": func(f *fields) Event {
		return Subspace{f.whole("clients"), f.whole("records"), f.number("batch"), f.number("clip"), f.number("eigenvalue")}
	},
	"gdp":     func(f *fields) Event { return GDP{f.number("mu")} },
	"none":    func(f *fields) Event { return None{} },
	"unsound": func(f *fields) Event { return Unsound{f.text("why"), f.optionalText("claimed")} },
}

// nesters are the kinds that hold events. They are apart from kinds only because they call back into the table.
func (r *reader) nester(kind string, f *fields) Event {
	switch kind {
	case "poisson":
		return Poisson{f.number("rate"), f.event("event")}
	case "without_replacement":
		return WithoutReplacement{f.number("rate"), f.event("event")}
	default:
		return Repeat{f.whole("count"), f.event("event")}
	}
}

var nesters = []string{"poisson", "without_replacement", "repeat"}

func kindNames() []string {
	names := append([]string{"compose"}, nesters...)
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *reader) event(t *tree, path string) Event {
	if r.err != nil {
		return None{}
	}
	if t.form == formText && t.text == "none" {
		return None{}
	}
	if t.form != formMap || len(t.keys) != 1 {
		r.fail(t, path, "an event is a mapping with one key, one of %s; this is %s with %d keys", strings.Join(kindNames(), ", "), t.form, len(t.keys))
		return None{}
	}
	kind, body := t.keys[0], t.items[0]
	path += "." + kind
	if kind == "compose" {
		if body.form != formList {
			r.fail(body, path, "compose takes a list of events, not %s", body.form)
			return None{}
		}
		parts := Compose{}
		for i, item := range body.items {
			parts = append(parts, r.event(item, fmt.Sprintf("%s[%d]", path, i)))
		}
		return parts
	}
	read, known := kinds[kind]
	if !known && !slices.Contains(nesters, kind) {
		r.fail(t, path, "unknown kind of event %q: one of %s%s", kind, strings.Join(kindNames(), ", "), didYouMean(kind, kindNames()...))
		return None{}
	}
	if kind == "none" && body.form == formOther && body.text == "null" {
		return None{}
	}
	f := r.fields(body, path)
	var e Event
	if known {
		e = read(f)
	} else {
		e = r.nester(kind, f)
	}
	f.done()
	return e
}
