package strictyaml

import (
	"fmt"
	"slices"
	"strings"
)

// nearest is the candidate closest to word, if one is so close that it was probably meant.
func nearest(word string, candidates []string) (string, bool) {
	word = fold(word)
	best, bestDistance := "", 4 // more than three mistakes in one word are another word
	for _, candidate := range candidates {
		other := fold(candidate)
		// One mistake in three letters; words of one or two letters are all near each other.
		allowed := max(len(word), len(other)) / 3
		if min(len(word), len(other)) < 3 {
			allowed = 0
		}
		// The difference in length is a lower bound, and spares us the work on a word of a page.
		if abs(len(word)-len(other)) > min(allowed, bestDistance-1) {
			continue
		}
		if d := distance(word, other); d <= allowed && d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best, best != ""
}

// fold takes away what people vary without meaning anything by it: max-norm, maxNorm and MAX_NORM are one name.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}

func abs(x int) int { return max(x, -x) }

// distance counts the letters to insert, delete, replace or swap with a neighbour to turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// guessKey says what an unknown key of the group at path was probably meant to be. The second result is the key of
// this group that it stands for, if any.
//
// A name from another tool comes first, then a key that stands elsewhere, then a typing error; failing all, the keys
// allowed here.
func (d *decoder) guessKey(key string, group *shape, given *node) (guess, meant string) {
	var absent, all []string
	for _, f := range group.fields {
		if slices.ContainsFunc(f.aliases, func(a string) bool { return fold(a) == fold(key) }) {
			return didYouMean(f.key), f.key
		}
		all = append(all, f.key)
		if given.find(f.key) == nil {
			absent = append(absent, f.key)
		}
	}
	// A key such as "kind" that stands in many places says nothing about which one was meant.
	if homes := d.homes[fold(key)]; len(homes) > 0 && len(homes) <= 3 && !slices.Contains(all, key) {
		return "it belongs " + strings.Join(homes, " or "), ""
	}
	if near, ok := nearest(key, absent); ok {
		return didYouMean(near), near
	}
	if len(all) == 0 {
		return "no keys are allowed here", ""
	}
	return "allowed here: " + strings.Join(all, ", "), ""
}

func didYouMean(word string) string { return fmt.Sprintf("did you mean %q?", word) }

// homesOf lists, for each key and alias below the root, the places where it may stand.
func homesOf(root *shape) map[string][]string {
	homes := map[string][]string{}
	add := func(name, home string) {
		if name = fold(name); !slices.Contains(homes[name], home) {
			homes[name] = append(homes[name], home)
		}
	}
	var walk func(s *shape, path string)
	walk = func(s *shape, path string) {
		if s.kind == listKind {
			walk(s.elem, path+"[]")
		}
		for _, f := range s.fields {
			where := "under " + path
			if path == "" {
				where = "at the top level"
			}
			add(f.key, where)
			for _, alias := range f.aliases {
				add(alias, fmt.Sprintf("%s as %q", where, f.key))
			}
			walk(f.shape, below(path, f.key))
		}
	}
	walk(root, "")
	return homes
}
