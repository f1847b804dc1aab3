package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// benchmark has a Macrobenchmark measure, and takes what it found: the app is its own
// to start, kill and record, so that nothing else looks at it meanwhile.
func (c *collector) benchmark(ctx context.Context, n int, measured bool) (record.Measurement, error) {
	fail := func(err error) (record.Measurement, error) {
		return record.Measurement{}, c.fail(loss.Infrastructure, journal.Measure, n, err)
	}
	if err := c.plan.ClearOutput(ctx); err != nil {
		return fail(err)
	}
	ended, err := c.runBenchmark(ctx)
	switch {
	case err != nil:
		return fail(err)
	case ended != nil:
		return record.Measurement{}, c.fail(loss.Workload, journal.Measure, n, ended)
	case !measured:
		return record.Measurement{}, nil
	}
	imported, traces, err := c.takeResults(ctx)
	if err != nil {
		return fail(err)
	}
	c.keepTraces(ctx, imported, traces)
	return record.Measurement{Repetition: n, Imported: imported, Unseen: true}, nil
}

// runBenchmark runs it to its end; ended is how it failed, nil where it didn't.
func (c *collector) runBenchmark(ctx context.Context) (ended, err error) {
	w, err := c.plan.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer w.Stop(c.journal)
	timeout, busy := c.job.Scenario.Timeout, c.begins()
	for deadline := c.target.Clock.Now() + timeout; !w.Ended(); busy.tell() {
		if timeout > 0 && c.target.Clock.Now() >= deadline && !w.Settled() {
			w.Stop(c.journal)
			return fmt.Errorf("%w: %v", loss.ErrTimeout, timeout), c.reset(ctx)
		}
		if err := errors.Join(c.target.Renew(ctx), c.target.Rest(ctx, time.Second)); err != nil {
			return nil, err
		}
	}
	ended = w.Judge(c.job.Scenario.Workload, c.job.App.Package)
	if loss.IsGone(ended) {
		return nil, ended
	}
	return ended, nil
}

// takeResults reads the file of results as apkgate import reads it. traces are the
// names of the traces beside it.
func (c *collector) takeResults(ctx context.Context) (_ *run.Run, traces []string, err error) {
	results, traces, ignored, err := c.plan.Outputs(ctx)
	if err != nil {
		return nil, nil, err
	}
	if ignored > 0 {
		c.journal.Warnf("%d files of the Macrobenchmark are passed over, for their names or their number", ignored)
	}
	lost := func(advice, format string, args ...any) (*run.Run, []string, error) {
		err := fmt.Errorf("%w: "+format, append([]any{loss.ErrTestFail}, args...)...)
		return nil, nil, &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: err, Advice: advice}
	}
	if len(results) != 1 {
		return lost("is the test a Macrobenchmark (androidx.benchmark), and may it write there?", "it left %d files of results in %s, want one", len(results), c.plan.OutputDir())
	}
	var text bytes.Buffer
	if err := c.plan.Fetch(ctx, results[0], &text, importer.MaxBytes); err != nil {
		return nil, nil, err
	}
	found, err := importer.Read(results[0], text.Bytes(), importer.Options{Package: c.job.App.Package, Scenario: c.job.Scenario.Name, Started: c.run.Started})
	if err != nil {
		return lost("", "%s", journal.Line(err.Error()))
	}
	if len(found.Runs) != 1 { // as it will have again
		var classes []string
		for _, r := range found.Runs {
			classes = append(classes, strings.TrimPrefix(r.Scenario, c.job.Scenario.Name+"/"))
		}
		err := fmt.Errorf("the Macrobenchmark has results of %d classes, and a run is of one", len(classes))
		return nil, nil, c.target.Advise(loss.Configuration, err, "list them, so that each gets a run: workload.instrumentation.classes: "+prose.Clip("["+strings.Join(classes, ", ")+"]", mostAdvice))
	}
	r := found.Runs[0]
	for _, w := range r.Warnings {
		c.journal.Warnf("the Macrobenchmark's results: %s", w.Text)
	}
	if len(r.Iterations) == 0 {
		return lost("", "its results have no iteration")
	}
	return &r, traces, nil
}

// mostAdvice bounds the characters of advice.
const mostAdvice = 1000

// iterationOf finds the iteration that a trace is of in its name.
var iterationOf = regexp.MustCompile(`_iter(\d{1,4})_`)

// maxBenchmarkTrace bounds a trace that is kept, in bytes.
const maxBenchmarkTrace = 128 << 20

// keepTraces keeps the traces that the Macrobenchmark has recorded, as far as evidence
// is kept at all and has room. What can't be kept is a warning.
func (c *collector) keepTraces(ctx context.Context, imported *run.Run, traces []string) {
	if c.watcher == nil {
		return
	}
	before := len(record.Imported(c.measured, c.clean).Iterations)
	for i, name := range traces {
		e := run.Evidence{Kind: run.PerfettoTrace, Name: fmt.Sprintf("benchmark-%d.pftrace", len(c.watcher.Kept)+1), Why: journal.Line(name)}
		if m := iterationOf.FindStringSubmatch(name); m != nil && len(imported.Iterations[0].Events) == 1 {
			switch n, err := strconv.Atoi(m[1]); {
			case c.clean:
				e.Repetition = before + 1
			case err == nil && n < len(imported.Iterations):
				e.Repetition = before + n + 1
			}
		}
		if err := c.keepTrace(ctx, name, &e); err != nil {
			c.journal.Warnf("%d of the Macrobenchmark's %d traces could not be kept: %v", len(traces)-i, len(traces), err)
			return
		}
		c.watcher.Kept = append(c.watcher.Kept, e)
	}
}

func (c *collector) keepTrace(ctx context.Context, name string, e *run.Evidence) (err error) {
	file, err := os.CreateTemp("", "apkgate-trace-*")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	if err := c.plan.Fetch(ctx, name, file, maxBenchmarkTrace); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	e.Digest, e.Bytes, err = c.watcher.Keeper.Keep(ctx, file, maxBenchmarkTrace)
	return err
}

// benchmarks reports whether the workload is a Macrobenchmark, which measures by
// itself.
func (c *collector) benchmarks() bool { return c.job.Scenario.Workload.Benchmark() != nil }

// tellUnmeasured says what is not done beside a Macrobenchmark.
func (c *collector) tellUnmeasured() {
	if c.job.Energy.Measured() {
		c.journal.Warnf("beside a Macrobenchmark energy is not measured: its PowerMetric does it")
	}
}

// busy is a workload that runs.
type busy struct {
	c           *collector
	began, told time.Duration
}

func (c *collector) begins() *busy {
	now := c.target.Clock.Now()
	return &busy{c, now, now}
}

// busyEvery is how often it is said of a workload that it still runs: some CI systems
// end a job that is silent for ten minutes.
const busyEvery = 30 * time.Second

func (b *busy) tell() {
	if now := b.c.target.Clock.Now(); now-b.told >= busyEvery {
		b.told = now
		b.c.journal.Report(journal.Busy, 0, 0, fmt.Sprintf("the workload has run for %v", (now-b.began).Round(time.Second)))
	}
}
