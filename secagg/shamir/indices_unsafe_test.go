//go:build unsafe_checks

package shamir

import "testing"

// Why indices are checked: one holder that gives the index zero, or that of another, makes the restored secret all zeros, which everybody
// knows, and surplus shares do not show it when there are none.
func TestAnIndexOfZeroOrTwiceChoosesTheSecret(t *testing.T) {
	shares, err := Split(secretOf(seeded(7)), 5, 3, seeded(8))
	if err != nil {
		t.Fatal(err)
	}
	for name, index := range map[string]int{"zero": 0, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			cheating := append([]Share(nil), shares[:3]...)
			cheating[0].Index = index
			if _, err := Combine(cheating, 5, 3); err == nil {
				t.Error("the check let it pass")
			}
			checkIndices = false
			defer func() { checkIndices = true }()
			if got, err := Combine(cheating, 5, 3); err != nil || got != [SecretSize]byte{} {
				t.Errorf("error %v: the attack does not work, so the check is not shown to matter", err)
			}
		})
	}
}
