package layout

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// unfolded returns the lines of a comment that are not folded, without empty ones.
func unfolded(comment string) (out []string) {
	depth := 0
	for line := range strings.Lines(strings.ReplaceAll(comment, wording.NBSP, " ")) {
		line = strings.TrimSpace(line)
		depth += strings.Count(line, "<details")
		if depth == 0 && line != "" {
			out = append(out, line)
		}
		depth -= strings.Count(line, "</details>")
	}
	return out
}

// No parts of starts are compared: a longer one is explained by a trace of each build.
func TestWhyAStartIsLonger(t *testing.T) {
	const byHand = "the parts of a start are not compared: record a trace of a start with each build, and apkgate diagnose TRACE shows how long each part took"
	later := sidebyside.Verdict{Verdict: gate.Regression, Scenarios: []sidebyside.Scenario{{Comparisons: []sidebyside.Comparison{{Metric: "startup.ttid_ms", Direction: gate.ToRegression}}}}}
	same := sidebyside.Verdict{Verdict: gate.Regression, Scenarios: []sidebyside.Scenario{{Comparisons: []sidebyside.Comparison{{Metric: "startup.ttid_ms"}, {Metric: "frames.duration_ms", Direction: gate.ToRegression}}}}}
	for want, in := range map[string]ComparisonInput{
		byHand:                    {Verdict: later},
		"no cause yet; " + byHand: {Verdict: later, Why: "no cause yet"},
		"no cause yet":            {Verdict: same, Why: "no cause yet"},
		"":                        {Verdict: same},
	} {
		got := ""
		for _, f := range Comparison(in).Facts {
			if f.Label == "Why" {
				got = f.Text
			}
		}
		if got != want {
			t.Errorf("why is %q, want %q", got, want)
		}
	}
	in := regression()
	in.Verdict.Runs[0].Deviations = append(in.Verdict.Runs[0].Deviations, gate.Comparison{Metric: "startup.ttfd_ms", Direction: gate.ToRegression, Change: 0.2})
	if got := markdownOf(t, in, 0); !strings.Contains(got, "- **Why:** "+byHand+"\n") {
		t.Errorf("nothing of it in\n%s", got)
	}
}

// A comment on a regression answers in five lines whether it blocks, against what, why, and what to
// do, each command in backticks. Then come the devices, and everything else is folded under what is
// inside.
func TestCommentFirstScreen(t *testing.T) {
	in := regression()
	in.Why = "nothing explains it yet: apkgate why pr"
	in.Next = []document.Fact{
		{Label: "Reproduce", Text: "with both builds and a device:", Command: "apkgate compare --base base.apk --head app_release.apk"},
		{Label: "If intended", Text: "comment", Command: "/apkgate accept REASON"},
		{Label: "Report", Text: "all numbers and pictures", Link: "https://example.com/runs/7#artifacts"},
	}
	got := markdownOf(t, in, 0)
	lines := unfolded(got)
	want := []string{
		"### ❌ Regression: open-message after E2 renders 53 % fewer frames on Android 5.0.0, 5.1.0 and 6.0.0 (5 of 5 runs); 95 % interval of the median run −56…−50 %; p ≤ 0.002 after correction for 35 comparisons",
		"- **Blocks:** the build fails (exit status 1)",
		"- **Against:** 40 accepted runs",
		"- **Why:** nothing explains it yet: apkgate why pr",
		"- **Next:** reproduce: with both builds and a device: `apkgate compare --base base.apk --head app_release.apk` · if intended: comment `/apkgate accept REASON` · report: [all numbers and pictures](https://example.com/runs/7#artifacts)",
		"**Checked:** open-message · com.fsck.k9 5.006; 5 runs: 5 worse",
		"> The devices are simulated.",
		"❌ all 5 devices: E2: frames rendered −53 %",
		"<sub>commit abcdef0123 against 0123456789 · k9mail/k-9 · preset default · apkgate 0.1.0</sub>",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("unfolded is\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, summary := range []string{"<summary>What changed: 6 deviations</summary>", "<summary>Where it happens: ", "<summary>Details</summary>", "<summary>5 runs</summary>"} {
		if !strings.Contains(got, summary) {
			t.Errorf("no part is folded under %s", summary)
		}
	}
	if !strings.Contains(got, "| What | Change | Expected | This run | Interval | Runs | Status |") {
		t.Errorf("the change does not come first in the table:\n%s", got)
	}
}

// The base build is named with its commit and the day on which that was made.
func TestAgainstNamesTheDayOfTheBase(t *testing.T) {
	r := runVerdict("U1", gate.Regression, upgraded[0])
	commit := strings.Repeat("0123456789", 4)
	r.Rounds = &gate.RoundsMeasured{Measured: 8, Base: gate.RoundsBase{App: run.App{Version: "1.4.0"}, Source: run.Source{Commit: commit}}}
	in := Input{Verdict: gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{r}}}
	in.Meta.Base = Origin{At: time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC), Commit: commit}
	if got, want := factOf(Verdict(in), "Against"), "base build 1.4.0, commit 0123456789 of 2026-11-20; 40 accepted runs"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	in.Meta.Base.Commit = "another"
	if got := factOf(Verdict(in), "Against"); strings.Contains(got, "2026") {
		t.Errorf("the day of another commit is told: %q", got)
	}
}

