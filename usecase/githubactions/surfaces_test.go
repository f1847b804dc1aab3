package githubactions_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions"
)

// outcomes are verdicts of every kind, by what caused them.
func outcomes() map[string]layout.Input {
	of := func(o gate.Outcome, change func(*gate.RunVerdict)) layout.Input {
		in := fine()
		in.Verdict.Verdict, in.Verdict.Runs[0].Verdict, in.Verdict.Runs[0].Reason = o, o, "as the test has it"
		if change != nil {
			change(&in.Verdict.Runs[0])
		}
		return in
	}
	deviates := func(d gate.Direction) func(*gate.RunVerdict) {
		return func(r *gate.RunVerdict) {
			r.Comparisons[0].Direction = d
			r.Deviations = r.Comparisons
		}
	}
	inRounds := func(says gate.RoundsOutcome, d gate.Direction) func(*gate.RunVerdict) {
		return func(r *gate.RunVerdict) {
			deviates(d)(r)
			c := &r.Comparisons[0]
			c.N, c.Expected, c.Screen = 0, 0, gate.Open // no run was ever accepted
			c.Rounds = &gate.RoundsComparison{Rounds: 16, Base: 100, Head: 100, Outcome: says, ChangeLow: new(-0.02), ChangeHigh: new(0.02), ShiftLow: new(-2.0), ShiftHigh: new(2.0)}
			r.ReferenceTotal = 0
		}
	}
	// The first check of a team: a base build, no history, and several numbers.
	first := func(o gate.Outcome, worse bool) layout.Input {
		in := of(o, inRounds(gate.RoundsExcluded, gate.None))
		r := &in.Verdict.Runs[0]
		for i, metric := range []string{"frames.smooth_ratio", "frames.duration_ms", "cpu.time_ms", "memory.pss_kb"} {
			c := r.Comparisons[0]
			c.Event, c.Metric, c.Rounds = "", metric, new(*c.Rounds)
			if i == 0 {
				c.Value, c.Rounds.Base, c.Rounds.Head, c.Rounds.ShiftLow, c.Rounds.ShiftHigh = 0.9, 0.9, 0.9, new(-0.02), new(0.02)
			}
			if worse && i == 1 {
				c.Direction, c.Value, c.Change, c.Low, c.High = gate.ToRegression, 124, 0.24, new(0.18), new(0.31)
				*c.Rounds = gate.RoundsComparison{Rounds: 16, Base: 100, Head: 124, Outcome: gate.RoundsWorse, Change: 0.24, ChangeLow: new(0.18), ChangeHigh: new(0.31), Shift: 24, ShiftLow: new(18.0), ShiftHigh: new(31.0)}
			}
			r.Comparisons = append(r.Comparisons, c)
		}
		r.Deviations = nil
		if worse {
			r.Deviations = r.Comparisons[2:3]
		}
		return in
	}
	// Some phones of which one is worse, and others that were never measured before.
	phones := func() layout.Input {
		in := worse(2)
		for i, o := range []gate.Outcome{gate.Pass, gate.Inconclusive, gate.Improvement} {
			r := fine().Verdict.Runs[0]
			r.ID, r.Verdict, r.Reason, r.Hint = fmt.Sprintf("U%d", i+2), o, "as the test has it", "accept more runs of it"
			r.Context = map[string]string{"sdk": "14", "model": fmt.Sprintf("Phone %d", i+2)}
			in.Verdict.Runs = append(in.Verdict.Runs, r)
		}
		return in
	}
	lost := func(in layout.Input) layout.Input {
		in.Verdict = in.Verdict.WithLoss("1 of 2 runs is missing: the phone is gone")
		return in
	}
	return map[string]layout.Input{
		"pass by the history":            of(gate.Pass, nil),
		"pass by rounds alone":           of(gate.Pass, inRounds(gate.RoundsExcluded, gate.None)),
		"improvement":                    of(gate.Improvement, deviates(gate.ToImprovement)),
		"inconclusive":                   of(gate.Inconclusive, nil),
		"perhaps worse":                  of(gate.Inconclusive, deviates(gate.Suspect)),
		"rounds left open":               of(gate.Inconclusive, inRounds(gate.RoundsUndecided, gate.None)),
		"regression by the history":      worse(1),
		"regression by rounds alone":     of(gate.Regression, inRounds(gate.RoundsWorse, gate.ToRegression)),
		"a run is not whole":             of(gate.Invalid, nil),
		"a run is lost, the rest fine":   lost(of(gate.Pass, nil)),
		"a run is lost, the rest open":   lost(of(gate.Inconclusive, nil)),
		"a run is lost, the rest worse":  lost(worse(1)),
		"a run is lost, the rest better": lost(of(gate.Improvement, deviates(gate.ToImprovement))),
		"first use, nothing got worse":   first(gate.Pass, false),
		"first use, one number worse":    first(gate.Regression, true),
		"several phones, one worse":      phones(),
		"a phone of several is lost":     lost(phones()),
		"nothing was measured":           lost(layout.Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Invalid, Preset: "default"}}),
	}
}

