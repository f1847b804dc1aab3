package layout

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

func textOf(t *testing.T, in Input, o document.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := asText(&b, Verdict(in), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The expected lines are written by hand from the arithmetic of the fixtures: the middle run has
// 270 of 450 frames, −40 %, and an interval of ± 3 %.
func TestTextRegression(t *testing.T) {
	got := textOf(t, regression(), document.Options{Width: 100, Verbose: true})
	first, _, _ := strings.Cut(got, "\n\n")
	want := "Regression: open-message after E2 renders 53 % fewer frames on Android 5.0.0, 5.1.0 and 6.0.0 (5 of\n" +
		"5 runs); 95 % interval of the median run −56…−50 %; p ≤ 0.002 after correction for 35 comparisons"
	if first != want {
		t.Errorf("the first lines are\n%s\nwant\n%s", first, want)
	}
	for _, want := range []string{
		"The devices are simulated.",
		"E2 (frames rendered −53 %, 5 of 5 runs; after-effect on E3)",
		" whole run: frames rendered       450        270   −40 %    −43…−37 %  5 of 5  worse",
		" └ E3: frames rendered            110         82   −25 %    −28…−22 %  5 of 5  after-effect of E2",
		" start: frames rendered            60         90   +50 %    +47…+53 %  2 of 5  better",
		"All 2 runs with sdk = 5.0.0 are worse (support 4.4 %, confidence 100 %, lift 9).",
		"The one run with model = Nexus 5X is worse (support 2.2 %, confidence 100 %, lift 9).",
		"commit abcdef0123 against 0123456789",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "E2: frames rendered"); n != 2 {
		t.Errorf("the same deviation of five runs is told %d times, want once among the checks and once in the table", n)
	}
}

func TestTextOtherOutcomes(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Input
		want []string
	}{
		{"pass", pass(), []string{
			"Pass: nothing got worse in 4 comparisons of 2 runs with 40 accepted runs\n",
			"2 runs: 2 as expected"}},
		{"improvement", improvement(), []string{
			"Improvement: open-message renders 20 % more frames on Google Nexus 9 with Android 5.0.0; 95 % interval +17…+23 %; p = 0.002 Checked",
			"better"}},
		{"inconclusive", inconclusive(), []string{
			"Inconclusive: open-message may render 12 % fewer frames",
			"not enough to be sure",
			"about 8 accepted runs in a similar context; there are 3.",
			"suspect"}},
		{"invalid", invalid(), []string{
			"Invalid: The run is partial: 4 of 10 repetitions have no frames.",
			"Check the cable of the device and run again.",
			"line 12: the frame table ends in the middle of a row"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(strings.Fields(textOf(t, tc.in, document.Options{Width: 200})), " ") + "\n"
			for _, want := range tc.want {
				if !strings.Contains(got, strings.TrimSpace(want)) {
					t.Errorf("the report lacks %q:\n%s", want, got)
				}
			}
		})
	}
}

// The first screen answers within its lines what a reader asks: is it mine, how bad, against what,
// where, what now. The rest is counted.
func TestTextFirstScreen(t *testing.T) {
	in := regression()
	in.Next = []document.Fact{{Label: "If intended", Text: "make these runs the new level:", Command: "apkgate baseline rebaseline --session 'a b'"}}
	for i := range 12 {
		in.Verdict.Warnings = append(in.Verdict.Warnings, run.Warning{Text: fmt.Sprintf("warning number %d", i)})
	}
	got := textOf(t, in, document.Options{Width: 100})
	if n := strings.Count(got, "\n"); n > 22 {
		t.Errorf("the first screen has %d lines, want 22 or fewer", n)
	}
	for _, want := range []string{
		"Regression: open-message after E2 renders 53 % fewer frames",
		"Blocks       the build fails (exit status 1)",
		"Against      40 accepted runs",
		"If intended  make these runs the new level:\n             apkgate baseline rebaseline --session 'a b'",
		" ✗ all 5 devices: E2: frames rendered −53 %\n",
		" E2: frames rendered ",
		"Warning: warning number 0\n",
		" more warnings\n\nMore: --verbose, or the HTML report\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the first screen lacks %q:\n%s", want, got)
		}
	}
	for _, detail := range []string{"Rules", "lift", "Measured", "commit abcdef"} {
		if strings.Contains(got, detail) {
			t.Errorf("the first screen has %q:\n%s", detail, got)
		}
	}
}

