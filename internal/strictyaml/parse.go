package strictyaml

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxBytes = 1 << 20
	maxDepth = 32
	// maxTokens bounds the time: the parser is quadratic in the number of keys (2 minutes for 1 MiB of "a: 1"; about
	// 0.1 s for this many tokens).
	maxTokens = 20_000
)

// parse reads one YAML document into a tree. Every place in it is from, but for line and column.
func parse(src *source, text string, from place) (*node, Errors) {
	r := &reader{src: src, from: from}
	r.characters(text)
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	var tokens token.Tokens
	err := guarded(func() error {
		tokens = lexer.Tokenize(text)
		return nil
	})
	if r.features(tokens); len(r.errs) > 0 {
		return nil, r.errs
	}
	var file *ast.File
	if err == nil {
		// Repeated keys are found by the decoder, which names both places.
		err = guarded(func() error {
			file, err = parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
			return err
		})
	}
	if err != nil {
		r.syntax(err)
		return nil, r.errs
	}
	root := r.document(file)
	return root, r.errs
}

type reader struct {
	src  *source
	from place
	errs Errors
}

func (r *reader) at(line, column int) place {
	at := r.from
	at.line, at.column = line, column
	return at
}

func (r *reader) atToken(t *token.Token) place {
	if t == nil || t.Position == nil {
		return r.at(1, 1)
	}
	return r.at(t.Position.Line, t.Position.Column)
}

func (r *reader) refuse(at place, value, rule, guess string) {
	r.errs = append(r.errs, r.src.refuse(at, "", value, rule, guess))
}

// characters refuses what should not be in a text file, before the parser can stumble over it.
func (r *reader) characters(text string) {
	if len(text) > maxBytes {
		r.refuse(r.at(0, 0), "", fmt.Sprintf("has %d bytes: more than %d (1 MiB) are not read", len(text), maxBytes), "")
		return
	}
	for i, line := range strings.Split(text, "\n") {
		content := strings.TrimLeft(line, " \t")
		indent := line[:len(line)-len(content)]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && content != "" {
			r.refuse(r.at(i+1, tab+1), "", "a tab indents this line: YAML wants spaces", "")
		}
		column := 0
		for len(line) > 0 {
			c, size := utf8.DecodeRuneInString(line)
			column++
			if c == utf8.RuneError && size == 1 {
				r.refuse(r.at(i+1, column), fmt.Sprintf("byte 0x%02x", line[0]), "is not UTF-8", "save the file as UTF-8")
				break
			}
			if c < ' ' && c != '\t' || c >= 0x7f && c < 0xa0 || c == '\ufeff' || c == '\u2028' || c == '\u2029' {
				r.refuse(r.at(i+1, column), fmt.Sprintf("character U+%04X", c), "is not text", "remove it")
				break
			}
			line = line[size:]
		}
	}
}

// features refuses the parts of YAML that make a file mean something else than it seems to.
func (r *reader) features(tokens token.Tokens) {
	count, depth := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType:
			continue
		case token.AnchorType:
			r.feature(t, "an anchor (&)")
		case token.AliasType:
			r.feature(t, "an alias (*)")
		case token.MergeKeyType:
			r.feature(t, "a merge key (<<)")
		case token.TagType:
			r.feature(t, "a tag (!)")
		case token.DirectiveType:
			r.feature(t, "a directive (%)")
		case token.MappingKeyType:
			r.feature(t, "an explicit key (?)")
		case token.SequenceStartType, token.MappingStartType:
			depth++
			// Once is enough: a thousand brackets are one mistake.
			if depth == maxDepth+1 {
				r.tooDeep(r.atToken(t))
			}
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if count++; count == maxTokens+1 {
			r.refuse(r.atToken(t), "", fmt.Sprintf("the file has more than %d words and signs", maxTokens), "is this the right file?")
			return
		}
	}
}

func (r *reader) feature(t *token.Token, what string) {
	r.refuse(r.atToken(t), what, "is not allowed", "write the value where it is needed, or put quotes around text")
}

func (r *reader) tooDeep(at place) {
	r.refuse(at, "", fmt.Sprintf("nested deeper than %d levels", maxDepth), "")
}

// guarded calls the parser: to us, its panic on odd input is a mistake in the file.
func guarded(call func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the parser cannot make sense of it")
		}
	}()
	return call()
}

