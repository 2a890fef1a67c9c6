package experiment

import (
	"errors"
	"fmt"

	"hubbub/internal/nn"
)

// Model says what is trained.
type Model struct {
	Kind       string     `yaml:"kind" doc:"logistic: no hidden layer; mlp: fully connected layers; cnn: two convolutions, for pictures of 28x28; cifar: three, for 3x32x32; layers: as listed" required:"true" enum:"logistic,mlp,cnn,cifar,layers" alias:"name,type"`
	Hidden     []int      `yaml:"hidden" doc:"widths of the hidden layers (mlp)" min:"1" max:"1000000"`
	Activation string     `yaml:"activation" doc:"between layers; left out: relu (mlp)" enum:"relu,tanh"`
	Layers     []nn.Layer `yaml:"layers" doc:"from the records on; the last one, dense with an output per class, is added (layers)"`
}

var modelKeys = map[string][]string{
	"logistic": {}, "mlp": {"hidden", "activation"}, "cnn": {}, "cifar": {}, "layers": {"layers"},
}

func (m Model) check(r *refusals) {
	checkKeys(r, "model.", m.Kind, modelKeys)
	if m.Kind == "layers" && len(m.Layers) == 0 {
		r.refuse("model.layers", "must list the layers, such as [{kind: conv, filters: 16}, {kind: relu}, {kind: maxpool}]; for none use kind logistic")
	}
}

// network builds the model for the data.
func (f *Federation) network() (*nn.Net, error) {
	m, shape, inputs, classes := f.Config.Model, f.Train.Shape, f.Train.Dim(), f.Train.Classes
	var net *nn.Net
	var err error
	switch m.Kind {
	case "logistic":
		net, err = nn.Logistic(inputs, classes)
	case "cnn":
		net, err = nn.CNN(shape, classes)
	case "cifar":
		net, err = nn.CIFAR(shape, classes)
	case "layers":
		net, err = nn.New(shape, m.Layers, classes)
	default:
		activation := nn.ReLU
		if m.Activation != "" {
			activation = nn.Activation(m.Activation)
		}
		net, err = nn.MLP(inputs, m.Hidden, classes, activation)
	}
	var layer *nn.LayerError
	switch {
	case err == nil:
		return net, nil
	case errors.As(err, &layer) && m.Kind == "layers" && layer.Layer < len(m.Layers):
		return nil, f.Config.refuse(fmt.Sprintf("model.layers[%d]", layer.Layer), "is impossible: layer %d, input %s: %s", layer.Layer+1, layer.Input, layer.Why)
	case errors.As(err, &layer) && m.Kind != "mlp":
		return nil, f.Config.refuse("model", "does not suit records of shape %v: %v", shape, err)
	}
	return nil, f.Config.refuse("model", "is impossible: %v", err)
}
