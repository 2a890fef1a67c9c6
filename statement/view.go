package statement

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/accountant"
	"hubbub/ledger"
)

// spentDelta is what a distance tau costs: two runs that are (epsilon, delta)-close, each moved by tau, are
// (epsilon, delta + (1+e^epsilon)·tau)-close.
func spentDelta(tau, epsilon float64) float64 { return (1 + math.Exp(epsilon)) * tau }

// usualEpsilon is one up to which a guarantee is worth an amplification.
const usualEpsilon = 20

// SimulatedAggregation is assumed where contributions are added in the clear in place of a protocol that hides them.
const SimulatedAggregation = "secure aggregation shows the server no more than sums; here it is simulated by adding in the clear"

// ResearchFigures is assumed where clients measure their own models.
const ResearchFigures = "the accuracies of personal models are measured at the clients, on labels that they hold, and no noise hides them: they are for research, not covered by this guarantee, and a real federation keeps them"

// View is what one adversary learns of one unit, as a price per round.
type View struct {
	Adversary   Adversary
	Unit        accountant.Unit
	Why         string // why there is no guarantee; empty if there is one
	Claimed     string // what a paper claims all the same
	Adjacency   accountant.Adjacency
	Everyone    bool // every enrolled client pays in every round; otherwise those who took part
	Price       func(client int) accountant.Event
	Failure     float64 // probability, whatever the data, that nothing is hidden: taken out of delta
	Tau         float64 // statistical distance of the run from the one that is priced: samplers that are not perfect, abandoned rounds
	Assumptions []string
	Notes       []string
}

// View builds what the adversary learns of the unit.
func (f Facts) View(adversary Adversary, unit accountant.Unit) View {
	v := View{Adversary: adversary, Unit: unit, Assumptions: f.commonAssumptions()}
	if unit == accountant.Client && f.Unit == accountant.Record {
		v.Why = "the noise is sized to hide one record, not all records of a client"
		return v
	}
	switch f.Protection {
	case Central:
		f.central(&v)
	case Local:
		f.local(&v)
	case InTraining:
		f.inTraining(&v)
	case Distributed:
		f.distributed(&v)
	case Together:
		f.together(&v)
	case Broken:
		v.Why, v.Claimed = f.Claim.Why, f.Claim.Claimed
	default:
		v.Why = "no noise was asked for: released models and updates can reveal any record"
	}
	if unit == accountant.Record && f.Unit == accountant.Client && v.Why == "" {
		v.assume("a record belongs to one client: hiding a client hides its records")
	}
	return v
}

func (v *View) assume(format string, args ...any) {
	v.Assumptions = append(v.Assumptions, fmt.Sprintf(format, args...))
}

func (f Facts) commonAssumptions() []string {
	if f.Protection == Unprotected {
		return nil
	}
	list := []string{"every client clips and follows the protocol", "accuracy is measured on public data, and no other figure of a client leaves it"}
	if f.OwnTests {
		list[1] = ResearchFigures
	}
	if f.Seeded {
		list = append(list, "simulation: the noise comes from the seed in the configuration, and hides nothing from someone who knows or guesses it")
	}
	return list
}

func (f Facts) central(v *View) {
	if v.Adversary == Server {
		v.Why = "the server sees every update before it adds the noise: it must be trusted"
		return
	}
	v.assume("the server is trusted: it sees every update and adds the noise")
	if !f.amplified(v, f.price(f.Noise)) {
		return
	}
	rate := f.rate()
	// Replacing one client moves the sum by twice the clip.
	v.Adjacency, v.Everyone = accountant.ReplaceOne, true
	v.assume("cohorts are drawn in secret and their sizes are not published")
	half := f.price(f.Noise / 2)
	if v.Adversary == Clients && f.Clients > 1 {
		// Someone who knows that it was not drawn itself knows that the others had one rival less.
		rate = min(1, f.CohortSize/float64(f.Clients-1))
		v.assume("curious clients do not pool what they know")
	}
	v.Price = constant(accountant.WithoutReplacement{Rate: rate, Event: half})
}

