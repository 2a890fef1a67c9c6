//go:build browser

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"hubbub/internal/fetch"
)

const small = `name: small
data: {name: mnist, limit: 1000, test_limit: 200, partition: {kind: records}}
model: {kind: mlp, hidden: [8]}
algorithm: {kind: fedsgd, server: {kind: adam, lr: 0.02}}
cohort: {expected_size: 100}
rounds: 8
privacy:
  mechanism: {kind: gaussian, place: central, clip: 1}
  target: {epsilon: 8, delta: 1e-5}
`

// The report of a real run, opened in a real browser: it says what it must, draws its pictures, and breaks no policy of its own.
func TestBrowserShowsTheReport(t *testing.T) {
	dir, err := fetch.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Get(context.Background(), "mnist", dir, nil); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	file, folder := filepath.Join(work, "small.yaml"), filepath.Join(work, "run")
	if err := os.WriteFile(file, []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	if code := run(context.Background(), []string{"run", file, "--out", folder}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}

	allocator, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun)
	defer cancel()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	err = chromedp.Do(ctx,
		chromedp.EmulateViewport(390, 800), // a phone
		chromedp.Navigate("file://"+filepath.Join(folder, "report.html")),
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()

	page, err := chromedp.Run(ctx, chromedp.Evaluate[struct {
		Text            string
		Pictures, Cards int
		Wide            bool
	}](`({
		Text: document.body.innerText,
		Pictures: [...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().height > 100).length,
		Cards: document.querySelectorAll(".card").length,
		Wide: document.documentElement.scrollWidth > window.innerWidth,
	})`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Against the server", "No guarantee", "must be trusted", "delta 1e-5", "for one client", "8 of 8 planned rounds", "the noise comes from the seed"} {
		if !strings.Contains(page.Text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if page.Pictures != 3 || page.Cards != 3 {
		t.Errorf("%d pictures and %d cards are drawn, want 3 and 3", page.Pictures, page.Cards)
	}
	if page.Wide {
		t.Error("the page is wider than a phone")
	}
	noComplaints(ctx, t)
}

// noComplaints reads the browser's log. It provokes one complaint itself, an address that the page's policy forbids, to know where
// the log ends, and that the policy is in force.
func noComplaints(ctx context.Context, t *testing.T) {
	t.Helper()
	const forbidden = "https://forbidden.invalid/x.png"
	entries := chromedp.Events(ctx, log.EntryAdded)
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](`{ new Image().src = "`+forbidden+`" }`)); err != nil {
		t.Fatal(err)
	}
	for e, err := range entries {
		if err != nil {
			t.Fatalf("the log ended before the complaint about %s: %v", forbidden, err)
		}
		if strings.Contains(e.Entry.Text, forbidden) {
			return
		}
		t.Errorf("the browser complains: %s", e.Entry.Text)
	}
}
