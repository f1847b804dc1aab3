package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// OutcomeWord returns an outcome as a word that begins a sentence.
func OutcomeWord(o gate.Outcome) string {
	switch o {
	case gate.Pass:
		return "Pass"
	case gate.Improvement:
		return "Improvement"
	case gate.Inconclusive:
		return "Inconclusive"
	case gate.Regression:
		return "Regression"
	case gate.Invalid:
		return "Invalid"
	}
	return wording.Name(string(o))
}

// story is a verdict in words, the same for every renderer. Its text is plain: safe to show on one
// line, not yet escaped for any language.
type story struct {
	Outcome  gate.Outcome
	Rest     gate.Outcome    // the outcome of the runs that are present, where some are missing
	Word     string          // "Regression"
	Lead     string          // the answer: what, where, in how many runs
	Sure     string          // how sure it is, "" where there is nothing to report
	Counts   string          // "5 runs: 3 worse, 2 as expected"
	Title    string          // the scenario and the app, or the caller's title
	Facts    []document.Fact // which event, which contexts, what would settle it
	Findings []finding
	Rules    []pattern
	Why      explained
}

// rulesID names the section on rules, the first of which is a fact.
const rulesID = "rules"

func newStory(in Input) story {
	v := in.Verdict
	s := story{
		Outcome:  v.Verdict,
		Rest:     v.OutcomeOfRuns(),
		Word:     OutcomeWord(v.Verdict),
		Counts:   runCounts(v),
		Title:    title(in),
		Findings: findings(v, in.catalogue()),
		Rules:    patterns(v.Rules),
		Why:      explainedRuns(in),
	}
	if worst := s.worst(); worst != nil {
		s.Why.About(worst.Scenario, worst.Event)
	}
	s.Lead, s.Sure = s.headline(in)
	if v.Lost != "" && s.Outcome != gate.Regression {
		s.Lead = fmt.Sprintf("%s; the rest %s: %s", strings.TrimSuffix(wording.Sentence(v.Lost), "."), restWord(s.Rest), s.Lead)
	}
	s.Facts = s.facts(in)
	return s
}

// title returns the caller's title, or the scenarios and the apps of the runs.
func title(in Input) string {
	if in.Title != "" {
		return wording.Name(in.Title)
	}
	var scenarios, apps []string
	for _, r := range in.Verdict.Runs {
		if s := wording.Name(r.Scenario); s != "" && !slices.Contains(scenarios, s) {
			scenarios = append(scenarios, s)
		}
		app := strings.TrimSpace(wording.Name(r.App.Package) + " " + wording.Name(r.App.Version))
		if app != "" && !slices.Contains(apps, app) {
			apps = append(apps, app)
		}
	}
	return strings.TrimPrefix(strings.TrimSuffix(prose.Few(scenarios, 3)+" · "+prose.Few(apps, 3), " · "), " · ")
}

// restWord returns the outcome of the runs that are present, where others are missing.
func restWord(o gate.Outcome) string {
	switch o {
	case gate.Pass:
		return "passes"
	case gate.Improvement:
		return "improved"
	}
	return "is " + string(o)
}

// worst returns the first of the findings that make the outcome of the runs that are present, nil
// where none does.
func (s story) worst() *finding {
	direction, known := map[gate.Outcome]gate.Direction{
		gate.Regression: gate.ToRegression, gate.Improvement: gate.ToImprovement, gate.Inconclusive: gate.Suspect,
	}[s.Rest]
	if all := with(s.Findings, direction); known && len(all) > 0 {
		return &all[0]
	}
	return nil
}

