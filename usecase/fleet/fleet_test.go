package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/run"
)

// bench is a lab of stations that only record what is done with them.
type bench struct {
	mu   sync.Mutex
	did  []string // "boot pixel #1", "open on pixel #1", …
	told []string // warnings

	starts map[string]func(ctx context.Context, started *Started) error // by station
	makes  map[string]func(ctx context.Context) error                   // by "SCENARIO on STATION"
}

func (b *bench) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.did = append(b.did, fmt.Sprintf(format, args...))
}

func (b *bench) Report(e journal.Event) {
	if e.Phase == journal.Warned {
		b.told = append(b.told, e.Device+": "+e.Message)
	}
}

// station is one that is booted.
func (b *bench) station(name, profile string) Station {
	return Station{Name: name, Profile: profile, Start: func(ctx context.Context, _ func(string)) (*Started, error) {
		b.note("boot %s", name)
		started := &Started{
			Bind: func(*collect.Job) {},
			Stop: func(context.Context, func(string)) error { b.note("stop %s", name); return nil },
		}
		if start := b.starts[name]; start != nil {
			if err := start(ctx, started); err != nil {
				return nil, err
			}
		}
		return started, nil
	}}
}

// measure makes the lab's jobs, each of which measures one repetition unless its station loses it.
func (b *bench) measure(ctx context.Context, l Lab) []collect.Result {
	l.Options.Progress = b
	result := func(job collect.Job, err error) []collect.Result {
		r := collect.Result{Device: job.Device, Station: job.Station, Err: err, Run: run.Run{Scenario: job.Scenario.Name, Status: run.Complete}}
		if err == nil {
			r.Run.Iterations = []run.Iteration{{}}
		}
		return []collect.Result{r}
	}
	return slices.Concat(l.drive(ctx, work{
		do: func(ctx context.Context, t turn) []collect.Result {
			what := t.job.Scenario.Name + " on " + t.job.Station
			b.note("%s", what)
			if makes := b.makes[what]; makes != nil {
				return result(t.job, makes(ctx))
			}
			return result(t.job, nil)
		},
		unmade: func(place int, _ collect.Options, why error) []collect.Result { return result(l.Jobs[place], why) },
	})...)
}

func jobsOf(profile string, scenarios ...string) (jobs []collect.Job) {
	for _, s := range scenarios {
		jobs = append(jobs, collect.Job{Device: profile, Scenario: config.Scenario{Name: s}})
	}
	return jobs
}

func gone(context.Context) error {
	return &loss.Error{Cause: loss.Infrastructure, Err: fmt.Errorf("unplugged: %w", device.ErrGone)}
}

// outcomes are where each job was made, or why not.
func outcomes(results []collect.Result) (out []string) {
	for _, r := range results {
		if r.Err != nil {
			out = append(out, r.Err.Error())
		} else {
			out = append(out, r.Run.Scenario+" on "+r.Station)
		}
	}
	return out
}

