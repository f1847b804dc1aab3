package target

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
)

const boot = "5d1b9b6e-3a0c-4c4e-9f0f-000000000001"

// scripted is a device that reports its starts, its accidents and its focus.
type scripted struct {
	device.Device
	mu                    sync.Mutex
	boot, starts          string
	log, focus            string
	silentFrom, silentFor time.Duration // since its creation, all of it; for 0: never silent
	system                bool          // only the system is silent
	made                  time.Time
	asked                 []string
	lost                  chan error // sent by OnLoss
}

func (p *scripted) Exec(ctx context.Context, command string) (device.Output, error) {
	p.mu.Lock()
	p.asked = append(p.asked, command)
	since := time.Since(p.made) - p.silentFrom
	p.mu.Unlock()
	if p.silentFor > 0 && since >= 0 && since < p.silentFor && (!p.system || strings.Contains(command, "dumpsys")) {
		if err := HostClock().Sleep(ctx, p.silentFor-since); err != nil {
			return device.Output{}, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case command == device.FocusQuery:
		return device.Output{Stdout: []byte(p.focus)}, nil
	case strings.Contains(command, "boot_id"):
		return device.Output{Stdout: []byte(p.boot + "\n" + p.starts + "\n" + accidentsMark + "\n" + p.log)}, nil
	}
	return device.Output{}, nil
}

func (p *scripted) OnLoss(ctx context.Context, lost func(error)) {
	go func() {
		select {
		case err := <-p.lost:
			lost(err)
		case <-ctx.Done():
		}
	}()
}

func (p *scripted) Close() error { return nil }

// on is a target whose device is p, and the events that it reports.
func on(t *testing.T, p *scripted) (*Target, *[]string) {
	t.Helper()
	p.made = time.Now()
	var said []string
	d := New("pixel", nil, time.Now(), func(context.Context) (device.Device, error) { return p, nil })
	d.Journal = journal.New("pixel", progressTo(func(e journal.Event) {
		said = append(said, fmt.Sprintf("%v: %s", time.Since(p.made).Round(time.Millisecond), e.Message))
	}))
	d.Apps = []string{"com.example"}
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d, &said
}

func TestCheckAlive(t *testing.T) {
	t.Parallel()
	const (
		other = "11-22 10:00:00.000  1000  1019 I am_anr  : [0,200,com.android.systemui,1,Input dispatching timed out]\n"
		again = "11-22 10:00:09.000  1000  1019 I am_crash: [3811,0,com.android.systemui,1,x]\n"
		own   = "11-22 10:00:00.000  1000  1019 I am_anr  : [0,4201,com.example:web,1,Input dispatching timed out]\n"
		front = "  mCurrentFocus=Window{45b1ddc u0 Application Not Responding: com.android.systemui}\n"
	)
	for name, c := range map[string]struct {
		change func(p *scripted)
		is     error
		says   string
	}{
		"the same":                {func(*scripted) {}, nil, ""},
		"restarted":               {func(p *scripted) { p.boot = strings.Replace(boot, "1", "2", 1) }, device.ErrGone, "it has restarted by itself"},
		"its system restarted":    {func(p *scripted) { p.starts = "2" }, device.ErrGone, "its system has restarted by itself"},
		"garbled":                 {func(p *scripted) { p.boot = "cat: permission denied" }, nil, ""},
		"a dialog":                {func(p *scripted) { p.log, p.focus = other, front }, loss.ErrDialog, "com.android.systemui does not respond"},
		"an accident behind apps": {func(p *scripted) { p.log, p.focus = other, "mCurrentFocus=Window{1 u0 com.example/.Main}" }, nil, ""},
		"the app's own": {func(p *scripted) {
			p.log, p.focus = own, strings.Replace(front, "com.android.systemui", "com.example", 1)
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &scripted{boot: boot, starts: "1"}
			d, _ := on(t, p)
			if err := d.CheckAlive(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.change(p)
			err := d.CheckAlive(t.Context())
			if !errors.Is(err, c.is) || c.is != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v", err, c.is)
			}
			if errors.Is(c.is, loss.ErrDialog) {
				p.focus = ""
			}
			asked := len(p.asked)
			if err := d.CheckAlive(t.Context()); err != nil || len(p.asked) != asked+1 {
				t.Errorf("the next: %v, by %q: what is known is told once", err, p.asked[asked:])
			}
			p.log += again
			p.focus = front
			if err := d.CheckAlive(t.Context()); !errors.Is(err, loss.ErrDialog) {
				t.Errorf("another accident: %v, want that a dialog stands before the app", err)
			}
		})
	}
}

// A device that falls silent during a wait is reported within five seconds and lost fifteen seconds
// after its last answer; its system after thirty.
func TestRestDetectsSilence(t *testing.T) {
	t.Parallel()
	for _, system := range []bool{false, true} {
		for after := 10 * time.Millisecond; after < 4*time.Second; after += 370 * time.Millisecond {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{boot: boot, starts: "1", silentFrom: after, silentFor: time.Hour, system: system}
				d, said := on(t, p)
				defer d.HangUp()
				err := d.Rest(t.Context(), time.Minute)
				lost := time.Since(p.made) - after
				if want := map[bool]time.Duration{false: lostAfter, true: systemLostAfter}[system]; !errors.Is(err, device.ErrGone) || lost > want || lost < want-aliveEvery {
					t.Errorf("silent from %v on, it is lost %v later: %v", after, lost, err)
				}
				var told time.Duration
				if len(*said) > 0 {
					told, _ = time.ParseDuration(strings.SplitN((*said)[0], ":", 2)[0])
				}
				if known := told - after; len(*said) != 1 || known > reportAfter || known < reportAfter-aliveEvery {
					t.Errorf("silent from %v on, it is told %v later: %q", after, known, *said)
				}
			})
		}
	}
}

