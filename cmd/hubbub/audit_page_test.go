package main

import (
	"os"
	"strings"
	"testing"

	"hubbub/internal/experiment"
)

// The page is made by hand, as it takes long; it must speak of everything that there is now, and of nothing that failed.
func TestTheAuditPageCoversEverything(t *testing.T) {
	text, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if !strings.HasPrefix(page, auditPage) {
		t.Error("docs/audit.md begins with another text: make it again with hubbub audit all --out docs")
	}
	for _, v := range experiment.Variants {
		if !strings.Contains(page, "\n| "+v.Name+" | ") {
			t.Errorf("docs/audit.md lacks %q", v.Name)
		}
	}
	mechanisms, faults, _ := strings.Cut(page, "| planted fault |")
	if strings.Contains(mechanisms, "| broken at") {
		t.Error("docs/audit.md has a claim that is contradicted")
	}
	for _, f := range experiment.Faults {
		if !strings.Contains(faults, "\n| "+string(f)+" | ") {
			t.Errorf("docs/audit.md lacks the fault %s", f)
		}
	}
	if strings.Contains(faults, "| not found |") {
		t.Error("docs/audit.md has a fault that was not found")
	}
	if _, err := os.Stat("../../docs/audit.svg"); err != nil {
		t.Error(err)
	}
}
