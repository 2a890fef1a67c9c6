package accountant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A tree is JSON or YAML text before it means anything. Both notations become the same tree, so that they are read
// with the same strictness; each node remembers its line for errors.
type tree struct {
	form  form
	num   float64 // form number
	text  string  // form text and number: as written
	keys  []string
	items []*tree // the values of keys, or the items of a list
	line  int     // 1-based; 0 when unknown
}

type form string

const (
	formNumber form = "a number"
	formText   form = "a text"
	formMap    form = "a mapping"
	formList   form = "a list"
	formOther  form = "true, false or null"
)

// Limits that no honest event reaches; they bound the parsers' stack and time.
const (
	maxJSON = 1 << 20
	maxYAML = 1 << 16
)

func parseTree(text []byte) (*tree, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the text is empty: give an event such as {\"gaussian\": {\"noise_multiplier\": 1.1}}")
	}
	if len(text) > maxJSON {
		return nil, fmt.Errorf("the text has %d bytes, more than %d", len(text), maxJSON)
	}
	if nesting(text) > 2*maxDepth+8 { // one event opens two brackets
		return nil, fmt.Errorf("the text is nested too deep: at most %d events inside each other", maxDepth)
	}
	if json.Valid(text) {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		return jsonTree(dec, text)
	}
	if len(text) > maxYAML {
		return nil, fmt.Errorf("the YAML text has %d bytes, more than %d: shorten it or write JSON", len(text), maxYAML)
	}
	return yamlTree(text)
}

// nesting counts open brackets at the deepest place. Brackets in quotes count too: good enough for a limit.
func nesting(text []byte) int {
	open, deepest := 0, 0
	for _, c := range text {
		switch c {
		case '{', '[':
			open++
			deepest = max(deepest, open)
		case '}', ']':
			open--
		}
	}
	return deepest
}

func jsonTree(dec *json.Decoder, text []byte) (*tree, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	t := &tree{line: 1 + bytes.Count(text[:dec.InputOffset()], []byte("\n"))}
	switch v := tok.(type) {
	case json.Number:
		return t.number(v.String())
	case string:
		t.form, t.text = formText, v
	case json.Delim:
		t.form = formList
		if v == '{' {
			t.form = formMap
		}
		for dec.More() {
			if t.form == formMap {
				key, err := dec.Token()
				if err != nil {
					return nil, err
				}
				t.keys = append(t.keys, key.(string)) // an object's keys are strings
			}
			item, err := jsonTree(dec, text)
			if err != nil {
				return nil, err
			}
			t.items = append(t.items, item)
		}
		if _, err := dec.Token(); err != nil {
			return nil, err
		}
	default:
		t.form, t.text = formOther, strings.Replace(fmt.Sprint(v), "<nil>", "null", 1)
	}
	return t, t.noRepeats()
}

func (t *tree) number(text string) (*tree, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return nil, fmt.Errorf("line %d: number %s is not finite", t.line, text)
	}
	t.form, t.num, t.text = formNumber, v, text
	return t, nil
}

func (t *tree) noRepeats() error {
	seen := map[string]bool{}
	for _, key := range t.keys {
		if seen[key] {
			return fmt.Errorf("line %d: key %q is given twice", t.line, key)
		}
		seen[key] = true
	}
	return nil
}

func yamlTree(text []byte) (t *tree, err error) {
	// The YAML parser is not ours; should malformed text break it, that is the text's error.
	defer func() {
		if broken := recover(); broken != nil {
			t, err = nil, errors.New("the text is not readable as JSON or YAML")
		}
	}()
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, fmt.Errorf("not readable as JSON or YAML: %w", err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("the text holds %d YAML documents: give one", len(file.Docs))
	}
	return yamlNode(file.Docs[0].Body, 0)
}

func yamlNode(n ast.Node, depth int) (*tree, error) {
	t := &tree{}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		t.line = tok.Position.Line
	}
	if depth > 2*maxDepth+8 {
		return nil, fmt.Errorf("line %d: nested too deep: at most %d events inside each other", t.line, maxDepth)
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return t.number(fmt.Sprint(n.Value))
	case *ast.FloatNode:
		return t.number(strconv.FormatFloat(n.Value, 'g', -1, 64))
	case *ast.InfinityNode, *ast.NanNode:
		return nil, fmt.Errorf("line %d: number %s is not finite", t.line, n.String())
	case *ast.StringNode:
		t.form, t.text = formText, n.Value
		// YAML 1.2 reads 1e-5 as a number; the parser wants 1.0e-5.
		if n.Token.Type == token.StringType && strings.Trim(n.Value, "+-.eE0123456789") == "" && strings.ContainsAny(n.Value, "0123456789") {
			if num, err := (&tree{line: t.line}).number(n.Value); err == nil {
				return num, nil
			}
		}
	case *ast.LiteralNode:
		t.form, t.text = formText, n.Value.Value
	case *ast.MappingNode:
		t.form = formMap
		for _, pair := range n.Values {
			if err := t.addPair(pair, depth); err != nil {
				return nil, err
			}
		}
	case *ast.MappingValueNode:
		t.form = formMap
		if err := t.addPair(n, depth); err != nil {
			return nil, err
		}
	case *ast.SequenceNode:
		t.form = formList
		for _, value := range n.Values {
			item, err := yamlNode(value, depth+1)
			if err != nil {
				return nil, err
			}
			t.items = append(t.items, item)
		}
	case *ast.NullNode:
		t.form, t.text = formOther, "null"
	case *ast.BoolNode:
		t.form, t.text = formOther, n.String()
	default: // anchors, aliases, tags, merge keys
		return nil, fmt.Errorf("line %d: %s is not supported in an event: write it out", t.line, n.Type())
	}
	return t, t.noRepeats()
}

func (t *tree) addPair(pair *ast.MappingValueNode, depth int) error {
	key, ok := pair.Key.(*ast.StringNode)
	if !ok {
		return fmt.Errorf("line %d: key %s is not a word", t.line, pair.Key.String())
	}
	item, err := yamlNode(pair.Value, depth+1)
	if err != nil {
		return err
	}
	t.keys, t.items = append(t.keys, key.Value), append(t.items, item)
	return nil
}
