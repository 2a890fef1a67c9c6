//go:build unsafe_checks

package shamir

var checkIndices = true
