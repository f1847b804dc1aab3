package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// outputDir is the argument with the output folder of androidx.benchmark; Gradle passes the same.
const outputDir = "additionalTestOutputDir"

// arguments returns the instrumentation with the additional arguments of a Macrobenchmark.
func (p Plan) arguments() config.Instrumentation {
	w := *p.Scenario.Workload.Instrumentation
	if w.Macrobenchmark && w.Args[outputDir] == "" {
		w.Args = maps.Clone(w.Args)
		if w.Args == nil {
			w.Args = map[string]string{}
		}
		w.Args[outputDir] = p.OutputDir()
	}
	return w
}

// OutputDir returns the folder in which a Macrobenchmark leaves its files.
func (p Plan) OutputDir() string {
	w := p.Scenario.Workload.Instrumentation
	if dir := w.Args[outputDir]; dir != "" {
		return dir
	}
	return target.ResultsOf(w.TestPackage)
}

// ClearOutput removes the files of an earlier run, which would pass for results.
func (p Plan) ClearOutput(ctx context.Context) error {
	if _, given := p.Scenario.Workload.Instrumentation.Args[outputDir]; given {
		return p.Target.Try(ctx, "sh", "-c", "rm -f "+device.Quote(p.OutputDir())+"/*"+resultEnd)
	}
	noted := target.Change{Kind: target.Results, Name: p.Scenario.Workload.Instrumentation.TestPackage}
	if err := p.Target.Do(ctx, ":", noted); err != nil {
		return err
	}
	dir := device.Quote(p.OutputDir())
	out, err := p.Target.Ask(ctx, "rm -rf "+dir+"; mkdir -p "+dir)
	return target.Answered("make a folder for the results of the Macrobenchmark", out, err)
}

// The suffixes of a Macrobenchmark's files.
const (
	resultEnd = "benchmarkData.json"
	traceEnd  = ".perfetto-trace"
)

// outputName matches the names of fetched files. Macrobenchmark puts the parameters of tests into
// the names of traces.
var outputName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _.,=()\[\]-]{0,250}$`)

// maxOutputs limits how many files are looked at.
const maxOutputs = 1000

// Outputs lists the files of results and the traces that a Macrobenchmark has left, by their names
// in OutputDir. ignored is the number of other files there.
func (p Plan) Outputs(ctx context.Context) (results, traces []string, ignored int, err error) {
	out, err := p.Target.Exec(ctx, "ls", "-1", p.OutputDir())
	if err != nil {
		return nil, nil, 0, fmt.Errorf("list what the Macrobenchmark has left: %w", err)
	}
	if out.ExitCode != 0 {
		return nil, nil, 0, nil
	}
	for line := range strings.Lines(string(out.Stdout)) {
		switch name := strings.TrimRight(line, "\r\n"); {
		case !outputName.MatchString(name) || len(results)+len(traces) == maxOutputs:
			ignored++
		case strings.HasSuffix(name, resultEnd):
			results = append(results, name)
		case strings.HasSuffix(name, traceEnd):
			traces = append(traces, name)
		}
	}
	slices.Sort(traces)
	return results, traces, ignored, nil
}

// ErrTooLarge reports that a file on the device exceeds the limit for reading it.
var ErrTooLarge = errors.New("it is too large")

// Fetch copies a file of OutputDir, up to most bytes.
func (p Plan) Fetch(ctx context.Context, name string, to io.Writer, most int64) error {
	err := p.Target.Device().Pull(ctx, p.OutputDir()+"/"+name, &limited{to: to, left: most})
	if err != nil {
		return fmt.Errorf("copy %s from the device: %w", name, err)
	}
	return nil
}

// limited is a writer that fails beyond its limit.
type limited struct {
	to   io.Writer
	left int64
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= int64(len(b)); l.left < 0 {
		return 0, ErrTooLarge
	}
	return l.to.Write(b)
}

// suppress is the argument that makes a Macrobenchmark measure despite errors.
const suppress = "androidx.benchmark.suppressErrors"

// whatToDo is advice for the errors that androidx.benchmark has ids for.
var whatToDo = map[string]string{
	"DEBUGGABLE":             "measure a build that is not debuggable",
	"EMULATOR":               "measure on a real device",
	"LOW-BATTERY":            "charge the device to 25 % or more",
	"NOT-PROFILEABLE":        "give the app <profileable android:shell=\"true\"/>",
	"NOT-SELF-INSTRUMENTING": "have the test instrument itself (android.experimental.self-instrumenting)",
	"UNLOCKED":               "lock the clocks of the device (Gradle: lockClocks)",
}

var errorID = regexp.MustCompile(`^[A-Z0-9][A-Z0-9-]{1,60}$`)

// adviceOf returns advice for the errors whose ids begin a text, and how to measure in spite of
// them.
func adviceOf(text string) string {
	var ids, what []string
	for _, id := range strings.Fields(text) {
		if !errorID.MatchString(id) {
			break
		}
		ids = append(ids, id)
		if do := whatToDo[id]; do != "" {
			what = append(what, do)
		}
	}
	return strings.Join(append(what, fmt.Sprintf("or measure anyway, at the cost of accuracy: args: {%s: %q}", suppress, strings.Join(ids, ","))), "; ")
}

// Measures reports whether the instrumentation's output shows that it is of androidx.benchmark, and
// measures by itself.
func (r *Running) Measures() bool { return r.tests.measures }
