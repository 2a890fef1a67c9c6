package experiment

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Setting is one value of a sweep at its path.
type Setting struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Combination is one experiment of a sweep.
type Combination struct {
	Settings []Setting // in the order of the file
	Config   *Config
}

// maxVariants keeps a slip of the pen from starting a year of training.
const maxVariants = 10_000

// LoadSweep reads an experiment file and returns one experiment for each combination of its sweep's values, the last path
// changing fastest. A file without a sweep is a single one.
func LoadSweep(file string, overrides []string) ([]Combination, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, inputError("read the experiment: %w", err)
	}
	return ParseSweep(file, text, overrides)
}

// ParseSweep is LoadSweep for text in memory.
func ParseSweep(file string, text []byte, overrides []string) ([]Combination, error) {
	first, err := Parse(file, text, overrides)
	if err != nil {
		return nil, err
	}
	count := 1
	for _, choice := range first.Sweep {
		if choice.Path == "sweep" || strings.HasPrefix(choice.Path, "sweep.") {
			return nil, first.refuse("sweep", "cannot sweep over itself")
		}
		if count *= len(choice.Values); count > maxVariants {
			return nil, first.refuse("sweep", "has more than %d combinations", maxVariants)
		}
	}
	if len(first.Sweep) == 0 {
		return []Combination{{Config: first}}, nil
	}
	variants := make([]Combination, count)
	for i := range variants {
		settings := make([]Setting, len(first.Sweep))
		rest := i
		for j, choice := range slices.Backward(first.Sweep) {
			settings[j] = Setting{choice.Path, choice.Values[rest%len(choice.Values)]}
			rest /= len(choice.Values)
		}
		sets := append(slices.Clone(overrides), "sweep=null")
		for _, s := range settings {
			sets = append(sets, s.Path+"="+s.Value)
		}
		c, err := Parse(file, text, sets)
		if err != nil {
			return nil, fmt.Errorf("the combination %s of the sweep:\n%w", inWords(settings), err)
		}
		variants[i] = Combination{settings, c}
	}
	return variants, nil
}

func inWords(settings []Setting) string {
	words := make([]string, len(settings))
	for i, s := range settings {
		words[i] = s.Path + "=" + s.Value
	}
	return strings.Join(words, ", ")
}
