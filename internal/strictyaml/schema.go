package strictyaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Schema writes the JSON Schema (draft 2020-12) of the files that [Decode] reads into the type of v, for editors:
// completion, descriptions, and a red line below what would be refused.
func Schema(v any, title string) ([]byte, error) {
	s, err := shapeOf(reflect.TypeOf(v))
	if err != nil {
		return nil, err
	}
	root := s.schema()
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = title
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("strictyaml: schema of %T: %w", v, err)
	}
	return append(out, '\n'), nil
}

// schemaNode is the part of JSON Schema that the tags can say.
type schemaNode struct {
	Schema      string          `json:"$schema,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Type        string          `json:"type"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     *json.Number    `json:"minimum,omitempty"`
	Maximum     *json.Number    `json:"maximum,omitempty"`
	Above       *json.Number    `json:"exclusiveMinimum,omitempty"`
	Below       *json.Number    `json:"exclusiveMaximum,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Items       *schemaNode     `json:"items,omitempty"`
	Properties  properties      `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	Additional  any             `json:"additionalProperties,omitempty"` // false, or what any other key must hold
}

// properties keeps the order of the struct, which a Go map would lose.
type properties []property

type property struct {
	key  string
	node *schemaNode
}

func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		node, err := json.Marshal(one.node)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", one.key, node)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (s *shape) schema() *schemaNode {
	switch s.kind {
	case groupKind:
		out := &schemaNode{Type: "object", Additional: false}
		for _, f := range s.fields {
			inner := f.shape.schema()
			inner.Description = f.doc
			if f.byDefault != nil {
				inner.Default = f.shape.json(f.byDefault)
			}
			out.Properties = append(out.Properties, property{f.key, inner})
			if f.required || f.shape.needs() {
				out.Required = append(out.Required, f.key)
			}
		}
		return out
	case listKind:
		return &schemaNode{Type: "array", Items: s.elem.schema()}
	case choicesKind:
		return &schemaNode{Type: "object", Additional: map[string]any{"type": "array", "minItems": 1}}
	case textKind:
		return &schemaNode{Type: "string", Enum: s.enum}
	case truthKind:
		return &schemaNode{Type: "boolean"}
	case wholeKind:
		out := s.numberSchema("integer")
		if out.Minimum == nil && out.Above == nil {
			out.Minimum = number(-maxWhole)
		}
		if out.Maximum == nil && out.Below == nil {
			out.Maximum = number(maxWhole)
		}
		return out
	default:
		return s.numberSchema("number")
	}
}

func (s *shape) numberSchema(typ string) *schemaNode {
	out := &schemaNode{Type: typ}
	for _, l := range s.limits {
		switch l.tag {
		case "min":
			out.Minimum = number(l.bound)
		case "max":
			out.Maximum = number(l.bound)
		case "gt":
			out.Above = number(l.bound)
		case "lt":
			out.Below = number(l.bound)
		}
	}
	return out
}

func number(x float64) *json.Number {
	n := json.Number(strconv.FormatFloat(x, 'f', -1, 64))
	return &n
}

// json writes a default, which readDefault found to fit the shape: scalars and lists of them, so it cannot fail.
func (s *shape) json(n *node) json.RawMessage {
	v := reflect.New(s.goType()).Elem()
	d := &decoder{src: &source{}, places: map[string]*node{}}
	d.value(n, s, "", v)
	out, err := json.Marshal(v.Interface())
	if err != nil {
		panic("strictyaml: internal error: a default that was decoded has no JSON: " + err.Error())
	}
	return out
}
