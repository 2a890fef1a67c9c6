package strictyaml

import (
	"fmt"
	"strings"
)

// Document remembers where every value stood, for the checks that a tag cannot express.
type Document struct {
	src    *source
	places map[string]*node
}

// Has reports whether the file or an override gave a value at the path; a default does not count.
// Paths are written privacy.mechanism.clip and layers[2].kind.
func (d *Document) Has(path string) bool {
	n := d.places[path]
	return n != nil && !n.at.byDefault
}

// Refuse makes the error for the value at the path, pointing at where it stands in the file. The rule completes a
// sentence that starts with the value: "must be below %d, the number of clients". At a path that was not given, it
// points at the nearest group around it that was.
func (d *Document) Refuse(path, rule string, args ...any) *Error {
	rule = fmt.Sprintf(rule, args...)
	n, value := d.places[path], ""
	if n != nil {
		value = n.describe()
		if n.form == mapping || n.form == sequence {
			value = "" // the path says more than "a mapping"
		}
	}
	at := place{byDefault: true}
	for around := path; ; around = parent(around) {
		if n := d.places[around]; n != nil && !n.at.byDefault {
			at = n.at
			break
		}
		if around == "" {
			break
		}
	}
	return d.src.refuse(at, path, value, rule, "")
}

// parent is the path without its last key or index.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}
