// Package metric is the catalogue of what apkgate measures: every metric's name, unit, direction
// (is more better?), scale and display.
//
// Nothing else in apkgate knows a metric's unit or direction. A package that needs to decide
// whether 7 is worse than 5 asks the catalogue.
package metric

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Direction says which way is better.
type Direction int8

// The directions a metric can have.
const (
	Neutral        Direction = iota // neither way is better: shown, never gated
	HigherIsBetter                  // more is better: frames.count, frames.smooth_ratio
	LowerIsBetter                   // less is better: times, energy, janks
)

// String returns the direction as spelled in apkgate.yml.
func (d Direction) String() string {
	switch d {
	case HigherIsBetter:
		return "higher"
	case LowerIsBetter:
		return "lower"
	default:
		return "neutral"
	}
}

// Directions returns the spellings that ParseDirection accepts.
func Directions() []string { return []string{"higher", "lower", "neutral"} }

// ParseDirection parses "higher", "lower" or "neutral": the better direction.
func ParseDirection(s string) (Direction, error) {
	switch s {
	case "higher":
		return HigherIsBetter, nil
	case "lower":
		return LowerIsBetter, nil
	case "neutral":
		return Neutral, nil
	}
	return Neutral, fmt.Errorf("direction %q is not one of %s", s, strings.Join(Directions(), ", "))
}

// Metric is one entry of the catalogue.
type Metric struct {
	Name      string
	Unit      string // "ms", "J", "W", "kB", "ratio", "frames", "" for a plain count
	Direction Direction
	Title     string // a few words for people: "smooth ratio"
	Decimals  int    // digits after the point in reports
	// Of names the metric that this one details (a percentile of a mean, the janky frames of a
	// smooth ratio, the bytes that cost joules). A detail is judged where its summary is absent or
	// where it is configured: testing both would be the same test twice.
	Of string
	// OnRequest marks a metric that is judged only where a policy names it: fewer frames are worse
	// where frames are lost, and better where needless ones are avoided.
	OnRequest bool
	// Traced marks a metric that is only read from a system trace: runs have it where one was
	// recorded.
	Traced bool
	// Counted marks a metric that counts the app's work: a clear increase is shown with the times
	// that got worse, whether it is judged or not.
	Counted bool
	// Log marks a metric whose noise is multiplicative rather than additive (times, joules), so
	// that differences are judged on the log scale.
	Log bool
	// Odds marks a share of 1 whose differences are judged as odds.
	Odds bool
	// Span is how many times as far as a mean the metric moves, on the scale of logarithms or of
	// odds, for a change that matters as much: the tail of a distribution spreads wider than its
	// middle. 0 is 1.
	Span float64
	// Decides marks a metric that decides for a whole run by default: there are few, so that a
	// check settles all of them. The others are shown, and fail a run where there is no doubt. A
	// metric that a policy or a budget names decides too.
	Decides bool
	// Sums marks a metric whose value for a whole run is the sum of its events' values: counts,
	// joules, time used, but no mean, ratio or level.
	Sums bool
	// Ratio marks a share of 1, whatever unit it is shown in: it lies from 0 to 1, and its changes
	// are reported in percentage points. A metric whose unit is "ratio" is one.
	Ratio bool
	// Signed marks a metric whose values may be below zero, so that none of them is a share of
	// another: changes are reported in the metric's unit, and matter from Resolution on. By default
	// a signed metric is neutral.
	Signed bool
	// Mean is set where iterations are summarized by their mean whatever the policy: the median of
	// a rare event's counts is zero.
	Mean bool
	// Within names the context property in which two runs must agree for their values to be
	// comparable: joules of one source are not comparable with another's.
	Within string
	// Unsaid is the way in which runs without the property Within were measured.
	Unsaid string
	// Resolution is the smallest difference that means anything, in Unit: a smaller one is never a
	// change.
	Resolution float64
	// Restless is the least spread, as a share of the value, that readings of the metric are
	// assumed to have. Counts of frames and ratios saturate: at sixty frames a second a history can
	// show no spread at all, which does not prove that the next reading will not vary.
	Restless float64
	// Exact marks a metric of the build rather than of a run: it is read without noise, and any
	// difference is real.
	Exact bool
}

// ratio is the unit of a share of 1.
const ratio = "ratio"

// leastRestless is the Restless of a metric that states none.
const leastRestless = 0.005