// Waiting costs the device one query every two seconds, and the time of the queries is part of the
// wait.
func TestRestDuration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{boot: boot, starts: "1", silentFrom: 4 * time.Second, silentFor: 700 * time.Millisecond}
		d, said := on(t, p)
		defer d.HangUp()
		if err := d.Rest(t.Context(), 9*time.Second); err != nil || time.Since(p.made) != 9*time.Second || len(*said) != 0 {
			t.Errorf("after %v: %v, %q", time.Since(p.made), err, *said)
		}
		if len(p.asked) != 5 { // at 0, 2, 4 (to 4.7), 6.7 and 8.7
			t.Errorf("it was asked %d times: %q", len(p.asked), p.asked)
		}
		for _, asked := range p.asked {
			if !strings.Contains(asked, systemQuestion) {
				t.Errorf("%q does not ask its system", asked)
			}
		}
		d.Asked = true
		p.asked = nil
		if err := d.Rest(t.Context(), 3*time.Second); err != nil || len(p.asked) == 0 || strings.Contains(p.asked[0], systemQuestion) {
			t.Errorf("%v: where its system is asked by others: %q", err, p.asked)
		}
	})
}

// A lost connection, or an ended process, ends a rest without a query.
func TestRestEndsOnALoss(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(p *scripted, died chan struct{})
		says    string
	}{
		"the connection": {func(p *scripted, _ chan struct{}) { p.lost <- fmt.Errorf("%w: unplugged", device.ErrGone) }, "unplugged"},
		"the process":    {func(_ *scripted, died chan struct{}) { close(died) }, "ended by signal 9"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &scripted{boot: boot, starts: "1", lost: make(chan error)}
			d, _ := on(t, p)
			defer d.HangUp()
			died := make(chan struct{})
			d.Died, d.Why = died, func() string { return "ended by signal 9" }
			go func() {
				time.Sleep(5 * time.Second)
				c.happens(p, died)
			}()
			err := d.Rest(t.Context(), time.Minute)
			if took := time.Since(p.made); !errors.Is(err, device.ErrGone) || !strings.Contains(err.Error(), c.says) || took > 5*time.Second+aliveEvery {
				t.Errorf("%s: after %v: %v", name, took, err)
			}
			if again := d.Lost(); !errors.Is(again, device.ErrGone) {
				t.Errorf("%s: asked again: %v", name, again)
			}
		})
	}
}