// amplified prices noise that is the same whoever takes part, in the eyes of someone who sees only releases. It reports false when
// all is said; true leaves a fixed cohort that is smaller than everyone to the caller.
func (f Facts) amplified(v *View, noise accountant.Event) bool {
	v.Adjacency = accountant.ZeroOut
	v.Price = constant(noise)
	if f.rate() == 1 && !f.Poisson {
		v.Everyone = true
		return false
	}
	abandoned := f.abandonedProbability()
	if spentDelta(abandoned, usualEpsilon) > f.Delta/100 {
		v.assume("no amplification by sampling: rounds below %d survivors are abandoned, and that tells of the cohort's size", f.MinSurvivors)
		return false
	}
	if !f.Poisson {
		return true
	}
	v.Everyone = true
	v.Tau += abandoned
	v.assume("cohorts are drawn in secret and their sizes are not published")
	v.Adjacency = accountant.AddRemove
	v.Price = constant(accountant.Poisson{Rate: f.rate(), Event: noise})
	return false
}

// abandonedProbability bounds the probability that any round is abandoned, whatever one client does.
func (f Facts) abandonedProbability() float64 {
	if !f.Poisson {
		return 0 // a fixed cohort is as large as it is, whoever is in it
	}
	return min(1, float64(f.Rounds)*f.abandonedInARound())
}

// abandonedInARound bounds the probability that a Poisson cohort is too small or loses too many, whatever one client does.
func (f Facts) abandonedInARound() float64 { return min(1, f.tooFew()+f.tooManyDropouts()) }

func (f Facts) tooFew() float64 {
	others := distuv.Binomial{N: float64(f.Clients - 1), P: f.rate() * (1 - f.Dropout)}
	return others.CDF(float64(f.MinSurvivors - 1)) // 0 below 0
}

// UsualSurvivors is the largest number of survivors that hardly any round lacks.
func (f Facts) UsualSurvivors() int {
	const rare = 1e-4
	enough, tooMany := 0, int(f.CohortSize)+1
	for tooMany-enough > 1 {
		if f.MinSurvivors = (enough + tooMany) / 2; f.tooFew() <= rare {
			enough = f.MinSurvivors
		} else {
			tooMany = f.MinSurvivors
		}
	}
	return enough
}

// tooManyDropouts bounds the probability that a Poisson cohort loses more than it may: over all its sizes, where they are likely.
func (f Facts) tooManyDropouts() float64 {
	if !f.Layered || f.Dropout == 0 {
		return 0
	}
	n := float64(f.Clients)
	sizes := distuv.Binomial{N: n, P: f.rate()}
	reach := 12*sizes.StdDev() + 50
	least, most := max(0, math.Floor(sizes.Mean()-reach)), min(n, math.Ceil(sizes.Mean()+reach))
	total := sizes.CDF(least-1) + binomialAbove(n, f.rate(), most)
	for size := least; size <= most; size++ {
		total += sizes.Prob(size) * binomialAbove(size, f.Dropout, math.Floor(f.MaxDropouts*size+1e-9)) // 0.1 of 30 are 3
	}
	return total
}

// binomialAbove is the probability of more than k successes in n trials, without cancellation.
func binomialAbove(n, p, k float64) float64 {
	if k >= n {
		return 0
	}
	return mathext.RegIncBeta(k+1, n-k, p)
}

