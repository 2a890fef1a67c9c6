package nn

import (
	"fmt"
	"slices"
	"strings"
)

// Layer describes one layer, as an experiment file writes it. The last layer, dense with one unit per class, is not written: the
// data set knows how many classes there are.
type Layer struct {
	Kind    string `yaml:"kind" doc:"dense, conv, maxpool, avgpool, groupnorm, relu, tanh or flatten" required:"true" alias:"type"`
	Units   int    `yaml:"units" doc:"outputs (dense)" min:"0" alias:"out_features,width,hidden"`
	Filters int    `yaml:"filters" doc:"channels that come out (conv)" min:"0" alias:"out_channels,channels"`
	Size    int    `yaml:"size" doc:"side of the window in pixels; left out: 3 (conv), 2 (maxpool, avgpool)" min:"0" alias:"kernel,kernel_size,pool_size,window"`
	Stride  int    `yaml:"stride" doc:"pixels from one window to the next; left out: 1 (conv), the window's side (maxpool, avgpool)" min:"0" alias:"strides"`
	Padding string `yaml:"padding" doc:"valid (left out): windows lie inside the picture; same: zeros around it, so that stride 1 keeps its sides (conv)" enum:"valid,same" alias:"pad"`
	Groups  int    `yaml:"groups" doc:"groups of channels that are normalised together (groupnorm)" min:"0" alias:"num_groups"`
}

// kinds says which keys belong to a kind of layer.
var kinds = map[string][]string{
	"dense":     {"units"},
	"conv":      {"filters", "size", "stride", "padding"},
	"maxpool":   {"size", "stride"},
	"avgpool":   {"size", "stride"},
	"groupnorm": {"groups"},
	"relu":      {},
	"tanh":      {},
	"flatten":   {},
}

// LayerError refuses a layer. A caller that read the layers from a file points at the place.
type LayerError struct {
	Layer int // counts from 0
	Kind  string
	Input string // the shape that reaches it
	Why   string // the rule, and what to change
}

// Error counts layers from 1, as people do.
func (e *LayerError) Error() string {
	return fmt.Sprintf("nn: layer %d (%s, input %s): %s", e.Layer+1, e.Kind, e.Input, e.Why)
}

// maxSide keeps products of three sides within an int64, and maxWeights those of a network within what a machine holds.
const (
	maxSide    = 1 << 20
	maxWeights = 1 << 28
)

// check refuses keys that do not belong to the layer's kind, and values that no picture could suit.
func (l Layer) check() string {
	if l.Kind == "batchnorm" {
		return "batch normalisation mixes the examples of a batch: no example's gradient is its own, so none can be clipped, and the running statistics leave unnoised; use groupnorm, which looks at one example at a time"
	}
	keys, known := kinds[l.Kind]
	if !known {
		var names []string
		for name := range kinds {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Sprintf("kind %q is unknown: use one of %s", l.Kind, strings.Join(names, ", "))
	}
	for _, given := range []struct {
		key   string
		value int
	}{{"units", l.Units}, {"filters", l.Filters}, {"size", l.Size}, {"stride", l.Stride}, {"groups", l.Groups}} {
		switch {
		case given.value != 0 && !slices.Contains(keys, given.key):
			return fmt.Sprintf("%s %d does not belong to %s: leave it out", given.key, given.value, l.Kind)
		case given.value < 0 || given.value > maxSide:
			return fmt.Sprintf("%s %d outside [1, %d]", given.key, given.value, maxSide)
		}
	}
	if l.Padding != "" && !slices.Contains(keys, "padding") {
		return fmt.Sprintf("padding %q does not belong to %s: leave it out", l.Padding, l.Kind)
	}
	if l.Padding != "" && l.Padding != "valid" && l.Padding != "same" {
		return fmt.Sprintf("padding %q is neither valid nor same", l.Padding)
	}
	for key, value := range map[string]int{"units": l.Units, "filters": l.Filters, "groups": l.Groups} {
		if value == 0 && slices.Contains(keys, key) {
			return fmt.Sprintf("%s is missing: give a number of at least 1", key)
		}
	}
	return ""
}

// picture is the shape of what flows between layers. A vector is a picture of one pixel.
type picture struct{ height, width, channels int }

func (p picture) size() int { return p.height * p.width * p.channels }

func (p picture) isVector() bool { return p.height == 1 && p.width == 1 }

// String writes the shape as data sets do: channels, height, width.
func (p picture) String() string {
	if p.isVector() {
		return fmt.Sprintf("of %d features", p.channels)
	}
	return fmt.Sprintf("%dx%dx%d", p.channels, p.height, p.width)
}

// pictureOf reads a record's shape.
func pictureOf(shape []int) (picture, error) {
	p := picture{1, 1, 1}
	switch len(shape) {
	case 1:
		p.channels = shape[0]
	case 3:
		p = picture{channels: shape[0], height: shape[1], width: shape[2]}
	default:
		return p, fmt.Errorf("nn: a record of shape %v: must be a number of features, or channels, height and width", shape)
	}
	if slices.ContainsFunc(shape, func(side int) bool { return side < 1 || side > maxSide }) || p.size() > maxWeights {
		return p, fmt.Errorf("nn: a record of shape %v: sides must be in [1, %d], %d features together at the most", shape, maxSide, maxWeights)
	}
	return p, nil
}
