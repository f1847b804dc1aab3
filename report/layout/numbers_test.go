package layout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// shownNumber is a number as a reader reads it: its value, its rounding error, and its unit.
type shownNumber struct {
	value, half float64
	unit        string
}

var numberPattern = regexp.MustCompile(`^([+−-]?)(\d+(?:\.\d+)?(?:e[+-]?\d+)?) ?(.*)$`)

func asRead(t *testing.T, text string) shownNumber {
	t.Helper()
	text = strings.ReplaceAll(text, "\u00a0", " ")
	parts := numberPattern.FindStringSubmatch(text)
	if parts == nil {
		t.Fatalf("%q is no number", text)
	}
	v, err := strconv.ParseFloat(parts[2], 64)
	if err != nil {
		t.Fatal(err)
	}
	if parts[1] != "" && parts[1] != "+" {
		v = -v
	}
	_, decimals, _ := strings.Cut(parts[2], ".")
	return shownNumber{v, 0.5*math.Pow(10, -float64(len(decimals))) + 1e-9*math.Abs(v), parts[3]}
}

// follows reports whether the shown change follows from the two shown numbers, as precisely as all
// three are.
func follows(t *testing.T, value, expected, change string) bool {
	t.Helper()
	v, e := asRead(t, value), asRead(t, expected)
	text := strings.ReplaceAll(change, "\u00a0", " ")
	if factor, ok := strings.CutPrefix(text, "×"); ok {
		f := asRead(t, factor)
		return e.value > 0 && math.Abs(v.value/e.value-f.value) <= f.half+0.01*f.value
	}
	if text == "new" {
		return e.value == 0 && v.value != 0
	}
	c := asRead(t, text)
	if c.unit != "%" || v.unit == "%" { // in the metric's unit, or in points of a share
		return math.Abs(v.value-e.value-c.value) <= v.half+e.half+c.half
	}
	if e.value == 0 {
		return v.value == 0 && c.value == 0
	}
	if v.value == e.value && c.value != 0 {
		return false // numbers shown as equal must not differ
	}
	return math.Abs(100*(v.value/e.value-1)-c.value) <= c.half+max(0.05, math.Abs(c.value)/100)+2*c.half
}

// drawnComparisons returns comparisons of every metric: values of all sizes, changes from
// negligible to manifold, against a history and in rounds whose builds drift apart.
func drawnComparisons(n int) map[string][]gate.Comparison {
	rng := rand.New(rand.NewPCG(20, 1))
	out := map[string][]gate.Comparison{}
	for _, m := range metric.Default().All() {
		for range n {
			out[m.Name] = append(out[m.Name], drawnComparison(rng, m))
		}
	}
	return out
}

func drawnComparison(rng *rand.Rand, m metric.Metric) gate.Comparison {
	from := math.Pow(10, 6*rng.Float64()-1)
	share := []float64{0, 1e-5, 0.0004, 0.006, 0.05, 0.3, 0.8, 20}[rng.IntN(8)] * (2*rng.Float64() - 0.7)
	to := max(from*(1+share), 0)
	switch {
	case m.Ratio:
		from = 1 - math.Pow(rng.Float64(), 3)
		to = min(max(from*(1+share), 0), 1)
	case m.Signed:
		from, to = (rng.Float64()-0.5)*2000, (rng.Float64()-0.5)*2000
	case rng.IntN(10) == 0:
		from = 0
	}
	if (m.Unit == "frames" || m.Unit == "") && rng.IntN(2) == 0 {
		from, to = math.Round(from), math.Round(to)
	}
	c := gate.Comparison{Metric: m.Name, Direction: gate.ToRegression, Value: to, Expected: from, N: 40, P: 0.002}
	if from != 0 && !m.Signed {
		c.Change = to/from - 1
		low, high := c.Change-0.03, c.Change+0.03
		c.Low, c.High = &low, &high
	}
	if rng.IntN(2) == 0 {
		return c
	}
	drift := 1 + 0.2*(rng.Float64()-0.5) // of the phone from one round to the next, which cancels in pairs
	x := &gate.RoundsComparison{Rounds: 12, Base: from, Head: to * drift, Shift: to - from, P: 0.001}
	x.ShiftLow, x.ShiftHigh = new(x.Shift-0.01*math.Abs(from)), new(x.Shift+0.01*math.Abs(from))
	x.ChangeLow, x.ChangeHigh = new(0.0), new(0.0)
	if from != 0 && !m.Signed {
		x.Change = x.Shift / from
		x.ChangeLow, x.ChangeHigh = new(x.Change-0.01), new(x.Change+0.01)
	}
	c.Rounds, c.Value, c.Expected = x, to*drift*1.1, from*0.9
	if c.Expected != 0 && !m.Signed {
		c.Change = c.Value/c.Expected - 1
	}
	return c
}