func (f Facts) local(v *View) {
	v.Adjacency = accountant.ZeroOut
	if f.AnyChange {
		v.Adjacency = accountant.ReplaceOne
	}
	honest := 1 // whose noise surely hides the client: its own
	switch v.Adversary {
	case Clients:
		honest = max(1, f.MinSurvivors-1) // it can take its own noise out of the sum
		if honest > 1 {
			v.assume("curious clients do not pool what they know")
		}
	case Public:
		honest = max(1, f.MinSurvivors)
	}
	if honest > 1 {
		v.assume("the server releases a round only if at least %d clients contributed, and keeps single contributions to itself", f.MinSurvivors)
	}
	if v.Adversary != Server {
		v.assume("no amplification by sampling: the noise in the sum tells how many took part")
	}
	if f.Total != nil {
		honest = 1 // only Gaussian noise of several clients is known to be Gaussian again
	}
	v.Price = constant(f.price(f.Noise * math.Sqrt(float64(honest))))
}

// distributed prices shares of integer noise. Only zeroing a client out is covered: its share of the noise stays.
func (f Facts) distributed(v *View) {
	v.Tau = f.Distance * float64(f.Rounds)
	v.Notes = []string{fmt.Sprintf("the samplers of the whole run are off by at most %.1g in statistical distance, which is taken out of delta", v.Tau)}
	v.Adjacency = accountant.ZeroOut
	if v.Adversary == Server && !f.Aggregated {
		v.Price = constant(f.Share(f.Noise))
		v.assume("nothing hides single contributions from the server: each has only its own share of the noise")
		return
	}
	f.aggregated(v)
	switch {
	case v.Adversary == Server:
		v.Price = constant(f.Hidden(f.Noise))
		return
	case !f.ExactTotal:
		total := f.Total
		if v.Adversary == Clients {
			total = f.Fewer
		}
		v.Price = constant(total(f.Noise))
		v.assume("no amplification by sampling: the noise in the sum tells how many took part")
		return
	case v.Adversary == Clients && f.Layered:
		v.Price = constant(f.Fewer(f.Noise))
		v.assume("no amplification by sampling: whoever takes part learns who else does")
		return
	}
	v.assume("the noise in a sum is the same whoever took part")
	if v.Adversary == Clients {
		v.assume("no curious client knows a share of the noise: others make it")
	}
	v.Price = constant(f.Total(f.Noise))
	switch {
	case f.Poisson:
		f.amplifiedZeroOut(v)
	case f.rate() == 1:
		v.Everyone = true
	default:
		v.assume("no amplification by sampling: for a fixed cohort and this noise none is proved")
	}
}

// amplifiedZeroOut prices Poisson cohorts where a client's contribution is zeroed out, and the client itself stays.
//
// Whether a round is abandoned depends on who was drawn and who dropped out, and so not on what the client contributes; but it may tell
// whether the client was drawn. In a round that was not abandoned that has probability q·P(released | drawn)/P(released) <= q/(1-p), p being the
// probability that a round is abandoned: so much is the rate that counts.
func (f Facts) amplifiedZeroOut(v *View) {
	v.Everyone = true
	v.assume("cohorts are drawn in secret and their sizes are not published")
	rate := min(1, f.rate()/(1-min(0.5, f.abandonedInARound())))
	if f.abandonedInARound() > 0.5 {
		rate = 1
	}
	v.Price = constant(accountant.Poisson{Rate: rate, Event: f.Total(f.Noise)})
}

// aggregated says what the adding up of contributions rests on.
func (f Facts) aggregated(v *View) {
	if f.Masked {
		v.assume("secure aggregation: %s", f.Protocol)
		v.assume("nobody breaks X25519, AES-256 or SHA-256")
	} else {
		v.assume(SimulatedAggregation)
	}
	if f.Failure > 0 && v.Adversary != Public {
		v.Failure = f.Failure * float64(f.Rounds)
		v.Notes = append(v.Notes, fmt.Sprintf("with probability at most %.1g some round hides less than is counted on, which is taken out of delta", v.Failure))
	}
	switch {
	case f.Colluders == 0 && v.Adversary == Server:
		v.assume("no client tells the server its share of the noise, and each of the shares was added honestly")
	case f.Colluders == 0:
		v.assume("each of the shares that a sum is released with was added honestly")
		if v.Adversary == Clients {
			v.assume("curious clients do not pool what they know")
		}
	case v.Adversary == Server:
		v.assume("at most %.3g%% of a cohort collude with the server; the others add their shares of the noise honestly", 100*f.Colluders)
	default:
		v.assume("at most %.3g%% of a cohort pool what they know; the others add their shares of the noise honestly", 100*f.Colluders)
	}
}