// everyPlace are the places of a test's findings: those of no scenario are the configuration's.
var everyPlace = document.Places{"": {Path: "apkgate.yml", Line: 1}, "open-message": {Path: "OpenMessage.kt", Line: 12}}

var heading = regexp.MustCompile(`(?m)^### (\S+) (\w+): (.+)$`)

// Whatever a verdict is and however it was reached, every surface gives the same answer to five
// questions: what it is, whether it blocks anything, what happened and where, how certain that is,
// and what is missing or to be done.
func TestOneOutcomeOnEverySurface(t *testing.T) {
	all := outcomes()
	maps.Copy(all, pullRequests(t))
	for name, in := range all {
		for _, failOn := range []gate.FailOn{gate.FailRegression, gate.FailInconclusive, gate.FailNever} {
			t.Run(name+", fail-on "+string(failOn), func(t *testing.T) {
				t.Parallel()
				in := in
				if in.Verdict.FailOn = ""; failOn != gate.FailRegression {
					in.Verdict.FailOn = failOn
				}
				asked(t, in, failOn)
			})
		}
	}
}

// pullRequests are the verdicts of the pull requests that scripts/pull-requests measures, each also
// with a missing shard.
func pullRequests(t *testing.T) map[string]layout.Input {
	t.Helper()
	files, err := filepath.Glob("testdata/pullrequests/*.json.gz")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d verdicts, want five: %v", len(files), err)
	}
	out := map[string]layout.Input{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		v, err := saved.ReadVerdict(unpacked)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		in := layout.OfVerdict(v)
		lost := in
		lost.Verdict = in.Verdict.WithLoss("1 of 7 runs is missing: shard 3/3 is missing")
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		out["pull request "+name], out["pull request "+name+" without a shard"] = in, lost
	}
	return out
}

