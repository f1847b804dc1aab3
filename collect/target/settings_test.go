package target

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
)

// stubborn is a device that accepts a setting once and refuses to change it later.
type stubborn struct {
	device.Device
	value  string
	closed bool
}

func (s *stubborn) Exec(_ context.Context, command string) (out device.Output, err error) {
	if _, change, noted := strings.Cut(command, "2>/dev/null; "); noted {
		command = change
	}
	words := strings.Fields(command)
	switch {
	case strings.HasPrefix(command, "settings get"):
		out.Stdout = []byte(s.value + "\n")
	case strings.HasPrefix(command, "settings put") && !s.closed:
		s.value = words[4]
	case strings.HasPrefix(command, "settings delete") && !s.closed:
		s.value = "null"
	}
	return out, nil
}

func (s *stubborn) Close() error { return nil }

// A setting is restored when the run ends, also if it was never set; if the device refuses, a
// warning gives the command to do so by hand.
func TestHoldWarnsOfAStubbornSetting(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"120.0", "null"} {
		for _, closed := range []bool{false, true} {
			d := &stubborn{value: before}
			target := New("pixel", stillClock{}, time.Now(), func(context.Context) (device.Device, error) { return d, nil })
			target.Journal = journal.New("pixel", nil)
			if err := target.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // again, as after the device was lost
				if err := target.Hold(t.Context(), "system", "peak_refresh_rate", "60"); err != nil || d.value != "60" {
					t.Fatalf("held at %s, %v", d.value, err)
				}
			}
			d.closed = closed
			target.TearDown(t.Context(), "com.example")
			byHand := map[string]string{"120.0": "adb shell settings put system peak_refresh_rate 120.0", "null": "adb shell settings delete system peak_refresh_rate"}[before]
			told := slices.ContainsFunc(warnings(target), func(w string) bool { return strings.Contains(w, byHand) })
			if told != closed || !closed && d.value != before {
				t.Errorf("%s, closed %v: left at %s, warnings %q", before, closed, d.value, warnings(target))
			}
		}
	}
}

// warnings are the texts of a target's warnings.
func warnings(t *Target) (out []string) {
	for _, w := range t.Journal.Warnings {
		out = append(out, w.Text)
	}
	return out
}
