//go:build race

package mechanism

const raceEnabled = true // sync.Pool drops things at random under the race detector