func wantSame[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A device is booted when it is first needed, makes all jobs of its profile, and is stopped when
// nothing is left for it.
func TestCollectBootsADeviceOnce(t *testing.T) {
	t.Parallel()
	b := &bench{}
	got := b.measure(t.Context(), Lab{Jobs: jobsOf("pixel", "open", "scroll"), Stations: []Station{b.station("pixel", "pixel"), b.station("nexus", "nexus")}})
	wantSame(t, "outcomes", []string{"open on pixel", "scroll on pixel"}, outcomes(got))
	wantSame(t, "what was done", []string{"boot pixel", "open on pixel", "scroll on pixel", "stop pixel"}, b.did)
}

// If the command continues, a device stays, until another needs its room.
func TestStayMakesRoomForOthers(t *testing.T) {
	t.Parallel()
	b := &bench{}
	jobs := slices.Concat(jobsOf("pixel", "open"), jobsOf("nexus", "open"))
	b.measure(t.Context(), Lab{Jobs: jobs, Stations: []Station{b.station("pixel", "pixel"), b.station("nexus", "nexus")}, Parallel: 1, Stay: true})
	wantSame(t, "what was done", []string{"boot pixel", "open on pixel", "stop pixel", "boot nexus", "open on nexus"}, b.did)
}

// The run of a lost device is made on another, with a warning.
func TestRunOfALostDeviceMoves(t *testing.T) {
	t.Parallel()
	b := &bench{makes: map[string]func(context.Context) error{"open on pixel #1": gone}}
	got := b.measure(t.Context(), Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{b.station("pixel #1", "pixel"), b.station("pixel #2", "pixel")}})
	wantSame(t, "outcomes", []string{"open on pixel #2"}, outcomes(got))
	want := []run.Warning{{Text: "started again, and earlier measurements are not counted: pixel #1: unplugged: the device is gone"}}
	wantSame(t, "warnings of the run", want, got[0].Run.Warnings)
	wantSame(t, "what is told", []string{"pixel #1: the run of open is started again: unplugged: the device is gone"}, b.told)
	if !slices.Contains(b.did, "stop pixel #1") || !slices.Contains(b.did, "stop pixel #2") {
		t.Errorf("not all was stopped: %q", b.did)
	}
}

// A single device gets a fresh start.
func TestSingleLostDeviceIsRestarted(t *testing.T) {
	t.Parallel()
	first := true
	b := &bench{makes: map[string]func(context.Context) error{"open on pixel": func(ctx context.Context) error {
		if first {
			first = false
			return gone(ctx)
		}
		return nil
	}}}
	got := b.measure(t.Context(), Lab{Jobs: jobsOf("pixel", "open", "scroll"), Stations: []Station{b.station("pixel", "pixel")}})
	wantSame(t, "outcomes", []string{"open on pixel", "scroll on pixel"}, outcomes(got))
	wantSame(t, "what was done", []string{"boot pixel", "open on pixel", "stop pixel", "boot pixel", "open on pixel", "scroll on pixel", "stop pixel"}, b.did)
}

// A run that ends by its workload or a garbled answer does not lose the device.
func TestOtherFailuresLoseNoDevice(t *testing.T) {
	t.Parallel()
	garbled := &loss.Error{Cause: loss.Infrastructure, Err: loss.ErrGarbled}
	b := &bench{makes: map[string]func(context.Context) error{"open on pixel": func(context.Context) error { return garbled }}}
	got := b.measure(t.Context(), Lab{Jobs: jobsOf("pixel", "open", "scroll"), Stations: []Station{b.station("pixel", "pixel")}})
	wantSame(t, "outcomes", []string{garbled.Error(), "scroll on pixel"}, outcomes(got))
	wantSame(t, "what was done", []string{"boot pixel", "open on pixel", "scroll on pixel", "stop pixel"}, b.did)
}

// A run that no device can make is missing, with all reasons and the first advice.
func TestMissingErrorListsEveryReason(t *testing.T) {
	t.Parallel()
	noKVM := &boot.Error{Lab: "the SDK's emulator", What: "there is no /dev/kvm", Advice: "enable virtualisation"}
	b := &bench{starts: map[string]func(context.Context, *Started) error{
		"pixel #1": func(context.Context, *Started) error { return noKVM },
		"pixel #2": func(context.Context, *Started) error {
			return &boot.Error{Lab: "the SDK's emulator", What: "the port is taken", Retry: true}
		},
	}}
	got := b.measure(t.Context(), Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{b.station("pixel #1", "pixel"), b.station("pixel #2", "pixel")}})
	var missing *MissingError
	if err := got[0].Err; !errors.As(err, &missing) || !loss.IsInfrastructure(err) || missing.Hint() != "enable virtualisation" {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"pixel #1: the SDK's emulator: there is no /dev/kvm", "pixel #2: the SDK's emulator: the port is taken"} {
		if strings.Count(missing.Error(), want) != 1 {
			t.Errorf("%q has not once %q", missing, want)
		}
	}
	starts := map[string]int{}
	for _, did := range b.did {
		starts[did]++
	}
	wantSame(t, "starts", map[string]int{"boot pixel #1": 1, "boot pixel #2": 2}, starts) // only what may help is tried again
}

