package graph

import "fmt"

// Claim is what may be said of sums made with this plan, and whose proof says it; nothing stronger may be printed.
// Computational assumptions of the ciphers are not repeated here.
func (p Plan) Claim() string {
	c := p.Colluders
	switch {
	case p.Complete && 2*p.Threshold > p.Clients+c:
		return fmt.Sprintf("a malicious server with up to %d colluding clients learns the sum over one set of at least %d clients and nothing else, if clients "+
			"check signed survivor sets under keys they know beforehand (a pinned roster); without these the same holds for an honest-but-curious server "+
			"(Bonawitz et al. 2017, section 6: 2t = %d > n + c = %d)", c, p.Threshold, 2*p.Threshold, p.Clients+c)
	case p.Complete:
		return fmt.Sprintf("an honest-but-curious server with up to %d colluding clients learns the sum and nothing else; nothing is claimed against a malicious "+
			"one (Bonawitz et al. 2017, section 6: t = %d > c, but 2t = %d <= n + c = %d)", c, p.Threshold, 2*p.Threshold, p.Clients+c)
	default:
		return fmt.Sprintf("an honest-but-curious server with up to %d colluding clients, chosen without knowledge of the graph, learns the sum and nothing else, "+
			"except with probability 2^%.1f, while at most %d clients drop out; nothing is claimed against a malicious one "+
			"(Bell et al. 2020, section 3: n = %d, k = %d, t = %d; their malicious variant draws its graph otherwise)",
			c, p.Insecure, p.Dropouts, p.Clients, p.Degree, p.Threshold)
	}
}
