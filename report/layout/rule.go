package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// The paper's class labels (section 5.3.3), prefixed with an event in the fine-grained mode.
const (
	labelWorse  = "Outlier-"
	labelBetter = "Outlier+"
	// labelSuspect is the label of a run that may be worse.
	labelSuspect = "Suspect-"
)

// label is a parsed class label.
type label struct {
	Event string // "" for the whole run
	Kind  string // labelWorse, labelBetter, or the label itself where it is neither
}

func parseLabel(s string) label {
	for _, kind := range []string{labelWorse, labelBetter, labelSuspect} {
		if event, ok := strings.CutSuffix(s, kind); ok {
			return label{event, kind}
		}
	}
	return label{"", s}
}

// items returns a rule's conditions as "sdk = 5.0.0", sorted by property.
func items(r gate.Rule) []string {
	out := make([]string, 0, len(r.If))
	for k, v := range r.If {
		out = append(out, wording.Name(k)+" = "+wording.Name(v))
	}
	slices.Sort(out)
	return out
}

// maxItems limits the conditions of one rule that are shown.
const maxItems = 6

// pattern is a context with all its labels: rules of the same condition, confidence and kind of
// label are reported once, with their events.
type pattern struct {
	gate.Rule          // the first of them
	Kind      string   // labelWorse, labelBetter, or the label itself where it is neither
	Whole     bool     // the whole run has the label
	Events    []string // the events that have it
	MaxLift   float64  // Lift is the least
}

// patterns groups rules: worse ones first, the whole run before single events, otherwise in the
// verdict's order.
func patterns(rules []gate.Rule) []pattern {
	byKey := map[string]int{}
	var out []pattern
	for _, r := range rules {
		l := parseLabel(r.Then)
		key := fmt.Sprintf("%q %q %d %g", l.Kind, items(r), r.Count, r.Confidence)
		i, known := byKey[key]
		if !known {
			i = len(out)
			byKey[key] = i
			out = append(out, pattern{Rule: r, Kind: l.Kind, MaxLift: r.Lift})
		}
		p := &out[i]
		p.Lift, p.MaxLift = min(p.Lift, r.Lift), max(p.MaxLift, r.Lift)
		if l.Event == "" {
			p.Whole = true
		} else {
			p.Events = append(p.Events, wording.Event(l.Event))
		}
	}
	slices.SortStableFunc(out, func(a, b pattern) int { return a.rank() - b.rank() })
	return out
}

// drawn returns the patterns for the graph: those of the whole run where there are any, as a graph
// of every event would be unreadable.
func drawn(all []pattern, most int) []pattern {
	var whole []pattern
	for _, p := range all {
		if p.Whole {
			whole = append(whole, p)
		}
	}
	if len(whole) > 0 {
		all = whole
	}
	return all[:min(len(all), most)]
}

func (p pattern) rank() int {
	rank := 0
	if p.Kind != labelWorse {
		rank += 2
	}
	if !p.Whole {
		rank++
	}
	return rank
}

// tone returns the tone of the label.
func (p pattern) tone() document.Tone {
	switch p.Kind {
	case labelWorse:
		return document.Worse
	case labelBetter:
		return document.Better
	}
	return document.Neutral
}

// word returns the kind of a label as the end of a sentence.
func (p pattern) word() string {
	switch p.Kind {
	case labelWorse:
		return "worse"
	case labelBetter:
		return "better"
	case labelSuspect:
		return "perhaps worse"
	}
	return "labelled " + wording.Name(p.Kind)
}

// words describes a pattern's labels: "worse, also after E2 and E5".
func (p pattern) words() string {
	switch {
	case len(p.Events) == 0:
		return p.word()
	case p.Whole:
		return p.word() + ", also after " + prose.Few(p.Events, 3)
	}
	return p.word() + " after " + prose.Few(p.Events, 3)
}

// node returns the text of a node of a graph, which all labels of the whole run share.
func (p pattern) node() string {
	if p.Whole {
		return p.word()
	}
	return p.word() + " after " + prose.Few(p.Events, 1)
}

// sentence describes a pattern: "All 2 runs with sdk = 5.0.0 are worse (support 4.4 %, confidence
// 100 %, lift 9)."
func (p pattern) sentence() string {
	condition := prose.Few(items(p.Rule), maxItems)
	if same := items(gate.Rule{If: p.Same}); len(same) > 0 {
		condition += " (the same runs: " + prose.Few(same, maxItems) + ")"
	}
	if condition == "" {
		condition = "any context"
	}
	lift := wording.OneDecimal(p.Lift)
	if most := wording.OneDecimal(p.MaxLift); most != lift {
		lift += " to " + most
	}
	return fmt.Sprintf("%s with %s %s %s (support %s, confidence %s, lift %s).",
		ruleSubject(p.Rule), condition, ruleVerb(p.Rule), p.words(), wording.Percent(p.Support), wording.Percent(p.Confidence), lift)
}

// ruleRuns returns how many runs meet the rule's condition: count over confidence; 0 where unknown.
func ruleRuns(r gate.Rule) int {
	if r.Count <= 0 || !(r.Confidence > 0) {
		return 0
	}
	return max(r.Count, int(math.Round(min(float64(r.Count)/r.Confidence, 1e9))))
}

func ruleSubject(r gate.Rule) string {
	switch all := ruleRuns(r); {
	case all == 0:
		return "Runs"
	case all == 1:
		return "The one run"
	case all == r.Count:
		return fmt.Sprintf("All %d runs", all)
	default:
		return fmt.Sprintf("%d of %d runs", r.Count, all)
	}
}

func ruleVerb(r gate.Rule) string {
	if ruleRuns(r) == 1 {
		return "is"
	}
	return "are"
}
