package report_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/githubactions"
)

// A new kind of cause needs its own package and nothing in report: this file has everything about
// the moon.
const moon = "test.moon"

var _ = diagnose.Register(diagnose.Kind{
	Family: diagnose.Family{Name: "test", Title: "What the moon does", Label: "Moon", Line: "Moon cause", Has: "moonlight"},
	Name:   moon, Rank: 5, Alert: true,
})

// bad is a name that breaks out of several languages, in parts that must not be active in any
// format.
const bad = "</li><script>alert(1)</script> [x](javascript:x) @octocat #1 `c` | {0} \x1b[31m\u202e\n::error::y"

// moonCause returns a cause that blames the moon for a finding of a run.
func moonCause(kind, runID, event, metric string, share float64) diagnose.Cause {
	value, low, high := 1.5, 1.0, 2.0
	name := "com.example.Moon.rise" + bad
	return diagnose.Cause{
		Run: runID, Scenario: "open-message", Device: map[string]string{"model": bad}, Event: event, Metric: metric, Kind: kind, Direction: gate.ToRegression,
		Subject:  diagnose.Subject{Name: name, File: bad},
		Explains: diagnose.Extent{Value: &value, Unit: "J", Low: &low, High: &high, Share: &share, Level: 0.95, Sure: diagnose.Clear},
		Title:    diagnose.Say("moonlight of ", diagnose.Coded(name)),
		Sentence: diagnose.Say("the moon of ", diagnose.Named(bad), " pulls ", diagnose.Amount{Value: share, Unit: "ratio"}, bad),
		Basis:    diagnose.Say("as of ", diagnose.Named(bad)),
		Tables: []diagnose.Table{{
			Title: "Phases" + bad, Note: diagnose.Say("of ", diagnose.Named(bad)), Main: true,
			Columns: []diagnose.Column{{Title: "Phase" + bad}, {Title: "Light"}, {Title: "Status"}},
			Rows:    []diagnose.Row{{Cells: []diagnose.Phrase{diagnose.Say(diagnose.Coded(name)), diagnose.Say(diagnose.Amount{Value: 3, Unit: bad}), diagnose.Say(bad)}, Direction: gate.ToRegression}},
		}},
		Picture: &diagnose.Picture{Kind: diagnose.FlamePicture, Title: "Orbits" + bad, Label: "Orbits" + bad, Flame: &diagnose.Flame{
			Unit: "J", Of: "light" + bad, Beside: true, Calls: []diagnose.Call{{Parent: -1, Name: name, Kind: bad, Base: 1, Head: 3}, {Parent: 0, Name: bad, Head: 2}},
		}},
		Evidence: []diagnose.Link{{Digest: strings.Repeat("0123456789abcdef", 4), FromMS: 1200, ToMS: 1300}},
		Doubts:   []diagnose.Phrase{diagnose.Say("It may be cloudy", bad, ".")},
	}
}

// sampled returns a run with one method whose energy is known, with its interval.
func sampled(id string, totalJ, methodsJ, decodeJ float64) run.Run {
	return run.Run{
		ID: id, Scenario: "open-message", Status: run.Complete, App: run.App{Package: "com.example.mail", Build: "release"},
		Context:    map[string]string{"manufacturer": "Google", "model": "One", "energy_from": "rails"},
		Iterations: []run.Iteration{{Metrics: map[string]float64{"energy.total_j": totalJ}}},
		Energy: &run.Energy{Source: "rails", Methods: &run.Methods{
			Event: "task-clock", Samples: 900, EnergyJ: methodsJ, Level: 0.95,
			List: []run.Method{{Name: "com.example.mail.View.decode", Kind: "aot", Local: run.Cost{Samples: 300, EnergyJ: decodeJ, LowJ: 0.95 * decodeJ, HighJ: 1.05 * decodeJ}}},
		}},
	}
}

// underTheMoon returns a regression of energy, of which decode explains 70 %, and of frames after
// E2; the given causes explain them too.
func underTheMoon(causes ...diagnose.Cause) layout.Input {
	change, ok := hotspots.Explain(sampled("H", 15.4, 9, 2.7), []run.Run{sampled("B", 12.4, 6, 0.6)})
	if !ok {
		panic("the fixture has no energy")
	}
	worse := []gate.Comparison{
		{Metric: "energy.total_j", Direction: gate.ToRegression, Value: 15.4, Expected: 12.4, Change: 0.242, N: 20, P: 0.001},
		{Event: "E2", Metric: "frames.count", Direction: gate.ToRegression, Value: 50, Expected: 100, Change: -0.5, N: 20, P: 0.001},
	}
	return layout.Input{Energy: []hotspots.Change{change}, Causes: causes, Verdict: gate.Verdict{
		Format: gate.Format, Verdict: gate.Regression, Preset: "default", Level: 0.95,
		Runs: []gate.RunVerdict{{ID: "H", Verdict: gate.Regression, Scenario: "open-message", App: run.App{Package: "com.example.mail"}, Deviations: worse, Comparisons: worse}},
	}}
}

