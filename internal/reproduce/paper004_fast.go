package reproduce

import "fmt"

// The fast setting of paper 004. Noise, batches, steps, sampling rates and a client's records are the paper's, so that a round costs a
// client as much privacy as it would there. MNIST keeps its 100 clients and gets by without a hidden layer; CIFAR-10 has 40 clients
// and a small network.
const (
	cifarClients = 40
	cifarNet     = "model={kind: layers, layers: [{kind: conv, filters: 8, stride: 2}, {kind: relu}, {kind: conv, filters: 16}, {kind: relu}, {kind: maxpool}, {kind: flatten}]}"
)

// smaller are the changes of a fast run.
func (s setting004) smaller() []string {
	changes := []string{"data.test_limit=2000", "stop_at=0"}
	if s.data == "cifar" {
		return append(changes, cifarNet, fmt.Sprintf("evaluate_every=%d", int(2/s.part)), fmt.Sprintf("data.limit=%d", cifarClients*s.records()),
			fmt.Sprintf("data.partition.clients=%d", cifarClients), fmt.Sprintf("cohort.expected_size=%g", s.part*cifarClients))
	}
	return append(changes, "sweep={seed: [1, 2]}", "model={kind: logistic}", "algorithm.local.lr=0.003", fmt.Sprintf("evaluate_every=%d", int(1/s.part)), fmt.Sprintf("cohort.expected_size=%g", s.part*100))
}

// fastRounds are enough for the goal, which takes the longer, the fewer clients come.
func (s setting004) fastRounds() int {
	if s.data == "cifar" {
		return int(24 / s.part)
	}
	return int(30 / s.part)
}

// fast004 says what is small about a fast run.
func fast004(data string) string {
	if data == "cifar" {
		return "Fast: 40 clients instead of 100, a network of two convolutions with 8 and 16 filters and 7,162 weights, 24 rounds (48 where half of the clients take part), one seed, three of the rows, and rounds to 50%; the paper counts to 52%."
	}
	return "Fast: all 100 clients, but logistic regression with rate 0.003 in place of the network with 0.001, 30 rounds (60 and 120 where fewer clients take part), two seeds (bands are two standard errors), no row with sigma 0.9. So the rounds are not the paper's; orders and prices are what to look at."
}
