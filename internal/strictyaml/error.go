package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is one thing to change in a file or in an override.
type Error struct {
	File   string // name of the file, as the caller gave it
	Line   int    // from 1; 0 when the value came from an override
	Column int    // from 1, in characters
	Flag   string // the override "a.b=c" that is at fault; empty when the file is
	Path   string // where in the structure: privacy.mechanism.clip, layers[2].kind; empty at the top
	Value  string // what was found, as a reader would quote it; empty when nothing was
	Rule   string // what it violates, so that "Value Rule" is a sentence
	Guess  string // what was probably meant; empty without a good guess
	Source string // the line of the file; empty for an override

	order int // overrides come after the file, in the order they were given
}

// maxShown is how many problems are printed: more would hide the first ones.
const maxShown = 10

// Errors is everything that is wrong, in file order.
type Errors []*Error

// Err sorts the problems into file order and returns them, or nil when there are none.
func (list Errors) Err() error {
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}

// Error prints the first ten problems as a compiler would, and counts the rest.
func (list Errors) Error() string {
	var b strings.Builder
	for i, e := range list {
		if i == maxShown {
			fmt.Fprintf(&b, "\nand %d more problems", len(list)-maxShown)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap lets errors.As find a single [Error].
func (list Errors) Unwrap() []error {
	all := make([]error, len(list))
	for i, e := range list {
		all[i] = e
	}
	return all
}

// Error is the message and, below it, the source line with a caret.
func (e *Error) Error() string {
	if e.Source == "" {
		return e.Message()
	}
	line := fmt.Sprint(e.Line)
	shown, caret := window(e.Source, e.Column)
	return fmt.Sprintf("%s\n  %s | %s\n  %s | %s^",
		e.Message(), line, shown, strings.Repeat(" ", len(line)), strings.Repeat(" ", caret))
}

// Message is the first line of the error: place, path, value, rule, guess.
func (e *Error) Message() string {
	parts := make([]string, 0, 3)
	switch {
	case e.Flag != "":
		parts = append(parts, "--set "+shorten(e.Flag))
	case e.Line > 0:
		parts = append(parts, fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column))
	default:
		parts = append(parts, e.File)
	}
	// The override already names its own path.
	if flagPath, _, _ := strings.Cut(e.Flag, "="); e.Path != "" && e.Path != flagPath {
		parts = append(parts, e.Path)
	}
	parts = append(parts, strings.TrimSpace(e.Value+" "+e.Rule))
	message := strings.Join(parts, ": ")
	if e.Guess != "" {
		message += "; " + e.Guess
	}
	return message
}

// window cuts a long line down to what surrounds the column, and says how far the caret is from its left end.
// Tabs become spaces so that the caret stays below its character.
func window(line string, column int) (shown string, caret int) {
	const width = 100
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line))
	caret = min(max(column-1, 0), len(runes))
	left, right := 0, len(runes)
	if len(runes) > width {
		left = min(max(caret-width/2, 0), len(runes)-width)
		right = left + width
	}
	shown = string(runes[left:right])
	caret -= left
	if left > 0 {
		shown, caret = "…"+shown, caret+1
	}
	if right < len(runes) {
		shown += "…"
	}
	return strings.TrimRight(shown, " "), caret
}

// shorten keeps a message readable when the offending value is a page long.
func shorten(s string) string {
	const longest = 60
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	return string([]rune(s)[:longest]) + "…"
}