// together prices the sum of all clients, each of which is random by itself: how many are counted on depends on who looks.
func (f Facts) together(v *View) {
	v.Adjacency = accountant.ReplaceOne
	v.assume("the number of records of each client is public")
	counted := f.Clients
	switch {
	case v.Adversary == Server && !f.Aggregated:
		counted = 1
		v.assume("nothing hides single contributions from the server: each has only its own noise")
	case v.Adversary == Server:
		counted = max(1, counted-f.colluding(0)) // they can take their own contributions out of the sum
		f.aggregated(v)
	case v.Adversary == Clients:
		counted = max(1, counted-f.colluding(1))
		if f.colluding(1) == 1 {
			v.assume("curious clients do not pool what they know")
		} else {
			v.assume("at most %.3g%% of all clients pool what they know", 100*f.Colluders)
		}
	}
	if counted > 1 {
		v.assume("all %d clients take part in every round", f.Clients)
	}
	if v.Adversary != Server && !f.Aggregated {
		v.assume("the server keeps single contributions to itself")
	}
	v.Price = constant(f.SumOf(f.Noise, counted))
}

// colluding is how many of all clients pool what they know, at least so many.
func (f Facts) colluding(least int) int {
	return max(least, int(math.Floor(f.Colluders*float64(f.Clients))))
}

func (f Facts) inTraining(v *View) {
	v.Adjacency = accountant.AddRemove
	v.assume("the number of records of each client is public")
	v.Notes = []string{
		"weak and strong federated f-DP alike: the server and all other clients together see nothing of a client but what was made from its uploads",
		"stated for the client that pays most; every client pays for the rounds that it really took part in",
	}
	if v.Adversary != Server {
		v.assume("no more is claimed than against the server: a released model is made from what it received")
	}
	v.Price = func(client int) accountant.Event {
		step := accountant.Poisson{Rate: f.BatchRate[client], Event: accountant.Gaussian{NoiseMultiplier: f.Noise}}
		return accountant.Repeat{Count: f.LocalSteps[client], Event: step}
	}
}

// price is what noise of this size over the clip costs: Gaussian noise, unless Total says otherwise.
func (f Facts) price(noise float64) accountant.Event {
	if f.Total != nil {
		return f.Total(noise)
	}
	return accountant.Gaussian{NoiseMultiplier: noise}
}

func constant(e accountant.Event) func(int) accountant.Event {
	return func(int) accountant.Event { return e }
}

// Costs are the entries of a round for the ledger: one per adversary with a price, and per price where clients differ.
func (f Facts) Costs(round int, cohort []int) []ledger.Cost {
	f = f.in(round)
	var costs []ledger.Cost
	for _, adversary := range Adversaries {
		v := f.View(adversary, f.Unit)
		if v.Why != "" {
			continue
		}
		if v.Everyone {
			costs = append(costs, ledger.Cost{Against: string(adversary), Price: v.about(v.Price(0))})
			continue
		}
		at := map[accountant.Event]int{} // prices are comparable values here
		for _, c := range cohort {
			price := v.Price(c)
			i, ok := at[price]
			if !ok {
				i = len(costs)
				at[price] = i
				costs = append(costs, ledger.Cost{Against: string(adversary), Clients: []int{}, Price: v.about(price)})
			}
			costs[i].Clients = append(costs[i].Clients, c)
		}
	}
	return costs
}

func (v View) about(e accountant.Event) accountant.About {
	return accountant.About{Adjacency: v.Adjacency, Unit: v.Unit, Event: e}
}
