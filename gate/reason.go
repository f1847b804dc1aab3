package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Percent is a change as a sentence has it: "+5.0 %", "−12 %".
func Percent(share float64) string {
	s := fmt.Sprintf("%+.1f %%", 100*share)
	if math.Abs(share) >= 0.1 {
		s = fmt.Sprintf("%+.0f %%", 100*share)
	}
	return strings.Replace(s, "-", "−", 1)
}

// By is a shift of a metric as a sentence has it: of a ratio in points of a hundred, of
// nothing, or of what may lie below it, in the metric's unit, else as a share of from.
func By(m metric.Metric, from, shift, share float64) string {
	switch {
	case m.Ratio:
		return strings.Replace(fmt.Sprintf("%+.1f points", 100*shift), "-", "−", 1)
	case m.Signed, from == 0:
		return Signed(m, shift)
	}
	return Percent(share)
}

// FewerThanHalf stands in what is missing of a run that lacks frames and no metric.
const FewerThanHalf = "fewer than half of the"

// PValue is a chance as a sentence has it.
func PValue(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// Signed is an amount with its sign: "+8000 ms".
func Signed(m metric.Metric, amount float64) string {
	if amount > 0 {
		return "+" + m.Format(amount)
	}
	return strings.Replace(m.Format(amount), "-", "−", 1)
}

// GotWorse says that a number got worse by a share of a mean, in the metric's own terms: of a
// tail by as much more as it spreads wider, of a share of frames by the bad ones.
func GotWorse(m metric.Metric, share float64) string {
	switch {
	case m.Odds:
		return fmt.Sprintf("got worse, to %.3g times as many bad frames", math.Exp(m.Step(share)))
	case m.Ratio:
		return fmt.Sprintf("got worse by %.0f points", 100*share)
	case m.Mean:
		return "became more frequent"
	}
	return fmt.Sprintf("got worse by %.0f %%", 100*math.Expm1(m.Step(share)))
}

// NotWhole says of a run that is not complete what became of it, and why.
func NotWhole(r run.Run) string {
	why := r.Why()
	switch {
	case why == "":
		return fmt.Sprintf("the run is not whole: its status is %q", r.Status)
	case r.Status == run.Failed:
		return "nothing was measured: " + why
	}
	return "the run is not whole: " + why
}

// Titles are the metrics' titles, each once.
func Titles(metrics []string, catalogue *metric.Catalogue) string {
	var out []string
	for _, name := range metrics {
		m, _ := catalogue.Lookup(name)
		if !slices.Contains(out, m.Title) {
			out = append(out, m.Title)
		}
	}
	return strings.Join(out, ", ")
}

// TitlesOf are the titles of cells, each metric once: those of UI events by their events,
// where the whole run's number is not among them.
func TitlesOf(cells []run.Cell, catalogue *metric.Catalogue) string {
	const listed = 3 // events of a metric
	var out []string
	told := map[string]bool{}
	for _, cell := range cells {
		if told[cell.Metric] {
			continue
		}
		told[cell.Metric] = true
		m, _ := catalogue.Lookup(cell.Metric)
		var events []string
		whole := false
		for _, other := range cells {
			if other.Metric == cell.Metric {
				whole = whole || other.Event == ""
				events = append(events, other.Event)
			}
		}
		if whole {
			out = append(out, m.Title)
			continue
		}
		out = append(out, m.Title+" after "+prose.Few(events, listed))
	}
	return strings.Join(out, ", ")
}

// OneOf lists a context property's values; "" is that of a run without it.
func OneOf(values []string) string {
	const listed = 3
	var out []string
	for _, v := range values[:min(len(values), listed)] {
		text := fmt.Sprintf("%q", v)
		if v == "" {
			text = "not said"
		}
		out = append(out, text)
	}
	if more := len(values) - listed; more > 0 {
		out = append(out, fmt.Sprintf("%d others", more))
	}
	return strings.Join(out, " or ")
}
