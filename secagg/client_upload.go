package secagg

import (
	"crypto/sha256"
	"fmt"
)

// MaskedChunk gives the message that carries chunk i: the values modulo 2^b, plus the layers of noise if there are any, under all masks. The
// same values give the same bytes. Other values for the same chunk are refused: two vectors under one mask would tell
// their difference.
func (c *Client) MaskedChunk(i int, values []int64) ([]byte, error) {
	if err := c.awaits(uploads); err != nil {
		return nil, err
	}
	if i < 0 || i >= c.p.Chunks() {
		return nil, fmt.Errorf("secagg: chunk %d outside [0, %d)", i, c.p.Chunks())
	}
	if len(values) != c.p.ChunkLen(i) {
		return nil, fmt.Errorf("secagg: %d values for chunk %d, which has %d", len(values), i, c.p.ChunkLen(i))
	}
	if c.p.Layers > 0 {
		values = append([]int64(nil), values...)
		for l := range c.layer {
			c.noise(l+1, layerSeed(&c.context, &c.layer[l], i), values)
		}
	}
	var out []byte
	if c.p.Bits <= 32 {
		out = maskChunk[uint32](c, i, values)
	} else {
		out = maskChunk[uint64](c, i, values)
	}
	hash := sha256.Sum256(out)
	if c.uploaded[i] == ([32]byte{}) {
		c.uploaded[i] = hash
	} else if c.uploaded[i] != hash {
		return nil, refuse(ErrConflict, "chunk %d left already with other values", i)
	}
	return out, nil
}

func maskChunk[W word](c *Client, i int, values []int64) []byte {
	masked := make([]W, len(values))
	for j, v := range values {
		masked[j] = W(v)
	}
	from := i * c.p.chunk()
	addMask(masked, &c.self, from, false)
	for j := range c.circle {
		if n := &c.circle[j]; n.in && n.place != c.place {
			addMask(masked, &n.pair, from, !adds(c.place, n.place))
		}
	}
	return pack(appendNumber(header(kindChunk, &c.cohort.root, c.p.ChunkSize(i)), i), masked, c.p.Bits)
}

// complete reports whether every chunk left.
func (c *Client) complete() bool {
	for i := range c.uploaded {
		if c.uploaded[i] == ([32]byte{}) {
			return false
		}
	}
	return true
}
