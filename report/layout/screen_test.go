package layout

import (
	"bytes"
	"errors"
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
	if lines := unfolded(md.String()); len(lines) != 8 || !strings.HasPrefix(lines[4], "- **Next:** fix it") || !strings.HasPrefix(lines[5], "**Checked:**") {
		t.Errorf("unfolded is\n%s", strings.Join(lines, "\n"))
	}
}

// steps are what can be done about a verdict on a session.
func steps(label, text, command string) []document.Fact {
	return []document.Fact{{Label: label, Text: text, Command: command}}
}

// outcomes returns an answer of each kind with each outcome, as a user would get it.
func outcomes() map[string]document.Document {
	red := regression()
	red.Notes = append(red.Notes, "The causes given for open-message on nexus-9 over wifi come from 4 rounds of both builds, recorded after the verdict; they judge nothing.")
	red.Why, red.Next = "nothing explains it yet: apkgate why pr-7 --base OLD.apk, with the build before the change, records both", steps("If intended", "make these runs the new level:", "apkgate baseline rebaseline --session run-20261128T020454.488Z")
	unknown := runVerdict("U1", gate.Inconclusive, upgraded[0], gate.Comparison{Metric: "frames.smooth_ratio", Direction: gate.None, Value: 0.998})
	unknown.ReferenceTotal, unknown.Reference = 0, nil
	unknown.Reason, unknown.Hint = `there is no accepted run of com.fsck.k9, scenario "open-message", to compare with`, "accept the runs of this session as the first of their history: apkgate baseline accept --session pr-7"
	first := Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive, Runs: []gate.RunVerdict{unknown}}, Next: steps("If good", "let later builds be compared with this one:", "apkgate baseline accept --session pr-7")}
	stood := runVerdict("U1", gate.Regression, upgraded[0], compared("", "anr.count", 0, 0, 1, gate.ToRegression))
	anr := Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Runs: []gate.RunVerdict{stood}}, Next: steps("If intended", "make these runs the new level:", "apkgate baseline rebaseline --session pr-7")}
	good := pass()
	good.Next = steps("Accept", "let later builds be compared with this one:", "apkgate baseline accept --session pr-7")
	crash := invalid()
	crash.Next = steps("Measure again", "once it is fixed:", "apkgate run --scenario open-message")
	missed := pass()
	missed.Verdict = missed.Verdict.WithLoss("1 of 3 legs of the matrix never came: api-level 29")
	built := func(v sidebyside.Verdict) document.Document {
		v.Base, v.Head = sidebyside.Build{App: run.App{Package: "com.fsck.k9", Version: "5.006"}}, sidebyside.Build{App: run.App{Package: "com.fsck.k9", Version: "5.010"}}
		return Comparison(ComparisonInput{Verdict: v, Notes: red.Notes})
	}
	return map[string]document.Document{
		"regression": Verdict(red), "inconclusive": Verdict(inconclusive()), "first": Verdict(first), "anr": Verdict(anr),
		"pass": Verdict(good), "accepted": Verdict(pass()), "improvement": Verdict(improvement()), "crash": Verdict(crash), "missed": Verdict(missed),
		"compare-regression": built(inRounds()),
		"compare-pass": built(sidebyside.Verdict{Verdict: gate.Pass, Reason: "nothing got worse in 20 comparisons; by the intervals the whole run is worse by at most 1.7 % (time per frame)",
			Scenarios: []sidebyside.Scenario{{Scenario: "open-message", Verdict: gate.Pass, Unit: sidebyside.Round, Contexts: []sidebyside.Context{{Context: upgraded[0], Base: 12, Head: 12}}}}}),
		"compare-crash": built(sidebyside.Verdict{Verdict: gate.Invalid, Reason: "the head on Nexus 9: the app crashed in repetition 1", Hint: "fix what ended it, and measure again"}),
	}
}

// inRounds is a comparison of two builds in twelve rounds on each of two phones: the first one's
// frames take half more after scroll.
func inRounds() sidebyside.Verdict {
	values := func(by float64) (out [][2]float64) {
		for i := range 12 {
			out = append(out, [2]float64{10 + float64(i%3)/10, 10*(1+by) + float64(i%3)/10})
		}
		return out
	}
	grown := func(by float64) sidebyside.Difference {
		return sidebyside.Difference{Base: 10, Head: 10 * (1 + by), Shift: 10 * by, ShiftLow: new(9 * by), ShiftHigh: new(11 * by), Change: by, ChangeLow: new(0.9 * by), ChangeHigh: new(1.1 * by), P: 0.0004, N: 12, Values: values(by)}
	}
	together := grown(0.25)
	together.Values = nil
	return sidebyside.Verdict{Format: sidebyside.Format, Verdict: gate.Regression, Level: 0.99,
		Reason: "time per frame after scroll on Nexus 9: 15.00 ms where the base has 10.00 ms (+50 %); 99 % interval +45 % to +55 %, p < 0.001",
		Scenarios: []sidebyside.Scenario{{Scenario: "open-message", Verdict: gate.Regression, Unit: sidebyside.Round,
			Contexts: []sidebyside.Context{{Context: upgraded[0], Base: 12, Head: 12}, {Context: upgraded[1], Base: 12, Head: 12}},
			Comparisons: []sidebyside.Comparison{
				{Metric: ms, Direction: gate.None, Together: gate.None, Difference: together, Contexts: []sidebyside.ContextDifference{{Context: 0, Direction: gate.None, Difference: grown(0.05)}, {Context: 1, Direction: gate.None, Difference: grown(0)}}},
				{Event: "scroll", Metric: ms, Direction: gate.ToRegression, Together: gate.Suspect, Difference: together, Contexts: []sidebyside.ContextDifference{{Context: 0, Direction: gate.ToRegression, Difference: grown(0.5)}, {Context: 1, Direction: gate.None, Difference: grown(0)}}},
			}}},
	}
}

