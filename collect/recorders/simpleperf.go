package recorders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// Simpleperf samples the methods of an app.
type Simpleperf struct {
	Programs *Programs
	Limit    time.Duration // after which it ends by itself

	requests []samples
	command  string // "simpleperf", or the path of a pushed one
	event    int    // in clockEvents
	offCPU   bool   // it can sample what a thread does not run for
	program  *Program
	file     recording
}

// samples is a request for samples.
type samples struct {
	who string
	app string // its package
	hz  int    // of each thread's CPU time
	// waits is set where the time is wanted for which a thread does not run.
	waits bool
}

// Request requests samples of the app's methods, in Hz of each thread's CPU time. Of several
// requests the last determines the app, and the fastest the rate.
func (s *Simpleperf) Request(who, app string, hz int) {
	s.Withdraw(who)
	s.requests = append(s.requests, samples{who: who, app: app, hz: hz})
}

// RequestWaits is Request, and requests samples of what threads wait in, where OffCPU reports that
// the device has them.
func (s *Simpleperf) RequestWaits(who, app string, hz int) {
	s.Request(who, app, hz)
	s.requests[len(s.requests)-1].waits = s.offCPU
}

// OffCPU reports whether simpleperf can sample what threads wait in: the kernel is Linux 4.2 or
// later (cmd_list.cpp, ShowFeatures). Find must have found it.
func (s *Simpleperf) OffCPU() bool { return s.offCPU }

// Withdraw removes a request.
func (s *Simpleperf) Withdraw(who string) {
	s.requests = slices.DeleteFunc(s.requests, func(a samples) bool { return a.who == who })
}

// Serves implements Recorder.
func (s *Simpleperf) Serves(who string) bool {
	return slices.ContainsFunc(s.requests, func(a samples) bool { return who == "" || a.who == who })
}

// wanted combines all requests.
func (s *Simpleperf) wanted() (out samples) {
	for _, a := range s.requests {
		out.app, out.hz, out.waits = a.app, max(out.hz, a.hz), out.waits || a.waits
	}
	return out
}

// clockEvents are the events that count a thread's CPU time, the better first: some emulators have
// only the second (EDATA, section 3.2.1.3).
var clockEvents = []string{"task-clock", "cpu-clock"}

// PushedSimpleperf is the path of a simpleperf that the user pushed from the NDK.
const PushedSimpleperf = "/data/local/tmp/simpleperf"

// Where simpleperf is. A pushed one comes before the device's own, which may lack options; Android
// has one since version 9.
var simpleperfPlaces = []string{PushedSimpleperf, "simpleperf"}

const hardenProperty = "security.perf_harden"

// Find finds simpleperf, and allows it to count events if the device's hardening does not. It
// reports whether the device has one.
func (s *Simpleperf) Find(ctx context.Context) (bool, error) {
	t := s.Programs.Target
	for _, place := range simpleperfPlaces {
		out, err := t.Exec(ctx, place, "--version")
		if err != nil {
			return false, fmt.Errorf("look for simpleperf on the device: %w", err)
		}
		if out.ExitCode == 0 {
			s.command = place
			break
		}
	}
	if s.command == "" {
		return false, nil
	}
	out, err := t.Exec(ctx, s.command, "list", "--show-features")
	if err != nil {
		return false, fmt.Errorf("ask simpleperf what it can record: %w", err)
	}
	s.offCPU = slices.Contains(strings.Fields(string(out.Stdout)), "trace-offcpu")
	return true, s.Soften(ctx)
}

// hardened returns the value of hardenProperty if it keeps adb from counting, else "".
func (s *Simpleperf) hardened() string {
	if before := s.Programs.Target.Facts.Properties[hardenProperty]; before != "0" {
		return before
	}
	return ""
}

// Soften allows adb to count events; a restart of the device forgets it.
func (s *Simpleperf) Soften(ctx context.Context) error {
	if s.command == "" || s.hardened() == "" {
		return nil
	}
	return s.Programs.Target.ChangeProperty(ctx, hardenProperty, "0", "")
}

// Refusals of simpleperf (environment.cpp, event_selection_set.cpp, run-as).
var (
	notProfileable = regexp.MustCompile(`isn't debuggable/profileable|neither debuggable nor profileable|run-as: `)
	noSuchEvent    = regexp.MustCompile(`(?i)event type '[^']*' (?:is not|isn't) supported|unknown event`)
	waitsForApp    = regexp.MustCompile(`Waiting for process of app`)
	noSuchClock    = regexp.MustCompile(`(?i)clockid|unknown option`)
)

