package importer

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// The output of `am instrument -r` from androidx.benchmark, for where its files can't be obtained:
// for each test the median of each metric, and the percentiles of its samples (androidx.benchmark,
// InstrumentationResults.kt, MetricResult.kt and MetricNameUtils.kt).
const (
	statusLine = "INSTRUMENTATION_STATUS: "
	codeLine   = "INSTRUMENTATION_STATUS_CODE: "
	// printedSuffix separates printed metrics from those in a file: the file has the percentiles of
	// each repetition, the output those over all of them.
	printedSuffix = "_log"
)

// isPrinted reports whether a line of the text has the status of an instrumentation.
func isPrinted(data []byte) bool {
	return bytes.HasPrefix(data, []byte(statusLine)) || bytes.Contains(data, []byte("\n"+statusLine))
}

// printed reads the output of an instrumentation: a run for each test class.
func (im *importing) printed(data []byte) error {
	p := printing{begun: map[string]bool{}, tests: map[string]*printedTest{}}
	for line := range bytes.Lines(data) {
		if err := p.take(line); err != nil {
			return err
		}
	}
	if len(p.order) == 0 {
		return errors.New("it has no results of androidx.benchmark: want lines such as INSTRUMENTATION_STATUS: time_to_initial_display_millis_median=312.5, and what follows them up to INSTRUMENTATION_STATUS_CODE")
	}
	var all []benchmark
	for i, test := range p.order {
		b := test.benchmark
		b.at = fmt.Sprintf("test %d", i+1)
		if len(b.lengths()) > run.MaxMetrics {
			return fmt.Errorf("%s has %d metrics, at most %d are allowed", b.at, len(b.lengths()), run.MaxMetrics)
		}
		all = append(all, b)
	}
	warned := len(im.warnings)
	for _, name := range p.failed {
		im.warnf("the test %s failed", prose.Short(name))
	}
	if missing := p.expected - len(p.begun); missing > 0 {
		im.warnf("of %s it has %d: it was cut", prose.Count(p.expected, "test", "tests"), len(p.begun))
	}
	for _, name := range slices.Sorted(maps.Keys(p.begun)) {
		if !p.begun[name] && p.tests[name] == nil {
			im.warnf("the test %s has neither results nor an end: it was cut", prose.Short(name))
		}
	}
	return im.benchmarks(all, deviceContext{}, data, warned)
}

// printing is what has been read so far.
type printing struct {
	block    map[string]string // since the last code
	class    string            // of the present test
	test     string
	begun    map[string]bool // whether it has ended
	failed   []string
	expected int // tests, 0 where unknown
	tests    map[string]*printedTest
	order    []*printedTest
}

type printedTest struct {
	benchmark benchmark
	values    map[string]float64 // as printed
}

// mostBlock limits the values of a block.
const mostBlock = 4 * run.MaxMetrics

// take reads a line. A line without a status belongs to the value above it, which is not used.
func (p *printing) take(line []byte) error {
	text := strings.TrimRight(string(line[:min(len(line), maxPrintedLine)]), "\r\n")
	if pair, is := strings.CutPrefix(text, statusLine); is && len(p.block) < mostBlock {
		if p.block == nil {
			p.block = map[string]string{}
		}
		name, value, _ := strings.Cut(pair, "=")
		if name != "class" && name != "test" { // the name of a section may have one, a number has none
			at := strings.LastIndexByte(pair, '=')
			name, value = pair[:max(at, 0)], pair[at+1:]
		}
		p.block[name] = value
	}
	code, is := strings.CutPrefix(text, codeLine)
	if !is {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(code))
	if err == nil {
		err = p.end(n)
	} else {
		err = nil // not a code that anything prints: what it ends is left out
	}
	p.block = nil
	return err
}

// maxPrintedLine limits a line: a name of a metric with a number.
const maxPrintedLine = 1 << 10

