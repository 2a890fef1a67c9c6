package strictyaml

import (
	"fmt"
	"strings"
)

// node is a value of the file: what is left of YAML once everything ambiguous is refused.
type node struct {
	form    form
	text    string  // of a scalar, escapes resolved
	entries []entry // of a mapping, in file order
	items   []*node // of a list
	at      place
}

type entry struct {
	key   string
	at    place // of the key
	value *node
}

type form int

const (
	mapping form = iota
	sequence
	plain  // a scalar without quotes: its meaning depends on what is wanted
	quoted // a scalar that is text for certain
	null   // nothing after the colon, ~ or null
)

// place is where a value came from.
type place struct {
	line, column int  // in the file or in the text of the override
	override     int  // 1 + index of the override it came from; 0: the file
	byDefault    bool // neither: the struct's default
	whole        bool // the file as a whole: no line of it is at fault
}

// describe quotes the value for a message.
func (n *node) describe() string {
	switch n.form {
	case mapping:
		return "a mapping"
	case sequence:
		return "a list"
	case null:
		return "nothing"
	}
	shown := fmt.Sprintf("%q", shorten(n.text))
	if n.form == plain && readAs(n.text) != "text" {
		shown = shorten(n.text)
	}
	if n.at.byDefault {
		shown += " (the default)"
	}
	return shown
}

// find is the entry of a mapping with that key, or nil.
func (n *node) find(key string) *entry {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// below joins a path and a key.
func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// source is what the values were read from, kept to point into it.
type source struct {
	file      string
	lines     []string
	overrides []string
}

// refuse makes the error for a value at that place.
func (s *source) refuse(at place, path, value, rule, guess string) *Error {
	e := &Error{File: s.file, Path: path, Value: value, Rule: rule, Guess: guess, order: at.override}
	if at.override > 0 {
		e.Flag = s.overrides[at.override-1]
		return e
	}
	if at.byDefault || at.line < 1 {
		return e
	}
	e.Line, e.Column = at.line, max(at.column, 1)
	if !at.whole && at.line <= len(s.lines) {
		e.Source = strings.TrimRight(s.lines[at.line-1], " \t")
	}
	return e
}