// Whatever the outcome, 25 lines of a terminal and the unfolded lines of a comment say what it came
// to, whether it blocks, where, how sure that is, and what to do now.
func TestEveryOutcomeHasAFirstScreen(t *testing.T) {
	wants := map[string][]string{
		"regression":         {"53 % fewer frames", "95 % interval", "the build fails", "all 5 devices", "nothing explains it yet", "baseline rebaseline"},
		"inconclusive":       {"may", "fails no build", "3 accepted runs", "Nexus 9"},
		"first":              {"no accepted run", "fails no build", "Nexus 9", "baseline accept --session pr-7"},
		"anr":                {"there is 1 ANR per repetition", "the build fails", "Nexus 9", "baseline rebaseline"},
		"pass":               {"nothing got worse in 4 comparisons", "40 accepted runs", "all 2 devices", "baseline accept"},
		"accepted":           {"nothing got worse", "40 accepted runs", "all 2 devices"},
		"improvement":        {"20 % more frames", "95 % interval", "Nexus 9"},
		"crash":              {"4 of 10 repetitions have no frames", "exit status 3", "Nexus 9", "apkgate run --scenario open-message"},
		"missed":             {"1 of 3 legs", "exit status 3", "api-level 29", "measure what is missing again"},
		"compare-regression": {"+50 %", "99 % interval +45 % to +55 %", "the build fails", "Nexus 9", "fix it and compare again"},
		"compare-pass":       {"at most 1.7 %", "the base build com.fsck.k9 5.006"},
		"compare-crash":      {"the app crashed", "exit status 3", "fix what ended it"},
	}
	all := outcomes()
	if len(all) != len(wants) {
		t.Errorf("%d outcomes, and answers to %d", len(all), len(wants))
	}
	for name, d := range all {
		var text, md bytes.Buffer
		if err := errors.Join(asText(&text, d, document.Options{Width: 100}), asMarkdown(&md, d, 0)); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(text.String(), "\n"); n > 25 {
			t.Errorf("%s: %d lines, want 25 or fewer:\n%s", name, n, text.String())
		}
		beforeChart, _, _ := strings.Cut(md.String(), "```mermaid")
		comment := unfolded(beforeChart)
		if len(comment) > 12 {
			t.Errorf("%s: %d lines of a comment are unfolded:\n%s", name, len(comment), strings.Join(comment, "\n"))
		}
		for place, got := range map[string]string{"terminal": text.String(), "comment": strings.Join(comment, "\n")} {
			got = strings.Join(strings.Fields(strings.ReplaceAll(got, wording.NBSP, " ")), " ")
			for _, want := range wants[name] {
				if !strings.Contains(got, want) {
					t.Errorf("%s, %s: no %q in\n%s", name, place, want, got)
				}
			}
		}
	}
}

// The rows of a comparison of two builds lead to the pictures of their rounds: of a phone to its own,
// of all together to the worst. A comment has what is worst as a chart.
func TestComparisonRowsLeadToTheirPictures(t *testing.T) {
	d := Comparison(ComparisonInput{Verdict: inRounds()})
	page := pageOf(t, d)
	for _, want := range []string{
		`<a href="#p-t1">scroll: time per frame on Google Nexus 9, Android 5.0.0, wifi</a>`, `<a href="#p-t3">whole run: time per frame</a>`,
		`<figure id="p-t1">`, "scroll: time per frame on Google Nexus 9 (Android 5.0.0)", "12 rounds, of which the head build is worse in 12. Estimate +50 %, interval +45…+55 %.",
	} {
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(page, wording.NBSP, " "), "&#43;", "+"), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if c := d.Chart; c == nil || len(c.Base) != 12 || c.Base[1] != 10.1 || c.Head[1] != 15.1 || !strings.HasPrefix(c.Title, "scroll: time per frame on Google Nexus 9") {
		t.Errorf("the chart is %+v", d.Chart)
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