// end ends a block with its code: 1 begins a test, 0 and less end one, and 2 reports on it.
func (p *printing) end(code int) error {
	if class, test := p.block["class"], p.block["test"]; class != "" && test != "" {
		p.class, p.test = class, test
	}
	if p.class == "" {
		return nil
	}
	name := p.class + "#" + p.test
	p.begun[name] = p.begun[name] || code <= 0
	if len(p.begun) > run.MaxEvents {
		return fmt.Errorf("it has more than %d tests", run.MaxEvents)
	}
	if n, err := strconv.Atoi(p.block["numtests"]); err == nil && n <= run.MaxEvents {
		p.expected = max(p.expected, n)
	}
	if code < 0 {
		p.failed = append(p.failed, name)
	}
	return p.keep(name)
}

// keep keeps the values of a block for its test. Values that occur twice, as where several logs of
// one instrumentation are concatenated, must be equal.
func (p *printing) keep(name string) error {
	for _, key := range slices.Sorted(maps.Keys(p.block)) {
		v, err := strconv.ParseFloat(p.block[key], 64)
		metric, statistic, is := statisticOf(key)
		if err != nil || v-v != 0 || !is {
			continue
		}
		t := p.tests[name]
		if t == nil {
			t = &printedTest{benchmark{name: p.test, className: p.class, repeats: 1, single: map[string][]float64{}, sampled: map[string][][]float64{}, percentiles: map[string]map[string]float64{}}, map[string]float64{}}
			p.tests[name], p.order = t, append(p.order, t)
		}
		if before, twice := t.values[key]; twice && before != v {
			return fmt.Errorf("%s of %s is given twice: %v and %v", prose.Short(key), prose.Short(name), before, v)
		}
		t.values[key] = v
		t.benchmark.add(metric, statistic, v)
	}
	return nil
}

// add adds one statistic of a metric.
func (b *benchmark) add(metric, statistic string, v float64) {
	if statistic == "median" {
		b.single[metric] = []float64{v}
		return
	}
	if b.percentiles[metric] == nil {
		b.percentiles[metric] = map[string]float64{}
	}
	b.percentiles[metric]["."+statistic] = v
}

var (
	// suppressed is the prefix of names where errors were suppressed: "EMULATOR_LOW-BATTERY_".
	suppressed = regexp.MustCompile(`^([A-Z][A-Z-]*_)+([a-z])`)
	statistic  = regexp.MustCompile(`^(.+)_(median|p50|p90|p95|p99)$`)
	underscore = regexp.MustCompile(`_([a-z0-9])`)
	capital    = regexp.MustCompile(`([a-z])([A-Z0-9])`)
)

// statisticOf returns the name of a metric as in files, and the statistic. The minimum and the
// deviation are not read.
func statisticOf(key string) (name, of string, ok bool) {
	m := statistic.FindStringSubmatch(suppressed.ReplaceAllString(key, "$2"))
	if m == nil {
		return "", "", false
	}
	if name, known := byPrinted[m[1]]; known {
		return name, m[2], true
	}
	name = m[1]
	for printed, written := range map[string]string{"_millis": "Ms", "_nanos": "Ns"} {
		if cut, is := strings.CutSuffix(name, printed); is {
			name = cut + written
		}
	}
	return underscore.ReplaceAllStringFunc(name, func(s string) string { return strings.ToUpper(s[1:]) }), m[2], true
}

// byPrinted maps the printed names to those of files.
var byPrinted = func() map[string]string {
	out := map[string]string{}
	for name := range known {
		out[printedName(name)] = name
	}
	for _, name := range append([]string{frameOverrun, "timeNs", "allocationCount"}, frameCPUTime...) {
		out[printedName(name)] = name
	}
	return out
}()

// printedName is toOutputMetricName of MetricNameUtils.kt.
func printedName(name string) string {
	name = capital.ReplaceAllStringFunc(name, func(s string) string { return s[:1] + "_" + strings.ToLower(s[1:]) })
	for written, printed := range map[string]string{"_ms": "_millis", "_ns": "_nanos"} {
		if cut, is := strings.CutSuffix(name, written); is {
			name = cut + printed
		}
	}
	return name
}