// in renders a document in every format, and as the annotations of a check.
func in(t *testing.T, input layout.Input) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range report.Formats {
		var b bytes.Buffer
		if err := f.Render(&b, layout.Verdict(input), document.Options{Width: 1000, Verbose: true}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		out[f.Name] = strings.ReplaceAll(b.String(), "\u00a0", " ")
	}
	var b bytes.Buffer
	notes := githubactions.ContentOf(input, nil).Notes
	githubactions.NewRunner(&b, func(string) string { return "" }).Annotate(notes)
	out["annotations"] = strings.ReplaceAll(b.String(), "\u00a0", " ")
	if n := strings.Count(b.String(), "\n"); n != len(notes) {
		t.Errorf("%d annotations are written as %d lines:\n%s", len(notes), n, b.String())
	}
	return out
}

// How the moon appears in each format, and the energy next to it.
var places = map[string]struct{ moon, energy string }{
	"text":        {"What the moon does", "Where the energy goes"},
	"markdown":    {"<summary>What the moon does", "<summary>Where the energy goes"},
	"html":        {">Moon</h2>", ">Energy</h2>"},
	"json":        {`"kind": "test.moon"`, `"kind": "energy.method"`},
	"sarif":       {"open-message: moonlight of", "open-message: energy of"},
	"codequality": {"open-message: moonlight of", "open-message: energy of"},
	"annotations": {"Cause: the moon of", "Cause: com.example.mail.View.decode"},
}

func TestNewKindOfCauseIsInEveryFormat(t *testing.T) {
	for share, first := range map[float64]bool{0.9: true, 0.1: false} {
		for format, out := range in(t, underTheMoon(moonCause(moon, "H", "", "energy.total_j", share))) {
			of := places[format]
			if format == "svg" { // the one picture has no causes
				checkEscaped(t, format, out)
				continue
			}
			moonAt, energyAt := strings.Index(out, of.moon), strings.Index(out, of.energy)
			if moonAt < 0 || energyAt < 0 {
				t.Errorf("%s: %q stands at %d and %q at %d, want both in\n%s", format, of.moon, moonAt, of.energy, energyAt, out)
			} else if (moonAt < energyAt) != first {
				t.Errorf("%s: the moon's %g of the change beside decode's 0.7 stands before it: %v, want %v", format, share, moonAt < energyAt, first)
			}
			checkEscaped(t, format, out)
		}
	}
}

// A cause is shown with the finding that it explains.
func TestCauseIsShownWithItsFinding(t *testing.T) {
	input := underTheMoon(moonCause(moon, "H", "E2", "frames.count", 0.5))
	out := in(t, input)
	for format, want := range map[string]string{
		"text":     "E2: frames rendered: the moon of",
		"markdown": "E2: frames rendered: the moon of",
		"html":     "<li>E2: frames rendered: the moon of",
	} {
		if !strings.Contains(strings.ReplaceAll(out[format], "&#8203;", ""), want) {
			t.Errorf("%s does not say %q:\n%s", format, want, out[format])
		}
	}
	for _, note := range githubactions.ContentOf(input, nil).Notes {
		moonlit := strings.Contains(note.Text, "the moon of")
		if of := strings.Contains(note.Title, "frames rendered"); of != moonlit {
			t.Errorf("the annotation %q is told the moon's pull: %v, want %v", note.Title, moonlit, of)
		}
	}
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID  string `json:"ruleId"`
				Message struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out["sarif"]), &log); err != nil {
		t.Fatal(err)
	}
	for _, r := range log.Runs[0].Results {
		if strings.Contains(r.Message.Text, "the moon of") && r.RuleID != "frames.count" {
			t.Errorf("the moon's result is of the rule %s, want frames.count", r.RuleID)
		}
	}
}

