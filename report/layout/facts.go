package layout

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// facts returns the short lines under the headline: where it happens, why, what would settle it,
// and what to do.
func (s story) facts(in Input) []document.Fact {
	return slices.Concat(s.first(in), s.details(in))
}

// factList is facts that have a text.
type factList []document.Fact

func (l *factList) add(label, text string) { l.answer("", label, text) }

// answer adds a fact that answers a question.
func (l *factList) answer(to document.Question, label, text string) {
	if text != "" {
		*l = append(*l, document.Fact{Label: label, Text: text, Answers: to})
	}
}

// step adds what a verdict says to do next. A command at its end is one to be copied, unless a
// stranger may have written it.
func (l *factList) step(label, text string, stranger bool) {
	if text == "" {
		return
	}
	fact := document.Fact{Label: label, Text: text, Answers: document.Next}
	if !stranger {
		fact.Text, fact.Command = commandOf(text)
	}
	*l = append(*l, fact)
}

// commandOf splits the only command of a text off its end: "accept it: apkgate baseline accept 4f2a".
func commandOf(text string) (rest, command string) {
	if i := strings.Index(text, ": apkgate "); i >= 0 && plainCommand.MatchString(text[i+2:]) {
		return text[:i+1], text[i+2:]
	}
	return text, ""
}

// plainCommand matches a command without quotes.
var plainCommand = regexp.MustCompile(`^apkgate [A-Za-z0-9 ._/=-]+$`)

// Steps returns facts as answers to what to do next.
func Steps(all []document.Fact) []document.Fact {
	out := slices.Clone(all)
	for i := range out {
		out[i].Answers = document.Next
	}
	return out
}

// first returns the facts of the first screen: whether it blocks, against what, why, what now.
func (s story) first(in Input) []document.Fact {
	var out factList
	if s.Outcome == gate.Regression {
		out.add("Missing", wording.Sentence(in.Verdict.Lost)) // else the headline says it
	}
	out.add("Blocks", blocks(in.Verdict.Verdict, in.Verdict.FailOn, in.Verdict.Lost))
	out.add("Against", against(in))
	switch s.Rest {
	case gate.Inconclusive:
		text := s.settle(in.Verdict)
		_, command := commandOf(text)
		if !slices.ContainsFunc(in.Next, func(f document.Fact) bool {
			return f.Command != "" && (strings.Contains(text, f.Command) || command != "" && strings.HasPrefix(f.Command, command))
		}) {
			out.step("What would settle it", text, in.Stranger) // else a step does
		}
	case gate.Pass:
		out.add("Would have seen", sensitivity(in))
		out.add("Excluded", excluded(in))
		out.add("Not judged", unjudged(in))
	case gate.Invalid:
		out.step("What to do", inTurn(hints(in.Verdict, gate.Invalid)), in.Stranger)
	}
	if in.Verdict.Lost != "" && s.Outcome != gate.Regression && len(in.Next) == 0 {
		out.answer(document.Next, "What to do", "measure what is missing again")
	}
	out = append(out, s.Why.Facts()...)
	if s.Outcome == gate.Regression {
		out.answer(document.Why, "Why", whyOf(in.Why, longerStart(with(s.Findings, gate.ToRegression))))
	}
	return append(out, Steps(in.Next)...)
}

// longerStart reports whether a finding is that the app starts later.
func longerStart(worse []finding) bool {
	return slices.ContainsFunc(worse, func(f finding) bool { return isStart(f.MetricName) })
}

func isStart(name string) bool { return strings.HasPrefix(name, "startup.") }

// whyOf returns how to explain what is unexplained. No parts of starts are compared, so that a
// longer one is explained by hand.
func whyOf(why string, longerStart bool) string {
	why = wording.Sentence(why)
	if !longerStart {
		return why
	}
	if why != "" {
		why += "; "
	}
	return why + "the parts of a start are not compared: record a trace of a start with each build, and apkgate diagnose TRACE shows how long each part took"
}