// If there are only a lost device's measurements, they are kept, as an incomplete run.
func TestOnlyMeasurementsOfALostDeviceAreKept(t *testing.T) {
	t.Parallel()
	b := &bench{}
	partial := func(job collect.Job, iterations int) []collect.Result {
		return []collect.Result{{Device: job.Device, Station: job.Station, Err: gone(t.Context()), Run: run.Run{Status: run.Partial, Iterations: make([]run.Iteration, iterations)}}}
	}
	tries := 0
	l := Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{b.station("pixel", "pixel")}, Options: collect.Options{Progress: b}}
	got := slices.Concat(l.drive(t.Context(), work{
		do: func(_ context.Context, t turn) []collect.Result {
			tries++
			return partial(t.job, []int{0, 3, 1}[tries])
		},
		unmade: func(int, collect.Options, error) []collect.Result {
			t.Error("it has no result")
			return make([]collect.Result, 1)
		},
	})...)
	if len(got) != 1 || len(got[0].Run.Iterations) != 3 || tries != 2 || !errors.Is(got[0].Err, device.ErrGone) {
		t.Errorf("after %d tries: %+v", tries, got)
	}
}

// Rounds that are measured are not repeated elsewhere, but jobs that have not started are made
// there.
func TestRoundsOfALostDeviceStay(t *testing.T) {
	t.Parallel()
	for _, rounds := range []int{0, 3} {
		b := &bench{}
		l := Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{b.station("pixel #1", "pixel"), b.station("pixel #2", "pixel")}, Options: collect.Options{Progress: b}}
		tries := 0
		got := slices.Concat(l.drive(t.Context(), work{once: true, do: func(ctx context.Context, t turn) []collect.Result {
			if tries++; tries == 1 {
				return []collect.Result{{Err: gone(ctx), Run: run.Run{Iterations: make([]run.Iteration, rounds)}}}
			}
			return []collect.Result{{Run: run.Run{Iterations: make([]run.Iteration, 8)}}}
		}})...)
		want := 8
		if rounds > 0 {
			want = rounds
		}
		if len(got) != 1 || len(got[0].Run.Iterations) != want || (got[0].Err != nil) != (rounds > 0) {
			t.Errorf("%d rounds before it was lost: %d tries, %+v", rounds, tries, got)
		}
	}
}

// The death of an idle device is detected, and it is started again when it is needed.
func TestIdleDeviceThatDies(t *testing.T) {
	t.Parallel()
	begun, scrolled, died, stopped := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	b := &bench{}
	b.starts = map[string]func(context.Context, *Started) error{"pixel #2": func(_ context.Context, s *Started) error {
		<-begun
		s.Died, s.Why = died, func() string { return "emulator: FATAL: out of memory" }
		s.Stop = func(context.Context, func(string)) error { close(stopped); return nil }
		return nil
	}}
	b.makes = map[string]func(context.Context) error{
		"scroll on pixel #2": func(context.Context) error { close(scrolled); return nil },
		"open on pixel #1": func(ctx context.Context) error { // continues while the other is idle
			close(begun)
			<-scrolled
			close(died)
			select {
			case <-stopped:
			case <-time.After(30 * time.Second):
				t.Error("that an idle device has died is not noticed")
			}
			return nil
		},
	}
	jobs := jobsOf("pixel", "open", "scroll")
	jobs[0].Cost = time.Hour
	got := b.measure(t.Context(), Lab{Jobs: jobs, Stations: []Station{b.station("pixel #1", "pixel"), b.station("pixel #2", "pixel")}, Stay: true})
	wantSame(t, "outcomes", []string{"open on pixel #1", "scroll on pixel #2"}, outcomes(got))
}

