package applog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/trace/logcat"
)

// logs are phones that write 80 kB of others' lines a second to a log of 256 KiB.
var logs = []struct {
	profile string
	options simulator.Options
}{
	{"pixel-7-android-14", simulator.Options{}},
	{"pixel-7-android-14", simulator.Options{FixedLog: true}},
	{"pixel-5-android-11", simulator.Options{FixedLog: true, LowRAM: true}},
	{"pixel-2-android-8.1.0", simulator.Options{FixedLog: true}},
	{"moto-g5-android-7.0", simulator.Options{FixedLog: true}},
	{"nexus-5-android-4.4.4", simulator.Options{}}, // whose log has the wall clock, and an unchangeable size
}

// tally counts the outcomes of repetitions.
type tally struct {
	sync.Mutex
	whole, lost, shifted int // of all
	before               int // would be shifted by what the log has at the end
}

// Whatever a log has dropped by the end of a repetition, and wherever the connection that reads it
// broke: its UI events are complete, at their times, or the repetition is lost. A few dozen
// repetitions are made, with APKGATE_FULL=1 a thousand, as docs/collection/events.md counts them.
func TestEventsOfAWrappingLogAreNotShifted(t *testing.T) {
	t.Parallel()
	each := 8
	if os.Getenv("APKGATE_FULL") == "1" {
		each = 167
	}
	var sum tally
	t.Run("logs", func(t *testing.T) {
		for i, l := range logs {
			t.Run(fmt.Sprint(i+1, " ", l.profile), func(t *testing.T) {
				t.Parallel()
				p := newWrapping(t, l.profile, l.options)
				random := rand.New(rand.NewPCG(7, uint64(i)))
				for range each {
					p.repetition(t, random, &sum)
				}
			})
		}
	})
	t.Logf("%d repetitions: %d with all of their events at their times, %d lost, %d shifted; by the log alone, read in the end, %d would be",
		sum.whole+sum.lost+sum.shifted, sum.whole, sum.lost, sum.shifted, sum.before)
	if sum.shifted > 0 || sum.before < each || sum.whole < 3*each {
		t.Errorf("%+v", &sum)
	}
}

// wrapping is a phone whose log wraps.
type wrapping struct {
	t     *target.Target
	clock device.Clock
}

func newWrapping(t *testing.T, profile string, o simulator.Options) wrapping {
	t.Helper()
	s, err := simulator.Start(profile, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	on := target.New(profile, s.Clock(), time.Unix(1_800_000_000, 0), func(ctx context.Context) (device.Device, error) {
		return adb.Dial(ctx, s.Address(), adb.Options{})
	})
	on.Journal = journal.New(profile, nil)
	for _, step := range []func(context.Context) error{on.Open, on.ReadFacts, func(ctx context.Context) error { return ProbeLog(ctx, on) }, on.EnlargeLog} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(on.HangUp)
	return wrapping{on, s.Clock()}
}

// repetition logs UI events for up to 40 s, and reads them as a repetition does.
func (p wrapping) repetition(t *testing.T, random *rand.Rand, sum *tally) {
	t.Helper()
	l, err := OpenLog(t.Context(), p.t)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	events := 1 + random.IntN(6)
	breaks := -1 // the event before which the reading of the log breaks
	if random.IntN(3) == 0 {
		breaks = random.IntN(events + 1)
	}
	var want []string
	var at []time.Duration
	for i := range events + 1 {
		if i == breaks {
			l.stream.close()
		}
		if err := p.clock.Sleep(t.Context(), time.Duration(random.Int64N(int64(7*time.Second)))); err != nil {
			t.Fatal(err)
		}
		if i == events {
			break
		}
		want, at = append(want, fmt.Sprint("event", i)), append(at, p.clock.Now())
		if err := p.t.Try(t.Context(), "log", "-t", logcat.Tag, want[i]); err != nil {
			t.Fatal(err)
		}
	}
	dump, err := l.dump(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	first := l.mark
	err = l.Read(t.Context())
	got := l.Events()
	sum.Lock()
	defer sum.Unlock()
	if markAt(dump, first) < 0 && !slices.Equal(uiOf(dump, 0), want) {
		sum.before++
	}
	switch {
	case errors.Is(err, loss.ErrLog):
		sum.lost++
		if breaks < 0 {
			t.Errorf("a repetition is lost whose log was read to its end: %v", err)
		}
	case err != nil:
		t.Fatal(err)
	case p.placed(got, want, at):
		sum.whole++
	default:
		sum.shifted++
		t.Errorf("events %v, logged were %v at %v", got, want, at)
	}
}

// uiOf returns the names of UI events.
func uiOf(entries []logcat.Entry, from int) (out []string) {
	events, _ := logcat.Events(entries[from:])
	for _, e := range events {
		if e.Kind == logcat.UIEvent {
			out = append(out, e.Name)
		}
	}
	return out
}

// placed reports whether the events are those that were logged, each at its time: as far as two
// clocks are aligned, if the log has the wall clock.
func (p wrapping) placed(got []logcat.Event, want []string, at []time.Duration) bool {
	got = slices.DeleteFunc(got, func(e logcat.Event) bool { return e.Kind != logcat.UIEvent })
	near := 20 * time.Millisecond
	if p.t.Facts.WallLog {
		near = 200 * time.Millisecond
	}
	return len(got) == len(want) && !slices.ContainsFunc(slices.Collect(indices(len(got))), func(i int) bool {
		off := got[i].Time - at[i]
		return got[i].Name != want[i] || off < -near || off > near
	})
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// A reader of the log that missed a line which the log still has is not used.
func TestLogRejectsAnIncompleteReader(t *testing.T) {
	t.Parallel()
	p := newWrapping(t, "pixel-7-android-14", simulator.Options{FixedLog: true})
	l, err := OpenLog(t.Context(), p.t)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range 4 { // the log holds the last nine seconds
		err := errors.Join(p.clock.Sleep(t.Context(), 4*time.Second), p.t.Try(t.Context(), "log", "-t", logcat.Tag, fmt.Sprint("event", i)))
		if err != nil {
			t.Fatal(err)
		}
	}
	_, write := p.t.NextMark()
	mark := strings.Fields(write)[3]
	if err := p.t.Try(t.Context(), strings.Fields(write)...); err != nil {
		t.Fatal(err)
	}
	if l.stream.await(t.Context(), p.t.Wall, mark) == nil {
		t.Fatal("the mark did not come")
	}
	l.stream.mu.Lock()
	l.stream.entries = slices.DeleteFunc(l.stream.entries, func(e logcat.Entry) bool { return e.Message == "event3" })
	l.stream.mu.Unlock()
	if err := l.Read(t.Context()); !errors.Is(err, loss.ErrLog) || !strings.Contains(err.Error(), "were not read while it was written") {
		t.Errorf("%v, want the repetition lost", err)
	}
}
