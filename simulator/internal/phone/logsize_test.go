package phone

import (
	"strings"
	"testing"
	"time"
)

// logd keeps 256 KiB of each buffer, and less on a phone with little memory, until a member of
// the group log changes it (logd/LogSize.h, LogCommand.cpp).
func TestLogSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile string
		options Options
		before  string // run first
		keeps   time.Duration
	}{
		"Android 8":            {"pixel-2-android-8.1.0", Options{}, "", 5 * time.Second},                      // 262144 / 48000 = 5.46
		"Android 14":           {"pixel-7-android-14", Options{}, "", 9 * time.Second},                         // 1.675 times that: 9.14
		"little memory":        {"pixel-2-android-8.1.0", Options{LowRAM: true}, "", time.Second},              // 1.37
		"enlarged":             {"pixel-2-android-8.1.0", Options{}, "logcat -G 1M -b main", 21 * time.Second}, // 21.8
		"another one enlarged": {"pixel-2-android-8.1.0", Options{}, "logcat -G 1M -b system", 5 * time.Second},
		"fixed":                {"pixel-2-android-8.1.0", Options{FixedLog: true}, "logcat -G 1M -b main", 5 * time.Second},
		"a quieter phone":      {"pixel-2-android-8.1.0", Options{Chatter: 8000}, "", 54 * time.Second}, // 54.6
		"before logd":          {"nexus-5-android-4.4.4", Options{}, "logcat -G 1M -b main", 5 * time.Second},
	} {
		p := phoneWith(t, c.profile, c.options)
		run(t, p, c.before)
		run(t, p, "log -t test here")
		for _, one := range []struct {
			after time.Duration
			there bool
		}{{c.keeps, true}, {time.Second, false}} {
			if err := p.Clock().Sleep(t.Context(), one.after); err != nil {
				t.Fatal(err)
			}
			out, _, _ := run(t, p, "logcat -d -b main test:I '*:S'")
			if there := strings.Contains(out, "here"); there != one.there {
				t.Errorf("%s: %v later it is there: %v", name, one.after, there)
			}
		}
	}
	p := phoneWith(t, "pixel-7-android-14", Options{FixedLog: true})
	wantOutput(t, p, "logcat -G 1M -b main", "logcat: failed to set the 'main' log size.\n", 1)
}
