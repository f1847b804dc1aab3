package layout

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// OutcomeWord is an outcome as a word that begins a sentence.
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

// story is a verdict in words, the same for every renderer. Its text is plain:
// safe to show on one line, not yet escaped for any language.
type story struct {
	Outcome  gate.Outcome
	Word     string          // "Regression"
	Lead     string          // the answer: what, where, in how many runs
	Sure     string          // how sure it is, "" where there is nothing to say
	Counts   string          // "5 runs: 3 worse, 2 as expected"
	Title    string          // the scenario and the app, or what the caller set
	Facts    []document.Fact // which event, which contexts, what would settle it
	Findings []finding
	Rules    []pattern
	Why      explained
}

// rulesID names the section on rules, of which a fact tells the first.
const rulesID = "rules"

func tell(in Input) story {
	v := in.Verdict
	s := story{
		Outcome:  v.Verdict,
		Word:     OutcomeWord(v.Verdict),
		Counts:   runCounts(v),
		Title:    title(in),
		Findings: findings(v, in.catalogue()),
		Rules:    patterns(v.Rules),
		Why:      explainedRuns(in),
	}
	s.Lead, s.Sure = s.headline(in)
	s.Facts = s.facts(in)
	return s
}

// title is what the caller set, or the scenarios and the apps of the runs.
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
	return strings.TrimPrefix(strings.TrimSuffix(words.Few(scenarios, 3)+" · "+words.Few(apps, 3), " · "), " · ")
}

func (s story) headline(in Input) (lead, sure string) {
	switch s.Outcome {
	case gate.Regression:
		if worse := with(s.Findings, gate.ToRegression); len(worse) > 0 {
			return worse[0].lead(), worse[0].evidence(in)
		}
	case gate.Improvement:
		if better := with(s.Findings, gate.ToImprovement); len(better) > 0 {
			return better[0].lead(), better[0].evidence(in)
		}
	case gate.Inconclusive:
		if suspects := with(s.Findings, gate.Suspect); len(suspects) > 0 {
			return suspects[0].lead(), strings.TrimPrefix(suspects[0].evidence(in)+"; not enough to be sure", "; ")
		}
	case gate.Pass:
		return passHeadline(in.Verdict), ""
	}
	if reasons := reasons(in.Verdict, s.Outcome); len(reasons) > 0 {
		return reasons[0], ""
	}
	return "no reason is recorded", ""
}

// lead is a finding in one clause: what, where, in how many runs.
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

// sentence is a finding in full, with how sure it is.
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
			if c.N > 0 {
				compared++
			}
		}
	}
	for _, u := range v.Unlisted {
		compared += u.Compared
	}
	text := fmt.Sprintf("nothing deviates in %s of %s", words.Count(compared, "comparison", "comparisons"), words.Count(len(v.Runs), "run", "runs"))
	if history > 0 {
		text += " with " + words.Count(history, "accepted run", "accepted runs")
	}
	return text
}

// reasons are the distinct reasons of the runs with that outcome, each with the
// number of runs that share it.
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

// inTurn writes a few sentences after each other.
func inTurn(sentences []string) string {
	return strings.Join(sentences[:min(len(sentences), 3)], "; ")
}

// runCounts is "5 runs: 3 worse, 1 as expected, 1 invalid".
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
	return words.Count(len(v.Runs), "run", "runs") + ": " + strings.Join(parts, ", ")
}

