package accountant

import "encoding/json"

// tagged writes an event as one key, its kind, over its fields.
func tagged(e Event, fields any) ([]byte, error) {
	return json.Marshal(map[string]any{e.kind(): fields})
}

// Each event hands its fields over under a type without methods, or encoding would call MarshalJSON again.

func (e Gaussian) MarshalJSON() ([]byte, error) {
	type fields Gaussian
	return tagged(e, fields(e))
}

func (e Laplace) MarshalJSON() ([]byte, error) {
	type fields Laplace
	return tagged(e, fields(e))
}

func (e Skellam) MarshalJSON() ([]byte, error) {
	type fields Skellam
	return tagged(e, fields(e))
}

func (e RoundedSkellam) MarshalJSON() ([]byte, error) {
	type fields RoundedSkellam
	return tagged(e, fields(e))
}

func (e SMM) MarshalJSON() ([]byte, error) {
	type fields SMM
	return tagged(e, fields(e))
}

func (e DiscreteGaussian) MarshalJSON() ([]byte, error) {
	type fields DiscreteGaussian
	return tagged(e, fields(e))
}

func (e DiscreteGaussianSum) MarshalJSON() ([]byte, error) {
	type fields DiscreteGaussianSum
	return tagged(e, fields(e))
}

func (e Binomial) MarshalJSON() ([]byte, error) {
	type fields Binomial
	return tagged(e, fields(e))
}

func (e CPSGD) MarshalJSON() ([]byte, error) {
	type fields CPSGD
	return tagged(e, fields(e))
}

func (e Waterfill) MarshalJSON() ([]byte, error) {
	type fields Waterfill
	return tagged(e, fields(e))
}

func (e GaussianSampling) MarshalJSON() ([]byte, error) {
	type fields GaussianSampling
	return tagged(e, fields(e))
}

func (e Subspace) MarshalJSON() ([]byte, error) {
	type fields Subspace
	return tagged(e, fields(e))
}

func (e GDP) MarshalJSON() ([]byte, error) {
	type fields GDP
	return tagged(e, fields(e))
}

func (e None) MarshalJSON() ([]byte, error) { return tagged(e, struct{}{}) }

func (e Unsound) MarshalJSON() ([]byte, error) {
	type fields Unsound
	return tagged(e, fields(e))
}

func (e Poisson) MarshalJSON() ([]byte, error) {
	type fields Poisson
	return tagged(e, fields(e))
}

func (e WithoutReplacement) MarshalJSON() ([]byte, error) {
	type fields WithoutReplacement
	return tagged(e, fields(e))
}

func (e Repeat) MarshalJSON() ([]byte, error) {
	type fields Repeat
	return tagged(e, fields(e))
}

func (e Compose) MarshalJSON() ([]byte, error) {
	if e == nil {
		e = Compose{} // [] rather than null
	}
	return tagged(e, []Event(e))
}

// MarshalJSON writes {"adjacency": ..., "unit": ..., "event": {...}}; Parse reads it back to the same value.
func (a About) MarshalJSON() ([]byte, error) {
	resolved, err := a.resolve()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Adjacency Adjacency `json:"adjacency"`
		Unit      Unit      `json:"unit"`
		Event     Event     `json:"event"`
	}(resolved))
}

// UnmarshalJSON is [Parse].
func (a *About) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