// Devices that came to the same share a line, and the gravest come first.
func TestChecksOfDevices(t *testing.T) {
	slower := func(id string, by float64) gate.RunVerdict {
		return runVerdict(id, gate.Regression, upgraded[0], compared("E1", ms, 10, 1, 10*by, gate.ToRegression))
	}
	a, b := slower("A", 1.5), slower("B", 1.3)
	b.Context = upgraded[1]
	c := runVerdict("C", gate.Pass, upgraded[2])
	d := runVerdict("D", gate.Invalid, upgraded[3])
	d.Reason = "the app crashed"
	got := checks(Input{Verdict: gate.Verdict{Runs: []gate.RunVerdict{c, a, d, b}}})
	want := []document.Check{
		{Outcome: document.Regression, Title: "2 of 4 devices (" + device(a) + " and " + device(b) + ")", Text: "E1: time per frame +30" + wording.NBSP + "%"},
		{Outcome: document.Invalid, Title: device(d), Text: "the app crashed"},
		{Outcome: document.Pass, Title: device(c)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the checks are\n%q, want\n%q", got, want)
	}
}

// A warning of a run that passes is shown too, once for all runs that have it.
func TestTextShowsWarningsOfRuns(t *testing.T) {
	in := pass()
	for i := range in.Verdict.Runs {
		in.Verdict.Runs[i].Warnings = []run.Warning{{Text: "the preset dune flags nothing here"}}
	}
	got := textOf(t, in, document.Options{Width: 100})
	if want := "Warning: 2 runs: the preset dune flags nothing here"; !strings.Contains(got, want) {
		t.Errorf("the report lacks %q:\n%s", want, got)
	}
	if n := strings.Count(textOf(t, in, document.Options{Width: 100, Verbose: true}), "flags nothing here"); n != 2 {
		t.Errorf("the verbose report tells it %d times, want once for each of 2 runs", n)
	}
}

func TestTextRespectsItsWidth(t *testing.T) {
	for _, width := range []int{40, 60, 72, 80, 100, 132} {
		for _, in := range []Input{regression(), pass(), inconclusive()} {
			text := textOf(t, in, document.Options{Width: width}) + textOf(t, in, document.Options{Width: width, Verbose: true})
			for line := range strings.Lines(text) {
				if n := twwidth.Width(strings.TrimRight(line, " \n")); n > width {
					t.Errorf("width %d: a line of %d columns: %q", width, n, line)
				}
			}
		}
	}
}

func TestTextNeutralisesHostileNames(t *testing.T) {
	got := textOf(t, hostile(), document.Options{Width: 100, Verbose: true})
	for _, r := range got {
		if s := string(r); r != '\n' && r != ' ' && wording.Visible(s) != s && r != '\uFFFD' {
			t.Errorf("the report holds the character %U", r)
		}
	}
	for line := range strings.Lines(got) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a runner would take this line for a command: %q", line)
		}
	}
	if strings.Contains(textOf(t, regression(), document.Options{}), "\x1b[") {
		t.Error("colour without being asked")
	}
	if !strings.Contains(textOf(t, regression(), document.Options{Color: true}), "\x1b[1;31mRegression\x1b[0m") {
		t.Error("no colour though asked")
	}
}

// A verdict of the preset dune has no intervals and no p, but fences.
func TestTextWithoutTests(t *testing.T) {
	in := regression()
	c := gate.Comparison{Metric: "frames.count", Direction: gate.ToRegression, Value: 270, Expected: 449,
		Q1: 390, Q3: 454, Lower: 294, Upper: 550, N: 6, P: 1, Change: 270.0/449 - 1}
	r := runVerdict("T6", gate.Regression, nil, c)
	in.Verdict.Runs = []gate.RunVerdict{r}
	in.Verdict.Rules = nil
	got := strings.Join(strings.Fields(textOf(t, in, document.Options{})), " ")
	want := "Regression: open-message renders 40 % fewer frames; 270 is outside the fences 294 to 550 of 6 values"
	if !strings.HasPrefix(got, want) {
		t.Errorf("the report begins\n%s\nwant\n%s", got, want)
	}
}

