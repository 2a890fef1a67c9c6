package nn

import (
	"fmt"
	"slices"
)

// New makes a network for records of this shape (a number of features, or channels, height, width), with these layers and a
// last dense one for the classes. A layer that cannot be is a [*LayerError].
func New(shape []int, layers []Layer, classes int) (*Net, error) {
	input, err := pictureOf(shape)
	if err != nil {
		return nil, err
	}
	if classes < 1 || classes > 256 {
		return nil, fmt.Errorf("nn: %d classes: must be in [1, 256], a label is one byte", classes)
	}
	b := builder{net: &Net{input: input}, at: input, counts: map[string]int{}}
	for i, l := range append(slices.Clone(layers), Layer{Kind: "dense", Units: classes}) {
		reached := b.at
		why := l.check()
		if why == "" {
			why = b.add(l)
		}
		if why == "" && (b.net.size > maxWeights || b.at.size() > maxWeights) {
			why = fmt.Sprintf("the network would have %d weights here and %d outputs: at most %d are possible", b.net.size, b.at.size(), maxWeights)
		}
		if why != "" {
			return nil, &LayerError{Layer: i, Kind: l.Kind, Input: reached.String(), Why: why}
		}
	}
	b.net.plan()
	return b.net, nil
}

// builder adds layer after layer; at is the shape that the next one meets.
type builder struct {
	net    *Net
	at     picture
	drawn  int            // 1 + the last part whose values are drawn; 0: none
	flat   bool           // past flatten or a dense layer
	counts map[string]int // tensors are numbered by kind
}

// add appends the layer, or says why it cannot.
func (b *builder) add(l Layer) string {
	switch l.Kind {
	case "dense":
		b.dense(l.Units)
	case "conv":
		return b.conv(l)
	case "maxpool", "avgpool":
		return b.pool(l)
	case "groupnorm":
		return b.norm(l.Groups)
	case "relu", "tanh":
		return b.activation(Activation(l.Kind))
	case "flatten":
		b.flatten()
	}
	return ""
}

func (b *builder) flatten() {
	b.at, b.flat = picture{1, 1, b.at.size()}, true
}

func (b *builder) dense(units int) {
	b.flatten()
	d := dense{in: b.at.channels, out: units, at: b.net.size}
	b.draw("dense", d.in, d.in, units)
	b.net.head = append(b.net.head, d)
	b.at.channels = units
}

func (b *builder) conv(l Layer) string {
	if why := b.wantsPicture("a convolution"); why != "" {
		return why
	}
	c, why := newConv(b.at, l)
	if why != "" {
		return why
	}
	c.at = b.net.size
	b.draw("conv", c.size*c.size*c.in.channels, c.size, c.size, c.in.channels, c.out.channels)
	if c.suitsWinograd() {
		b.push(newWinograd(c), c.out)
	} else {
		b.push(c, c.out)
	}
	return ""
}

func (b *builder) pool(l Layer) string {
	if why := b.wantsPicture("pooling"); why != "" {
		return why
	}
	p, why := newPool(b.at, l)
	if why != "" {
		return why
	}
	if l.Kind == "avgpool" {
		b.push(avgPool{p}, p.out)
		return ""
	}
	// Activations are increasing, so they may as well follow the maximum, where there is less to do.
	var last activation
	body := b.net.body
	if len(body) > 0 {
		last, _ = body[len(body)-1].layer.(activation)
	}
	if last.kind == "" {
		b.push(maxPool{p}, p.out)
		return ""
	}
	b.net.body = body[:len(body)-1]
	b.push(maxPool{p}, p.out)
	b.push(last, p.out)
	return ""
}

func (b *builder) norm(groups int) string {
	if why := b.wantsPicture("groupnorm"); why != "" {
		return why
	}
	if b.at.channels%groups != 0 {
		return fmt.Sprintf("%d channels cannot be cut into %d groups: choose groups that divide %d", b.at.channels, groups, b.at.channels)
	}
	n := groupNorm{shape: b.at, groups: groups, at: b.net.size}
	b.counts["norm"]++
	b.part(fmt.Sprintf("norm%d.scale", b.counts["norm"]), part{fill: 1}, b.at.channels)
	b.part(fmt.Sprintf("norm%d.shift", b.counts["norm"]), part{}, b.at.channels)
	b.push(n, b.at)
	return ""
}

