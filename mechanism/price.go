package mechanism

import "hubbub/accountant"

// EventAt is the price of a round at another total rate: what a calibration looks at before there is a mechanism.
func (c SkellamConfig) EventAt(rate float64) (accountant.Event, error) {
	if err := c.Encoding.check(); err != nil {
		return nil, err
	}
	c.Rate = rate
	return c.round(newCodec(c.Encoding))
}