// A comparison of two builds has a first screen of at most 25 lines with the same answers, a line
// for each device, and the rest is left to --verbose.
func TestComparisonFirstScreen(t *testing.T) {
	grown := func(by float64) sidebyside.Difference {
		return sidebyside.Difference{Base: 10, Head: 10 * (1 + by), Shift: 10 * by, ShiftLow: new(9 * by), ShiftHigh: new(11 * by), Change: by, ChangeLow: new(0.9 * by), ChangeHigh: new(1.1 * by), P: 0.0004, N: 12}
	}
	s := sidebyside.Scenario{Scenario: "scroll", Verdict: gate.Regression, Unit: sidebyside.Round, Contexts: []sidebyside.Context{
		{Context: phone("Google", "Pixel 7", "14", "34"), Base: 12, Head: 12}, {Context: phone("LG", "Nexus 5", "5.0.0", "21"), Base: 12, Head: 12},
	}}
	for i := range 40 {
		event := strings.Repeat("x", i)
		s.Comparisons = append(s.Comparisons, sidebyside.Comparison{
			Event: event, Metric: ms, Direction: gate.ToRegression, Together: gate.ToRegression, Difference: grown(0.1 + float64(i)/100),
			Contexts: []sidebyside.ContextDifference{{Context: 0, Direction: gate.ToRegression, Difference: grown(0.2 + float64(i)/100)}, {Context: 1, Direction: gate.None, Difference: grown(0)}},
		})
	}
	in := ComparisonInput{Why: "nothing explains it yet", Verdict: sidebyside.Verdict{
		Format: sidebyside.Format, Verdict: gate.Regression, Reason: "time per frame after tap: 10.00 ms to 15.00 ms", Level: 0.99, Scenarios: []sidebyside.Scenario{s},
		Base: sidebyside.Build{App: run.App{Package: "com.example", Version: "1.4.0"}}, Head: sidebyside.Build{App: run.App{Package: "com.example", Version: "1.5.0"}},
	}}
	var text, md bytes.Buffer
	if err := asText(&text, Comparison(in), document.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(text.String(), wording.NBSP, " ")
	if n := strings.Count(got, "\n"); n > 25 {
		t.Errorf("%d lines, want 25 or fewer:\n%s", n, got)
	}
	if err := inOrder(got, "Regression: time per frame after tap", "Checked  base com.example 1.4.0, head com.example 1.5.0; 24 rounds on 2 devices or networks",
		"Blocks   the build fails (exit status 1)", "Against  the base build com.example 1.4.0", "Why      nothing explains it yet",
		" ✗ Google Pixel 7 (Android 14): "+strings.Repeat("x", 39)+": time per frame +59 %", " ✓ LG Nexus 5 (Android 5.0.0)\n", "More: --verbose"); err != nil {
		t.Errorf("%v:\n%s", err, got)
	}
	if err := asMarkdown(&md, Comparison(in), 0); err != nil {
		t.Fatal(err)
	}
	if lines := unfolded(md.String()); len(lines) != 7 || !strings.HasPrefix(lines[4], "**Checked:**") {
		t.Errorf("unfolded is\n%s", strings.Join(lines, "\n"))
	}
}

// On a page the row of a finding leads to the first picture that shows it, and pictures stand in the
// order of the rows.
func TestRowsLeadToTheirPictures(t *testing.T) {
	page := htmlOf(t, regression())
	for _, want := range []string{`<a href="#p-h0">E2: frames rendered</a>`, `<figure id="p-h0">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