// An interrupt returns the complete runs, and the rest as interrupted; nothing more is started.
func TestInterruptEndsTheLab(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	b := &bench{makes: map[string]func(context.Context) error{"scroll on pixel": func(ctx context.Context) error {
		interrupt()
		<-ctx.Done()
		return &loss.Error{Cause: loss.Infrastructure, Err: ctx.Err()}
	}}}
	got := b.measure(ctx, Lab{Jobs: jobsOf("pixel", "open", "scroll", "back"), Stations: []Station{b.station("pixel", "pixel")}})
	wantSame(t, "outcomes", []string{"open on pixel", "context canceled", "context canceled"}, outcomes(got))
	wantSame(t, "what was done", []string{"boot pixel", "open on pixel", "scroll on pixel"}, b.did)
}

// A boot that is under way is interrupted too.
func TestInterruptEndsABoot(t *testing.T) {
	t.Parallel()
	for _, fresh := range []bool{false, true} {
		ctx, interrupt := context.WithCancel(t.Context())
		b := &bench{starts: map[string]func(context.Context, *Started) error{"pixel": func(ctx context.Context, _ *Started) error {
			interrupt()
			<-ctx.Done()
			return ctx.Err()
		}}}
		station := b.station("pixel", "pixel")
		station.Fresh = fresh
		got := b.measure(ctx, Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{station}})
		wantSame(t, "outcomes", []string{"context canceled"}, outcomes(got))
		interrupt()
	}
}

// A run that several devices have lost names the reason of each, and keeps the measurements of the
// one that came furthest.
func TestRunLostBySeveralDevices(t *testing.T) {
	t.Parallel()
	b := &bench{}
	l := Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{b.station("pixel #1", "pixel"), b.station("pixel #2", "pixel"), b.station("pixel #3", "pixel")}, Options: collect.Options{Progress: b}}
	tries := 0
	got := slices.Concat(l.drive(t.Context(), work{do: func(ctx context.Context, t turn) []collect.Result {
		measured := []int{1, 4, 2}[tries]
		tries++
		return []collect.Result{{Station: t.job.Station, Err: gone(ctx), Run: run.Run{Status: run.Partial, Iterations: make([]run.Iteration, measured)}}}
	}})...)
	if len(got) != 1 || len(got[0].Run.Iterations) != 4 {
		t.Fatalf("%+v", got)
	}
	for _, station := range []string{"pixel #1", "pixel #2", "pixel #3"} {
		want := station + ": unplugged: the device is gone"
		if last := got[0].Run.Warnings[len(got[0].Run.Warnings)-1].Text; strings.Count(got[0].Err.Error(), want) != 1 || !strings.Contains(last, want) {
			t.Errorf("%q or %q says nothing of %s", got[0].Err, last, station)
		}
	}
}

// A lost device's measurements are better than nothing, and no better than fewer sound ones.
func TestBestTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lost, then, want int }{{3, 0, 3}, {3, 1, 1}, {0, 0, 0}} {
		b := &bench{}
		l := Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{b.station("pixel", "pixel")}, Options: collect.Options{Progress: b}}
		tries := 0
		got := slices.Concat(l.drive(t.Context(), work{do: func(ctx context.Context, t turn) []collect.Result {
			if tries++; tries == 1 {
				return []collect.Result{{Err: gone(ctx), Run: run.Run{Iterations: make([]run.Iteration, c.lost)}}}
			}
			return []collect.Result{{Err: &loss.Error{Err: loss.ErrCrashed}, Run: run.Run{Iterations: make([]run.Iteration, c.then)}}}
		}})...)
		if len(got[0].Run.Iterations) != c.want {
			t.Errorf("%d repetitions, then %d: %d count, want %d", c.lost, c.then, len(got[0].Run.Iterations), c.want)
		}
	}
}

