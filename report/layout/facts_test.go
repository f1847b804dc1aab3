package layout

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/wording"
)

// What is missing is a fact of a regression, and comes first in any other headline, before the
// outcome of the rest.
func TestFactsOfLoss(t *testing.T) {
	in := regression()
	in.Verdict.Lost, in.Verdict.Rest = "one phone was lost.", gate.Regression
	d := Verdict(in)
	if got := factOf(d, "Missing"); got != in.Verdict.Lost || strings.Contains(d.Answer.Lead, "lost") {
		t.Errorf("a regression has the fact %q and the headline %q", got, d.Answer.Lead)
	}
	for rest, c := range map[gate.Outcome]struct {
		in   Input
		want string
	}{
		gate.Pass:        {pass(), "one phone was lost; the rest passes: nothing got worse in 4 comparisons of 2 runs with 40 accepted runs"},
		gate.Improvement: {improvement(), "one phone was lost; the rest improved: open-message renders 20 % more frames on Google Nexus 9 with Android 5.0.0"},
		gate.Invalid:     {invalid(), "one phone was lost; the rest is invalid: The run is partial: 4 of 10 repetitions have no frames."},
	} {
		c.in.Verdict.Verdict, c.in.Verdict.Rest, c.in.Verdict.Lost = gate.Invalid, rest, "one phone was lost."
		d := Verdict(c.in)
		if got := strings.ReplaceAll(d.Answer.Lead, wording.NBSP, " "); got != c.want {
			t.Errorf("%s: the headline is %q, want %q", rest, got, c.want)
		}
		if got := factOf(d, "Missing"); got != "" {
			t.Errorf("%s: what is lost is told again: %q", rest, got)
		}
	}
}

// Whether an outcome fails the build is a fact, unless it is a pass, from which nobody expects it.
func TestBlocksByOutcomeAndFailOn(t *testing.T) {
	const (
		nothing = "nothing (fail-on: never)"
		fails   = "the build fails (exit status 1)"
	)
	for _, c := range []struct {
		outcome gate.Outcome
		from    gate.FailOn
		lost    string
		want    string
	}{
		{gate.Regression, "", "", fails},
		{gate.Regression, gate.FailRegression, "", fails},
		{gate.Regression, gate.FailNever, "", nothing},
		{gate.Invalid, "", "", "the build fails (exit status 3)"},
		{gate.Invalid, gate.FailNever, "", nothing},
		{gate.Invalid, gate.FailNever, "a phone", "nothing (fail-on: never), but what is missing ends with exit status 3"},
		{gate.Inconclusive, gate.FailInconclusive, "", "the build fails: an inconclusive verdict does too here (fail-on: inconclusive)"},
		{gate.Inconclusive, "", "", "nothing: an inconclusive verdict fails no build (fail-on: regression)"},
		{gate.Inconclusive, gate.FailNever, "", "nothing: an inconclusive verdict fails no build (fail-on: never)"},
		{gate.Pass, gate.FailInconclusive, "", ""},
		{gate.Pass, gate.FailNever, "", ""},
		{gate.Improvement, "", "", ""},
	} {
		if got := blocks(c.outcome, c.from, c.lost); got != c.want {
			t.Errorf("%s, failing from %q, lost %q: %q, want %q", c.outcome, c.from, c.lost, got, c.want)
		}
	}
}

// better returns a comparison that improved by a fifth of 450 frames.
func better(event string) gate.Comparison {
	return compared(event, "frames.count", 450, 16, 540, gate.ToImprovement)
}

// With a graver verdict the first improvement is reported with its certainty, and the others are
// counted; an improvement is reported in the headline.
func TestFactsOfImprovement(t *testing.T) {
	worse := compared("", ms, 10, 1, 20, gate.ToRegression)
	const first = "open-message renders 20 % more frames on Google Nexus 9 with Android 5.0.0; 95 % interval +17…+23 %; p = 0.002 after correction for "
	for want, comparisons := range map[string][]gate.Comparison{
		"":                      {worse},
		first + "2 comparisons": {worse, better("")},
		first + "3 comparisons; 1 more in the table": {worse, better(""), better("tap")},
	} {
		in := Input{Verdict: gate.Verdict{Verdict: gate.Regression, Level: 0.95, Runs: []gate.RunVerdict{runVerdict("U1", gate.Regression, upgraded[0], comparisons...)}}}
		in.Verdict.Runs[0].Hint = "look at the trace"
		d := Verdict(in)
		if got := factOf(d, "Also better"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := factOf(d, "Next"); got != "look at the trace" {
			t.Errorf("what to do about a regression is %q", got)
		}
	}
	in := improvement()
	in.Verdict.Runs[0].Hint = "accept it"
	if d := Verdict(in); factOf(d, "Also better") != "" || factOf(d, "Next") != "" {
		t.Errorf("an improvement says %+v", d.Facts)
	}
}

// The devices of the first finding are named once each, and not at all where the headline names the
// only run.
func TestFactsOfDevices(t *testing.T) {
	for _, c := range []struct {
		contexts []map[string]string
		want     string
	}{
		{upgraded[:1], ""},
		{[]map[string]string{upgraded[1], upgraded[1]}, "LG Nexus 5 (Android 5.0.0)"},
		{[]map[string]string{upgraded[0], upgraded[1], upgraded[0]}, "Google Nexus 9 (Android 5.0.0) and LG Nexus 5 (Android 5.0.0)"},
	} {
		in := Input{Verdict: gate.Verdict{Verdict: gate.Regression}}
		for _, context := range c.contexts {
			in.Verdict.Runs = append(in.Verdict.Runs, runVerdict("R", gate.Regression, context, compared("", ms, 10, 1, 20, gate.ToRegression)))
		}
		if got := factOf(Verdict(in), "Devices"); got != c.want {
			t.Errorf("%d runs: %q, want %q", len(c.contexts), got, c.want)
		}
	}
}

// The first rule is shown, with the number of others.
func TestFactsOfRules(t *testing.T) {
	in := regression()
	all := in.Verdict.Rules
	const first = "All 2 runs with sdk = 5.0.0 are worse (support 4.4 %, confidence 100 %, lift 9)."
	for n, want := range map[int]string{1: first, 2: first + " 1 more below.", 4: first + " 3 more below."} {
		in.Verdict.Rules = all[:n]
		if got := factOf(Verdict(in), "Rule"); got != want {
			t.Errorf("%d rules: %q, want %q", n, got, want)
		}
	}
}

// A number without accepted runs is judged where it was measured in rounds, and else it is not.
func TestFactsCountRoundsAsCompared(t *testing.T) {
	for rounds, want := range map[int]string{0: "time per frame in 1 of 1 run", 8: ""} {
		c := compared("", ms, 0, 0, 9, gate.None)
		c.N, c.Rounds = 0, &gate.RoundsComparison{Rounds: rounds, Base: 9, Head: 9, Outcome: gate.RoundsExcluded}
		in := Input{Verdict: gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{runVerdict("U1", gate.Pass, upgraded[0], c)}}}
		if got := factOf(Verdict(in), "Not judged"); got != want {
			t.Errorf("%d rounds: not judged is %q, want %q", rounds, got, want)
		}
	}
}
