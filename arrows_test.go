// Package hubbub has no code of its own: this test at its root is the diagram of the packages.
package hubbub

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrows lists every package and which of ours it may import. Arrows point from the edges to the science, never back. A new
// arrow is a change to this table, made together with ARCHITECTURE.md, with the reason in the commit message.
var arrows = map[string][]string{
	".": {},

	// the science: public, pure
	"noise":               {"internal/kernel"},
	"accountant":          {"accountant/pld", "accountant/fdp"},
	"accountant/pld":      {},
	"accountant/fdp":      {"accountant/pld"},
	"mechanism":           {"accountant", "noise", "internal/kernel"},
	"mechanism/adaptive":  {"accountant", "noise", "internal/kernel"},
	"mechanism/waterfill": {"accountant", "noise"},
	"ledger":              {"accountant"},
	"statement":           {"accountant", "ledger"},
	"secagg":              {"noise", "internal/kernel", "secagg/graph", "secagg/shamir"},
	"secagg/shamir":       {},
	"secagg/graph":        {"noise"},
	"secagg/layers":       {},
	"audit":               {"accountant/fdp"},
	"audit/onerun":        {"audit"},
	"audit/sums":          {"accountant", "accountant/pld", "internal/kernel"},
	"claims": {
		"accountant", "accountant/fdp", "accountant/pld", "audit", "audit/sums", "mechanism/adaptive", "mechanism/waterfill", "noise",
	},

	// the learning: internal, pure
	"internal/kernel":    {},
	"internal/nn":        {"noise", "internal/kernel"},
	"internal/data":      {},
	"internal/own":       {"internal/data"},
	"internal/algorithm": {"mechanism", "mechanism/adaptive", "noise", "internal/data", "internal/kernel", "internal/nn"},
	"internal/rounds":    {"ledger", "noise"},

	// the edges: internal
	"internal/crew":        {},
	"internal/simnet":      {},
	"internal/safetensors": {},
	"internal/strictyaml":  {},
	"internal/fetch":       {"internal/data"},
	"internal/chart":       {},
	"internal/report":      {"internal/chart"},
	"internal/experiment": {
		"accountant", "audit", "audit/onerun", "audit/sums", "ledger", "mechanism", "mechanism/adaptive", "mechanism/waterfill", "noise", "secagg", "secagg/graph", "secagg/layers", "statement",
		"internal/algorithm", "internal/data", "internal/fetch", "internal/kernel", "internal/nn", "internal/own", "internal/report", "internal/rounds", "internal/safetensors", "internal/strictyaml",
	},
	"experiments":        {},
	"internal/reproduce": {"accountant", "accountant/fdp", "statement", "experiments", "internal/chart", "internal/experiment"},
	"cmd/hubbub":         {"accountant", "audit", "audit/onerun", "audit/sums", "claims", "statement", "internal/chart", "internal/data", "internal/experiment", "internal/fetch", "internal/kernel", "internal/own", "internal/reproduce"},
	"bench/secagg":       {"secagg", "secagg/graph", "internal/chart"},
	"bench/peers":        {"mechanism", "noise", "internal/algorithm", "internal/crew", "internal/data", "internal/kernel", "internal/nn"}, // measures
}

// pure packages know no clock, file, network or process: what changes comes in as an argument.
var pure = []string{
	"noise", "accountant", "accountant/pld", "accountant/fdp", "mechanism", "mechanism/adaptive", "mechanism/waterfill", "ledger", "statement",
	"secagg", "secagg/shamir", "secagg/graph", "secagg/layers",
	"audit", "audit/onerun", "audit/sums", "claims", "internal/kernel", "internal/nn", "internal/data", "internal/own", "internal/algorithm", "internal/rounds",
}

var impure = []string{"os", "net", "net/http", "os/exec", "os/signal", "syscall", "log", "math/rand"}

// excepted are the impure imports of pure packages, each with its reason.
var excepted = map[string]string{
	"internal/kernel": "os", // HUBBUB_CPU must be known before the first kernel runs, in tests too
}

func TestImportsFollowTheArrows(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if path != "." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "runs" {
			return filepath.SkipDir
		}
		p, err := build.ImportDir(path, 0)
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.ToSlash(path)
		seen[name] = true
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s is not in the table of arrows", name)
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, "hubbub/"); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s: no such arrow", name, ours)
			}
			if slices.Contains(pure, name) && slices.Contains(impure, imported) && excepted[name] != imported {
				t.Errorf("%s is pure and imports %s", name, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range arrows {
		if !seen[name] {
			t.Errorf("the table names %s, which does not exist", name)
		}
	}
}
