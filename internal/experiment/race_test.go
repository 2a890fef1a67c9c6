//go:build race

package experiment

// underRace: the race detector takes memory of its own and empties pools at random.
const underRace = true
