package experiment

import (
	"slices"

	sumaudit "hubbub/audit/sums"
	"hubbub/noise"
	"hubbub/statement"
)

// noisedSums says how sums are made where there is noise on updates or sums; nil: there is none.
func (f *Federation) noisedSums() (*sums, error) {
	switch p := f.Facts.Protection; {
	case p == statement.Unprotected || p == statement.InTraining: // dpsgd: the noise is in the updates
		return nil, nil
	case (p == statement.Central || p == statement.Distributed && f.Facts.Aggregated) && f.Config.Privacy.Mechanism.Kind != "laplace":
		return newSums(f)
	}
	return nil, f.Config.refuse("privacy.mechanism.kind", "must be none or dpsgd, or put its noise on the sum: gaussian of the server, or integer noise under secagg; this audit looks at one sum")
}

// claimed is the epsilon of the statement against who sees such sums; nil: there is none. The target is in the cohort, and the attacker knows
// it: the chance that it is not must not count.
func (l *leaker) claimed() (*float64, error) {
	all := *l.f
	all.Facts.CohortSize = float64(all.Facts.Clients)
	against := statement.Server
	if l.f.Facts.Protection == statement.Central {
		against = statement.Public
	}
	row, err := all.claim(against, 1)
	return row.Epsilon, err
}

// contribute adds what one of the cohort sends, with its share of the noise where clients add it.
func (l *leaker) contribute(sum []int64, update []float32, random *noise.Stream) error {
	share, err := l.noised.share(l.others + 1)
	if err != nil {
		return err
	}
	if err := l.noised.encoder.Contribute(sum, update, random); err != nil {
		return err
	}
	if share != nil {
		share.Add(sum, 0, random)
	}
	return nil
}

// noiseVariance measures the noise in one entry of a sum, on sums of nothing: whatever the mechanism, the attacker knows it.
func (l *leaker) noiseVariance() (float64, error) {
	const rounds = 50 // of hundreds of entries: a percent or so, and no more depends on it than how good the attack is
	t := l.f.table()
	seen, nothing := make([]float32, l.f.Net.Size()), make([]float32, l.f.Net.Size())
	random := l.key.Derive("noise variance").Stream()
	total := 0.0
	for range rounds {
		clear(t.worker.sum)
		for range l.others + 1 {
			if err := l.contribute(t.worker.sum, nothing, random); err != nil {
				return 0, err
			}
		}
		l.f.way.server.ServerNoise(t.worker.sum, random)
		l.f.way.server.Decode(seen, t.worker.sum, 1)
		total += energy(seen)
	}
	return total / float64(rounds*len(seen)), nil
}

// noisedTrial makes one sum of the others, adds either update of the pair with noise of its own, and returns what the test makes of them.
// update leaves the update of one of the others with the worker.
func (l *leaker) noisedTrial(w *worker, test *sumaudit.Test, key noise.Key, update func(n int) error) (withFirst, withSecond float64, err error) {
	random := key.Stream()
	clear(w.sum)
	for n := range l.others {
		if err := update(n); err != nil {
			return 0, 0, err
		}
		if err := l.contribute(w.sum, w.update, random); err != nil {
			return 0, 0, err
		}
	}
	others := slices.Clone(w.sum)
	var seen [2]float64
	for i, target := range [][]float32{l.noised.otherwise, l.noised.update} {
		copy(w.sum, others)
		if err := l.contribute(w.sum, target, random); err != nil {
			return 0, 0, err
		}
		l.f.way.server.ServerNoise(w.sum, random)
		l.f.way.server.Decode(w.update, w.sum, 1)
		seen[i] = test.Whole(test.Score(w.update))
	}
	return seen[0], seen[1], nil
}