// A broken limit is a regression whatever the history, and is reported as one.
func TestTextBeyondALimit(t *testing.T) {
	c := compared("", "frames.duration_ms", 16, 2, 17, gate.ToRegression)
	limit := 16.7
	c.P, c.Limit = 0.6, &limit
	in := Input{Verdict: gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{runVerdict("R", gate.Regression, nil, c)}}}
	first, _, _ := strings.Cut(textOf(t, in, document.Options{}), "\n")
	if want := "Regression: in open-message, the time per frame is 17.00 ms, beyond the limit of 16.70 ms"; first != want {
		t.Errorf("the first line is\n%s\nwant\n%s", first, want)
	}
}

// One phone breaks a limit and two are worse within it: the limit is reported for the one.
func TestBrokenLimitIsReportedForItsRun(t *testing.T) {
	broken := compared("", "frames.duration_ms", 10, 2, 17, gate.ToRegression)
	broken.Limit = new(16.7)
	runs := []gate.RunVerdict{runVerdict("R", gate.Regression, nil, broken)}
	for _, id := range []string{"S", "T"} {
		runs = append(runs, runVerdict(id, gate.Regression, nil, compared("", "frames.duration_ms", 6, 1, 8, gate.ToRegression)))
	}
	in := Input{Verdict: gate.Verdict{Verdict: gate.Regression, Runs: runs}}
	text := strings.Join(strings.Fields(textOf(t, in, document.Options{})), " ")
	for _, want := range []string{
		"the time per frame is 17.00 ms, beyond the limit of 16.70 ms (1 of 3 runs)",
		"8.00 ms +33 % +30…+36 % 2 of 3 worse", "17.00 ms +70 % +67…+73 % 1 of 3 worse",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestTextOfMetricsInThePlural(t *testing.T) {
	for metric, want := range map[string]string{
		"frames.frozen":    "in open-message, there are 8 frozen frames per repetition where none are expected",
		"wakelock.time_ms": "in open-message, the wakelocks held are 8 ms where 0 ms are expected",
		"cpu.time_ms":      "in open-message, the CPU time is 8 ms where 0 ms is expected",
	} {
		c := compared("", metric, 0, 0, 8, gate.ToRegression)
		in := Input{Verdict: gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{runVerdict("R", gate.Regression, nil, c)}}}
		if got := strings.Join(strings.Fields(textOf(t, in, document.Options{})), " "); !strings.HasPrefix(got, "Regression: "+want) {
			t.Errorf("%s: the report begins\n%.120s\nwant\n%s", metric, got, want)
		}
	}
	one := Input{Verdict: gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{runVerdict("R", gate.Regression, nil, compared("", "anr.input", 0, 0, 1, gate.ToRegression))}}}
	const want = "Regression: in open-message, there is 1 ANR by input per repetition where none are expected"
	if got := strings.Join(strings.Fields(textOf(t, one, document.Options{})), " "); !strings.HasPrefix(got, want) {
		t.Errorf("of one the report begins\n%.120s\nwant\n%s", got, want)
	}
}

// A pass reports what it is worth only if that holds for every run.
func TestTextOfPassSensitivity(t *testing.T) {
	in := pass()
	set := func(run, comparison int, share float64) {
		in.Verdict.Runs[run].Comparisons[comparison].Detectable = share
	}
	set(0, 0, 0.05)
	set(1, 0, 0.08)
	set(0, 1, 0.03)
	got := textOf(t, in, document.Options{})
	if !strings.Contains(got, "Would have seen  in 9 of 10 builds: frames rendered worse by 8 %\n") {
		t.Errorf("the report does not say that a worsening of 8 %% would have been seen, and of that metric alone:\n%s", got)
	}
}

