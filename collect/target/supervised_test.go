package target

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
)

// hanging is a device whose answers are delayed on this computer's clock; 0 delays them for ever.
type hanging struct {
	device.Device
	empty, all time.Duration // an empty command, and everything else
	system     time.Duration // queries of its system
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	return HostClock().Sleep(ctx, d)
}

func (h hanging) Exec(ctx context.Context, command string) (device.Output, error) {
	if command == ":" {
		return device.Output{}, wait(ctx, h.empty)
	}
	if strings.HasPrefix(command, systemQuestion) {
		return device.Output{}, wait(ctx, h.system)
	}
	return device.Output{}, wait(ctx, h.all)
}

func (h hanging) Install(ctx context.Context, _ ...string) error { return wait(ctx, h.all) }
func (h hanging) Close() error                                   { return nil }

func TestSupervisedDetectsAHang(t *testing.T) {
	t.Parallel()
	const alive = 10 * time.Millisecond
	for name, c := range map[string]struct {
		device  hanging
		install bool
		takes   time.Duration
		lost    bool
		said    string
	}{
		"hung":                              {hanging{}, false, 15 * time.Second, true, "5s: the device silent"},
		"hung while it installs":            {hanging{}, true, time.Minute, true, "5s: the device silent"},
		"an installation that takes long":   {hanging{empty: alive, all: 10 * time.Minute}, true, 10 * time.Minute, false, ""},
		"slow, and goes on":                 {hanging{empty: 6 * time.Second, all: 9 * time.Second, system: alive}, false, 9 * time.Second, false, "5s: the device silent; 8s: the device answers after 8s"},
		"a command that never ends":         {hanging{empty: alive, all: 0, system: alive}, false, 2 * time.Minute, true, ""},
		"a command that answers at once":    {hanging{empty: alive, all: alive}, false, alive, false, ""},
		"answers just before it is noticed": {hanging{empty: 2900 * time.Millisecond, all: 8 * time.Second, system: alive}, false, 8 * time.Second, false, ""},
		"its system hangs":                  {hanging{empty: alive}, false, 32*time.Second + alive, true, "7.01s: the device's system silent"},
		"its system is slow":                {hanging{empty: alive, all: 12 * time.Second, system: 6 * time.Second}, false, 12 * time.Second, false, "7.01s: the device's system silent; 8.01s: the device's system answers after 6s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var said []string
				d := &supervised{
					Device: c.device, wall: HostClock(), clock: HostClock(), shell: voice{of: "the device"}, system: voice{of: "the device's system"},
					silent: func(what string, _ time.Duration) {
						said = append(said, fmt.Sprint(time.Since(begun), ": ", what, " silent"))
					},
					answers: func(what string, d time.Duration) {
						said = append(said, fmt.Sprintf("%v: %s answers after %v", time.Since(begun), what, d))
					},
				}
				var err error
				if c.install {
					err = d.Install(t.Context(), "app.apk")
				} else {
					_, err = d.Exec(t.Context(), "dumpsys gfxinfo")
				}
				if took := time.Since(begun); took != c.takes || errors.Is(err, device.ErrGone) != c.lost || (err != nil) != c.lost {
					t.Errorf("it took %v, %v; want %v, lost: %v", took, err, c.takes, c.lost)
				}
				if got := strings.Join(said, "; "); got != c.said {
					t.Errorf("it was said %q, want %q", got, c.said)
				}
			})
		})
	}
}

// stillClock is the clock of a simulated device that hangs.
type stillClock struct{}

