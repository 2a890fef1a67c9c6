package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// small is a finished run with a guarantee against some and none against others.
func small() Run {
	r := Run{
		Name: "skellam-mnist", Summary: "A network 784-80-10 on MNIST, by FedSGD with Skellam noise.", Version: "0.1.0", Command: "hubbub run skellam-mnist.yaml --set rounds=250",
		Finished: true, Accuracy: 0.93412, Loss: 0.23456, Rounds: 250, PlannedRounds: 250, Seconds: 48.21,
		BytesUp: 63610, BytesDown: 254440,
		ModelHash:  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		ConfigHash: "sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
		Config:     "name: skellam-mnist\nseed: 7\nprivacy:\n  target: {epsilon: 3, delta: 1e-5, against: public}\n",
		Statement: []Row{
			{Adversary: "public", Unit: "client", Epsilon: new(2.9812), Delta: 1e-5, Mu: new(0.6123), Accountant: "RDP",
				Guarantee:   "approximate differential privacy",
				Assumptions: []string{"clients are sampled independently in each round", "the sizes of cohorts are not published"}},
			{Adversary: "clients", Unit: "client", Epsilon: new(4.2), Delta: 1e-5, Accountant: "RDP",
				Assumptions: []string{"at most one client in ten colludes"}},
			{Adversary: "server", Unit: "client", Delta: 1e-5, Guarantee: "none",
				Why: "it sees each update before noise is added", ClaimedByPaper: "epsilon 3 at delta 1e-5"},
		},
	}
	for i := range 26 {
		round := max(1, 10*i)
		p := Point{Round: round, Epsilon: map[string]*float64{
			"public": new(0.1885 * math.Sqrt(float64(round))), "clients": new(0.2656 * math.Sqrt(float64(round))), "server": nil,
		}}
		if i%5 == 0 {
			p.Accuracy = new(0.93412 * (1 - math.Exp(-float64(round)/30)))
			p.Loss = new(0.23 + 2*math.Exp(-float64(round)/30))
		}
		r.Metrics = append(r.Metrics, p)
	}
	return r
}

// stopped is a run without privacy that was interrupted, with pictures of its data.
func stopped() Run {
	var sheet bytes.Buffer
	if err := png.Encode(&sheet, image.NewGray(image.Rect(0, 0, 56, 28))); err != nil {
		panic(err)
	}
	return Run{
		Name: "plain", Note: "Interrupted by the user; the model of round 12 was kept.", Accuracy: math.NaN(), Loss: math.NaN(),
		Rounds: 12, PlannedRounds: 250, Seconds: 192, DataPicture: sheet.Bytes(),
		LabelHistogram: []LabelCount{{"zero", 5923}, {"one", 6742}},
	}
}

var runs = map[string]func() Run{"finished": small, "stopped": stopped}

func write(t *testing.T, r Run) []byte {
	t.Helper()
	doc, err := Page(r)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestPagesAreTheOnesInTestdata(t *testing.T) {
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			got := write(t, run())
			if !bytes.Equal(got, write(t, run())) {
				t.Error("the same run gave different bytes")
			}
			path := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; go test -update writes it", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at the page, then go test -update", path)
			}
		})
	}
}

// element is a tag of the page with its place in the tree.
type element struct {
	xml.StartElement
	parents []string
}

func (e element) attr(name string) (string, bool) {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// elements reads the page with a strict XML parser: our HTML closes every tag and quotes every attribute, so that wrong
// nesting cannot hide behind a browser's tolerance.
func elements(t *testing.T, doc []byte) (all []element, text string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.Strict = true
	var open []string
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if len(open) > 0 {
				t.Fatalf("never closed: %v", open)
			}
			return all, b.String()
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			all = append(all, element{token.Copy(), slices.Clone(open)})
			open = append(open, token.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			b.Write(token)
			if len(open) == 0 || open[len(open)-1] != "span" {
				b.WriteByte(' ')
			}
		}
	}
}