func (b *builder) activation(kind Activation) string {
	if kind == ReLU && b.drawn > 0 {
		b.net.parts[b.drawn-1].gain = 2
	}
	if heads := b.net.head; len(heads) > 0 {
		last := &heads[len(heads)-1]
		if last.activation != "" {
			return fmt.Sprintf("follows %s: leave one of the two out", last.activation)
		}
		last.activation = kind
		return ""
	}
	b.push(activation{kind: kind}, b.at)
	return ""
}

// wantsPicture refuses what works on pixels where there are none.
func (b *builder) wantsPicture(who string) string {
	if b.flat {
		return who + " needs a picture, and flatten or dense made a vector of it: move it before them"
	}
	if b.at.isVector() && len(b.net.body) == 0 {
		return who + " needs records with channels, height and width: use dense layers for this data set"
	}
	return ""
}

func (b *builder) push(l layer, out picture) {
	in := b.net.input
	if n := len(b.net.body); n > 0 {
		in = b.net.body[n-1].out
	}
	b.net.body = append(b.net.body, stage{layer: l, in: in, out: out})
	if b.net.bodySize == 0 {
		b.net.firstWeights = len(b.net.body) - 1
	}
	b.net.bodySize, b.at = b.net.size, out
}

// draw adds the weights of a layer, and its biases, one for each output channel.
func (b *builder) draw(kind string, fanIn int, shape ...int) {
	b.counts[kind]++
	b.part(fmt.Sprintf("%s%d.weight", kind, b.counts[kind]), part{fanIn: fanIn, gain: 1}, shape...)
	b.drawn = len(b.net.parts)
	b.part(fmt.Sprintf("%s%d.bias", kind, b.counts[kind]), part{}, shape[len(shape)-1])
}

func (b *builder) part(name string, p part, shape ...int) {
	p.Tensor = Tensor{Name: name, Shape: shape, Offset: b.net.size}
	b.net.parts = append(b.net.parts, p)
	b.net.size += count(shape)
}

// plan decides where everything lies in an example's memory, and how the sums over the head's weights are shared out.
func (n *Net) plan() {
	n.channelsLast = n.input.channels > 1 && !n.input.isVector() && slices.ContainsFunc(n.body, func(s stage) bool {
		_, elementwise := s.layer.(activation)
		return !elementwise
	})
	var at place
	if n.channelsLast {
		at.where, n.memory = inExample, n.input.size()
	}
	n.widest = n.input.size()
	for i := range n.body {
		s := &n.body[i]
		s.from, s.to = at, at
		switch {
		case n.inPlace(i):
		case n.passes(i):
			s.to = place{where: inPassing + where(i%2)}
			n.passing = max(n.passing, s.out.size())
		default:
			s.to = place{where: inExample, at: n.memory}
			n.memory += s.out.size()
		}
		s.keptAt = n.memory
		n.memory += s.layer.keeps()
		s.turnedAt = n.turned
		n.turned += s.layer.turns()
		n.scratch = max(n.scratch, s.layer.scratch())
		n.widest = max(n.widest, s.out.size())
		at = s.to
	}
	for i, d := range n.head {
		rows := d.in
		if weights := d.in * d.out; weights >= smallBlock {
			parts := max(2, weights/largeBlock)
			rows = (d.in + parts - 1) / parts
		}
		for from := 0; from < d.in; from += rows {
			n.blocks = append(n.blocks, block{layer: i, from: from, to: min(from+rows, d.in)})
		}
	}
}

// inPlace says whether stage i may write over its input: an activation may, unless it would write over the record, or over the output
// of another activation, which looks back at what it gave out.
func (n *Net) inPlace(i int) bool {
	return i > 0 && n.isActivation(i) && !n.isActivation(i-1)
}

func (n *Net) isActivation(i int) bool {
	_, ok := n.body[i].layer.(activation)
	return ok
}

// passes says whether nobody looks back at what stage i gives out: only an activation does itself, and a pool that follows does not.
// Most of what a convolution gives out is so forgotten, and need not leave the cache.
func (n *Net) passes(i int) bool {
	if n.isActivation(i) || i == len(n.body)-1 {
		return false
	}
	switch n.body[i+1].layer.(type) {
	case maxPool, avgPool:
		return true
	}
	return false
}
