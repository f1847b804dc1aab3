package applog

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
)

// lateStacks is a device whose tombstoned logs nothing before a time.
type lateStacks struct {
	device.Device
	clock device.Clock
	from  *time.Duration
}

func (l lateStacks) Exec(ctx context.Context, line string) (device.Output, error) {
	out, err := l.Device.Exec(ctx, line)
	if strings.Contains(line, "tombstoned") && l.clock.Now() < *l.from {
		out.Stdout = nil
	}
	return out, err
}

// kept records what is kept.
type kept struct{ text []byte }

func (k *kept) Keep(_ context.Context, r io.Reader, limit int64) (_ string, n int64, err error) {
	k.text, err = io.ReadAll(io.LimitReader(r, limit))
	return strings.Repeat("0", 64), int64(len(k.text)), err
}

// Stacks that are still being written when the repetition is over are waited for: for some seconds,
// and not once the app is gone.
func TestKeepThreadsWaitsForStacks(t *testing.T) {
	t.Parallel()
	const app = "com.example.demo"
	for name, c := range map[string]struct {
		phone string
		late  time.Duration // after the app was signaled to write them
		after string        // what happens to the app then
		kept  bool
		most  time.Duration // the longest wait
	}{
		"as soon as can be":  {"pixel-5-android-11", 0, "", true, time.Second},
		"Android 14":         {"pixel-7-android-14", 0, "", true, time.Second},
		"two seconds":        {"pixel-5-android-11", 2 * time.Second, "", true, 3 * time.Second},
		"six seconds":        {"pixel-7-android-14", 6 * time.Second, "", true, 7 * time.Second},
		"an hour":            {"pixel-5-android-11", time.Hour, "", false, time.Minute},
		"the app is stopped": {"pixel-5-android-11", time.Hour, "am force-stop " + app, false, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := simulator.Start(c.phone, 1, simulator.Options{Root: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			var from time.Duration
			d := target.New("phone", s.Clock(), time.Now(), func(ctx context.Context) (device.Device, error) {
				dev, err := adb.Dial(ctx, s.Address(), adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
				return lateStacks{dev, s.Clock(), &from}, err
			})
			d.Journal = journal.New("phone", nil)
			if err := d.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer d.HangUp()
			if err := s.Phone.Install([]byte("apkgate-simulated-app/1\npackage " + app + "\nactivity .Main\n")); err != nil {
				t.Fatal(err)
			}
			out, err := d.Ask(t.Context(), "am start -W -n "+app+"/.Main >/dev/null; pidof "+app)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
			if err != nil {
				t.Fatal(err)
			}
			found := &kept{}
			w := &Watcher{Target: d, App: app, Keeper: found, Perfetto: &recorders.Perfetto{Programs: &recorders.Programs{Target: d}}}
			r := &Repetition{w: w, n: 1}
			if err := r.dumpThreads(t.Context(), Anomaly{Kind: NotResponding, PID: pid}); err != nil {
				t.Fatal(err)
			}
			told := s.Clock().Now()
			from = told + c.late
			if c.after != "" {
				if err := d.Try(t.Context(), strings.Fields(c.after)...); err != nil {
					t.Fatal(err)
				}
			}
			r.keepThreads(t.Context(), Seen{})
			if took := s.Clock().Now() - told; took < c.late && c.kept || took > c.most {
				t.Errorf("it took %v", took)
			}
			if isKept := strings.Contains(string(found.text), "\"main\""); isKept != c.kept || isKept != (r.NoDump == "") || isKept != (len(r.Dumps) == 1) {
				t.Errorf("kept %q; %q", found.text, r.NoDump)
			}
		})
	}
}
