//go:build unsafe_checks

package secagg

// switchedOff is for the tests that show what each check is for.
var switchedOff [checks]bool

func enforced(c check) bool { return !switchedOff[c] }