func TestThePageNeedsNothingElseAndRunsNothing(t *testing.T) {
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			all, _ := elements(t, write(t, run()))
			for _, e := range all {
				switch e.Name.Local {
				case "script", "link", "iframe", "object", "embed", "base", "form", "a":
					t.Errorf("<%s> does not belong into a self-contained page", e.Name.Local)
				}
				for _, a := range e.Attr {
					attr := strings.ToLower(a.Name.Local)
					if attr == "style" || attr == "srcset" || strings.HasPrefix(attr, "on") {
						t.Errorf("<%s %s=%q>", e.Name.Local, attr, a.Value)
					}
					if (attr == "src" || attr == "href") && !strings.HasPrefix(a.Value, "data:image/png;base64,") {
						t.Errorf("<%s %s=%q> reaches outside", e.Name.Local, attr, a.Value)
					}
					if strings.Contains(a.Value, "//") && attr != "xmlns" && !strings.HasPrefix(a.Value, "data:") {
						t.Errorf("<%s %s=%q> holds an address", e.Name.Local, attr, a.Value)
					}
				}
			}
		})
	}
	if strings.Contains(pageCSS, "url(") || strings.Contains(pageCSS, "@import") {
		t.Error("the style sheet reaches outside")
	}
}

func TestThePolicyAllowsThisStyleSheetAndNothingElse(t *testing.T) {
	doc := string(write(t, small()))
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(doc, -1)
	if len(style) != 1 {
		t.Fatalf("%d style sheets, want 1", len(style))
	}
	hash := sha256.Sum256([]byte(style[0][1]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
	meta := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)"/>`).FindStringSubmatch(doc)
	if meta == nil {
		t.Fatal("no policy")
	}
	if got := html.UnescapeString(meta[1]); got != want {
		t.Errorf("policy %s\nwant   %s", got, want)
	}
}

func TestThePageIsAccessible(t *testing.T) {
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			all, _ := elements(t, write(t, run()))
			ids := map[string]int{}
			for _, e := range all {
				if id, ok := e.attr("id"); ok {
					ids[id]++
				}
			}
			level, tops := 0, 0
			for i, e := range all {
				tag := e.Name.Local
				switch tag {
				case "html":
					if lang, _ := e.attr("lang"); lang != "en" {
						t.Error("the page does not say its language")
					}
				case "h1", "h2", "h3":
					now := int(tag[1] - '0')
					if now > level+1 {
						t.Errorf("<%s> follows a heading of level %d", tag, level)
					}
					level = now
					if tag == "h1" {
						tops++
					}
				case "th":
					if scope, _ := e.attr("scope"); !slices.Contains([]string{"col", "row", "rowgroup"}, scope) {
						t.Errorf("<th> with scope %q", scope)
					}
				case "img":
					if alt, _ := e.attr("alt"); alt == "" {
						t.Error("<img> without a description")
					}
				case "svg":
					if role, _ := e.attr("role"); role != "img" || all[i+1].Name.Local != "title" {
						t.Error("<svg> without role or title")
					}
				case "p", "ul", "table", "div", "section", "figure":
					if slices.Contains(e.parents, "p") {
						t.Errorf("<%s> inside <p>: a browser would close the paragraph", tag)
					}
				}
				if label, ok := e.attr("aria-labelledby"); ok && ids[label] != 1 {
					t.Errorf("<%s> is labelled by %q, which exists %d times", tag, label, ids[label])
				}
			}
			if tops != 1 {
				t.Errorf("%d first-level headings, want 1", tops)
			}
			for id, n := range ids {
				if n > 1 {
					t.Errorf("id %q exists %d times", id, n)
				}
			}
		})
	}
}

func TestTheHeaderAnswersAtOnce(t *testing.T) {
	_, text := elements(t, write(t, small()))
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"skellam-mnist A network 784-80-10 on MNIST, by FedSGD with Skellam noise. Finished 250 of 250 planned rounds in 48.2 s.",
		"Accuracy on the public test set 93.41%",
		"Against those who see only the models epsilon 2.99 at delta 1e-5, for one client",
		"Against the other clients epsilon 4.2 at delta 1e-5, for one client",
		"Against the server No guarantee for one client, because it sees each update before noise is added.",
		"The paper claims: epsilon 3 at delta 1e-5",
		"It assumes that: clients are sampled independently in each round the sizes of cohorts are not published",
		"63.6 kB (63,610 bytes)",
		"No epsilon is drawn against the server: there is no guarantee to draw.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(strings.ToLower(text), "cohort of") {
		t.Error("sizes of cohorts stay unpublished")
	}
}