// A pass that did not cover a number reports that first.
func TestTextOfUnjudgedMetrics(t *testing.T) {
	in := pass()
	if got := textOf(t, in, document.Options{}); strings.Contains(got, "Not judged") {
		t.Errorf("all is judged:\n%s", got)
	}
	alone := &in.Verdict.Runs[1].Comparisons[0]
	alone.N, alone.Expected, alone.Detectable = 0, 0, 0
	if got := textOf(t, in, document.Options{}); !strings.Contains(got, "Not judged  frames rendered in 1 of 2 runs\n") {
		t.Errorf("the report does not name what it says nothing of:\n%s", got)
	}
}

// What runs show together is reported for them together, not for each.
func TestTextOfRunsTogether(t *testing.T) {
	in := Input{Verdict: gate.Verdict{Verdict: gate.Regression}}
	for _, id := range []string{"A", "B"} {
		c := compared("", "frames.duration_ms", 16, 2, 19, gate.ToRegression)
		c.P, c.Together = 0.003, 2
		in.Verdict.Runs = append(in.Verdict.Runs, runVerdict(id, gate.Regression, nil, c))
	}
	got := strings.Join(strings.Fields(textOf(t, in, document.Options{})), " ")
	if want := "p = 0.003 for 2 runs together after correction for multiplicity Checked"; !strings.Contains(got, want) {
		t.Errorf("the report lacks %q:\n%s", want, got)
	}
}

// The reason of a run's verdict is not repeated as its warning.
func TestTextShowsReasonOnce(t *testing.T) {
	in := pass()
	r := &in.Verdict.Runs[0]
	r.Verdict, r.Reason = gate.Inconclusive, "most frames are gone"
	r.Warnings = []run.Warning{{Text: r.Reason}, {Text: "the log is cut short"}}
	got := textOf(t, in, document.Options{Width: 100, Verbose: true})
	if n := strings.Count(got, "warning: "); n != 1 || !strings.Contains(got, "warning: the log is cut short") {
		t.Errorf("%d warnings, want that of the log alone:\n%s", n, got)
	}
}

// A report's title is the caller's, or else each scenario and each app once, as far as they have
// names.
func TestTitles(t *testing.T) {
	of := func(scenario, app, version string) gate.RunVerdict {
		return gate.RunVerdict{Scenario: scenario, App: run.App{Package: app, Version: version}}
	}
	for _, c := range []struct {
		set  string
		runs []gate.RunVerdict
		want string
	}{
		{"The night's run", []gate.RunVerdict{of("open", "a.b", "1")}, "The night's run"},
		{"", []gate.RunVerdict{of("open", "a.b", "1"), of("open", "a.b", "1"), of("scroll", "a.b", "2")}, "open and scroll · a.b 1 and a.b 2"},
		{"", []gate.RunVerdict{of("", "a.b", ""), of("", "", "")}, "a.b"},
		{"", []gate.RunVerdict{of("open", "", ""), of("", "", "")}, "open"},
		{"", nil, ""},
	} {
		if got := title(Input{Title: c.set, Verdict: gate.Verdict{Runs: c.runs}}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The page explains the numbers of its rows where that is not obvious.
func TestGuideToFindings(t *testing.T) {
	const several, inTurns, shares = "Rows covering several runs show the median.", "Where both builds were measured alternately, ", "Shares of frames change in percentage points (pp)."
	plain := compared("", ms, 10, 1, 20, gate.ToRegression)
	ratio := compared("", "frames.smooth_ratio", 0.9, 0.03, 0.5, gate.ToRegression)
	for _, c := range []struct {
		name string
		of   gate.Comparison
		runs int
		want []string
	}{
		{"one run", plain, 1, nil}, {"two runs", plain, 2, []string{several}}, {"a ratio", ratio, 1, []string{shares}},
		{"rounds", beside(plain, 0.1, 16, gate.RoundsWorse), 1, []string{inTurns}}, {"a ratio of two runs", ratio, 2, []string{several, shares}},
	} {
		var v gate.Verdict
		for range c.runs {
			v.Runs = append(v.Runs, runVerdict("R", gate.Regression, upgraded[0], c.of))
		}
		got := guideTo(findings(v, metric.Default()))
		for _, sentence := range []string{several, inTurns, shares} {
			if strings.Contains(got, sentence) != slices.Contains(c.want, sentence) {
				t.Errorf("%s: the guide is %q, want %q", c.name, got, c.want)
			}
		}
	}
}