func TestStartedDied(t *testing.T) {
	t.Parallel()
	died := make(chan struct{})
	s := &Started{Died: died, Why: func() string { return "FATAL: out of memory\n" }}
	for _, s := range []*Started{s, {}} {
		if err := s.died(); err != nil {
			t.Errorf("it lives, and %v", err)
		}
	}
	close(died)
	if err := s.died(); err == nil || strings.TrimSpace(err.Error()) != "it ended by itself: FATAL: out of memory" {
		t.Errorf("%v", err)
	}
	s.Why = func() string { return "" }
	if err := s.died(); err == nil || err.Error() != "it ended by itself" {
		t.Errorf("%v", err)
	}
}

// A simulated phone is new for each run.
func TestFreshStationIsStartedForEachJob(t *testing.T) {
	t.Parallel()
	b := &bench{}
	fresh := b.station("phone", "phone")
	fresh.Fresh = true
	b.measure(t.Context(), Lab{Jobs: jobsOf("phone", "open", "scroll"), Stations: []Station{fresh}})
	wantSame(t, "what was done", []string{"boot phone", "open on phone", "stop phone", "boot phone", "scroll on phone", "stop phone"}, b.did)
}

// A device that can't be stopped is reported, and the runs are complete.
func TestCollectReportsAFailedStop(t *testing.T) {
	t.Parallel()
	b := &bench{starts: map[string]func(context.Context, *Started) error{"pixel": func(_ context.Context, s *Started) error {
		s.Stop = func(context.Context, func(string)) error { return errors.New("gmsaas does not answer") }
		return nil
	}}}
	got := b.measure(t.Context(), Lab{Jobs: jobsOf("pixel", "open"), Stations: []Station{b.station("pixel", "pixel")}})
	wantSame(t, "outcomes", []string{"open on pixel"}, outcomes(got))
	wantSame(t, "what is told", []string{"pixel: it could not be stopped: gmsaas does not answer"}, b.told)
}

// Each device has all of the time for its jobs; those that wait for each other's room share it.
func TestShareOut(t *testing.T) {
	t.Parallel()
	left := func(l Lab) (out []string) {
		for _, s := range l.shareOut(time.Hour) {
			out = append(out, s.left.String())
		}
		return out
	}
	at := func(places ...string) (stations []Station) {
		for _, p := range places {
			stations = append(stations, Station{Place: p})
		}
		return stations
	}
	wantSame(t, "side by side", []string{"1h0m0s", "1h0m0s"}, left(Lab{Stations: at("", "")}))
	wantSame(t, "two of four", []string{"30m0s", "30m0s", "30m0s", "30m0s"}, left(Lab{Stations: at("", "", "", ""), Parallel: 2}))
	wantSame(t, "one of two on a computer, and a phone", []string{"30m0s", "30m0s", "1h0m0s"}, left(Lab{Stations: at("here", "here", ""), Places: map[string]int{"here": 1}}))

	clock := &stopwatch{}
	s := (Lab{Stations: at("")}).shareOut(time.Hour)[0]
	var shares []time.Duration
	for ahead := 3; ahead > 0; ahead-- {
		shares = append(shares, s.begin(clock, ahead))
		clock.now += 10 * time.Minute // less than a third
		s.end()
	}
	wantSame(t, "a third, half of what is left, the rest", []time.Duration{20 * time.Minute, 25 * time.Minute, 40 * time.Minute}, shares)
	clock.now += time.Hour
	s.end()
	if got := s.begin(clock, 1); got >= 0 {
		t.Errorf("%v of no time", got)
	}
}

type stopwatch struct{ now time.Duration }

func (s *stopwatch) Now() time.Duration                         { return s.now }
func (s *stopwatch) Sleep(context.Context, time.Duration) error { return nil }
