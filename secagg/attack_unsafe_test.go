//go:build unsafe_checks

package secagg

import "testing"

// With its check switched off, every attack works: so it is that check that stops it, and the attack is a real one.
func TestAttacksWorkWhenTheirCheckIsOff(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.fault, func(t *testing.T) {
			switchedOff[a.check] = true
			defer func() { switchedOff[a.check] = false }()
			worked, err := a.carry(t)
			if !worked || err != nil {
				t.Errorf("worked %t, error %v: something else stops it, or it is no attack", worked, err)
			}
		})
	}
}

// Every check has an attack that shows what it is for.
func TestEveryCheckHasItsAttack(t *testing.T) {
	var shown [checks]bool
	for _, a := range attacks {
		shown[a.check] = true
	}
	for c, has := range shown {
		if !has {
			t.Errorf("check %d has no attack", c)
		}
	}
}
