package actions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/internal/actions/artifact"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
)

// outcomes are verdicts of every kind, by what made them.
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
	inRounds := func(says gate.Says, d gate.Direction) func(*gate.RunVerdict) {
		return func(r *gate.RunVerdict) {
			deviates(d)(r)
			c := &r.Comparisons[0]
			c.N, c.Expected, c.Screen = 0, 0, gate.Open // no run was ever accepted
			c.Rounds = &gate.RoundsOf{Rounds: 16, Base: 100, Head: 100, Says: says, ChangeLow: new(-0.02), ChangeHigh: new(0.02), ShiftLow: new(-2.0), ShiftHigh: new(2.0)}
			r.ReferenceTotal = 0
		}
	}
	lost := func(in layout.Input) layout.Input {
		in.Verdict = in.Verdict.Lacking("1 of 2 runs is missing: the phone is gone")
		return in
	}
	return map[string]layout.Input{
		"pass by the history":           of(gate.Pass, nil),
		"pass by rounds alone":          of(gate.Pass, inRounds(gate.SaysExcluded, gate.None)),
		"improvement":                   of(gate.Improvement, deviates(gate.ToImprovement)),
		"inconclusive":                  of(gate.Inconclusive, nil),
		"perhaps worse":                 of(gate.Inconclusive, deviates(gate.Suspect)),
		"rounds left open":              of(gate.Inconclusive, inRounds(gate.SaysOpen, gate.None)),
		"regression by the history":     worse(1),
		"regression by rounds alone":    of(gate.Regression, inRounds(gate.SaysWorse, gate.ToRegression)),
		"a run is not whole":            of(gate.Invalid, nil),
		"a run is lost, the rest fine":  lost(of(gate.Pass, nil)),
		"a run is lost, the rest open":  lost(of(gate.Inconclusive, nil)),
		"a run is lost, the rest worse": lost(worse(1)),
	}
}

// everyPlace is where the findings of a test stand: what is no scenario's is the
// configuration's.
var everyPlace = document.Places{"": {Path: "apkgate.yml", Line: 1}, "open-message": {Path: "OpenMessage.kt", Line: 12}}

var heading = regexp.MustCompile(`(?m)^### (\S+) (\w+): (.+)$`)

// Whatever a verdict is and however it came about, every surface gives the same answer to what
// it is, whether it blocks, what happened, of how much, and what is missing.
func TestOneOutcomeOnEverySurface(t *testing.T) {
	for name, in := range outcomes() {
		for _, failOn := range []gate.FailOn{gate.FailRegression, gate.FailInconclusive, gate.FailNever} {
			t.Run(name+", fail-on "+string(failOn), func(t *testing.T) {
				v := in.Verdict
				d := layout.Verdict(in)
				word := layout.OutcomeWord(v.Verdict)
				var loss error
				if v.Lost != "" {
					loss = errors.New(v.Lost)
				}
				var told bytes.Buffer
				status := exit.Finish(&told, exit.Of(v.Verdict, failOn, loss))
				blocks := status != exit.StatusPass

				g := newGitHub(t)
				j := g.job(100, 1, commit("a"))
				j.FailOn = failOn
				j.Begin(t.Context())
				if err := j.Publish(t.Context(), actions.ContentOf(in, everyPlace)); err != nil {
					t.Fatal(err)
				}
				check, comment := g.Checks()[0], g.only(t).Body

				want := words.OneLine(d.Headline())
				if !strings.HasPrefix(want, word+": ") {
					t.Errorf("the headline is %q, want one that begins with %s", want, word)
				}
				if strings.Contains(want, " 0 comparisons") {
					t.Errorf("the headline %q counts none of what was compared", want)
				}
				if check.Title != want {
					t.Errorf("the check is titled %q, want %q", check.Title, want)
				}
				if failOn != gate.FailNever && (check.Conclusion == "failure") != blocks {
					t.Errorf("the check concludes %q, and the exit status is %d", check.Conclusion, status)
				}
				good := v.Verdict == gate.Pass || v.Verdict == gate.Improvement
				if (check.Conclusion == "success") != good {
					t.Errorf("the check concludes %q of %s", check.Conclusion, v.Verdict)
				}
				for surface, text := range map[string]string{"comment": comment, "summary": j.read("GITHUB_STEP_SUMMARY"), "check": check.Summary} {
					m := heading.FindStringSubmatch(text)
					if m == nil || m[2] != word || m[1] != markOf(v.Verdict) {
						t.Errorf("the %s is headed %q, want %s", surface, m, word)
					}
					if v.Lost != "" && !strings.Contains(text, "1 of 2 runs is missing") {
						t.Errorf("the %s does not say what is missing:\n%s", surface, text)
					}
				}
				if got := strings.Contains(comment, "If this is intended, merge it"); got != (v.Verdict == gate.Regression) {
					t.Errorf("the comment says how an intended change gets through: %t, of %s", got, v.Verdict)
				}
				if got := strings.Contains(comment, "This holds nothing up"); got != (v.Verdict == gate.Regression && failOn == gate.FailNever) {
					t.Errorf("the comment says that it holds nothing up: %t, with fail-on %s", got, failOn)
				}
				if out := j.read("GITHUB_OUTPUT"); !strings.Contains(out, "verdict<<") || !strings.Contains(out, "\n"+string(v.Verdict)+"\n") {
					t.Errorf("the outputs are %q, want the verdict %s", out, v.Verdict)
				}
				grave := v.Verdict == gate.Regression || v.Verdict == gate.Invalid
				if failures := strings.Count(levels(check.Annotations), "failure"); (failures > 0) != grave {
					t.Errorf("%d annotations are failures, of %s", failures, v.Verdict)
				}
				written(t, in, d, word, grave)
				forwarded(t, in, want)
			})
		}
	}
}