// A dead device is not waited for, whether it died before or during the wait.
func TestReconnectOfADeadDevice(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			died, begun := make(chan struct{}), time.Now()
			d := New("pixel", nil, begun, func(context.Context) (device.Device, error) {
				return nil, fmt.Errorf("%w: nothing listens", device.ErrGone)
			})
			d.Journal, d.Died = journal.New("pixel", nil), died
			d.dev = &supervised{Device: hanging{}, wall: HostClock(), clock: HostClock()}
			time.AfterFunc(after, func() { close(died) })
			synctest.Wait()
			err := d.Reconnect(t.Context(), func(context.Context) error { return nil })
			if took := time.Since(begun); !errors.Is(err, device.ErrGone) || !strings.Contains(err.Error(), "its process has ended") || took > after+reconnectEvery || !d.away {
				t.Errorf("it is given up %v after it was lost: %v", took, err)
			}
		})
	}
}

// An interrupt leaves five seconds to undo changes, and the ones left are listed.
func TestTearDownIsLimitedAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := &scripted{silentFrom: time.Second, silentFor: time.Hour}
			d, said := on(t, p)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			d.UndoLater("set the first back", func(ctx context.Context) error { return d.Try(ctx, "settings") })
			d.UndoLater("set the last back", func(ctx context.Context) error {
				time.Sleep(time.Second)
				return d.Try(ctx, "settings")
			})
			if interrupted {
				interrupt()
			}
			begun := time.Now()
			d.TearDown(ctx, "com.example")
			want := map[bool]time.Duration{true: interruptedFor, false: lostAfter}[interrupted]
			if took := time.Since(begun); took != want {
				t.Errorf("interrupted %t: it takes %v, want %v", interrupted, took, want)
			}
			if all := strings.Join(*said, "\n"); !strings.Contains(all, "could not be left as it was found; still to do, by the next run or `apkgate devices restore`: set the last back; set the first back") ||
				strings.Contains(all, "there was no time left") != interrupted {
				t.Errorf("it is said %q", all)
			}
		})
	}
}

// Values read with an app's times show restarts of the device and of its system; while the app
// works, or dumps of its frames query the system, no extra query is sent.
func TestCheckAliveFrom(t *testing.T) {
	t.Parallel()
	const again = "5d1b9b6e-3a0c-4c4e-9f0f-000000000002"
	for name, c := range map[string]struct {
		boot, began          string // of the second reading
		works, asked, follow bool
		is                   error
		says                 string
		questions            int // for the check, afterwards
	}{
		"the app works":            {boot, "1200", true, false, true, nil, "", 0},
		"it stands still":          {boot, "1200", false, false, true, nil, "", 1},
		"it stands still in dumps": {boot, "1200", false, true, true, nil, "", 0},
		"the log is not followed":  {boot, "1200", true, false, false, nil, "", 1},
		"nothing is read":          {"", "", true, false, true, nil, "", 1},
		"restarted":                {again, "1200", true, false, true, device.ErrGone, "it has restarted by itself", 1},
		"its system restarted":     {boot, "9900", true, false, true, device.ErrGone, "its system has restarted by itself", 1},
		"its system is gone":       {boot, "", true, false, true, device.ErrGone, "its system has restarted by itself", 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &scripted{boot: boot, starts: "1"}
			d, _ := on(t, p)
			defer d.HangUp()
			d.Asked = c.asked
			d.Heard = func() (string, bool) { return "", c.follow }
			if err := d.CheckAliveFrom(t.Context(), boot, "1200", true); err != nil {
				t.Fatal(err)
			}
			time.Sleep(aliveEvery)
			err := d.CheckAliveFrom(t.Context(), c.boot, c.began, c.works)
			if !errors.Is(err, c.is) || c.is != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
			if err := d.CheckAliveIfDue(t.Context()); err != nil || len(p.asked) != c.questions {
				t.Errorf("%s: %v, asked %q", name, err, p.asked)
			}
		})
	}
}