func findingOf(m metric.Metric, c gate.Comparison) finding {
	r := &gate.RunVerdict{ID: "r", Scenario: "scroll", App: run.App{Package: "app"}, Context: map[string]string{"model": "Pixel 7"}}
	return finding{cell: cell{"scroll", "", m.Name}, Metric: m, Direction: c.Direction, Hits: []hit{{r, c}}, Compared: 1}
}

var (
	insteadOf = regexp.MustCompile(`(?:is|are) ([^ ]+) instead of ([^ ]+)`)
	expectedV = regexp.MustCompile(`(?:is|are) ([^ ]+) where ([^ ]+) (?:is|are) expected`)
	moreOr    = regexp.MustCompile(`([\d.]+) (%|times) (higher|lower|more|fewer|as high|as many)`)
	described = regexp.MustCompile(`: (\S+(?: (?:ms|s|J|W|kB|%|MB|°C|mA|B|µJ|mW|mAh|kB/s|/s|Hz))?) where (?:the base build has )?(\S+(?: (?:ms|s|J|W|kB|%|MB|°C|mA|B|µJ|mW|mAh|kB/s|/s|Hz))?) (?:was expected|in 12 rounds) \(([^,)]+)`)
)

// For every metric, each row, headline and sentence with a change has the two numbers from which it
// follows, whether they are of a history or the median of pairs.
func TestChangesFollowFromTheNumbersShown(t *testing.T) {
	seen := map[string]int{}
	for name, all := range drawnComparisons(150) {
		m, _ := metric.Default().Lookup(name)
		for _, c := range all {
			f := findingOf(m, c)
			cells := f.row("what", false).Cells
			expected, value, changed := cells[1], cells[2], cells[3]
			if !follows(t, value, expected, changed) {
				t.Errorf("%s: a row says %s where %s is expected, and a change of %s (%+v)", name, value, expected, changed, c.Rounds)
			}
			headline := strings.ReplaceAll(f.lead(), "\u00a0", "_")
			for _, pattern := range []*regexp.Regexp{insteadOf, expectedV} {
				for _, found := range pattern.FindAllStringSubmatch(headline, -1) {
					seen["two numbers"]++
					if v, e := strings.ReplaceAll(found[1], "_", "\u00a0"), strings.ReplaceAll(found[2], "_", "\u00a0"); v != value || e != expected {
						t.Errorf("%s: the headline says %q, its row %s where %s is expected", name, headline, value, expected)
					}
				}
			}
			for _, found := range moreOr.FindAllStringSubmatch(strings.ReplaceAll(headline, "_", " "), -1) {
				seen["amount"]++
				if !agrees(t, found, changed) {
					t.Errorf("%s: the headline says %q, its row a change of %s", name, headline, changed)
				}
			}
			checkDescribed(t, m, c, seen)
			checkCompared(t, m, c, seen)
		}
	}
	for _, what := range []string{"two numbers", "amount", "reason", "compared"} {
		if seen[what] < 500 {
			t.Errorf("only %d texts with %s were checked", seen[what], what)
		}
	}
}

