package farms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// Limits of fetched traces.
const (
	mostKept    = 10      // with a run, of each of its matrices
	mostFetched = 2 << 30 // bytes, for a command
)

// traceName matches the name of a trace of androidx.benchmark:
// "ListBenchmark_scroll_iter003_….perfetto-trace".
var traceName = regexp.MustCompile(`^([A-Za-z0-9$]+)_(.+)_iter(\d{1,4})_`)

// traceOf returns the test of a trace, and its iteration, from 0; -1 if its name does not contain
// one.
func traceOf(name string) (class, test string, iteration int) {
	m := traceName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return "", "", -1
	}
	n, err := strconv.Atoi(m[3])
	if err != nil {
		return "", "", -1
	}
	return m[1], m[2], n
}

// readTraces are the results of reading traces.
type readTraces struct {
	frames section.Collector
	kept   []run.Evidence
	got    int
	why    error // the first reason that one was not available
}

// keepTraces fetches the traces of a matrix on one device, keeps them with the run, and reads what
// its frames spent their time on. Traces that are unavailable or not fetched are warnings.
func (l *Lab) keepTraces(ctx context.Context, r *run.Run, into *readTraces, o farm.Outcome, keep evidence.Keeper, iterations int) {
	before := len(r.Iterations) - iterations
	chosen := o.Traces[:min(len(o.Traces), mostKept)]
	got := 0
	for _, t := range chosen {
		e := run.Evidence{Kind: run.PerfettoTrace, Name: fmt.Sprintf("benchmark-%d.pftrace", len(into.kept)+1), Why: journal.Line(path.Base(t.Name))}
		if _, _, n := traceOf(t.Name); n >= 0 && n < iterations {
			e.Repetition = before + n + 1
		}
		err := l.fetch(ctx, t, func(file *os.File) (err error) {
			if e.Digest, e.Bytes, err = keep.Keep(ctx, file, farm.MostTrace); err != nil {
				return fmt.Errorf("keep it: %w", err)
			}
			if e.Repetition == 0 { // whose frames are no iteration's of the run
				return nil
			}
			return into.add(file, r.App.Package, e.Repetition, e.Digest, eventOf(t, r.Iterations[before].Events))
		})
		if err != nil {
			r.Warnings = append(r.Warnings, run.Warning{Text: journal.Line(fmt.Sprintf("%d of the Macrobenchmark's %d traces could not be fetched: %v", len(chosen)-got, len(chosen), err))})
			break
		}
		got++
		into.kept = append(into.kept, e)
	}
	if left := len(o.Traces) - len(chosen) + o.TracesLeft; left > 0 {
		r.Warnings = append(r.Warnings, run.Warning{Text: journal.Line(fmt.Sprintf("%s not fetched, as %d of a test are at most: they lie in %s", prose.Count(left, "trace of the Macrobenchmark is", "traces of the Macrobenchmark are"), mostKept, strings.TrimSuffix(chosen[0].Name, path.Base(chosen[0].Name))))})
	}
}

// eventOf returns the event of a run that a trace's frames belong to, "" if unknown.
func eventOf(t farm.Trace, events []run.Bucket) string {
	_, test, _ := traceOf(t.Name)
	if len(events) == 1 {
		return events[0].Name
	}
	for _, e := range events {
		if e.Name == test {
			return test
		}
	}
	return ""
}

// add reads the frames of a trace. digest is that of its kept file, "" for none.
func (r *readTraces) add(file io.ReadSeeker, app string, repetition int, digest, event string) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	read, err := rendering.Read(packets.Packets(file), rendering.App{Package: app})
	if err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	one := section.Repetition{Number: repetition, Evidence: digest, Trace: read}
	if event != "" {
		one.Events = []trace.Event{{Name: event}}
	}
	r.frames.Add(one)
	r.got++
	return nil
}

// fetch stores a trace in a file during use. The total size per command is limited.
func (s *site) fetch(ctx context.Context, t farm.Trace, use func(*os.File) error) (err error) {
	s.mu.Lock()
	left := mostFetched - s.fetched
	s.mu.Unlock()
	if left <= 0 || t.Bytes > left {
		return fmt.Errorf("a command fetches at most %d MiB of traces", mostFetched>>20)
	}
	if t.Bytes > farm.MostTrace {
		return fmt.Errorf("it has more than %d MiB", farm.MostTrace>>20)
	}
	file, err := os.CreateTemp("", "apkgate-trace-*")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	if err := t.Fetch(ctx, file); err != nil {
		return err
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.fetched += size
	s.mu.Unlock()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return use(file)
}

// lying are the traces on the farm, of a scenario on a kind of phone: of the base and the head in
// rounds, and of the head in a run.
type lying struct{ sides [3][]farm.Trace }

// inRun is the index of the head's traces of a run.
const inRun = 2

// where is a scenario of the configuration on a kind of phone.
type where struct {
	scenario string
	device   farm.Device
}

// lies records traces of a build.
func (s *site) lies(at where, side int, traces []farm.Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.traces == nil {
		s.traces = map[where]*lying{}
	}
	if s.traces[at] == nil {
		s.traces[at] = &lying{}
	}
	s.traces[at].sides[side] = append(s.traces[at].sides[side], traces...)
}

// firsts returns the first traces of each test, so that a round counts once.
func firsts(traces []farm.Trace) (out []farm.Trace) {
	seen := map[[2]string]bool{}
	for _, t := range traces {
		class, test, _ := traceOf(t.Name)
		if its := [2]string{class, test}; !seen[its] {
			seen[its], out = true, append(out, t)
		}
	}
	return out
}

// ofClass returns the traces of a scenario that is one class of a module, "MODULE/CLASS"; for
// others it returns all.
func ofClass(traces []farm.Trace, scenario string) (out []farm.Trace) {
	_, class, module := strings.Cut(scenario, "/")
	class = class[strings.LastIndexByte(class, '.')+1:]
	for _, t := range traces {
		if its, _, _ := traceOf(t.Name); !module || its == class {
			out = append(out, t)
		}
	}
	return out
}
