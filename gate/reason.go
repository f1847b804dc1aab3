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

// Percent formats a change: "+5.0 %", "−12 %".
func Percent(share float64) string {
	s := fmt.Sprintf("%+.1f %%", 100*share)
	if math.Abs(share) >= 0.1 {
		s = fmt.Sprintf("%+.0f %%", 100*share)
	}
	return strings.Replace(s, "-", "−", 1)
}

// FormatShift formats a shift of a metric: of a ratio in percentage points; from zero, or of a
// metric that may be below it, in the metric's unit; else as a share of from.
func FormatShift(m metric.Metric, from, shift, share float64) string {
	switch {
	case m.Ratio:
		return strings.Replace(fmt.Sprintf("%+.1f points", 100*shift), "-", "−", 1)
	case m.Signed, from == 0:
		return Signed(m, shift)
	}
	return Percent(share)
}

// FewerThanHalf marks a missing part of a run that lacks frames rather than a metric.
const FewerThanHalf = "fewer than half of the"

// PValue formats a chance.
func PValue(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// Signed formats an amount with its sign: "+8000 ms".
func Signed(m metric.Metric, amount float64) string {
	if amount > 0 {
		return "+" + m.Format(amount)
	}
	return strings.Replace(m.Format(amount), "-", "−", 1)
}

// GotWorse describes a worsening, given as a share of a mean, in the metric's own terms: a tail by
// as much more as it spreads wider, a share of frames by its bad frames.
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

// DescribeIncomplete describes the status of an incomplete run, and why it is incomplete.
func DescribeIncomplete(r run.Run) string {
	why := r.Why()
	switch {
	case why == "":
		return fmt.Sprintf("the run is incomplete: its status is %q", r.Status)
	case r.Status == run.Failed:
		return "nothing was measured: " + why
	}
	return "the run is not whole: " + why
}

// Titles lists the metrics' titles, each once.
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

// TitlesOf lists the titles of cells, each metric once: those of UI events with their events, where
// the whole run's number is not among them.
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

// OneOf lists a context property's values; "" is the value of a run without the property.
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