// details returns the facts for those who want more than the first screen.
func (s story) details(in Input) []document.Fact {
	var out factList
	switch s.Rest {
	case gate.Regression:
		out.add("Events", eventsOf(with(s.Findings, gate.ToRegression)))
		out.add("Devices", devicesOf(with(s.Findings, gate.ToRegression)))
	case gate.Improvement:
		out.add("Events", eventsOf(with(s.Findings, gate.ToImprovement)))
	case gate.Inconclusive:
		out.add("Events", eventsOf(with(s.Findings, gate.Suspect)))
	}
	out.add("More work", workBeside(in))
	out.add("Measured", decided(in))
	out.add("Fewer frames", takenByFreeze(in))
	out.add("Everywhere", wording.Name(in.Verdict.Everywhere))
	if len(s.Rules) > 0 {
		text := s.Rules[0].sentence()
		if n := len(s.Rules) - 1; n > 0 {
			text += fmt.Sprintf(" %s below.", prose.Count(n, "more", "more"))
		}
		out = append(out, document.Fact{Label: "Rule", Text: text, Of: rulesID})
	}
	if s.Rest == gate.Regression {
		out.add("Next", inTurn(hints(in.Verdict, gate.Regression)))
	}
	if s.Rest != gate.Improvement {
		out.add("Also better", betterOf(with(s.Findings, gate.ToImprovement), in))
	}
	for i := range out {
		out[i].Detail = true
	}
	return out
}

// blocks reports whether an outcome fails the build; "" where nobody would expect it to.
func blocks(o gate.Outcome, from gate.FailOn, lost string) string {
	switch {
	case !o.Fails(gate.FailInconclusive):
		return ""
	case o == gate.Inconclusive && o.Fails(from):
		return "the build fails: an inconclusive verdict does too here (fail-on: inconclusive)"
	case o == gate.Inconclusive:
		return "nothing: an inconclusive verdict fails no build (fail-on: " + string(cmp.Or(from, gate.FailRegression)) + ")"
	case !o.Fails(from) && lost != "":
		return "nothing (fail-on: never), but what is missing ends with exit status 3"
	case !o.Fails(from):
		return "nothing (fail-on: never)"
	case o == gate.Invalid:
		return "the build fails (exit status 3)"
	}
	return "the build fails (exit status 1)"
}

// against names what the runs were compared with: the base build in rounds, and accepted runs with
// the newest of them.
func against(in Input) string {
	var parts []string
	history := 0
	for _, r := range in.Verdict.Runs {
		history = max(history, r.ReferenceTotal, len(r.Reference))
		if x := r.Rounds; x != nil && x.Measured > 0 {
			text := strings.TrimSpace("base build " + wording.Name(x.Base.App.Version))
			if c := wording.Name(x.Base.Source.Commit); c != "" {
				text += ", commit " + wording.Commit(c)
				if at := in.Meta.Base; at.Commit == x.Base.Source.Commit && !at.At.IsZero() {
					text += " of " + dateOf(at.At)
				}
			}
			if !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		}
	}
	parts = parts[:min(len(parts), 2)]
	if history > 0 {
		text := prose.Count(history, "accepted run", "accepted runs")
		if n := in.Meta.Newest; !n.At.IsZero() {
			text += ", the newest of " + dateOf(n.At)
			if c := wording.Name(n.Commit); c != "" {
				text += " (commit " + wording.Commit(c) + ")"
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func dateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// sensitivity reports what a pass is worth: the worsening of the whole run that nine of ten builds
// would have shown, of a ratio in points. It leaves out metrics for which some run could not tell,
// and those measured in rounds: see excluded.
func sensitivity(in Input) string {
	least, blind := map[string]float64{}, map[string]bool{}
	for _, r := range in.Verdict.Runs {
		for _, c := range r.Comparisons {
			if c.Event == "" && (c.Detectable <= 0 || c.Rounds != nil) {
				blind[c.Metric] = true
			} else if c.Event == "" {
				by := c.Detectable
				if m, _ := in.catalogue().Lookup(c.Metric); m.Ratio {
					by *= c.Expected
				}
				least[c.Metric] = max(least[c.Metric], by)
			}
		}
	}
	var parts []string
	for _, metricName := range slices.SortedFunc(maps.Keys(least), in.catalogue().Compare) {
		if blind[metricName] {
			continue
		}
		m, _ := in.catalogue().Lookup(metricName)
		by := wording.Percent(least[metricName])
		if m.Ratio {
			by = wording.Points(least[metricName])
		}
		parts = append(parts, fmt.Sprintf("%s worse by %s", wording.Name(m.Title), by))
	}
	if len(parts) == 0 {
		return ""
	}
	return "in 9 of 10 builds: " + prose.Few(parts, 5)
}

// unjudged names the metrics that a pass does not cover, and in how many runs: no accepted run
// counts for them, such as where they were measured in another way.
func unjudged(in Input) string {
	runs := map[string]int{}
	for _, r := range in.Verdict.Runs {
		ofRun := map[string]bool{}
		for _, c := range r.Comparisons {
			if c.Event == "" && !isCompared(c) && !ofRun[c.Metric] {
				ofRun[c.Metric] = true
				runs[c.Metric]++
			}
		}
	}
	byCount := map[int][]string{}
	for _, metricName := range slices.SortedFunc(maps.Keys(runs), in.catalogue().Compare) {
		m, _ := in.catalogue().Lookup(metricName)
		byCount[runs[metricName]] = append(byCount[runs[metricName]], wording.Name(m.Title))
	}
	var parts []string
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(byCount))) {
		parts = append(parts, fmt.Sprintf("%s in %d of %s", prose.Few(byCount[n], 5), n, prose.Count(len(in.Verdict.Runs), "run", "runs")))
	}
	return prose.List(parts)
}

// settle returns what would settle a doubt: the gate's own hint, or the number of comparable runs
// that it estimates.
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
		return "more accepted runs in a similar context."
	}
	return fmt.Sprintf("about %s in a similar context; there are %d.", prose.Count(enough, "accepted run", "accepted runs"), have)
}