// hints says in plain words what the parser's commonest messages mean.
var hints = []struct {
	about *regexp.Regexp
	rule  string
	guess string
}{
	{regexp.MustCompile(`mapping value is not allowed|value is not allowed in this context`),
		"a key or a list element cannot stand here",
		"check how far this line is indented, and put quotes around text that holds a colon"},
	{regexp.MustCompile(`unexpected key name|could not find expected ':'`),
		"this line is not a key with a value", "write key: value, with a space after the colon"},
	{regexp.MustCompile(`cannot start any token`),
		"a tab or another sign stands where YAML wants a space or a value", "use spaces, or put quotes around text"},
	{regexp.MustCompile(`',' or '\]' must be specified|sequence end token`),
		"a list that starts with [ is not closed", "add , between its elements and ] at its end"},
	{regexp.MustCompile(`',' or '}' must be specified|flow mapping end token`),
		"a mapping that starts with { is not closed", "add , between its keys and } at its end"},
	{regexp.MustCompile(`could not find end character of`), "the quotes are not closed", ""},
	{regexp.MustCompile(`reserved character`), "text cannot start with this character", "put quotes around it"},
	{regexp.MustCompile(`invalid key for this map`), "a key must be a single word", ""},
}

// syntax turns the parser's error into ours.
func (r *reader) syntax(err error) {
	at, message := r.at(1, 1), err.Error()
	var positioned interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &positioned) {
		at, message = r.atToken(positioned.GetToken()), positioned.GetMessage()
		if strings.Contains(message, "not allowed in this context") {
			at = r.lastLine(at, positioned.GetToken())
		}
	}
	for _, h := range hints {
		if h.about.MatchString(message) {
			r.refuse(at, "", "not valid YAML: "+h.rule, h.guess)
			return
		}
	}
	r.refuse(at, "", "not valid YAML: "+message, "")
}

// lastLine moves the place to the last line of a plain text that runs over several: a line indented too far was taken
// for more of the text above it, and is what the writer should look at.
func (r *reader) lastLine(at place, t *token.Token) place {
	if t == nil || t.Type != token.StringType || r.from.override > 0 {
		return at
	}
	more := strings.Count(strings.TrimSpace(t.Origin), "\n")
	if more == 0 || at.line+more > len(r.src.lines) {
		return at
	}
	line := r.src.lines[at.line+more-1]
	return r.at(at.line+more, 1+len(line)-len(strings.TrimLeft(line, " ")))
}

// document takes the only document of the file.
func (r *reader) document(file *ast.File) *node {
	for i, doc := range file.Docs {
		if i > 0 {
			r.refuse(r.atToken(startOf(doc)), "", "a second document starts here: one file holds one", "remove what follows ---")
			return nil
		}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return &node{form: null, at: r.at(1, 1)}
	}
	return r.node(file.Docs[0].Body, 0)
}

func startOf(doc *ast.DocumentNode) *token.Token {
	if doc.Start != nil || doc.Body == nil {
		return doc.Start
	}
	return doc.Body.GetToken()
}

// node copies what we support of the parser's tree and refuses the rest.
func (r *reader) node(n ast.Node, depth int) *node {
	out := &node{at: r.atToken(n.GetToken())}
	if _, scalar := n.(ast.ScalarNode); !scalar && depth > maxDepth {
		r.tooDeep(out.at)
		return out
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		r.entries(out, n.Values, depth)
	case *ast.MappingValueNode:
		r.entries(out, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out.form = sequence
		for _, item := range n.Values {
			out.items = append(out.items, r.node(item, depth+1))
		}
	case *ast.NullNode:
		out.form = null
	case *ast.LiteralNode:
		out.form, out.text = quoted, n.Value.Value
	case *ast.StringNode:
		out.form, out.text = plain, n.Value
		if n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType {
			out.form = quoted
		}
	case ast.ScalarNode:
		out.form, out.text = plain, n.GetToken().Value
	default:
		r.refuse(out.at, "", "this is not a value, a list or a mapping", "")
	}
	if out.form == quoted && !utf8.ValidString(out.text) {
		r.refuse(out.at, out.describe(), "has an escape that is not a character", "")
	}
	return out
}

func (r *reader) entries(out *node, values []*ast.MappingValueNode, depth int) {
	out.form = mapping
	for _, pair := range values {
		key := r.node(pair.Key, depth+1)
		if key.form == mapping || key.form == sequence {
			r.refuse(key.at, key.describe(), "is not a key", "")
			continue
		}
		if key.form == null {
			key.text = pair.Key.GetToken().Value
		}
		if len(out.entries) == 0 && pair.Key.GetToken().Position.Line == out.at.line && out.at.column > key.at.column {
			out.at = key.at // a block mapping starts at its first key, not at the colon
		}
		value := r.node(pair.Value, depth+1)
		if value.at.line > key.at.line && (value.form == mapping || value.form == sequence) {
			value.at = key.at // what is wrong with a block as a whole is best shown at its key
		}
		out.entries = append(out.entries, entry{key: key.text, at: key.at, value: value})
	}
}
