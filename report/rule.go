package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
)

// The paper's class labels (section 5.3.3), prefixed with an event in the
// fine-grained mode.
const (
	labelWorse  = "Outlier-"
	labelBetter = "Outlier+"
)

// label is a class label taken apart.
type label struct {
	Event string // "" for the whole run
	Kind  string // labelWorse, labelBetter, or the label itself where it is neither
}

func parseLabel(s string) label {
	for _, kind := range []string{labelWorse, labelBetter} {
		if event, ok := strings.CutSuffix(s, kind); ok {
			return label{event, kind}
		}
	}
	return label{"", s}
}

// words is the label as the end of a sentence: "worse after E2".
func (l label) words() string {
	word := ""
	switch l.Kind {
	case labelWorse:
		word = "worse"
	case labelBetter:
		word = "better"
	default:
		return "labelled " + name(l.Kind)
	}
	if l.Event != "" {
		word += " after " + name(l.Event)
	}
	return word
}

// items are a rule's conditions as "sdk = 5.0.0", sorted by property.
func items(r gate.Rule) []string {
	out := make([]string, 0, len(r.If))
	for k, v := range r.If {
		out = append(out, name(k)+" = "+name(v))
	}
	slices.Sort(out)
	return out
}

// maxItems bounds the conditions of one rule that are shown.
const maxItems = 6

// ruleSentence reads a rule out: "All 2 runs with sdk = 5.0.0 are worse
// (support 4.4 %, confidence 100 %, lift 9)."
func ruleSentence(r gate.Rule) string {
	condition := few(items(r), maxItems)
	if condition == "" {
		condition = "any context"
	}
	return fmt.Sprintf("%s with %s %s (support %s, confidence %s, lift %s).",
		ruleSubject(r), condition, ruleVerb(r)+" "+parseLabel(r.Then).words(),
		percent(r.Support), percent(r.Confidence), oneDecimal(r.Lift))
}

// ruleRuns is how many runs meet the rule's condition: count over confidence; 0
// where the rule does not tell.
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

// oneDecimal is 9 as "9" and 8.57 as "8.6".
func oneDecimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return minus(strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0"))
}

// isWorse says whether a rule tells of something worse, the rules that a reader
// wants first.
func isWorse(r gate.Rule) bool { return parseLabel(r.Then).Kind == labelWorse }

// sortedRules are the rules for the worse first, otherwise in the verdict's order.
func sortedRules(rules []gate.Rule) []gate.Rule {
	out := slices.Clone(rules)
	slices.SortStableFunc(out, func(a, b gate.Rule) int {
		switch {
		case isWorse(a) == isWorse(b):
			return 0
		case isWorse(a):
			return -1
		}
		return 1
	})
	return out
}