func (s story) facts(in Input) []document.Fact {
	var out []document.Fact
	add := func(label, text string) {
		if text != "" {
			out = append(out, document.Fact{Label: label, Text: text})
		}
	}
	switch s.Outcome {
	case gate.Regression:
		add("Events", eventsOf(with(s.Findings, gate.ToRegression)))
		add("Devices", devicesOf(with(s.Findings, gate.ToRegression)))
	case gate.Improvement:
		add("Events", eventsOf(with(s.Findings, gate.ToImprovement)))
	case gate.Inconclusive:
		add("Events", eventsOf(with(s.Findings, gate.Suspect)))
		add("What would settle it", s.settle(in.Verdict))
	case gate.Pass:
		add("Would have seen", sensitivity(in))
	case gate.Invalid:
		add("What to do", inTurn(hints(in.Verdict, gate.Invalid)))
	}
	out = append(out, s.Why.Facts()...)
	if len(s.Rules) > 0 {
		text := s.Rules[0].sentence()
		if n := len(s.Rules) - 1; n > 0 {
			text += fmt.Sprintf(" %s below.", words.Count(n, "more", "more"))
		}
		out = append(out, document.Fact{Label: "Rule", Text: text, Of: rulesID})
	}
	if s.Outcome == gate.Regression {
		add("Next", inTurn(hints(in.Verdict, gate.Regression)))
	}
	if s.Outcome != gate.Improvement {
		add("Also better", betterOf(with(s.Findings, gate.ToImprovement), in))
	}
	return out
}

// sensitivity says what a pass is worth: the least worsening of the whole run
// that would have been called a regression in every run. A metric of which some
// run could not tell is left out.
func sensitivity(in Input) string {
	least, blind := map[string]float64{}, map[string]bool{}
	for _, r := range in.Verdict.Runs {
		for _, c := range r.Comparisons {
			if c.Event == "" && c.Detectable <= 0 {
				blind[c.Metric] = true
			} else if c.Event == "" {
				least[c.Metric] = max(least[c.Metric], c.Detectable)
			}
		}
	}
	var parts []string
	for _, metricName := range slices.SortedFunc(maps.Keys(least), in.catalogue().Compare) {
		if blind[metricName] {
			continue
		}
		m, _ := in.catalogue().Lookup(metricName)
		parts = append(parts, fmt.Sprintf("%s worse by %s", wording.Name(m.Title), wording.Percent(least[metricName])))
	}
	return words.Few(parts, 5)
}

// settle says what would turn a doubt into an answer: the gate's own hint, or
// the number of like runs that it estimates.
func (s story) settle(v gate.Verdict) string {
	if h := hints(v, gate.Inconclusive); len(h) > 0 {
		return inTurn(h)
	}
	enough, have := 0, 0
	for _, f := range with(s.Findings, gate.Suspect) {
		if c := f.middle(); c.Enough > enough {
			enough, have = c.Enough, c.N
		}
	}
	if enough == 0 {
		return "more accepted runs in a like context."
	}
	return fmt.Sprintf("about %s in a like context; there are %d.", words.Count(enough, "accepted run", "accepted runs"), have)
}

// eventsOf lists the events of findings, those of the whole run left out, with
// their after-effects.
func eventsOf(fs []finding) string {
	var order []string
	worst := map[string]finding{}
	after := map[string][]string{}
	for _, f := range fs {
		if f.Event == "" {
			continue
		}
		if _, known := worst[f.where()]; !known {
			order = append(order, f.where())
			worst[f.where()] = f
		}
		for _, e := range f.AfterEffects {
			if t := wording.Event(e.Event); !slices.Contains(after[f.where()], t) {
				after[f.where()] = append(after[f.where()], t)
			}
		}
	}
	var parts []string
	for _, event := range order {
		f := worst[event]
		text := fmt.Sprintf("%s (%s %s, %s", event, wording.Name(f.Metric.Title), change(f.middle()), f.share())
		if a := after[event]; len(a) > 0 {
			text += "; after-effect on " + words.Few(a, 3)
		}
		parts = append(parts, text+")")
	}
	return words.Few(parts, 4)
}

// betterOf says calmly what got better beside a graver verdict.
func betterOf(fs []finding, in Input) string {
	if len(fs) == 0 {
		return ""
	}
	text := fs[0].sentence(in)
	if n := len(fs) - 1; n > 0 {
		text += fmt.Sprintf("; %s in the table", words.Count(n, "more", "more"))
	}
	return text
}

// devicesOf lists the devices of the runs that the first finding hit.
func devicesOf(fs []finding) string {
	if len(fs) == 0 {
		return ""
	}
	var out []string
	for _, h := range fs[0].Hits {
		if d := device(*h.Run); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) == 1 && len(fs[0].Hits) == 1 {
		return "" // the headline has said it
	}
	return words.Few(out, 5)
}
