// Package safetensors writes and reads named float32 tensors in the safetensors format: a length, a JSON header, the numbers.
//
// Reading is strict: tensors must lie one after another without gap or overlap, and every size is checked against what
// is there before memory is taken.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Tensor is a named array, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// File is what a safetensors file holds.
type File struct {
	Tensors  []Tensor // in the order of their data
	Metadata map[string]string
}

const (
	metadataKey = "__metadata__"
	maxHeader   = 16 << 20
)

type entry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Encode gives the bytes of the file. The same file gives the same bytes.
func (f File) Encode() ([]byte, error) {
	var header bytes.Buffer
	header.WriteByte('{')
	if len(f.Metadata) > 0 {
		text, err := json.Marshal(f.Metadata)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&header, "%q:%s", metadataKey, text)
	}
	at := 0
	seen := map[string]bool{metadataKey: true}
	for _, t := range f.Tensors {
		size, err := count(t.Shape)
		if err != nil || size != len(t.Data) {
			return nil, fmt.Errorf("safetensors: tensor %q of shape %v holds %d numbers", t.Name, t.Shape, len(t.Data))
		}
		if seen[t.Name] {
			return nil, fmt.Errorf("safetensors: the name %q is taken", t.Name)
		}
		seen[t.Name] = true
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		text, err := json.Marshal(entry{"F32", shape, [2]int{at, at + 4*size}})
		if err != nil {
			return nil, err
		}
		if header.Len() > 1 {
			header.WriteByte(',')
		}
		header.Write(name)
		header.WriteByte(':')
		header.Write(text)
		at += 4 * size
	}
	header.WriteByte('}')
	for header.Len()%8 != 0 { // so that the numbers are aligned
		header.WriteByte(' ')
	}
	out := make([]byte, 0, 8+header.Len()+at)
	out = binary.LittleEndian.AppendUint64(out, uint64(header.Len()))
	out = append(out, header.Bytes()...)
	for _, t := range f.Tensors {
		for _, v := range t.Data {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out, nil
}

// Decode reads the bytes of a file.
func Decode(b []byte) (File, error) {
	if len(b) < 8 {
		return File{}, fmt.Errorf("safetensors: %d bytes are too few for a file", len(b))
	}
	length := binary.LittleEndian.Uint64(b)
	if length > maxHeader || length > uint64(len(b)-8) {
		return File{}, fmt.Errorf("safetensors: a header of %d bytes in a file of %d", length, len(b))
	}
	header, body := b[8:8+length], b[8+length:]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return File{}, fmt.Errorf("safetensors: the header is broken: %w", err)
	}
	var f File
	offsets := map[string]int{}
	for name, text := range raw {
		if name == metadataKey {
			if err := json.Unmarshal(text, &f.Metadata); err != nil {
				return File{}, fmt.Errorf("safetensors: the metadata are broken: %w", err)
			}
			continue
		}
		t, at, err := decodeTensor(name, text, body)
		if err != nil {
			return File{}, err
		}
		f.Tensors = append(f.Tensors, t)
		offsets[name] = at
	}
	slices.SortFunc(f.Tensors, func(a, b Tensor) int {
		if offsets[a.Name] != offsets[b.Name] {
			return offsets[a.Name] - offsets[b.Name]
		}
		if len(a.Data) != len(b.Data) {
			return len(a.Data) - len(b.Data) // empty ones first
		}
		return strings.Compare(a.Name, b.Name)
	})
	at := 0
	for _, t := range f.Tensors {
		if offsets[t.Name] != at {
			return File{}, fmt.Errorf("safetensors: tensor %q begins at byte %d, the one before ends at %d", t.Name, offsets[t.Name], at)
		}
		at += 4 * len(t.Data)
	}
	if at != len(body) {
		return File{}, fmt.Errorf("safetensors: tensors of %d bytes in a body of %d: the file is cut off or has something behind it", at, len(body))
	}
	return f, nil
}

func decodeTensor(name string, text json.RawMessage, body []byte) (Tensor, int, error) {
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		return Tensor{}, 0, fmt.Errorf("safetensors: tensor %q is broken: %w", name, err)
	}
	if e.DType != "F32" {
		return Tensor{}, 0, fmt.Errorf("safetensors: tensor %q holds %q, only F32 is read", name, e.DType)
	}
	size, err := count(e.Shape)
	from, to := e.Offsets[0], e.Offsets[1]
	if err != nil || from < 0 || to < from || to > len(body) || to-from != 4*size {
		return Tensor{}, 0, fmt.Errorf("safetensors: tensor %q of shape %v at bytes %d to %d of %d does not fit", name, e.Shape, from, to, len(body))
	}
	data := make([]float32, size)
	for i := range data {
		data[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[from+4*i:]))
	}
	return Tensor{Name: name, Shape: e.Shape, Data: data}, from, nil
}

// count multiplies a shape out; it refuses negative sides and products past what a file can hold.
func count(shape []int) (int, error) {
	size := 1
	for _, s := range shape {
		if s < 0 || (s > 0 && size > (1<<40)/s) {
			return 0, fmt.Errorf("safetensors: shape %v is impossible", shape)
		}
		size *= s
	}
	return size, nil
}
