//go:build slow

package claims

import (
	"os"
	"testing"
)

// Every false claim is contradicted, every true one confirmed, and the page says what was found.
func TestEveryVerdictIsSupportedAndThePageSaysSo(t *testing.T) {
	evidence := map[string]Evidence{}
	for _, c := range All() {
		if !c.Runs() {
			continue
		}
		e, err := c.Run()
		if err != nil {
			t.Error(err)
		}
		evidence[c.ID] = e
	}
	page, err := os.ReadFile("../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Markdown(evidence) {
		t.Error("docs/claims.md does not say what was found: run hubbub claims --markdown --run > docs/claims.md")
	}
}
