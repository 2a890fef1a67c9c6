//go:build !unsafe_checks

package shamir

// checkIndices is true in every product: only tests that are built with the tag unsafe_checks can switch it off, to show what
// the check is for.
const checkIndices = true