// headline covers the runs that are present.
func (s story) headline(in Input) (lead, sure string) {
	switch worst := s.worst(); {
	case worst != nil && s.Rest == gate.Improvement:
		return worst.lead() + news(in, nil), worst.evidence(in)
	case worst != nil && s.Rest == gate.Inconclusive:
		return worst.lead() + news(in, worst), strings.TrimPrefix(worst.evidence(in)+"; not enough to be sure", "; ")
	case worst != nil:
		return worst.lead() + news(in, worst), worst.evidence(in)
	case s.Rest == gate.Pass:
		return passHeadline(in.Verdict) + news(in, nil), ""
	}
	if reasons := reasons(in.Verdict, s.Rest); len(reasons) > 0 {
		return reasons[0] + news(in, nil), ""
	}
	return "no reason is recorded", ""
}

// lead returns a finding in one clause: what, where, in how many runs.
func (f finding) lead() string {
	text := f.happening()
	if c := f.contexts(); c != "" {
		text += " on " + c
	}
	text = strings.TrimSuffix(text, ",")
	if f.Compared == 1 {
		return text
	}
	return text + " (" + f.share() + ")"
}

// sentence returns a finding in full, with how sure it is.
func (f finding) sentence(in Input) string {
	if e := f.evidence(in); e != "" {
		return f.lead() + "; " + e
	}
	return f.lead()
}

func passHeadline(v gate.Verdict) string {
	history, compared := 0, 0
	for _, r := range v.Runs {
		history = max(history, r.ReferenceTotal, len(r.Reference))
		for _, c := range r.Comparisons {
			if isCompared(c) {
				compared++
			}
		}
	}
	for _, u := range v.Unlisted {
		compared += u.Compared
	}
	text := fmt.Sprintf("nothing got worse in %s of %s", prose.Count(compared, "comparison", "comparisons"), prose.Count(len(v.Runs), "run", "runs"))
	if history > 0 {
		text += " with " + prose.Count(history, "accepted run", "accepted runs")
	}
	return text
}

// isCompared reports whether the number is compared with anything: accepted runs, or the base build
// in rounds.
func isCompared(c gate.Comparison) bool { return c.N > 0 || c.Rounds != nil && c.Rounds.Rounds > 0 }

// reasons returns the distinct reasons of the runs with that outcome, each with the number of runs
// that share it.
func reasons(v gate.Verdict, o gate.Outcome) []string {
	return distinct(v, o, func(r gate.RunVerdict) string { return r.Reason })
}

func hints(v gate.Verdict, o gate.Outcome) []string {
	return distinct(v, o, func(r gate.RunVerdict) string { return r.Hint })
}

func distinct(v gate.Verdict, o gate.Outcome, of func(gate.RunVerdict) string) []string {
	seen := map[string]int{}
	var out []string
	for _, r := range v.Runs {
		if text := wording.Sentence(of(r)); r.Verdict == o && text != "" {
			if seen[text]++; seen[text] == 1 {
				out = append(out, text)
			}
		}
	}
	for i, text := range out {
		if len(v.Runs) > 1 {
			out[i] = fmt.Sprintf("%s (%d of %d runs)", strings.TrimSuffix(text, "."), seen[text], len(v.Runs))
		}
	}
	return out
}

// inTurn concatenates a few sentences.
func inTurn(sentences []string) string {
	return strings.Join(sentences[:min(len(sentences), 3)], "; ")
}

// runCounts returns "5 runs: 3 worse, 1 as expected, 1 invalid".
func runCounts(v gate.Verdict) string {
	if len(v.Runs) == 0 {
		return "no runs"
	}
	kinds := []struct {
		outcome gate.Outcome
		word    string
	}{
		{gate.Regression, "worse"}, {gate.Invalid, "invalid"}, {gate.Inconclusive, "inconclusive"},
		{gate.Improvement, "better"}, {gate.Pass, "as expected"},
	}
	var parts []string
	for _, w := range kinds {
		n := 0
		for _, r := range v.Runs {
			if r.Verdict == w.outcome {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, w.word))
		}
	}
	return prose.Count(len(v.Runs), "run", "runs") + ": " + strings.Join(parts, ", ")
}
