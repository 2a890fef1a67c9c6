package experiment

import (
	"fmt"
	"sync"

	"hubbub/internal/algorithm"
	"hubbub/internal/data"
	"hubbub/internal/safetensors"
	"hubbub/mechanism"
	"hubbub/noise"
)

// personal is what the clients of prifedsync keep for themselves from round to round. What an open round changes is staged, and counts
// only when its release is there: a run that is interrupted goes on from what was there before.
type personal struct {
	algorithm algorithm.PriFedSync
	tests     [][]int   // records of the test set that each client measures its model on
	first     []float32 // w_0, which everyone begins with
	clients   []ownModel
	staged    map[int]*ownModel
	spare     []*ownModel
	mutex     sync.Mutex // of staged and spare
}

// ownModel is a client's: nil vectors before it took part.
type ownModel struct {
	own, helper []float32
	memory      algorithm.State
}

func (f *Federation) newPersonal() *personal {
	return &personal{
		algorithm: f.personal, tests: f.personalTests, first: f.Net.Init(f.key.Derive("init").Stream()),
		clients: make([]ownModel, len(f.Parts)), staged: map[int]*ownModel{},
	}
}

// contribute trains the client's own model and sends how it differs from the global one: the mean of that, added to the global model, is
// the mean of the clients' models.
func (p *personal) contribute(w *worker, global []float32, round int, records []int, random noise.Key) error {
	c := &p.clients[w.client]
	helper := c.helper
	if helper == nil {
		helper = p.first
	}
	next := p.stage(w.client, len(global))
	next.memory = c.memory // read only: training puts a copy in its place
	w.training.Restart(random.Derive("training"))
	if err := p.algorithm.Train(w.Worker, next.own, helper, &next.memory, round, records, &w.training); err != nil {
		return err
	}
	for i, v := range next.own {
		w.update[i] = v - global[i]
	}
	return mechanism.None{}.Contribute(w.sum, w.update, nil)
}

func (p *personal) stage(client, size int) *ownModel {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var next *ownModel
	if n := len(p.spare); n > 0 {
		next, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		next = &ownModel{own: make([]float32, size)}
	}
	p.staged[client] = next
	return next
}

// sync gives the clients of the round their helper models, made from the global model that was just released.
func (p *personal) sync(global []float32) {
	for client, next := range p.staged {
		c := &p.clients[client]
		if c.helper == nil {
			c.helper = make([]float32, len(global))
		}
		p.algorithm.Helper(client, c.helper, next.own, global)
		c.own, next.own = next.own, c.own
		c.memory = next.memory
		if next.own == nil {
			next.own = make([]float32, len(global))
		}
		p.spare = append(p.spare, next)
	}
	clear(p.staged)
}

// model is what a client uses by itself.
func (p *personal) model(client int) []float32 {
	if own := p.clients[client].own; own != nil {
		return own
	}
	return p.first
}

// tensors are the clients' vectors for a checkpoint, and what else it must know of them.
func (p *personal) tensors(metadata map[string]string) []safetensors.Tensor {
	var all []safetensors.Tensor
	for i, c := range p.clients {
		if c.own == nil {
			continue
		}
		add := func(name string, v []float32) {
			all = append(all, safetensors.Tensor{Name: fmt.Sprintf("client.%d.%s", i, name), Shape: []int{len(v)}, Data: v})
		}
		add("own", c.own)
		add("helper", c.helper)
		for k, v := range c.memory.Vectors {
			add(fmt.Sprintf("memory.%d", k), v)
		}
		metadata[fmt.Sprintf("client.%d.steps", i)] = fmt.Sprint(c.memory.Steps)
	}
	return all
}

// restore puts back what tensors gave.
func (p *personal) restore(tensors []safetensors.Tensor, metadata map[string]string) error {
	for _, t := range tensors {
		var client, vector int
		var name string
		if n, _ := fmt.Sscanf(t.Name, "client.%d.memory.%d", &client, &vector); n == 2 {
			name = "memory"
		} else if n, _ := fmt.Sscanf(t.Name, "client.%d.%s", &client, &name); n != 2 {
			return fmt.Errorf("tensor %q is none of ours: the checkpoint is broken", t.Name)
		}
		if client < 0 || client >= len(p.clients) {
			return fmt.Errorf("tensor %q is of a client beyond the %d there are: the checkpoint is broken", t.Name, len(p.clients))
		}
		c := &p.clients[client]
		switch name {
		case "own":
			c.own = t.Data
		case "helper":
			c.helper = t.Data
		case "memory":
			c.memory.Vectors = append(c.memory.Vectors, t.Data)
		default:
			return fmt.Errorf("tensor %q is none of ours: the checkpoint is broken", t.Name)
		}
		if _, err := fmt.Sscan(metadata[fmt.Sprintf("client.%d.steps", client)], &c.memory.Steps); err != nil {
			return fmt.Errorf("steps of client %d: the checkpoint is broken", client)
		}
	}
	return nil
}

// dealTests draws the records of the test set that each client measures its own model on: so many, with the labels that it trains on. By
// share: the labels are as frequent as in its training records; otherwise all test records with such labels are equally likely.
func dealTests(train, test *data.Set, parts data.Partition, size int, byShare bool, key noise.Key) ([][]int, error) {
	byLabel := make([][]int, train.Classes)
	for i, label := range test.Labels {
		byLabel[label] = append(byLabel[label], i)
	}
	tests := make([][]int, len(parts))
	for c, records := range parts {
		random := key.Derive("personal test", uint64(c)).Stream()
		counts := train.Histogram(records)
		var pool []int
		for label, n := range counts {
			if n > 0 {
				pool = append(pool, byLabel[label]...)
			}
		}
		if len(pool) == 0 {
			return nil, fmt.Errorf("client %d has labels that no test record has", c)
		}
		if !byShare {
			random.Shuffle(pool)
			tests[c] = pool[:min(size, len(pool))]
			continue
		}
		for range size {
			label := int(train.Labels[records[random.Below(uint64(len(records)))]])
			if some := byLabel[label]; len(some) > 0 {
				tests[c] = append(tests[c], some[random.Below(uint64(len(some)))])
			}
		}
	}
	return tests, nil
}
