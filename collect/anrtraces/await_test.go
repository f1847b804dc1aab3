package anrtraces

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// forgetful is a device that shows the last ANR's stacks once, and then gives scripted answers.
type forgetful struct {
	device.Device
	stacks string
	asked  *int
	later  func() (device.Output, error)
}

func (f forgetful) Exec(ctx context.Context, line string) (device.Output, error) {
	if !strings.Contains(line, "lastanr-traces") {
		return f.Device.Exec(ctx, line)
	}
	if *f.asked++; *f.asked > 1 {
		return f.later()
	}
	return device.Output{Stdout: []byte(f.stacks)}, nil
}

// Earlier answers are kept, whatever the later ones are.
func TestAwaitKeepsEarlierAnswers(t *testing.T) {
	t.Parallel()
	const stacks = "----- pid 500 at 2026-11-22 12:00:00 -----\nCmd line: com.example\nDALVIK THREADS (1):\n\"main\" prio=5 tid=1 Blocked\n  at com.example.A.b(A.java:1)\n\n----- end 500 -----\n"
	for name, later := range map[string]func() (device.Output, error){
		"it fails": func() (device.Output, error) { return device.Output{}, errors.New("the service does not answer") },
		"it has none": func() (device.Output, error) {
			return device.Output{Stdout: []byte("  <no ANR has occurred since boot>\n")}, nil
		},
		"it is of another": func() (device.Output, error) {
			return device.Output{Stdout: []byte(strings.ReplaceAll(stacks, "500", "501"))}, nil
		},
		"it is not for it": func() (device.Output, error) {
			return device.Output{Stderr: []byte("Permission Denial\n"), ExitCode: 1}, nil
		},
		"it is cut to a bit": func() (device.Output, error) { return device.Output{Stdout: []byte(stacks[:60])}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{Chatter: -1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			asked := 0
			d := target.New("phone", s.Clock(), time.Now(), func(ctx context.Context) (device.Device, error) {
				dev, err := adb.Dial(ctx, s.Address(), adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
				return forgetful{dev, stacks, &asked, later}, err
			})
			d.Journal = journal.New("phone", nil)
			if err := d.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer d.HangUp()
			d.Facts.API = 34
			told := (&Asker{Target: d, App: "com.example"}).await(t.Context(), Repetition{N: 1}, []run.ANR{one})
			if asked < 2 {
				t.Fatalf("the device was asked %d times", asked)
			}
			if string(told.files[0]) != stacks {
				t.Errorf("kept are the stacks %q", told.files[0])
			}
			if len(told.log) == 0 {
				t.Error("the log is not kept")
			}
		})
	}
}
