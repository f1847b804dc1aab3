package recording_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
)

// host is the clock of the waiting caller.
type host struct{}

func (host) Now() time.Duration { return 0 }

func (host) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A run that waits between two calls for a line of the log receives it during the wait, and at
// the same point in a replay. A wait in vain is in vain in the replay too, without taking
// time.
func TestWaitReleasesOutputBetweenCalls(t *testing.T) {
	for name, comes := range map[string]bool{"comes": true, "does not come": false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.answers["step"] = []string{""}
			do := func(ctx context.Context, d device.Device, wall device.Clock, print func()) bool {
				p, err := d.Start(ctx, "logcat")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = p.Close() }()
				waiting, cancel := context.WithCancel(ctx)
				defer cancel()
				line := make(chan string, 1)
				go func() {
					defer func() { _ = p.Close() }()
					if scanner := bufio.NewScanner(p.Stdout()); scanner.Scan() {
						line <- scanner.Text()
						cancel()
					}
				}()
				if _, err := d.Exec(ctx, "step"); err != nil {
					t.Fatal(err)
				}
				print()
				waited := device.Wait(waiting, wall, 5*time.Second)
				return waited != nil && len(line) == 1
			}
			var was bool
			dir := t.TempDir() + "/recording"
			r, err := recording.New(dir, recording.Head{Of: recording.OfDevice}, recording.NewBlackout())
			if err != nil {
				t.Fatal(err)
			}
			s := r.Begin("scroll", f.date(), f)
			d, err := s.Opened(func(context.Context) (device.Device, error) { return f, nil })(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			was = do(t.Context(), d, s.Wall(host{}), func() {
				if comes {
					_, _ = f.printed.Write([]byte("mark\n"))
				}
			})
			if _, err := r.Finish(true); err != nil {
				t.Fatal(err)
			}
			if was != comes {
				t.Errorf("%s: recorded, it is read: %v", name, was)
			}
			player, d := played(t, dir)
			began := time.Now()
			if is := do(t.Context(), d, player.Wall(), func() {}); is != comes {
				t.Errorf("%s: replayed, it is read: %v", name, is)
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("%s: the replay waited for %v", name, took)
			}
		})
	}
}

// watched is a device whose loss a test triggers.
type watched struct {
	*fake
	lose func(error)
}

func (w *watched) OnLoss(_ context.Context, lost func(error)) { w.lose = lost }

// The loss of the connection is reported after the same call as when it was recorded, with the
// same text. The loss of a connection that was already given up does not affect the next one.
func TestOnLossAtTheSameCall(t *testing.T) {
	t.Parallel()
	w := &watched{fake: newFake()}
	w.answers["step"] = []string{""}
	do := func(open func() device.Device, lose func(step int)) (log []string) {
		for connection := range 2 {
			ctx, giveUp := context.WithCancel(t.Context())
			d := open()
			var known error
			d.(interface {
				OnLoss(ctx context.Context, lost func(error))
			}).OnLoss(ctx, func(err error) { known = err })
			for range 4 {
				lose(len(log))
				if _, err := d.Exec(t.Context(), "step"); err != nil {
					t.Fatal(err)
				}
				log = append(log, fmt.Sprint(connection, known, errors.Is(known, device.ErrGone)))
			}
			giveUp()
		}
		return log
	}
	dir := t.TempDir() + "/recording"
	r, err := recording.New(dir, recording.Head{Of: recording.OfDevice}, recording.NewBlackout())
	if err != nil {
		t.Fatal(err)
	}
	s := r.Begin("scroll", w.date(), w)
	opened := s.Opened(func(context.Context) (device.Device, error) { return w, nil })
	var first func(error)
	want := do(func() device.Device {
		first = w.lose
		d, err := opened(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}, func(step int) {
		switch step {
		case 2:
			w.lose(fmt.Errorf("%w: the adb server no longer lists it", device.ErrGone))
		case 5: // of the first connection
			first(fmt.Errorf("%w: too late", device.ErrGone))
		}
	})
	if _, err := r.Finish(true); err != nil {
		t.Fatal(err)
	}
	lost := "the device is gone: the adb server no longer lists it true"
	for i, of := range want {
		says := fmt.Sprint(i/4, nil, false)
		if i == 2 || i == 3 {
			says = "0 " + lost
		}
		if of != says {
			t.Errorf("recorded, after call %d: %q, want %q", i, of, says)
		}
	}
	recorded, err := recording.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := recorded.Play(recorded.Runs[0])
	got := do(func() device.Device {
		d, err := p.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}, func(int) {})
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("replayed, after call %d: %q, want %q", i, got[i], want[i])
		}
	}
}