// markOf is the mark of an outcome in a comment.
func markOf(o gate.Outcome) string {
	return map[gate.Outcome]string{gate.Pass: "✅", gate.Improvement: "✅", gate.Inconclusive: "❔", gate.Invalid: "⚠️", gate.Regression: "❌"}[o]
}

func levels(annotations any) string {
	data, _ := json.Marshal(annotations)
	return string(data)
}

// written holds the formats of a file to the outcome.
func written(t *testing.T, in layout.Input, d document.Document, word string, grave bool) {
	t.Helper()
	render := func(format string) string {
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
	if got := render("text"); !strings.HasPrefix(got, word+": ") {
		t.Errorf("the terminal begins with %.80q, want %s", got, word)
	}
	if got := render("html"); !strings.Contains(got, word) {
		t.Errorf("the page does not say %s", word)
	}
	var saved struct{ Verdict, Lost string }
	if err := json.Unmarshal([]byte(render("json")), &saved); err != nil || saved.Verdict != string(in.Verdict.Verdict) || saved.Lost != in.Verdict.Lost {
		t.Errorf("JSON has %+v, %v; want %s", saved, err, in.Verdict.Verdict)
	}
	var sarif struct {
		Runs []struct{ Results []struct{ Level string } }
	}
	if err := json.Unmarshal([]byte(render("sarif")), &sarif); err != nil {
		t.Fatal(err)
	}
	errors := 0
	for _, r := range sarif.Runs[0].Results {
		if r.Level == "error" {
			errors++
		}
	}
	if (errors > 0) != grave {
		t.Errorf("SARIF has %d errors, of %s", errors, in.Verdict.Verdict)
	}
}

// forwarded holds what another workflow reads from the artifact of a fork to the same answer.
func forwarded(t *testing.T, in layout.Input, headline string) {
	t.Helper()
	folder, err := artifact.WriteFolder(t.TempDir(), "", in, everyPlace)
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := artifact.ReadFolder(folder.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := actions.ContentOf(back, everyPlace); c.Outcome != in.Verdict.Verdict || words.OneLine(c.Headline) != headline {
		t.Errorf("from the artifact it is %s, %q; want %s, %q", c.Outcome, c.Headline, in.Verdict.Verdict, headline)
	}
}
