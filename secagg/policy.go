package secagg

import "fmt"

// Adversary is what the server is assumed to do.
type Adversary int

const (
	HonestButCurious Adversary = iota // follows the protocol, and looks at all it receives
	Malicious                         // sends what it likes
)

func (a Adversary) String() string {
	if a == Malicious {
		return "malicious server"
	}
	return "honest-but-curious server"
}

// Claim says against which server the sum alone is learned, and why not against a stronger one. It claims what has been proved for such
// parameters and no more; pinned says that clients know the signing keys of all others beforehand.
func (p Params) Claim(pinned bool) (Adversary, string) {
	together := fmt.Sprintf(" together with up to %d clients learns nothing but the sum over at least %d survivors", p.Colluders, p.MinSurvivors)
	hbc := "an honest-but-curious server" + together
	switch {
	case !p.complete():
		return HonestButCurious, hbc + ", except with probability 2^-40, if who colludes and who drops out was decided before the graph was drawn " +
			"[BBGLR20, section 3]; a malicious server could search for a graph by leaving out keys, so nothing is claimed against it"
	case !pinned:
		return HonestButCurious, hbc + " [BIKMMPRSS17, section 6]; whoever enrols clients could enrol its own, so without a pinned roster " +
			"nothing is claimed against a malicious one"
	case 2*p.Threshold <= p.Cohort+p.Colluders:
		return HonestButCurious, hbc + fmt.Sprintf(" [BIKMMPRSS17, section 6]; a malicious one could make two halves of the clients believe in "+
			"different survivors, which only 2t > n + c rules out, and 2·%d <= %d + %d", p.Threshold, p.Cohort, p.Colluders)
	}
	return Malicious, "a malicious server" + together + " [BIKMMPRSS17, section 6, in the random oracle model]; it can make the round fail"
}

// Policy is what a client insists on. The server has no say in it.
type Policy struct {
	MinSurvivors int       // the smallest sum that this client hides in; at least 3
	Colluders    int       // clients that it fears may side with the server
	Against      Adversary // the server that it wants to be safe from; Malicious needs a roster
	MaxDim       int       // longest vector; 0: MaxDim
	Hybrid       bool      // keys must stand on ML-KEM-768 too
}

// Check refuses parameters below the policy.
func (y Policy) Check(p Params, pinned bool) error {
	if err := p.Check(); err != nil {
		return err
	}
	if y.MinSurvivors < 3 {
		return refuse(ErrPolicy, "the policy itself allows sums of %d: at least 3", y.MinSurvivors)
	}
	if p.MinSurvivors < y.MinSurvivors {
		return refuse(ErrPolicy, "sums of %d survivors, the policy wants at least %d", p.MinSurvivors, y.MinSurvivors)
	}
	if p.Colluders < y.Colluders {
		return refuse(ErrPolicy, "the threshold %d was chosen for %d colluders, the policy fears %d", p.Threshold, p.Colluders, y.Colluders)
	}
	if got, why := p.Claim(pinned); got < y.Against {
		return refuse(ErrPolicy, "the policy wants safety from a malicious server: %s", why)
	}
	if y.Hybrid && !p.Hybrid {
		return refuse(ErrPolicy, "keys stand on X25519 alone, the policy wants ML-KEM-768 too")
	}
	if y.MaxDim > 0 && p.Dim > y.MaxDim {
		return refuse(ErrPolicy, "a vector of %d elements, the policy allows %d", p.Dim, y.MaxDim)
	}
	return nil
}