func TestARunWithoutAStatementHasNoGuarantee(t *testing.T) {
	_, text := elements(t, write(t, stopped()))
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"Stopped early, after 12 of 250 planned rounds and 3 min 12 s.",
		"Interrupted by the user; the model of round 12 was kept.",
		"Against anyone No guarantee because this run made no privacy statement.",
		"Accuracy on the public test set not measured",
		"Examples per label",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestEveryEpsilonHasItsDelta(t *testing.T) {
	_, text := elements(t, write(t, small()))
	text = strings.Join(strings.Fields(text), " ")
	numbers := regexp.MustCompile(`epsilon [0-9][0-9.e-]*`).FindAllStringIndex(text, -1)
	if len(numbers) < 5 {
		t.Fatalf("only %d epsilons found", len(numbers))
	}
	for _, at := range numbers {
		if rest := text[at[1]:]; !strings.HasPrefix(rest, " at delta ") {
			t.Errorf("%q is followed by %q", text[at[0]:at[1]], rest[:min(len(rest), 20)])
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	const hostile = `</title></style></pre><script>alert("1")</script><img src=x onerror=alert(2)>{{.CSS}}&lt;'`
	r := small()
	r.Name, r.Summary, r.Version, r.Command, r.Note, r.Config = hostile, hostile, hostile, hostile, hostile, hostile
	r.ModelHash, r.ConfigHash = hostile, hostile
	for i := range r.Statement {
		row := &r.Statement[i]
		row.Unit, row.Accountant, row.Guarantee, row.Why, row.ClaimedByPaper = hostile, hostile, hostile, hostile, hostile
		row.Assumptions = []string{hostile}
	}
	r.Statement[0].Adversary = hostile
	for i := range r.Metrics {
		r.Metrics[i].Epsilon[hostile] = r.Metrics[i].Epsilon["public"]
		delete(r.Metrics[i].Epsilon, "public")
	}
	r.LabelHistogram = []LabelCount{{hostile, 1}}
	all, text := elements(t, write(t, r))
	for _, e := range all {
		if e.Name.Local == "script" || e.Name.Local == "img" {
			t.Errorf("text became <%s>", e.Name.Local)
		}
	}
	if n := strings.Count(text, hostile); n < 15 {
		t.Errorf("the text is found %d times as text, want at least 15", n)
	}
	plain, _ := elements(t, write(t, small()))
	if !slices.EqualFunc(plain[:12], all[:12], func(a, b element) bool { return a.Name == b.Name }) {
		t.Error("the text changed the structure of the page")
	}
}

func TestManyRoundsAreThinnedAndThePageSaysSo(t *testing.T) {
	r := small()
	r.Metrics = nil
	for i := range 1001 {
		r.Metrics = append(r.Metrics, Point{Round: i + 1, Accuracy: new(0.5)})
	}
	_, text := elements(t, write(t, r))
	if want := "Every 11th of 1001 rounds with metrics, and the last; metrics.jsonl has all of them."; !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
	v, err := r.view()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(v.Numbers); n > mostNumbers+1 || v.Numbers[n-1][0] != "1001" {
		t.Errorf("%d rows, the last is round %s", n, v.Numbers[n-1][0])
	}
}

func TestALossThatRanAwayIsInTheTableAndNotInThePicture(t *testing.T) {
	r := small()
	r.Metrics[5].Loss, r.Metrics[10].Loss, r.Metrics[15].Loss = new(math.Inf(1)), new(1e300), new(math.NaN())
	r.Loss = math.Inf(1)
	_, text := elements(t, write(t, r))
	if !strings.Contains(text, "infinite") || !strings.Contains(text, "1e+300") {
		t.Error("the table does not show the values")
	}
	series := r.over("loss", func(p Point) *float64 { return p.Loss }, 1)
	if n := len(series[0].Y); n != 3 {
		t.Errorf("%d losses drawn, want 3 of 6", n)
	}
}

func TestTheFirstRowWithAGuaranteeGivesTheMetricsTheirDelta(t *testing.T) {
	r := small()
	r.Statement = []Row{
		{Adversary: "public", Unit: "client", Why: "noise is added per record"},
		{Adversary: "public", Unit: "record", Epsilon: new(2.0), Delta: 1e-6},
		{Adversary: "public", Unit: "client", Epsilon: new(9.0), Delta: 1e-3},
	}
	for i := range r.Metrics {
		r.Metrics[i].Epsilon = map[string]*float64{"public": new(1.0)}
	}
	v, err := r.view()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"round", "accuracy", "loss", "epsilon against those who see only the models at delta 1e-6, for one record"}
	if !slices.Equal(v.Columns, want) {
		t.Errorf("columns %q, want %q", v.Columns, want)
	}
}
