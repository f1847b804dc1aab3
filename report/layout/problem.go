package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// problems returns invalid runs, regressions and suspects, gravest first. After-effects are left
// out: their cause is in the list.
func problems(in Input, all []finding, why explained) []document.Problem {
	out := invalidProblems(in.Verdict)
	for _, f := range all {
		if f.AfterEffectOf != "" || (f.Direction != gate.ToRegression && f.Direction != gate.Suspect) {
			continue
		}
		out = append(out, document.Problem{
			Scenario: f.Scenario, Rule: f.MetricName,
			Worse: f.Direction == gate.ToRegression, Title: f.problemTitle(), Text: f.sentence(in),
			Causes: why.Of(f.Scenario, f.Event, f.MetricName, f.hits), Fingerprint: f.fingerprint(),
		})
	}
	return out
}

// invalidProblems returns what was lost, and the scenarios with an invalid run, each with its
// reasons.
func invalidProblems(v gate.Verdict) []document.Problem {
	byScenario := map[string]*document.Problem{}
	var order []string
	for _, r := range v.Runs {
		why := wording.Sentence(r.Reason)
		if r.Verdict != gate.Invalid {
			continue
		}
		p := byScenario[r.Scenario]
		if p == nil {
			p = &document.Problem{
				Scenario: r.Scenario, Rule: invalidRule.ID, Worse: true, Title: wording.Name(r.Scenario) + ": invalid", Text: why,
				Fingerprint: digest("invalid", r.App.Package, r.Scenario),
			}
			byScenario[r.Scenario] = p
			order = append(order, r.Scenario)
		}
		if !strings.Contains(p.Text, why) && len(p.Text) < 1000 {
			p.Text += "; " + why
		}
	}
	var out []document.Problem
	if v.Lost != "" {
		out = append(out, document.Problem{
			Rule: invalidRule.ID, Worse: true, Title: "not everything was measured", Text: wording.Sentence(v.Lost), Fingerprint: digest("lost"),
		})
	}
	for _, scenario := range order {
		out = append(out, *byScenario[scenario])
	}
	return out
}

// worseIn returns the findings in which the head of a comparison is worse, worse scenarios first,
// and in each the gravest first.
func worseIn(in ComparisonInput, why explained) []document.Problem {
	var worse, suspect []document.Problem
	for _, s := range in.Verdict.Scenarios {
		if s.Verdict == gate.Invalid {
			worse = append(worse, document.Problem{
				Scenario: s.Scenario, Rule: invalidRule.ID, Worse: true, Title: wording.Name(s.Scenario) + ": invalid", Text: wording.Sentence(s.Reason),
				Fingerprint: digest("invalid", in.Verdict.Head.App.Package, s.Scenario),
			})
		}
		for _, d := range s.Deviations() {
			m, _ := in.Catalogue.Lookup(d.Metric)
			p := document.Problem{
				Scenario: s.Scenario, Rule: d.Metric, Worse: d.Direction == gate.ToRegression,
				Title: problemTitle(s.Scenario, d.Event, m), Text: in.abSentence(s, d, m), Causes: why.Of(s.Scenario, d.Event, d.Metric, nil),
				Fingerprint: digest(in.Verdict.Head.App.Package, s.Scenario, d.Event, d.Metric),
			}
			switch d.Direction {
			case gate.ToRegression:
				worse = append(worse, p)
			case gate.Suspect:
				suspect = append(suspect, p)
			}
		}
	}
	return append(worse, suspect...)
}

// abSentence describes how much the head differs, where, and how sure that is.
func (in ComparisonInput) abSentence(s sidebyside.Scenario, d sidebyside.Comparison, m metric.Metric) string {
	shift, at := d.Shown(), d.ShownIn()
	head, base := shownShift(m, shift)
	text := "base " + base + ", head " + head
	if at >= 0 && at < len(s.Contexts) {
		text += " on " + prose.Clip(wording.Context(s.Contexts[at].Context), 100)
	}
	if shift.Limit != nil {
		return text + "; beyond the limit of " + wording.Value(m, *shift.Limit)
	}
	text += " (" + wording.Shift(m, shift.Shift, shift.Change)
	if shift.HasInterval() {
		text += ", " + wording.Percent(in.Verdict.Level) + " interval " + wording.FromTo(wording.Shift(m, *shift.ShiftLow, *shift.ChangeLow), wording.Shift(m, *shift.ShiftHigh, *shift.ChangeHigh))
	}
	return text + "); p " + wording.P(shift.P)
}

// hits reports whether a run is one of those that deviate.
func (f finding) hits(id string) bool {
	return slices.ContainsFunc(f.Hits, func(h hit) bool { return h.Run.ID == id })
}

func (f finding) problemTitle() string { return problemTitle(f.Scenario, f.Event, f.Metric) }

func problemTitle(scenario, event string, m metric.Metric) string {
	title := wording.Name(scenario)
	if event != "" {
		title += " after " + wording.Name(wording.Event(event))
	}
	return title + ": " + wording.Name(m.Title)
}

// fingerprint returns a digest of what a finding is about, not of its numbers.
func (f finding) fingerprint() string {
	return digest(f.Hits[0].Run.App.Package, f.Scenario, f.Event, f.MetricName)
}

// digest returns 32 hexadecimal digits that identify a problem.
func digest(about ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(about, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// invalidRule is the rule of runs that can't be judged: a file without results would mean that all
// is well.
var invalidRule = document.Rule{
	ID: "apkgate.invalid", Title: "A run that can't be judged",
	Text: "The app crashed, a test failed, or no frames were seen: nothing is known about the app's performance.",
}

// rulesOf returns the rules of the problems, in the order of the catalogue; beside is what a metric
// is compared with.
func rulesOf(problems []document.Problem, catalogue *metric.Catalogue, beside string) []document.Rule {
	var names []string
	for _, p := range problems {
		if !slices.Contains(names, p.Rule) {
			names = append(names, p.Rule)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return catalogue.Compare(strings.TrimPrefix(a, invalidRule.ID), strings.TrimPrefix(b, invalidRule.ID))
	})
	var out []document.Rule
	for _, name := range names {
		if name == invalidRule.ID {
			out = append(out, invalidRule)
			continue
		}
		m, _ := catalogue.Lookup(name)
		title := wording.Name(m.Title)
		out = append(out, document.Rule{
			ID: name, Title: "A worse " + title,
			Text: "The " + title + " (" + wording.Name(name) + ") deviates for the worse from " + beside + ".",
		})
	}
	return out
}
