// Package strictyaml reads a YAML file into Go structs, strictly, and tells a person what to change when it cannot.
//
// Its promises:
//
//   - What is not understood is refused: an unknown or repeated key, a wrong type, a value out of range, and every
//     feature of YAML that makes a file mean something else than it seems to (anchors, aliases, merge keys, tags,
//     several documents, octal numbers, digits with underscores, NaN and infinities).
//   - A refusal names the file, line and column, the path, the offending value, the rule and, where there is one, a
//     guess of what was meant; the source line and a caret follow. All problems are reported at once, in file order.
//   - No input makes it panic, run for long or fill the struct halfway: the struct is set only when all is well.
//   - [Decode] of what [Encode] wrote gives the same value, and [Schema] describes the same files to an editor.
//
// # Tags
//
// The struct is the only description of the file. One tag, one question:
//
//	yaml:"clip"        the key; every exported field has one, "-" leaves the field out
//	doc:"L2 bound ..." one line for a person: in the JSON Schema, and when the key is missing
//	required:"true"    the key must be given
//	default:"0.1"      the value when the key is absent, written as in the file: 0.1, fixed, [80, 40]
//	enum:"iid,shards"  the only texts allowed
//	min:"0" max:"1"    bounds that may be reached
//	gt:"0"  lt:"1"     bounds that may not
//	alias:"l2_clip"    names that people type coming from other tools: never accepted, but guessed from
//
// On a list, enum and bounds speak of its elements. Fields are structs, string, bool, int, int64, uint64, float64, [Choices],
// lists of these, and pointers to these. An absent key leaves a pointer nil and anything else at its default or zero;
// [Document.Has] tells absent from zero too. A struct field is always there, so the required keys inside are required
// even when its key is absent; behind a pointer they are required only when the key is given.
//
// # Scalars
//
// Numbers are decimal: 250, -3, 0.5, 1e-5. A whole number may be written 1e3 or 250.0, and stays within 2^53, so that
// every reader of JSON sees the same value. Booleans are true and false. Text that YAML would read as something else
// (5, true, null) needs quotes in the file, so that every YAML reader agrees with this one; on the command line, where
// the shell takes quotes away, it does not.
package strictyaml
