package devicelock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// shared is a simulated phone that several clients use.
type shared struct{ *simulator.Simulated }

func sharedPhone(t *testing.T, profile string, o simulator.Options) shared {
	t.Helper()
	s, err := simulator.Start(profile, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return shared{s}
}

func (s shared) ask(ctx context.Context, line string) (device.Output, error) {
	var out, errs bytes.Buffer
	code := s.Phone.Start(ctx, line, nil, &out, &errs)()
	return device.Output{Stdout: out.Bytes(), Stderr: errs.Bytes(), ExitCode: code}, nil
}

func (s shared) run(t *testing.T, line string) string {
	t.Helper()
	out, _ := s.ask(t.Context(), line)
	return string(out.Stdout)
}

// pass advances the phone's time.
func (s shared) pass(t *testing.T, d time.Duration) {
	t.Helper()
	if err := s.Clock().Sleep(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func (s shared) mark(t *testing.T, o Owner) (*Hold, error) {
	t.Helper()
	h, _, err := Mark(t.Context(), s.ask, o, s.Clock().Now(), ":")
	return h, err
}

func (s shared) isHeld(t *testing.T, o Owner) bool {
	t.Helper()
	h, err := s.mark(t, o)
	var held *HeldError
	if err != nil && !errors.As(err, &held) {
		t.Fatal(err)
	}
	if h != nil {
		s.run(t, h.Release())
	}
	return err != nil
}

var (
	alice = Owner{User: "alice", Host: "ci-3", PID: 123, Doing: "com.example.mail/scroll", Since: time.Date(2026, 11, 22, 4, 3, 0, 0, time.Local), Lock: "a"}
	bob   = Owner{User: "böb o'neil", Host: "laptop", PID: 4, Doing: "com.example/open list", Since: time.Date(2026, 11, 22, 5, 0, 0, 0, time.Local), Lock: "b"}
)

// A phone reports its owner to every client, whatever its Android version.
func TestMarkIsExclusive(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"optimus-l3-android-4.1.1", "nexus-5x-android-6.0.0", "pixel-7-android-14"} {
		s := sharedPhone(t, profile, simulator.Options{})
		first, err := s.mark(t, bob)
		if err != nil {
			t.Fatal(profile, err)
		}
		_, err = s.mark(t, alice)
		var held *HeldError
		if !errors.As(err, &held) || held.Owner.String() != bob.String() || !held.Owner.Since.Equal(bob.Since) {
			t.Errorf("%s: %v, want that %v has it", profile, err, bob)
		}
		if _, err := Check(t.Context(), s.ask, "a", ":"); !errors.As(err, &held) {
			t.Errorf("%s: a look says %v", profile, err)
		}
		s.run(t, first.Release())
		second, err := s.mark(t, alice)
		if err != nil {
			t.Errorf("%s: when it is free: %v", profile, err)
		}
		s.run(t, second.Release())
		if left := s.run(t, "ls /data/local/tmp"); left != "" {
			t.Errorf("%s: left behind: %q", profile, left)
		}
	}
}

func TestOwnerString(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.Local)
	for want, o := range map[string]Owner{
		"alice@ci-3 (pid 123, com.example.mail/scroll)": alice,
		"apkgate (pid 7)": {PID: 7},
		"another apkgate": {},
	} {
		if got := o.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := alice.since(now); got != "04:03" {
		t.Errorf("today: %q", got)
	}
	if got := alice.since(now.AddDate(0, 0, 1)); got != "2026-11-22 04:03" {
		t.Errorf("yesterday: %q", got)
	}
	long := Owner{PID: 1, Host: strings.Repeat("ü", 500), User: strings.Repeat("'", 500), Doing: strings.Repeat("ß", 500)}
	var m mark
	m.read("owner ABC 300 " + long.encode())
	if m.name == "" || m.owner.PID != 1 {
		t.Errorf("one with long names is not read: %+v", m)
	}
}

// steps interleaves the two halves of each client's attempt (writing the mark, reading the
// others) in a given order: a shell may be delayed before any of its commands.
type steps struct {
	shared
	mu   sync.Mutex
	turn *sync.Cond
	left string // the remaining turns, one client each
}

func (s *steps) as(client byte) Ask {
	return func(ctx context.Context, line string) (out device.Output, err error) {
		making, looking, both := strings.Cut(line, "; { cat "+bootFile)
		if !both {
			return s.ask(ctx, line)
		}
		for i, half := range []string{making, "{ cat " + bootFile + looking} {
			s.mu.Lock()
			for s.left[0] != client {
				s.turn.Wait()
			}
			if i == 0 {
				_, _ = s.ask(ctx, half)
			} else {
				out, err = s.ask(ctx, half)
			}
			s.left = s.left[1:]
			s.turn.Broadcast()
			s.mu.Unlock()
		}
		return out, err
	}
}

// However the commands of two concurrent clients interleave, at most one gets the phone; this
// also holds if both find the mark of a dead owner.
func TestConcurrentMarksAreExclusive(t *testing.T) {
	t.Parallel()
	for _, stale := range []bool{false, true} {
		for _, order := range []string{"aabb", "abab", "abba", "baab", "baba", "bbaa"} {
			s := &steps{shared: sharedPhone(t, "pixel-7-android-14", simulator.Options{}), left: order}
			s.turn = sync.NewCond(&s.mu)
			if stale {
				if _, err := s.mark(t, Owner{Host: "gone", PID: 9}); err != nil {
					t.Fatal(err)
				}
				s.pass(t, 2*Lease)
			}
			var have [2]error
			var both sync.WaitGroup
			for i, o := range []Owner{alice, bob} {
				both.Go(func() { _, _, have[i] = Mark(t.Context(), s.as("ab"[i]), o, 0, ":") })
			}
			both.Wait()
			one := (have[0] == nil) != (have[1] == nil)
			inTurn := order == "aabb" || order == "bbaa"
			if have[0] == nil && have[1] == nil || inTurn && !one {
				t.Errorf("%s, stale %v: %v and %v", order, stale, have[0], have[1])
			}
			want := 0
			if one {
				want = 1
			}
			if left := strings.Count(s.run(t, "ls /data/local/tmp"), "apkgate-owner."); left != want {
				t.Errorf("%s, stale %v: %d marks are left, want %d", order, stale, left, want)
			}
		}
	}
}

// A dead owner does not hold the phone for ever: a mark expires some time after it was last
// renewed, by the phone's own clock, and with a restart of the phone.
func TestMarkExpires(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(s shared, h *Hold)
		held    bool
	}{
		"nothing":        {func(shared, *Hold) {}, true},
		"a minute":       {func(s shared, _ *Hold) { s.pass(t, time.Minute) }, true},
		"six minutes":    {func(s shared, _ *Hold) { s.pass(t, 6*time.Minute) }, false},
		"a restart":      {func(s shared, _ *Hold) { s.Phone.Break(simapp.Fault{Kind: simapp.Reboot}) }, false},
		"the clock set":  {func(s shared, _ *Hold) { s.Phone.SetWallClock(48 * time.Hour) }, true},
		"storage erased": {func(s shared, _ *Hold) { s.run(t, "rm -r /data/local/tmp/apkgate-owner.*") }, false},
		"renewed": {func(s shared, h *Hold) {
			for range 20 {
				s.pass(t, time.Minute)
				s.run(t, h.Renewal(s.Clock().Now())+":")
			}
		}, true},
		"an announced long silence": {func(s shared, h *Hold) {
			s.run(t, h.Silence(s.Clock().Now(), time.Hour)+":")
			s.pass(t, time.Hour)
		}, true},
		"a longer one": {func(s shared, h *Hold) {
			s.run(t, h.Silence(s.Clock().Now(), time.Hour)+":")
			s.pass(t, 2*time.Hour)
		}, false},
		"silence after a long one is over": {func(s shared, h *Hold) {
			s.run(t, h.Silence(s.Clock().Now(), time.Hour)+":")
			s.pass(t, 2*time.Minute)
			s.run(t, h.Renewal(s.Clock().Now())+":")
			s.pass(t, 10*time.Minute)
		}, false},
		"half of another's mark": {func(s shared, h *Hold) {
			s.run(t, h.Release()+"; { echo "+markFormat+"; cat "+bootFile+" "+uptimeFile+"; } >"+pathOf("HALF"))
		}, false},
	} {
		s := sharedPhone(t, "pixel-7-android-14", simulator.Options{})
		h, err := s.mark(t, alice)
		if err != nil {
			t.Fatal(name, err)
		}
		c.happens(s, h)
		if held := s.isHeld(t, bob); held != c.held {
			t.Errorf("after %s: held %v, want %v", name, held, c.held)
		}
	}
}

// A process that holds the lock named in the mark knows at once that the owner is dead.
func TestMarkOfADeadOwnerOnTheSameComputer(t *testing.T) {
	t.Parallel()
	s := sharedPhone(t, "pixel-7-android-14", simulator.Options{})
	if _, err := s.mark(t, alice); err != nil {
		t.Fatal(err)
	}
	next := alice
	next.PID++
	if s.isHeld(t, next) {
		t.Error("it waits for an owner whose lock it has")
	}
	folder := t.TempDir()
	first, err := Take(folder, "a phone", alice)
	if err != nil {
		t.Fatal(err)
	}
	first.Release()
	second, err := Take(folder, "a phone", alice)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Release()
	other, err := Take(folder, "another phone", alice)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	elsewhere, err := Take(t.TempDir(), "a phone", alice)
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Release()
	if a, b := first.Lock(), second.Lock(); a == "" || a != b || a == other.Lock() || a == elsewhere.Lock() {
		t.Errorf("locks %q, %q, of another phone %q, of another folder %q", a, b, other.Lock(), elsewhere.Lock())
	}
}

// An owner whose mark was removed learns of it with the next renewal, and gets the phone again
// unless another process has taken it.
func TestGone(t *testing.T) {
	t.Parallel()
	for _, markGone := range []bool{false, true} {
		s := sharedPhone(t, "pixel-7-android-14", simulator.Options{})
		h, err := s.mark(t, alice)
		if err != nil {
			t.Fatal(err)
		}
		if line := h.Renewal(s.Clock().Now() + time.Second); line != "" {
			t.Errorf("after a second it is renewed: %q", line)
		}
		s.pass(t, 10*time.Minute)
		if markGone {
			if _, err := s.mark(t, bob); err != nil {
				t.Fatal(err)
			}
		} else {
			s.run(t, "rm -r /data/local/tmp/apkgate-owner.*")
		}
		out, _ := s.ask(t.Context(), h.Renewal(s.Clock().Now())+"echo answer")
		if !Gone(&out) || string(out.Stdout) != "answer\n" {
			t.Errorf("taken %v: it is not noticed: %q", markGone, out.Stdout)
		}
		var held *HeldError
		if err := h.Reacquire(t.Context(), s.ask, s.Clock().Now()); errors.As(err, &held) != markGone || !markGone && err != nil {
			t.Errorf("taken %v: %v", markGone, err)
		}
		out, _ = s.ask(t.Context(), "echo answer")
		if Gone(&out) || string(out.Stdout) != "answer\n" {
			t.Errorf("what no renewal stood before is taken for one: %q", out.Stdout)
		}
	}
}

// A phone with full or read-only storage stores no mark, and can be used without one.
func TestMarkOnAFullPhone(t *testing.T) {
	t.Parallel()
	closed := sharedPhone(t, "pixel-7-android-14", simulator.Options{ClosedTmp: true})
	full := sharedPhone(t, "pixel-7-android-14", simulator.Options{})
	full.Phone.Break(simapp.Fault{Kind: simapp.NoSpace})
	for _, s := range []shared{closed, full} {
		if _, err := s.mark(t, alice); !errors.Is(err, ErrNoMark) {
			t.Error(err)
		}
	}
	// A phone whose storage has become full still reports its owner, and the mark is renewed
	// once there is room.
	s := sharedPhone(t, "pixel-7-android-14", simulator.Options{})
	h, err := s.mark(t, alice)
	if err != nil {
		t.Fatal(err)
	}
	s.Phone.Break(simapp.Fault{Kind: simapp.NoSpace})
	s.pass(t, 2*time.Minute)
	out, _ := s.ask(t.Context(), h.Renewal(s.Clock().Now())+"echo answer")
	if Gone(&out) || string(out.Stdout) != "answer\n" || len(out.Stderr) > 0 || !s.isHeld(t, bob) {
		t.Errorf("%q, %q", out.Stdout, out.Stderr)
	}
}

// A phone in use is waited for as long as allowed, by its clock.
func TestAwait(t *testing.T) {
	t.Parallel()
	s := sharedPhone(t, "pixel-7-android-14", simulator.Options{})
	if _, err := s.mark(t, bob); err != nil {
		t.Fatal(err)
	}
	var told []string
	tell := func(o Owner) { told = append(told, o.String()) }
	begun := s.Clock().Now()
	_, _, err := Await(t.Context(), s.ask, s.Clock(), alice, 3*time.Minute, ":", tell)
	var held *HeldError
	if waited := s.Clock().Now() - begun; !errors.As(err, &held) || waited < 3*time.Minute || waited > 4*time.Minute || len(told) != 3 || told[0] != bob.String() {
		t.Errorf("waited %v, reported %q: %v", waited, told, err)
	}
	h, rest, err := Await(t.Context(), s.ask, s.Clock(), alice, time.Hour, "echo more", tell)
	if err != nil || string(rest) != "more\n" || h == nil {
		t.Errorf("after its owner is gone: %v, %q", err, rest)
	}
	if waited := s.Clock().Now() - begun; waited > 6*time.Minute {
		t.Errorf("waited %v for an owner that is gone after %v", waited, Lease)
	}
}

// The folder's contents are untrusted: other programs may write there too.
func FuzzMarks(f *testing.F) {
	f.Add("0d2d2e4c-0000-4000-8000-0123456789ab\n100.25 7\napkgate-owner/1\n0d2d2e4c-0000-4000-8000-0123456789ab\n99.00 7\nowner ABC 300 pid=1\nlease 9\napkgate-rest\nx")
	f.Add(strings.Repeat("apkgate-owner/1\n", 500))
	f.Fuzz(func(t *testing.T, text string) {
		s := readMarks([]byte(text))
		if len(s.marks) > maxMarks || s.now < 0 {
			t.Errorf("%d marks at %v", len(s.marks), s.now)
		}
		for _, m := range s.marks {
			_ = fmt.Sprint(m.owner, m.counts(s.boot, s.now, "x"))
		}
	})
}

// Since is when the owner obtained the device, not when it began to wait.
func TestAwaitSetsSince(t *testing.T) {
	t.Parallel()
	s := sharedPhone(t, "pixel-7-android-14", simulator.Options{})
	before := time.Now().Truncate(time.Second)
	if _, _, err := Await(t.Context(), s.ask, s.Clock(), alice, 0, ":", nil); err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := s.mark(t, bob); !errors.As(err, &held) || held.Owner.Since.Before(before) {
		t.Errorf("%v, want since %v", err, before)
	}
	c, err := Wait(t.Context(), t.TempDir(), "a phone", alice, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if by := ownerOf(c.path); by.Since.Before(before) {
		t.Errorf("on this computer: %v", by)
	}
}
