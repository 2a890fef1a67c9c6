package shamir

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Value is the secret part of a share: an element of the field for each limb. It prints as "shamir.Value(hidden)".
type Value [limbs]uint64

// Check refuses limbs that are no elements of the field.
func (v *Value) Check() error {
	for l := range v {
		if v[l] >= prime {
			return fmt.Errorf("%w: limb %d is not below 2^61 - 1", ErrValue, l)
		}
	}
	return nil
}

// Append writes the value as [ValueSize] bytes.
func (v *Value) Append(dst []byte) []byte {
	for _, limb := range v {
		dst = binary.LittleEndian.AppendUint64(dst, limb)
	}
	return dst
}

// ParseValue reads what Append wrote. Every value has one encoding: other bytes are refused.
func ParseValue(encoded []byte) (Value, error) {
	var v Value
	if len(encoded) != ValueSize {
		return v, fmt.Errorf("%w: %d bytes instead of %d", ErrValue, len(encoded), ValueSize)
	}
	for l := range v {
		v[l] = binary.LittleEndian.Uint64(encoded[8*l:])
	}
	if err := v.Check(); err != nil {
		return Value{}, err
	}
	return v, nil
}

// String hides the value, so that no log line or error can show it.
func (v Value) String() string { return "shamir.Value(hidden)" }

// GoString hides the value from %#v as well.
func (v Value) GoString() string { return v.String() }

// Format hides the value from every verb, %x among them.
func (v Value) Format(f fmt.State, _ rune) { io.WriteString(f, v.String()) }

// MarshalText hides the value from encoders that find it inside something else.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// cut lays the 256 bits of a secret out in limbs.
func cut(secret [SecretSize]byte) Value {
	var w [4]uint64
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(secret[8*i:])
	}
	return Value{
		w[0] & limbMask,
		(w[0]>>52 | w[1]<<12) & limbMask,
		(w[1]>>40 | w[2]<<24) & limbMask,
		(w[2]>>28 | w[3]<<36) & limbMask,
		w[3] >> 16,
	}
}

// join is the inverse of cut. Limbs that no secret has come from shares that do not belong together.
func join(v Value) ([SecretSize]byte, error) {
	var secret [SecretSize]byte
	tooLarge := v[4] >> (256 - 4*limbBits)
	for _, limb := range v[:4] {
		tooLarge |= limb >> limbBits
	}
	if tooLarge != 0 {
		return secret, ErrInconsistent
	}
	binary.LittleEndian.PutUint64(secret[0:], v[0]|v[1]<<52)
	binary.LittleEndian.PutUint64(secret[8:], v[1]>>12|v[2]<<40)
	binary.LittleEndian.PutUint64(secret[16:], v[2]>>24|v[3]<<28)
	binary.LittleEndian.PutUint64(secret[24:], v[3]>>36|v[4]<<16)
	return secret, nil
}