func (stillClock) Now() time.Duration                               { return 0 }
func (stillClock) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// A device that hangs while connecting accepts connections and is silent on them.
func TestReconnectGivesUpAHungDevice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said []string
		connect := func(ctx context.Context) (device.Device, error) {
			const connectTimeout = 10 * time.Second
			if err := wait(ctx, connectTimeout); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%w: no answer for %v to the connection", device.ErrGone, connectTimeout)
		}
		d := New("pixel", stillClock{}, time.Now(), connect)
		d.Journal = journal.New("pixel", progressTo(func(e journal.Event) { said = append(said, e.Message) }))
		d.dev = &supervised{Device: hanging{}, wall: HostClock(), clock: HostClock()}
		begun := time.Now()
		err := d.Reconnect(t.Context(), func(context.Context) error { return nil })
		if took := time.Since(begun); !errors.Is(err, device.ErrGone) || took != 90*time.Second || !d.away {
			t.Errorf("after %v: %v, want the loss of the device after 1m30s", took, err)
		}
		if len(said) != 1 || !strings.Contains(said[0], "1m30s") || !strings.Contains(err.Error(), "1m30s") {
			t.Errorf("said %q and %v, want the time in both", said, err)
		}
	})
}

// progressTo is a Progress that calls a function.
type progressTo func(journal.Event)

func (f progressTo) Report(e journal.Event) { f(e) }

// lost is a device on which the operation under way and the liveness query fail at the same time:
// the query for lack of an answer, the operation because its connection was ended for that.
type lost struct {
	device.Device
	own, question error
	asked, ended  chan struct{}
}

func (l lost) Exec(_ context.Context, command string) (device.Output, error) {
	if command == ":" {
		close(l.asked)
		<-l.ended
		return device.Output{}, l.question
	}
	<-l.asked
	close(l.ended)
	synctest.Wait() // until the query was answered
	return device.Output{}, l.own
}

func TestSupervisedKeepsTheReasonOfALoss(t *testing.T) {
	t.Parallel()
	silence, closed := fmt.Errorf("%w: no answer", device.ErrGone), fmt.Errorf("%w: the stream is closed", device.ErrGone)
	for _, c := range [][2]error{{silence, closed}, {closed, silence}} {
		synctest.Test(t, func(t *testing.T) {
			d := &supervised{wall: HostClock(), clock: HostClock(), Device: lost{own: c[0], question: c[1], asked: make(chan struct{}), ended: make(chan struct{})}}
			if _, err := d.Exec(t.Context(), "dumpsys gfxinfo"); !errors.Is(err, device.ErrGone) || !strings.Contains(err.Error(), "no answer") {
				t.Errorf("of the failures %q and %q it is told %v, want that there was no answer", c[0], c[1], err)
			}
		})
	}
}

// givingUp is a device whose system hangs: its dumpsys gives each dump up after ten seconds and
// reports success.
type givingUp struct{ device.Device }

func (givingUp) Exec(ctx context.Context, command string) (device.Output, error) {
	switch {
	case command == ":":
		return device.Output{}, nil
	case strings.HasPrefix(command, systemQuestion):
		return device.Output{}, wait(ctx, 0)
	}
	return device.Output{Stdout: []byte("\n*** SERVICE 'gfxinfo' DUMP TIMEOUT (10000ms) EXPIRED ***\n\n")}, wait(ctx, 10*time.Second)
}

// Dumps that were given up do not end the silence of a system.
func TestSupervisedDetectsAHungSystem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var said []string
		d := &supervised{
			Device: givingUp{}, wall: HostClock(), clock: HostClock(), shell: voice{of: "the device"}, system: voice{of: "the device's system"},
			silent:  func(what string, _ time.Duration) { said = append(said, what) },
			answers: func(what string, _ time.Duration) { t.Errorf("%s is said to answer", what) },
			dumpCut: func(service string) { said = append(said, service) },
		}
		var err error
		for err == nil {
			_, err = d.Exec(t.Context(), "dumpsys gfxinfo com.example")
		}
		if took := time.Since(begun); !errors.Is(err, device.ErrGone) || took != askAfter+systemLostAfter {
			t.Errorf("it is lost after %v: %v", took, err)
		}
		// The report of the loss itself may come too late for this.
		const want = "the device's system; gfxinfo; the device's system; gfxinfo; the device's system; gfxinfo"
		if got := strings.Join(said, "; "); !strings.HasPrefix(got, want) {
			t.Errorf("it is said %q, want it to begin with %q", got, want)
		}
	})
}
