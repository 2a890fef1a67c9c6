//go:build !race

package mechanism

const raceEnabled = false