// asked checks every surface of a verdict.
func asked(t *testing.T, in layout.Input, failOn gate.FailOn) {
	v, d := in.Verdict, layout.Verdict(in)
	want := answersOf(in, d, failOn)
	if strings.Contains(d.Headline(), " 0 comparisons") && len(v.Runs) > 0 {
		t.Errorf("the headline %q counts none of what was compared", d.Headline())
	}
	var loss error
	if v.Lost != "" {
		loss = errors.New(v.Lost)
	}
	status := exit.Finish(&bytes.Buffer{}, exit.Of(v.Verdict, failOn, loss))
	if wanted := want.status(); status != wanted {
		t.Errorf("the exit status is %d, want %d", status, wanted)
	}

	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.FailOn = failOn
	j.Begin(t.Context())
	if err := j.Publish(t.Context(), githubactions.ContentOf(in, everyPlace)); err != nil {
		t.Fatal(err)
	}
	check := g.Checks()[0]
	texts := map[string]string{"the comment": g.only(t).Body, "the job summary": j.read("GITHUB_STEP_SUMMARY"), "the check's summary": check.Summary, "the comment on a fork": forwarded(t, in)}
	for surface, text := range texts {
		m := heading.FindStringSubmatch(text)
		if m == nil || m[2] != want.what || m[1] != markOf(v.Verdict) {
			t.Errorf("%s is headed %q, want %s", surface, m, want.what)
		}
		if got := strings.Contains(text, "if intended: ") && strings.Contains(text, "merge it, and let the next refresh"); got != (v.Verdict == gate.Regression) {
			t.Errorf("%s says how an intended change gets through: %t, of %s", surface, got, v.Verdict)
		}
	}
	render := func(format string) string { return rendered(t, d, format) }
	screen := want
	screen.todo = firstOf(d)
	screen.in(t, "the terminal's first screen", render("text"))
	texts["the terminal"], texts["the page"], texts["the Markdown file"] = inFull(t, d), render("html"), render("markdown")
	for surface, text := range texts {
		want.in(t, surface, text)
	}

	if title, cut := strings.CutSuffix(check.Title, "…"); title != prose.OneLine(d.Headline()) && !(cut && strings.HasPrefix(prose.OneLine(d.Headline()), title)) {
		t.Errorf("the check is titled %q, want %q", check.Title, prose.OneLine(d.Headline()))
	}
	conclusion := "neutral"
	switch {
	case v.Verdict == gate.Pass || v.Verdict == gate.Improvement:
		conclusion = "success"
	case want.blocks:
		conclusion = "failure"
	}
	if check.Conclusion != conclusion {
		t.Errorf("the check concludes %q, want %q", check.Conclusion, conclusion)
	}
	if out := j.read("GITHUB_OUTPUT"); !strings.Contains(out, "verdict<<") || !strings.Contains(out, "\n"+string(v.Verdict)+"\n") {
		t.Errorf("the outputs are %q, want the verdict %s", out, v.Verdict)
	}
	grave := v.Verdict == gate.Regression || v.Verdict == gate.Invalid
	if failures := strings.Count(levels(check.Annotations), "failure"); (failures > 0) != grave {
		t.Errorf("%d annotations are failures, of %s", failures, v.Verdict)
	}
	var back struct {
		Verdict, Lost string
		FailOn        string `json:"fail_on"`
	}
	if err := json.Unmarshal([]byte(render("json")), &back); err != nil || back.Verdict != string(v.Verdict) || back.Lost != v.Lost || back.FailOn != string(v.FailOn) {
		t.Errorf("JSON has %+v, %v; want %s, %q, %s", back, err, v.Verdict, v.Lost, v.FailOn)
	}
	if errors := errorsIn(t, render("sarif")); (errors > 0) != grave {
		t.Errorf("SARIF has %d errors, of %s", errors, v.Verdict)
	}
}

// answers are what every surface must contain.
type answers struct {
	what     string // the outcome's word
	blocks   bool
	lost     bool
	outcome  gate.Outcome
	holds    string   // what is said of that, "" if it is as usual
	happened []string // what happened, where, how much, and how certain that is
	todo     []string // what is missing, and what to do
}

// failing are the outcomes that block a pull request (README, "What a verdict means").
var failing = map[gate.FailOn][]gate.Outcome{
	gate.FailRegression:   {gate.Regression, gate.Invalid},
	gate.FailInconclusive: {gate.Regression, gate.Invalid, gate.Inconclusive},
}

// answersOf derives the answers from the verdict itself, and takes only the sentences from the
// document.
func answersOf(in layout.Input, d document.Document, failOn gate.FailOn) answers {
	v := in.Verdict
	a := answers{
		what:   map[gate.Outcome]string{gate.Pass: "Pass", gate.Improvement: "Improvement", gate.Inconclusive: "Inconclusive", gate.Regression: "Regression", gate.Invalid: "Invalid"}[v.Verdict],
		blocks: slices.Contains(failing[failOn], v.Verdict),
		lost:   v.Lost != "", outcome: v.Verdict, happened: []string{d.Answer.Lead, d.Answer.Sure},
	}
	switch {
	case failOn == gate.FailNever && (v.Verdict == gate.Regression || v.Verdict == gate.Invalid):
		a.holds = "nothing (fail-on: never)"
	case failOn == gate.FailInconclusive && v.Verdict == gate.Inconclusive:
		a.holds = "the build fails: an inconclusive verdict does too"
	}
	for _, f := range d.Facts {
		if f.Of == "" {
			a.todo = append(a.todo, f.Text)
		}
	}
	if a.lost {
		a.todo = append(a.todo, v.Lost)
	}
	return a
}

// firstOf returns the facts of the first screen.
func firstOf(d document.Document) (out []string) {
	for _, f := range d.Facts {
		if !f.Detail {
			out = append(out, f.Text)
		}
	}
	return out
}