// Format formats a value of the metric with its unit: "16.67 ms", "95.0 %".
func (m Metric) Format(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	switch {
	case m.Ratio:
		return strconv.FormatFloat(100*v, 'f', max(m.Decimals-2, 0), 64) + " %"
	case m.Unit == "", m.Unit == "frames":
		return strconv.FormatFloat(v, 'f', countDecimals(v, m.Decimals), 64)
	}
	return strconv.FormatFloat(v, 'f', m.Decimals, 64) + " " + m.Unit
}

// moreDigits is the largest number of extra digits for two values that are shown together.
const moreDigits = 6

// leastReported is the least reported change, as a share: it rounds to a hundredth of a per cent.
const leastReported = 0.00005

// Beside formats two values that are compared, with extra digits where the usual ones would not
// show their difference.
func (m Metric) Beside(a, b float64) (string, string) {
	usual := m.Decimals
	for m.Decimals < usual+moreDigits && !m.showsDifference(a, b) {
		m.Decimals++
	}
	return m.Format(a), m.Format(b)
}

// showsDifference reports whether the formatted values differ as the values do: for a share visibly, and where
// one is reported as a share of the other, to half a per cent, for a small change to half of a
// tenth, for a very small one to half of a hundredth.
func (m Metric) showsDifference(a, b float64) bool {
	x, y := m.shown(a), m.shown(b)
	switch {
	case m.Signed, a < 0, b < 0:
		return true
	case m.Ratio:
		return x != y || math.Abs(a-b) < leastReported
	case b == 0:
		return x != y || a == 0
	}
	change := a/b - 1
	step := 0.01 * max(1, math.Abs(change))
	switch size := math.Abs(change); {
	case size < leastReported:
		return true
	case size < 0.0005:
		step = 0.0001
	case size < 0.1:
		step = 0.001
	}
	return y != 0 && math.Abs(x/y-1-change) <= step/2
}

