package repetition

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

// benchmark runs a Macrobenchmark and imports its results. The Macrobenchmark starts, kills and
// records the app itself, so nothing else may touch the app at that time.
type benchmark struct {
	phone *Phone
	work  Work
	taken int // iterations that earlier repetitions took
}

func (b *benchmark) measure(ctx context.Context, a *attempt) (out record.Measurement, err error) {
	if err := b.work.Plan.ClearOutput(ctx); err != nil {
		return out, err
	}
	ended, err := b.run(ctx)
	switch {
	case err != nil:
		return out, err
	case ended != nil:
		return out, loss.Of(b.phone.Target.Name, loss.Workload, journal.Measure, a.n, ended)
	case !a.measured:
		return out, nil
	}
	imported, traces, err := b.takeResults(ctx)
	if err != nil {
		return out, err
	}
	b.keepTraces(ctx, imported, traces)
	out = record.Measurement{Repetition: a.n, Imported: imported, Unseen: true}
	b.taken += len(record.Imported([]record.Measurement{out}, b.work.Interleaved).Iterations)
	return out, nil
}

// run runs it to its end; ended is how it failed, nil if it didn't.
func (b *benchmark) run(ctx context.Context) (ended, err error) {
	w, err := b.work.Plan.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer w.Stop(b.phone.Target.Journal)
	timeout, busy := b.work.Scenario.Timeout, newBusy(b.phone.Target)
	for deadline := b.phone.Target.Clock.Now() + timeout; !w.Ended(); busy.report() {
		if timeout > 0 && b.phone.Target.Clock.Now() >= deadline && !w.Settled() {
			w.Stop(b.phone.Target.Journal)
			if _, err := countBefore(ctx, b.phone, b.work.App.Package); err != nil {
				return fmt.Errorf("%w: %s", loss.ErrTimeout, prose.Duration(timeout)), err
			}
			return fmt.Errorf("%w: %s", loss.ErrTimeout, prose.Duration(timeout)), b.work.Prepared.Reset(ctx)
		}
		if err := errors.Join(b.phone.Target.Renew(ctx), b.phone.Target.Rest(ctx, time.Second)); err != nil {
			return nil, err
		}
	}
	ended = w.Judge(b.work.Scenario.Workload, b.work.App.Package)
	if loss.IsGone(ended) {
		return nil, ended
	}
	return ended, nil
}

// takeResults reads the results file as apkgate import reads it. traces are the names of the traces
// next to it.
func (b *benchmark) takeResults(ctx context.Context) (_ *run.Run, traces []string, err error) {
	results, traces, ignored, err := b.work.Plan.Outputs(ctx)
	if err != nil {
		return nil, nil, err
	}
	if ignored > 0 {
		b.phone.Target.Journal.Warnf("%d files of the Macrobenchmark are passed over, for their names or their number", ignored)
	}
	lost := func(advice, format string, args ...any) (*run.Run, []string, error) {
		err := fmt.Errorf("%w: "+format, append([]any{loss.ErrTestFail}, args...)...)
		return nil, nil, &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: err, Advice: advice}
	}
	if len(results) != 1 {
		return lost("is the test a Macrobenchmark (androidx.benchmark), and may it write there?", "it left %d files of results in %s, want one", len(results), b.work.Plan.OutputDir())
	}
	var text bytes.Buffer
	if err := b.work.Plan.Fetch(ctx, results[0], &text, importer.MaxBytes); err != nil {
		return nil, nil, err
	}
	found, err := importer.Read(results[0], text.Bytes(), importer.Options{Package: b.work.App.Package, Scenario: b.work.Scenario.Name, Started: b.work.Started})
	if err != nil {
		return lost("", "%s", journal.Line(err.Error()))
	}
	if len(found.Runs) != 1 { // its name may recur
		var classes []string
		for _, r := range found.Runs {
			classes = append(classes, strings.TrimPrefix(r.Scenario, b.work.Scenario.Name+"/"))
		}
		err := fmt.Errorf("the Macrobenchmark has results of %d classes, and a run is of one", len(classes))
		return nil, nil, b.phone.Target.Advise(loss.Configuration, err, "list them, so that each gets a run: workload.instrumentation.classes: "+prose.Clip("["+strings.Join(classes, ", ")+"]", mostAdvice))
	}
	r := found.Runs[0]
	for _, w := range r.Warnings {
		b.phone.Target.Journal.Warnf("the Macrobenchmark's results: %s", w.Text)
	}
	if len(r.Iterations) == 0 {
		return lost("", "its results have no iteration")
	}
	return &r, traces, nil
}

// mostAdvice limits the characters of advice.
const mostAdvice = 1000

// iterationOf finds a trace's iteration in its name.
var iterationOf = regexp.MustCompile(`_iter(\d{1,4})_`)

// maxBenchmarkTrace limits a kept trace, in bytes.
const maxBenchmarkTrace = 128 << 20

// keepTraces keeps the traces that the Macrobenchmark recorded, as far as evidence is kept at all
// and has room. A trace that can't be kept is a warning.
func (b *benchmark) keepTraces(ctx context.Context, imported *run.Run, traces []string) {
	if b.work.Watcher == nil {
		return
	}
	for i, name := range traces {
		e := run.Evidence{Kind: run.PerfettoTrace, Name: fmt.Sprintf("benchmark-%d.pftrace", len(b.work.Watcher.Kept)+1), Why: journal.Line(name)}
		if m := iterationOf.FindStringSubmatch(name); m != nil && len(imported.Iterations[0].Events) == 1 {
			switch n, err := strconv.Atoi(m[1]); {
			case b.work.Interleaved:
				e.Repetition = b.taken + 1
			case err == nil && n < len(imported.Iterations):
				e.Repetition = b.taken + n + 1
			}
		}
		if err := b.keepTrace(ctx, name, &e); err != nil {
			b.phone.Target.Journal.Warnf("%d of the Macrobenchmark's %d traces could not be kept: %v", len(traces)-i, len(traces), err)
			return
		}
		b.work.Watcher.Kept = append(b.work.Watcher.Kept, e)
	}
}

func (b *benchmark) keepTrace(ctx context.Context, name string, e *run.Evidence) (err error) {
	file, err := os.CreateTemp("", "apkgate-trace-*")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	if err := b.work.Plan.Fetch(ctx, name, file, maxBenchmarkTrace); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	e.Digest, e.Bytes, err = b.work.Watcher.Keeper.Keep(ctx, file, maxBenchmarkTrace)
	return err
}