// agrees reports whether "38 % fewer" or "18 times as high" is the change of the row.
func agrees(t *testing.T, found []string, changed string) bool {
	t.Helper()
	amount := asRead(t, found[1])
	if factor, ok := strings.CutPrefix(changed, "×"); ok {
		return found[2] == "times" && asRead(t, factor).value == amount.value
	}
	c := asRead(t, changed)
	less := found[3] == "lower" || found[3] == "fewer"
	return found[2] == "%" && math.Abs(c.value) == amount.value && (c.value < 0) == (less && amount.value != 0)
}

// checkDescribed checks the sentence in a run's reason.
func checkDescribed(t *testing.T, m metric.Metric, c gate.Comparison, seen map[string]int) {
	t.Helper()
	text := gate.Describe(c, m, 0.99)
	if c.Rounds == nil && c.Change == 0 && !m.Signed {
		return // no change to check
	}
	found := described.FindStringSubmatch(text)
	if found == nil {
		t.Errorf("%s: a reason without two numbers and a change: %s", m.Name, text)
		return
	}
	seen["reason"]++
	if !follows(t, found[1], found[2], found[3]) {
		t.Errorf("%s: a reason says %s", m.Name, text)
	}
}

// checkCompared checks the row and the sentence of a comparison of two builds.
func checkCompared(t *testing.T, m metric.Metric, c gate.Comparison, seen map[string]int) {
	t.Helper()
	x := c.Rounds
	if x == nil {
		return
	}
	in := ComparisonInput{Catalogue: metric.Default()}
	d := sidebyside.Difference{Base: x.Base, Head: x.Head, Shift: x.Shift, Change: x.Change, P: x.P,
		ShiftLow: x.ShiftLow, ShiftHigh: x.ShiftHigh, ChangeLow: x.ChangeLow, ChangeHigh: x.ChangeHigh}
	for _, limit := range []*float64{nil, new(x.Head / 2)} {
		d.Limit = limit
		cells := in.cells(sidebyside.Scenario{}, sidebyside.Comparison{Metric: m.Name}, -1, gate.ToRegression, d)
		seen["compared"]++
		if !follows(t, cells[2], cells[1], cells[3]) {
			t.Errorf("%s: a comparison says %s and %s, and a change of %s (limit %v)", m.Name, cells[1], cells[2], cells[3], limit != nil)
		}
	}
}

// Two values that differ are never shown as equal, as in "99.3 % instead of 99.3 %", if a few more
// digits show the difference.
func TestEqualTextsAreEqualNumbers(t *testing.T) {
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	c := gate.Comparison{Metric: smooth.Name, Direction: gate.ToRegression, Value: 0.9931, Expected: 0.9934, Change: 0.9931/0.9934 - 1, N: 40, P: 0.001}
	f := findingOf(smooth, c)
	if got := strings.ReplaceAll(f.lead(), "\u00a0", " "); !strings.Contains(got, "99.31 % instead of 99.34 %") {
		t.Errorf("the headline is %q", got)
	}
	if cells := f.row("", false).Cells; strings.ReplaceAll(fmt.Sprint(cells[1:4]), "\u00a0", " ") != "[99.34 % 99.31 % −0.03 pp]" {
		t.Errorf("the row is %q", cells[1:4])
	}
}

// Where a phone slows down over the rounds, the median of the head's values lies above that of the
// base's though the head is faster in each pair. The row shows the result of the pairs.
func TestMiddleOfPairs(t *testing.T) {
	cpu, _ := metric.Default().Lookup("cpu.time_ms")
	c := gate.Comparison{Metric: cpu.Name, Direction: gate.None, Value: 2700, Expected: 2400, Change: 0.125, N: 40,
		Rounds: &gate.RoundsComparison{Rounds: 12, Base: 2570, Head: 2645, Shift: -12.85, Change: -0.005}}
	cells := findingOf(cpu, c).row("", false).Cells
	if got := strings.ReplaceAll(fmt.Sprint(cells[1:4]), "\u00a0", " "); got != "[2570 ms 2557 ms −0.5 %]" {
		t.Errorf("the row is %s", got)
	}
}