// ErrNoClock reports that samples can't have times on CLOCK_MONOTONIC: the kernel is older than
// Linux 4.1, or simpleperf than the option.
var ErrNoClock = errors.New("simpleperf can't time its samples by CLOCK_MONOTONIC here")

// errNotProfileable reports that the app's manifest forbids sampling it.
var errNotProfileable = errors.New("the app can't be sampled: it is neither profileable nor a debug build")

// Start starts simpleperf and returns when it waits for the app, or has been recording for a while.
// If the device does not know an event, all later recordings use the next one.
func (s *Simpleperf) Start(ctx context.Context) error {
	for {
		err := s.record(ctx, clockEvents[s.event])
		if !errors.Is(err, errNoEvent) || s.event+1 == len(clockEvents) {
			return err
		}
		s.event++
		s.Programs.Target.Journal.Warnf("the device does not count %s: methods are sampled by %s", clockEvents[s.event-1], clockEvents[s.event])
	}
}

// Stop ends the recording.
func (s *Simpleperf) Stop(ctx context.Context) error {
	return s.Programs.End(ctx, *s.program, "-INT")
}

var errNoEvent = errors.New("simpleperf knows no such event here")

func (s *Simpleperf) record(ctx context.Context, event string) error {
	s.Close()
	s.file.path = perfData
	limit, wanted := strconv.Itoa(int(s.Limit.Seconds())), s.wanted()
	words := []string{s.command, "record", "--app", wanted.app, "-e", event, "-f", strconv.Itoa(wanted.hz), "--call-graph", "dwarf", "--clockid", "monotonic",
		"--duration", limit, "-o", perfData}
	if wanted.waits {
		words = append(words, "--trace-offcpu")
	}
	line := device.Quote("rm", "-f", perfData, perfLog) + "; nohup " + device.Quote(words...) + " </dev/null >" + perfLog + " 2>&1 & echo $!"
	out, err := s.Programs.Target.Ask(ctx, line)
	if err != nil {
		return fmt.Errorf("start simpleperf: %w", err)
	}
	r, err := s.Programs.Started("simpleperf", out)
	if err != nil {
		return err
	}
	s.program = &r
	return s.await(ctx, r, event)
}

// simpleperfStarts is how long simpleperf may take to report an error.
const simpleperfStarts = 2 * time.Second

func (s *Simpleperf) await(ctx context.Context, r Program, event string) error {
	t := s.Programs.Target
	_, err := t.Poll(ctx, endEvery, simpleperfStarts, func() (waits bool, err error) {
		out, err := t.Ask(ctx, "cat "+perfLog+"; test -d /proc/"+r.PID)
		if err != nil {
			return false, fmt.Errorf("check whether simpleperf records: %w", err)
		}
		said := append(append([]byte{}, out.Stdout...), out.Stderr...)
		switch {
		case notProfileable.Match(said):
			return false, s.notProfileable(out.Stdout)
		case out.ExitCode != 0:
			s.Programs.Forget(r)
			return false, endedAtOnce(event, target.LastLine(out.Stdout), said)
		}
		return waitsForApp.Match(said), nil
	})
	return err
}

// endedAtOnce returns why simpleperf did not start recording.
func endedAtOnce(event, last string, said []byte) error {
	if noSuchEvent.Match(said) {
		return fmt.Errorf("sample by %s: %w", event, errNoEvent)
	}
	err := fmt.Errorf("start simpleperf: it ended at once: %s", last)
	if noSuchClock.Match(said) {
		err = fmt.Errorf("%w: %w", ErrNoClock, err)
	}
	return err
}

func (s *Simpleperf) notProfileable(said []byte) error {
	out := s.Programs.Target.Advise(loss.Configuration, fmt.Errorf("sample the methods of %s: %w (simpleperf: %s)", s.wanted().app, errNotProfileable, target.LastLine(said)),
		`add <profileable android:shell="true"/> to <application> in the app's manifest (Android 10 and later), or set energy.methods to false`)
	if e := loss.As(out); e != nil {
		e.Phase = journal.Measure
	}
	return out
}

// Keep implements Recorder: simpleperf can't save its samples while it continues.
func (s *Simpleperf) Keep(context.Context, int) (string, error) { return "", nil }

// Fetch implements Recorder.
func (s *Simpleperf) Fetch(ctx context.Context, read func(io.ReadSeeker) error) error {
	return s.file.fetch(ctx, s.Programs, read)
}

// Drop implements Recorder.
func (s *Simpleperf) Drop(ctx context.Context) error { return s.file.drop(ctx, s.Programs) }

// Close implements Recorder.
func (s *Simpleperf) Close() { s.file.close() }