// inFull returns a document on a terminal with everything requested.
func inFull(t *testing.T, d document.Document) string {
	t.Helper()
	var b bytes.Buffer
	f, _ := report.Find("text")
	if err := f.Render(&b, d, document.Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// status is the exit status: a loss ends with 3, unless the verdict fails.
func (a answers) status() int {
	switch {
	case a.blocks && a.outcome != gate.Invalid:
		return exit.StatusRegression
	case a.blocks, a.lost:
		return exit.StatusInfrastructure
	}
	return exit.StatusPass
}

// in checks that a text for people contains the answers.
func (a answers) in(t *testing.T, surface, text string) {
	t.Helper()
	text = plain(text)
	for _, want := range slices.Concat([]string{a.what, a.holds}, a.happened, a.todo) {
		if !strings.Contains(text, plain(want)) {
			t.Errorf("%s does not say %q:\n%s", surface, want, text)
		}
	}
	for _, other := range []string{"nothing (fail-on: never)", "verdict does too"} {
		if strings.Contains(text, other) && !strings.Contains(a.holds, other) {
			t.Errorf("%s says %q", surface, other)
		}
	}
}

var (
	tags    = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`)
	markers = strings.NewReplacer(`\`, "", "*", "", "`", "", "\u200b", "", "\u00a0", " ", "\u2060", "")
)

// plain is the visible text of any format, on one line and in lower case, since a page capitalizes
// its first line.
func plain(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(markers.Replace(html.UnescapeString(tags.ReplaceAllString(text, "")))), " "))
}

// markOf is the mark of an outcome in a comment.
func markOf(o gate.Outcome) string {
	return map[gate.Outcome]string{gate.Pass: "✅", gate.Improvement: "✅", gate.Inconclusive: "❔", gate.Invalid: "⚠️", gate.Regression: "❌"}[o]
}

func levels(annotations any) string {
	data, _ := json.Marshal(annotations)
	return string(data)
}

func rendered(t *testing.T, d document.Document, format string) string {
	t.Helper()
	var b bytes.Buffer
	f, known := report.Find(format)
	if !known {
		t.Fatalf("there is no format %s", format)
	}
	if err := f.Render(&b, d, document.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// errorsIn counts the findings that SARIF calls errors.
func errorsIn(t *testing.T, text string) (errors int) {
	t.Helper()
	var sarif struct {
		Runs []struct{ Results []struct{ Level string } }
	}
	if err := json.Unmarshal([]byte(text), &sarif); err != nil {
		t.Fatal(err)
	}
	for _, r := range sarif.Runs[0].Results {
		if r.Level == "error" {
			errors++
		}
	}
	return errors
}

// forwarded is the comment that another workflow derives from the artifact of a fork.
func forwarded(t *testing.T, in layout.Input) string {
	t.Helper()
	folder, err := artifact.WriteFolder(t.TempDir(), artifact.Report{Input: in, Places: everyPlace})
	if err != nil {
		t.Fatal(err)
	}
	back, err := artifact.ReadFolder(folder.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c := githubactions.ContentOf(back.Input, everyPlace)
	if c.Outcome != in.Verdict.Verdict {
		t.Errorf("from the artifact it is %s, want %s", c.Outcome, in.Verdict.Verdict)
	}
	g := newGitHub(t)
	if err := g.job(101, 1, commit("a")).PostComment(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return g.only(t).Body
}

// docs/evaluation/comments.md shows what is unfolded of the comments on the five pull requests.
func TestGuideShowsTheComments(t *testing.T) {
	guide, err := os.ReadFile("../../docs/evaluation/comments.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range pullRequests(t) {
		if strings.Contains(name, "without a shard") {
			continue
		}
		depth, fence := 0, false
		for line := range strings.Lines(rendered(t, layout.Verdict(in), "markdown")) {
			line = strings.ReplaceAll(strings.TrimSpace(line), "\u00a0", " ")
			if strings.HasPrefix(line, "```") {
				fence = !fence
			}
			depth += strings.Count(line, "<details")
			if heading, is := strings.CutPrefix(line, "### "); is {
				line = "**" + heading + "**"
			}
			line = strings.TrimPrefix(line, "> ")
			shown := "\n> " + line + "\n"
			if cause, is := strings.CutPrefix(line, "- **Other cause:**"); is { // this test lacks the packages that title the kinds
				shown = ":**" + cause + "\n"
			}
			if depth == 0 && !fence && line != "" && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "Bars:") && !strings.HasPrefix(line, "<sub>") &&
				!strings.Contains(string(guide), shown) {
				t.Errorf("%s: docs/evaluation/comments.md does not show %q", name, line)
			}
			depth -= strings.Count(line, "</details>")
		}
	}
}
