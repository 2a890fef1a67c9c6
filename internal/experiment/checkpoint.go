package experiment

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"hubbub/internal/algorithm"
	"hubbub/internal/nn"
	"hubbub/internal/safetensors"
)

// checkpoint is what a run needs to go on after a round.
type checkpoint struct {
	round   int // the last one that is complete
	entries int // of the ledger, at that moment
	seconds float64
	model   []float32
	before  []float32 // the model released before it, where the mechanism follows releases
	server  algorithm.State

	personal []safetensors.Tensor // read: clients' own models
	metadata map[string]string
}

func (c checkpoint) encode(configHash string, own *personal) ([]byte, error) {
	tensors := []safetensors.Tensor{{Name: "model", Shape: []int{len(c.model)}, Data: c.model}}
	if c.before != nil {
		tensors = append(tensors, safetensors.Tensor{Name: "before", Shape: []int{len(c.before)}, Data: c.before})
	}
	for i, v := range c.server.Vectors {
		tensors = append(tensors, safetensors.Tensor{Name: fmt.Sprintf("server.%d", i), Shape: []int{len(v)}, Data: v})
	}
	metadata := map[string]string{
		"round": strconv.Itoa(c.round), "entries": strconv.Itoa(c.entries), "steps": strconv.Itoa(c.server.Steps),
		"seconds": strconv.FormatFloat(c.seconds, 'g', -1, 64), "config_hash": configHash,
	}
	if own != nil {
		tensors = append(tensors, own.tensors(metadata)...)
	}
	return safetensors.File{Tensors: tensors, Metadata: metadata}.Encode()
}

func (d Folder) readCheckpoint(configHash string, size int) (checkpoint, error) {
	path := d.file(checkpointFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return checkpoint{}, inputError("there is nothing to resume in %s: %w", d.Path, err)
	}
	c, err := decodeCheckpoint(text, configHash, size)
	if err != nil {
		return checkpoint{}, inputError("%s: %w", path, err)
	}
	return c, nil
}

func decodeCheckpoint(text []byte, configHash string, size int) (checkpoint, error) {
	file, err := safetensors.Decode(text)
	if err != nil {
		return checkpoint{}, err
	}
	if file.Metadata["config_hash"] != configHash {
		return checkpoint{}, fmt.Errorf("belongs to another configuration: resume with the one in the run's folder, or start a new run")
	}
	c := checkpoint{metadata: file.Metadata}
	for name, to := range map[string]*int{"round": &c.round, "entries": &c.entries, "steps": &c.server.Steps} {
		if *to, err = strconv.Atoi(file.Metadata[name]); err != nil || *to < 0 {
			return checkpoint{}, fmt.Errorf("%s is %q: the checkpoint is broken", name, file.Metadata[name])
		}
	}
	if c.seconds, err = strconv.ParseFloat(file.Metadata["seconds"], 64); err != nil {
		return checkpoint{}, fmt.Errorf("seconds is %q: the checkpoint is broken", file.Metadata["seconds"])
	}
	for i, t := range file.Tensors {
		if len(t.Data) != size {
			return checkpoint{}, fmt.Errorf("tensor %q has %d numbers, the model has %d", t.Name, len(t.Data), size)
		}
		switch {
		case i == 0:
			c.model = t.Data
		case t.Name == "before":
			c.before = t.Data
		case strings.HasPrefix(t.Name, "client."):
			c.personal = append(c.personal, t)
		default:
			c.server.Vectors = append(c.server.Vectors, t.Data)
		}
	}
	if c.model == nil {
		return checkpoint{}, fmt.Errorf("holds no model: the checkpoint is broken")
	}
	return c, nil
}

// encodeModel gives the model as others read it: one tensor per layer part.
func encodeModel(net *nn.Net, model []float32, metadata map[string]string) ([]byte, error) {
	var tensors []safetensors.Tensor
	for _, t := range net.Tensors() {
		size := 1
		for _, s := range t.Shape {
			size *= s
		}
		tensors = append(tensors, safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: model[t.Offset : t.Offset+size]})
	}
	return safetensors.File{Tensors: tensors, Metadata: metadata}.Encode()
}