// shown returns the value as Format rounds it, of a ratio in per cent.
func (m Metric) shown(v float64) float64 {
	number, _, _ := strings.Cut(m.Format(v), " ")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// Way returns how the metric's values were measured in a run of that context: Unsaid for a run that
// doesn't record it, "" for a metric that is measured in one way only.
func (m Metric) Way(context map[string]string) string {
	if m.Within == "" {
		return ""
	}
	return cmp.Or(context[m.Within], m.Unsaid)
}

// Comparable reports whether values of the metric in runs of two contexts are the same quantity:
// joules of one source are not comparable with another's. Runs that don't record the source are
// comparable with each other and with no others.
func (m Metric) Comparable(a, b map[string]string) bool { return m.Way(a) == m.Way(b) }

// countDecimals returns the decimals of a count: none for a whole one, even if it was computed by
// logarithms.
func countDecimals(v float64, decimals int) int {
	if math.Abs(v-math.Round(v)) <= 1e-9*math.Abs(v) {
		return decimals
	}
	return max(decimals, 1)
}

// EnergyFrom is the context property with the source of the joules: "rails", "battery", "platform",
// or "model" and the profile of the model, as in "model reference-phone". Joules of one source are
// never compared with those of another.
const EnergyFrom = "energy_from"

// FramesBy is the context property that says how frames were counted and timed: "timeline" by
// Android's compositor, "shown" by when it showed them, "gfxinfo" by Android's graphics library, in
// imported runs also "deadline" and "cpu_time" (docs/format/import.md). Frames of one kind are
// never compared with those of another. A run without it was measured when apkgate only had
// gfxinfo.
const (
	FramesBy   = "frames_by"
	ByTimeline = "timeline"
	ByShown    = "shown"
	ByGfxinfo  = "gfxinfo"
)

var builtin = []Metric{
	{Name: "frames.count", Unit: "frames", Direction: HigherIsBetter, Title: "frames rendered", OnRequest: true, Sums: true, Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 1, Restless: 0.03},
	{Name: "frames.smooth_ratio", Unit: ratio, Direction: HigherIsBetter, Title: "smooth ratio", Decimals: 3, Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.001, Restless: 0.02, Odds: true, Span: oddsSpan, Decides: true},
	{Name: "frames.janky", Unit: "frames", Direction: LowerIsBetter, Title: "janky frames", Sums: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 1},
	{Name: "frames.slow", Unit: "frames", Direction: LowerIsBetter, Title: "slow frames", Sums: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 1},
	{Name: "frames.late", Unit: "frames", Direction: LowerIsBetter, Title: "frames after the display's deadline", OnRequest: true, Sums: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 1},
	{Name: "frames.frozen", Unit: "frames", Direction: LowerIsBetter, Title: "frozen frames", Sums: true, Of: "frames.smooth_ratio", Mean: true, Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.05, Decides: true},
	{Name: "frames.duration_ms", Unit: "ms", Direction: LowerIsBetter, Title: "time per frame", Decimals: 2, Log: true, Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.01, Restless: 0.01, Decides: true},
	{Name: "frames.duration_ms.p50", Unit: "ms", Direction: LowerIsBetter, Title: "time per frame, median", Decimals: 2, Log: true, Of: "frames.duration_ms", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.01},
	{Name: "frames.duration_ms.p90", Unit: "ms", Direction: LowerIsBetter, Title: "time per frame, 90th percentile", Decimals: 2, Log: true, Of: "frames.duration_ms", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.01, Span: 1.5},
	{Name: "frames.duration_ms.p95", Unit: "ms", Direction: LowerIsBetter, Title: "time per frame, 95th percentile", Decimals: 2, Log: true, Of: "frames.duration_ms", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.01, Span: 2, Decides: true},
	{Name: "frames.duration_ms.p99", Unit: "ms", Direction: LowerIsBetter, Title: "time per frame, 99th percentile", Decimals: 2, Log: true, Of: "frames.duration_ms", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.01, Span: 3},
	{Name: "frames.overrun_ms", Unit: "ms", Title: "time beyond the deadline", Decimals: 2, Signed: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.5},
	{Name: "frames.overrun_ms.p50", Unit: "ms", Title: "time beyond the deadline, median", Decimals: 2, Signed: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.5},
	{Name: "frames.overrun_ms.p90", Unit: "ms", Title: "time beyond the deadline, 90th percentile", Decimals: 2, Signed: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.5},
	{Name: "frames.overrun_ms.p95", Unit: "ms", Title: "time beyond the deadline, 95th percentile", Decimals: 2, Signed: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.5},
	{Name: "frames.overrun_ms.p99", Unit: "ms", Title: "time beyond the deadline, 99th percentile", Decimals: 2, Signed: true, Of: "frames.smooth_ratio", Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 0.5},
	{Name: "events.settled_ms", Unit: "ms", Direction: LowerIsBetter, Title: "time until an event's last frame", Decimals: 0, Log: true, OnRequest: true, Within: FramesBy, Unsaid: ByGfxinfo, Resolution: 8},
	{Name: "anr.count", Unit: "", Direction: LowerIsBetter, Title: "ANRs", Sums: true, Mean: true, Resolution: 0.02, Decides: true},
	{Name: "anr.input", Direction: LowerIsBetter, Title: "ANRs by input", OnRequest: true, Sums: true, Of: "anr.count", Mean: true, Resolution: 0.02},
	{Name: "anr.broadcast", Direction: LowerIsBetter, Title: "ANRs by a broadcast", OnRequest: true, Sums: true, Of: "anr.count", Mean: true, Resolution: 0.02},
	{Name: "anr.service", Direction: LowerIsBetter, Title: "ANRs by a service", OnRequest: true, Sums: true, Of: "anr.count", Mean: true, Resolution: 0.02},
	{Name: "anr.provider", Direction: LowerIsBetter, Title: "ANRs by a content provider", OnRequest: true, Sums: true, Of: "anr.count", Mean: true, Resolution: 0.02},
	{Name: "anr.job", Direction: LowerIsBetter, Title: "ANRs by a job", OnRequest: true, Sums: true, Of: "anr.count", Mean: true, Resolution: 0.02},
	{Name: "anr.start", Direction: LowerIsBetter, Title: "ANRs by the start of a process", OnRequest: true, Sums: true, Of: "anr.count", Mean: true, Resolution: 0.02},
	{Name: "anr.other", Direction: LowerIsBetter, Title: "ANRs by something else", OnRequest: true, Sums: true, Of: "anr.count", Mean: true, Resolution: 0.02},
	{Name: "snr.count", Direction: LowerIsBetter, Title: "times that Android did not respond", OnRequest: true, Sums: true, Mean: true, Resolution: 0.02},
	{Name: "energy.total_j", Unit: "J", Direction: LowerIsBetter, Title: "energy", Sums: true, Decimals: 2, Log: true, Within: EnergyFrom, Resolution: 0.00001, Decides: true},
	{Name: "energy.app_j", Unit: "J", Direction: LowerIsBetter, Title: "energy of the app", Sums: true, Decimals: 2, Log: true, Within: EnergyFrom, Of: "energy.total_j", Resolution: 0.00001},
	{Name: "power.mean_w", Unit: "W", Direction: LowerIsBetter, Title: "mean power", Decimals: 3, Log: true, Within: EnergyFrom, Of: "energy.total_j", Resolution: 0.00001},
	{Name: "cpu.time_ms", Unit: "ms", Direction: LowerIsBetter, Title: "CPU time", Sums: true, Decimals: 0, Log: true, Resolution: 1},
	{Name: "wakelock.time_ms", Unit: "ms", Direction: LowerIsBetter, Title: "wakelocks held", Sums: true, Decimals: 0, Log: true, Resolution: 1000, Decides: true},
	{Name: "wakelock.screen_off_ms", Unit: "ms", Direction: LowerIsBetter, Title: "wakelocks held while the screen is off", Sums: true, Decimals: 0, Log: true, Of: "wakelock.time_ms", Resolution: 1000},
	{Name: "network.rx_bytes", Unit: "B", Direction: LowerIsBetter, Title: "bytes received", Sums: true, Decimals: 0, Log: true, Of: "energy.total_j", Resolution: 10_000},
	{Name: "network.tx_bytes", Unit: "B", Direction: LowerIsBetter, Title: "bytes sent", Sums: true, Decimals: 0, Log: true, Of: "energy.total_j", Resolution: 10_000},
	{Name: "startup.ttid_ms", Unit: "ms", Direction: LowerIsBetter, Title: "time to initial display", Decimals: 1, Log: true, Resolution: 0.1, Decides: true},
	{Name: "startup.ttfd_ms", Unit: "ms", Direction: LowerIsBetter, Title: "time to full display", Decimals: 1, Log: true, Resolution: 0.1, Decides: true},
	{Name: "memory.pss_kb", Unit: "kB", Direction: LowerIsBetter, Title: "memory (PSS)", Decimals: 0, Log: true, Resolution: 1},
	{Name: "memory.peak_rss_kb", Unit: "kB", Direction: LowerIsBetter, Title: "most memory (RSS)", Decimals: 0, Log: true, Of: "memory.pss_kb", Resolution: 256, Restless: 0.02},
	{Name: "memory.rss_kb", Unit: "kB", Direction: LowerIsBetter, Title: "memory (RSS)", Decimals: 0, Log: true, OnRequest: true, Resolution: 256},
	{Name: "watching.cpu_ms", Unit: "ms", Direction: LowerIsBetter, Title: "CPU time of watching", Sums: true, Decimals: 0, Log: true, OnRequest: true, Resolution: 10},
	{Name: "gc.time_ms", Unit: "ms", Direction: LowerIsBetter, Title: "time of garbage collections", Sums: true, Decimals: 1, Log: true, OnRequest: true, Traced: true, Resolution: 1},
	{Name: "gc.count", Direction: LowerIsBetter, Title: "garbage collections", Sums: true, Mean: true, OnRequest: true, Traced: true, Resolution: 1},
	{Name: "tasks.queued_ms", Unit: "ms", Direction: LowerIsBetter, Title: "longest wait of a task in its queue", Decimals: 0, OnRequest: true, Traced: true, Resolution: 2},
	{Name: "tasks.ran_ms", Unit: "ms", Direction: LowerIsBetter, Title: "longest task", Decimals: 0, OnRequest: true, Traced: true, Resolution: 2},
	{Name: "tasks.waiting", Direction: LowerIsBetter, Title: "most tasks waiting in a queue", OnRequest: true, Traced: true, Resolution: 1},
	{Name: "work.frames", Direction: LowerIsBetter, Title: "frames begun", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 2, Restless: 0.01},
	{Name: "work.measures", Direction: LowerIsBetter, Title: "passes of measure", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 2, Restless: 0.01},
	{Name: "work.layouts", Direction: LowerIsBetter, Title: "passes of layout", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 2, Restless: 0.01},
	{Name: "work.draws", Direction: LowerIsBetter, Title: "draws of a window", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 2, Restless: 0.01},
	{Name: "work.inflations", Direction: LowerIsBetter, Title: "layouts inflated", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 1, Restless: 0.01},
	{Name: "work.recompositions", Direction: LowerIsBetter, Title: "recompositions", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 1, Restless: 0.01},
	{Name: "work.transactions", Direction: LowerIsBetter, Title: "binder transactions of the main thread", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 2, Restless: 0.01},
	{Name: "work.syncs", Direction: LowerIsBetter, Title: "files synced to storage", Sums: true, Log: true, OnRequest: true, Counted: true, Traced: true, Resolution: 1, Restless: 0.01},
	{Name: "work.page_faults", Direction: LowerIsBetter, Title: "minor page faults", Sums: true, Log: true, OnRequest: true, Counted: true, Resolution: 100, Restless: 0.01},
	{Name: "work.waits", Direction: LowerIsBetter, Title: "waits of the main thread", Sums: true, Log: true, OnRequest: true, Counted: true, Resolution: 10, Restless: 0.01},
	{Name: "apk.size_bytes", Unit: "B", Direction: LowerIsBetter, Title: "size of the app's APKs", OnRequest: true, Exact: true, Resolution: 1},
	{Name: "apk.installed_bytes", Unit: "B", Direction: LowerIsBetter, Title: "size of the app as installed", OnRequest: true, Exact: true, Resolution: 1},
	{Name: "apk.dex_files", Direction: LowerIsBetter, Title: "dex files", OnRequest: true, Exact: true, Resolution: 1},
	{Name: "apk.dex_methods", Direction: LowerIsBetter, Title: "methods in dex files", OnRequest: true, Exact: true, Resolution: 1},
}

// Catalogue contains the built-in metrics and those that a user declared.
type Catalogue struct {
	metrics map[string]Metric
	order   map[string]int
}

// Default returns the built-in catalogue.
func Default() *Catalogue {
	c := &Catalogue{metrics: map[string]Metric{}, order: map[string]int{}}
	for _, m := range builtin {
		c.add(m)
	}
	return c
}

func (c *Catalogue) add(m Metric) {
	if !m.Exact {
		m.Restless = max(m.Restless, leastRestless)
	}
	m.Ratio = m.Ratio || m.Unit == ratio
	if _, known := c.order[m.Name]; !known {
		c.order[m.Name] = len(c.order)
	}
	c.metrics[m.Name] = m
}

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$`)

// ValidName reports whether name can name a metric: a letter, then up to 127 letters, digits, and
// any of _ . : / -
func ValidName(name string) bool { return namePattern.MatchString(name) }

// With returns a catalogue with the given metrics added; one with a built-in name replaces it. A
// new one decides, unless it details another, since it was declared on purpose.
func (c *Catalogue) With(metrics ...Metric) (*Catalogue, error) {
	out := &Catalogue{metrics: maps.Clone(c.metrics), order: maps.Clone(c.order)}
	for _, m := range metrics {
		if !ValidName(m.Name) {
			return nil, fmt.Errorf("metric name %q: want a letter, then up to 127 letters, digits or _ . : / -", m.Name)
		}
		_, builtin := c.metrics[m.Name]
		m.Decides = m.Decides || (!builtin && m.Of == "")
		out.add(m)
	}
	return out, nil
}

// Lookup returns the metric of that name and whether the catalogue has it. An unknown one is
// Neutral and has its name, so that it can be shown.
func (c *Catalogue) Lookup(name string) (Metric, bool) {
	m, ok := c.metrics[name]
	if !ok {
		return Metric{Name: name, Title: name, Decimals: 3}, false
	}
	return m, true
}

// Compare orders metric names as the catalogue does, unknown ones last and by name.
func (c *Catalogue) Compare(a, b string) int {
	ia, oka := c.order[a]
	ib, okb := c.order[b]
	switch {
	case oka && okb:
		return ia - ib
	case oka:
		return -1
	case okb:
		return 1
	}
	return strings.Compare(a, b)
}

// All returns the metrics in the catalogue's order.
func (c *Catalogue) All() []Metric {
	names := slices.SortedFunc(maps.Keys(c.metrics), c.Compare)
	out := make([]Metric, len(names))
	for i, n := range names {
		out[i] = c.metrics[n]
	}
	return out
}