// Causes of a comparison of two builds are shown and saved, as for a run.
func TestComparisonHasCauses(t *testing.T) {
	worse := []sidebyside.Comparison{{Event: "E2", Metric: "frames.count", Direction: gate.ToRegression, Together: gate.ToRegression}}
	d := layout.Comparison(layout.ComparisonInput{
		Causes: []diagnose.Cause{moonCause(moon, "H", "E2", "frames.count", 0.5)},
		Verdict: sidebyside.Verdict{Format: sidebyside.Format, Verdict: gate.Regression, Reason: "fewer frames", Level: 0.95,
			Scenarios: []sidebyside.Scenario{{Scenario: "open-message", Verdict: gate.Regression, Unit: sidebyside.Round, Contexts: []sidebyside.Context{{Base: 9, Head: 9}}, Comparisons: worse}}},
	})
	for _, f := range report.Formats {
		var b bytes.Buffer
		if err := f.Render(&b, d, document.Options{Width: 1000, Verbose: true}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if out := b.String(); !strings.Contains(out, places[f.Name].moon) {
			t.Errorf("%s does not say %q:\n%s", f.Name, places[f.Name].moon, out)
		}
		checkEscaped(t, f.Name, b.String())
	}
	if len(d.Problems[0].Causes) != 1 || !strings.Contains(d.Problems[0].Causes[0], "the moon of") {
		t.Errorf("the finding's causes are %q, want the moon's pull", d.Problems[0].Causes)
	}
	var b bytes.Buffer
	if err := saved.Render(&b, d, document.Options{}); err != nil {
		t.Fatal(err)
	}
	back, err := saved.Read(&b)
	if err != nil || back.Comparison == nil || len(back.Comparison.Causes) != 1 {
		t.Errorf("what was read is %+v, %v, want one cause", back.Comparison, err)
	}
}

func TestCauseRoundTrip(t *testing.T) {
	want := moonCause(moon, "H", "E2", "frames.count", 0.5)
	var b bytes.Buffer
	if err := saved.Render(&b, layout.Verdict(underTheMoon(want)), document.Options{}); err != nil {
		t.Fatal(err)
	}
	got, err := saved.ReadVerdict(&b)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(got.Causes, func(c diagnose.Cause) bool { return c.Kind == moon })
	if i < 0 {
		t.Fatal("the moon is not among the causes that were read")
	}
	if diff := cmp.Diff(want, got.Causes[i], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what was read is not what was written:\n%s", diff)
	}
}

// Every existing kind is shown by every format, with its names escaped.
func TestEveryKindOfCauseInEveryFormat(t *testing.T) {
	for _, kind := range []string{"unheard.of", moon, hotspots.MethodKind, hotspots.CallsKind, hotspots.WakelockKind, hotspots.ComponentKind, hotspots.TrafficKind, calls.NewKind, calls.KnownKind} {
		input := underTheMoon(moonCause(kind, "H", "E2", "frames.count", 0.5))
		input.Energy = nil
		for format, out := range in(t, input) {
			// SARIF and code quality have the causes whose subject is code, all others are in the annotation;
			// the one picture has none.
			if alert := diagnose.KindOf(kind).Alert; format != "svg" && (alert || format != "sarif" && format != "codequality") && !strings.Contains(out, "com.example.Moon") && !strings.Contains(out, "the moon of") {
				t.Errorf("%s of %s does not tell of it:\n%s", format, kind, out)
			}
			checkEscaped(t, format, out)
		}
	}
}

// Waits are shown where no figure can be, too: a frame by its steps, an ANR by its threads.
func TestWaitsAsText(t *testing.T) {
	frame := moonCause(moon, "H", "E2", "frames.count", 0.5)
	frame.Picture = &diagnose.Picture{Kind: diagnose.ThreadsPicture, Title: "Worst frame" + bad, Label: bad, Threads: &diagnose.Threads{Frames: []diagnose.DrawnFrame{
		{Role: diagnose.Late, TookMS: 50, DeadlineMS: 16, Steps: []diagnose.Step{{Thread: "main", Process: bad, Stage: bad, Kind: "binder", What: "Feed::get" + bad, ToMS: 50}}},
	}}}
	anr := frame
	anr.Picture = &diagnose.Picture{Kind: diagnose.WaitsPicture, Title: "Chain" + bad, Label: bad, Waits: &diagnose.Waits{Threads: []diagnose.Waiting{
		{Name: "main" + bad, Process: bad, WaitsFor: "lock Store" + bad, At: bad, Next: 1}, {Name: bad, Next: 0, Critical: true},
	}}}
	for _, c := range []struct {
		cause diagnose.Cause
		want  string
	}{{frame, "waits for binder: Feed::get"}, {anr, "waits for lock Store"}} {
		for format, out := range in(t, underTheMoon(c.cause)) {
			if drawn := format == "text" || format == "markdown" || format == "html"; drawn && !strings.Contains(out, c.want) {
				t.Errorf("%s does not tell %q:\n%s", format, c.want, out)
			}
			checkEscaped(t, format, out)
		}
		for _, width := range []int{40, 80} {
			var b bytes.Buffer
			if err := report.Formats[0].Render(&b, layout.Verdict(underTheMoon(c.cause)), document.Options{Width: width, Verbose: true}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.ReplaceAll(b.String(), "\u00a0", " "), "waits for ") {
				t.Errorf("in %d columns the text does not tell of the wait:\n%s", width, b.String())
			}
		}
	}
}

// checkEscaped looks for the effects of bad names that are not escaped.
func checkEscaped(t *testing.T, format, out string) {
	t.Helper()
	broken := []string{"\x1b", "\n::error::"}
	if format != "json" { // which has names as they are, for programs
		broken = append(broken, "\u202e")
	}
	switch format {
	case "markdown":
		var page bytes.Buffer
		gfm := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldhtml.WithUnsafe()))
		if err := gfm.Convert([]byte(out), &page); err != nil {
			t.Fatal(err)
		}
		out = page.String()
		broken = append(broken, "<script", `href="javascript`, "@octocat", "<code>c</code>")
	case "html":
		broken = append(broken, "<script", "</li></li>")
	case "json", "sarif", "codequality":
		if !json.Valid([]byte(out)) {
			t.Errorf("%s is not valid JSON", format)
		}
		if format == "sarif" {
			broken = append(broken, "[x](", " {0}")
		}
	}
	for _, s := range broken {
		if strings.Contains(out, s) {
			i := strings.Index(out, s)
			t.Errorf("%s lets %q through: %q", format, s, out[max(0, i-80):min(len(out), i+80)])
		}
	}
}