// eventsOf lists the events of findings with their after-effects, without those of the whole run.
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
		text := fmt.Sprintf("%s (%s %s, %s", event, wording.Name(f.Metric.Title), change(f.Metric, f.middle()), f.share())
		if a := after[event]; len(a) > 0 {
			text += "; after-effect on " + prose.Few(a, 3)
		}
		parts = append(parts, text+")")
	}
	return prose.Few(parts, 4)
}

// betterOf reports what improved where the verdict is graver.
func betterOf(fs []finding, in Input) string {
	if len(fs) == 0 {
		return ""
	}
	text := fs[0].sentence(in)
	if n := len(fs) - 1; n > 0 {
		text += fmt.Sprintf("; %s in the table", prose.Count(n, "more", "more"))
	}
	return text
}

// devicesOf lists the devices of the runs with the first finding.
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
		return "" // already in the headline
	}
	return prose.Few(out, 5)
}

// workBeside reports the counts of the app's work that are clearly higher, in the runs in which a
// time or a related metric is worse or a suspect.
func workBeside(in Input) string {
	var parts []string
	for _, f := range grouped(in.Verdict, in.catalogue(), in.workOf) {
		c := f.middle()
		value, expected := wording.Beside(f.Metric, c.Value, c.Expected)
		text := fmt.Sprintf("%s %s (%s where ", wording.Amount(c.Change, "more", "fewer"), wording.Name(f.Metric.Title), value)
		if c.Rounds != nil {
			text += "the base build has " + expected + ")"
		} else {
			text += expected + " were expected)"
		}
		if f.scenarios {
			text = wording.Brief(f.Scenario) + ": " + text
		}
		if len(in.Verdict.Runs) > 1 {
			text += " in " + prose.Count(len(f.Hits), "run", "runs")
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return prose.Few(parts, 4) + ". That need not be the cause."
}

// workOf returns the work that is clearly more in a run, where a metric that depends on work is
// worse: a time, joules, memory, or the share of smooth frames.
func (in Input) workOf(r gate.RunVerdict) []gate.Comparison {
	worse := slices.ContainsFunc(r.Deviations, func(c gate.Comparison) bool {
		m, _ := in.catalogue().Lookup(c.Metric)
		return (m.Log || m.Odds) && !m.Counted && (c.Direction == gate.ToRegression || c.Direction == gate.Suspect)
	})
	if !worse {
		return nil
	}
	return r.Work
}
