package accountant

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	"laplace":  func(f *fields) Event { return Laplace{f.number("scale")} },
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

func (f *fields) whole(key string) int {
	v := f.number(key)
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

// known spellings from other libraries, and what they are called here.
var elsewhere = map[string]string{
	"sigma": "noise_multiplier", "noise": "noise_multiplier", "z": "noise_multiplier", "sample_rate": "rate", "sampling_probability": "rate",
	"q": "rate", "steps": "count", "times": "count", "rounds": "count", "lambda": "rate", "variance": "sigma2", "max_grad_norm": "clip",
	"poisson_sampled": "poisson", "self_composed": "repeat", "composed": "compose", "substitute": "replace-one", "user": "client",
	"example": "record", "n": "trials", "b": "scale",
}

// didYouMean guesses which of the names was meant; empty when nothing is close.
func didYouMean(got string, names ...string) string {
	if known, ok := elsewhere[strings.ToLower(got)]; ok && slices.Contains(names, known) {
		return fmt.Sprintf(" (did you mean %s?)", known)
	}
	best, closest := "", 1+max(1, len(got)/3)
	for _, name := range names {
		if d := editDistance(strings.ToLower(got), name, closest); d < closest {
			best, closest = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// editDistance counts the letters to insert, delete or change; anything from limit on is returned as limit.
func editDistance(a, b string, limit int) int {
	if len(a) > 40 || len(b) > 40 {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return min(row[len(b)], limit)
}

// MarshalJSON writes {"adjacency": ..., "unit": ..., "event": {...}}; Parse reads it back to the same value.
func (a About) MarshalJSON() ([]byte, error) {
	resolved, err := a.resolve()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Adjacency Adjacency `json:"adjacency"`
		Unit      Unit      `json:"unit"`
		Event     Event     `json:"event"`
	}(resolved))
}

// UnmarshalJSON is [Parse].
func (a *About) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
