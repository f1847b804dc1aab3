package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/metric"
)

// maxName is the longest name of a metric, with room for "-2.p50".
const maxName = 110

// metricName returns a valid metric name for any text: invalid characters become "_". A catalogue's
// name stays as it is.
func metricName(text string) string {
	name := strings.Map(func(r rune) rune {
		if metric.ValidName("x" + string(r)) {
			return r
		}
		return '_'
	}, text)
	if !metric.ValidName(name[:min(len(name), 1)]) {
		name = "m_" + name
	}
	return name[:min(len(name), maxName)]
}

// nameOf returns the metric name for a name of the file: always the same one, and distinct names
// for distinct texts, even where they differ only in invalid characters.
func (im *importing) nameOf(text string) string {
	if name, ok := im.names[text]; ok {
		return name
	}
	name := metricName(text)
	for n := 2; im.taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", metricName(text), n)
	}
	im.names[text], im.taken[name] = name, true
	return name
}

// declare records a metric for Result.Metrics; the catalogue's own stay as they are.
func (im *importing) declare(m metric.Metric) {
	if !builtin(m.Name) {
		im.declared[m.Name] = m
	}
}

// declareSampled declares a metric and its percentiles.
func (im *importing) declareSampled(m metric.Metric) {
	im.declare(m)
	for suffix := range percentiles {
		detail := m
		detail.Name += suffix
		detail.Title += " " + suffix[1:]
		detail.Of = m.Name
		im.declare(detail)
	}
}

func builtin(name string) bool {
	_, known := metric.Default().Lookup(name)
	return known
}

// guessed returns a metric by its name and unit. The direction follows from the unit.
func guessed(name, title, unit string) metric.Metric {
	m := metric.Metric{Name: name, Title: title, Unit: unit, Direction: direction(unit), Decimals: 2}
	m.Log = m.Direction == metric.LowerIsBetter && unit != "" && unit != "%"
	return m
}

// direction returns which direction is better by the unit alone: less time, memory, energy, power
// and work is better, more of anything per second is better, and an unknown unit is Neutral.
func direction(unit string) metric.Direction {
	u := strings.ToLower(strings.TrimSpace(unit))
	amount, per, isRate := strings.Cut(u, "/")
	switch {
	case u == "fps" || u == "hz" || isRate && slices.Contains([]string{"s", "sec", "second"}, per):
		return metric.HigherIsBetter
	case slices.Contains(costs, strings.TrimSuffix(amount, "s")), slices.Contains(costs, amount):
		return metric.LowerIsBetter
	}
	return metric.Neutral
}

// costs are units of which less is better, in lower case, without a plural s.
var costs = []string{
	"ns", "us", "µs", "μs", "ms", "s", "min", "h", "nsec", "usec", "msec", "sec",
	"nanosecond", "microsecond", "millisecond", "second", "minute", "hour",
	"b", "kb", "mb", "gb", "kib", "mib", "gib", "byte", "kilobyte", "megabyte",
	"j", "mj", "uj", "µj", "wh", "mwh", "mah", "uws", "µws",
	"w", "mw", "uw", "µw", "alloc", "allocation", "instruction", "cycle",
}

// androidxMetric returns the metric with the name as; it guesses unit and direction from the suffix
// that androidx.benchmark requires in the names of its metrics ("startTimeNs").
func androidxMetric(as, name string) metric.Metric {
	for _, s := range androidxSuffixes {
		if strings.HasSuffix(name, s.suffix) {
			m := guessed(as, name, s.unit)
			if slices.Contains(levels, name) {
				m.Direction, m.Log = metric.Neutral, false
			}
			return m
		}
	}
	m := guessed(as, name, "")
	if slices.Contains(counts, name) {
		m.Direction, m.Decimals = metric.LowerIsBetter, 0
	}
	return m
}

var androidxSuffixes = []struct{ suffix, unit string }{
	{"Ns", "ns"}, {"Us", "us"}, {"Ms", "ms"},
	{"Kb", "kB"}, {"Bytes", "B"}, {"Mb", "MB"},
	{"Uws", "uWs"}, {"Uw", "uW"}, {"Mah", "mAh"},
	{"Percent", "%"}, {"Fps", "fps"},
}

// levels are states, not costs: neither direction is better.
var levels = []string{"batteryStartMah", "batteryEndMah"}

// counts are the names without a unit of which less is better; for any other count it is unknown.
var counts = []string{
	"allocationCount", "jankyFrameCount", "jankyFrameCountLegacy", "vsyncMissedFrameCount",
	"deadlineMissedFrameCount", "deadlineMissedFrameCountLegacy", "slowUiThreadFrameCount",
	"slowBitmapUploadFrameCount", "slowIssueDrawCommandsFrameCount", "highInputLatencyFrameCount",
	"minorPageFaults", "majorPageFaults", "pageFaultsBackedBySwapCache", "pageFaultsBackedByReadIO",
	"memoryCompactionEvents", "memoryReclaimEvents",
	"instructions", "cpuCycles", "branchMisses", "L1DMisses",
}
