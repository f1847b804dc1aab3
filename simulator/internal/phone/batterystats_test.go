package phone

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/packages"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/trace/batterystats"
)

// quiet is an app that holds wakelocks, with the screen on and off.
const quiet = still + `traffic 600 after swipe sent 40
wakelock with-screen from tap for 500ms
wakelock in-the-dark from swipe for 1500ms
wakelock beside-it from swipe for 400ms
screen-off from swipe for 1s
load 700ms after tap
uses gps from tap for 2s
`

func readStats(t *testing.T, p *Phone, command string) *batterystats.Period {
	t.Helper()
	d, err := batterystats.Read(bytes.NewReader([]byte(output(t, p, command))))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range d.Warnings {
		t.Errorf("the reader doubts the dump: %s", w.Text)
	}
	main := d.Main()
	if main == nil {
		t.Fatalf("%s tells no period", command)
	}
	return main
}

func appOf(p *batterystats.Period) *batterystats.UID {
	for _, u := range p.UIDs {
		if u.UID == packages.FirstUID {
			return u
		}
	}
	return &batterystats.UID{Stated: map[string]float64{}}
}

func TestBatterystats(t *testing.T) {
	for _, phone := range []string{"pixel-7-android-14", "pixel-2-android-8.1.0", "moto-g5-android-7.0"} {
		t.Run(phone, func(t *testing.T) {
			p := newPhone(t, phone, quiet)
			play(t, p) // before the reset
			has(t, output(t, p, "dumpsys batterystats --reset"), "Battery stats and history reset.")
			from, to := play(t, p)
			pass(t, p, 3*time.Second)
			stats := readStats(t, p, "dumpsys batterystats -c")
			truth, app := p.Truth(from, to), appOf(stats)

			if ms := app.Stated["cpu_user_ms"] + app.Stated["cpu_system_ms"]; ms < float64(truth.CPU.Milliseconds())-2 || ms > float64(truth.CPU.Milliseconds())+2 {
				t.Errorf("cpu: %v ms, the truth is %v", ms, truth.CPU)
			}
			if app.Stated["wifi_rx_bytes"] != 600<<10 || app.Stated["wifi_tx_bytes"] != 40<<10 {
				t.Errorf("%v bytes were received and %v sent", app.Stated["wifi_rx_bytes"], app.Stated["wifi_tx_bytes"])
			}
			// The second wakelock was held for 1 s with the screen off, and so was all of the
			// third, which was held at the same time.
			locks := map[string]float64{}
			for _, l := range stats.Wakelocks {
				locks[l.Name] = l.HeldMS
			}
			if len(locks) != 2 || locks["in-the-dark"] != 1000 || locks["beside-it"] != 400 || app.Stated["wakelock_held_ms"] != 1000 {
				t.Errorf("wakelocks: %v, in all %v ms", locks, app.Stated["wakelock_held_ms"])
			}
			// 0.19 W more than asleep, for that second.
			within(t, "what the wakelocks cost", truth.Parts["awake"], 0.19, 1e-6)
			if stats.Stated["screen_off_ms"] != 1000 {
				t.Errorf("the screen was off for %v ms", stats.Stated["screen_off_ms"])
			}
			// The platform's estimate may be off by slightly more than a fifth.
			mAh := p.Truth(from, p.Clock().Now()).Apps["com.example.still"] / 3.85 / 3.6
			if v := app.Stated["power_mah"]; v < 0.75*mAh || v > 1.2*mAh {
				t.Errorf("the app is charged with %v mAh, the truth is %.4g", v, mAh)
			}
			if text := appOf(readStats(t, p, "dumpsys batterystats")); text.Stated["power_mah"] != app.Stated["power_mah"] {
				t.Errorf("for people the app is charged with %v mAh, for machines with %v", text.Stated["power_mah"], app.Stated["power_mah"])
			}
		})
	}
}

func TestBatterystatsCountsOnBatteryOnly(t *testing.T) {
	p := newPhone(t, "nexus-5x-android-6.0.0", quiet) // on a USB port
	output(t, p, "dumpsys batterystats --reset")
	play(t, p)
	if ms := appOf(readStats(t, p, "dumpsys batterystats -c")).Stated["cpu_user_ms"]; ms != 0 {
		t.Errorf("%v ms of CPU time are counted while the phone is plugged in", ms)
	}
	output(t, p, "dumpsys battery unplug")
	has(t, output(t, p, "dumpsys battery"), "UPDATES STOPPED", "  USB powered: false\n", "  status: 2\n")
	play(t, p)
	output(t, p, "dumpsys battery reset")
	has(t, output(t, p, "dumpsys battery"), "  USB powered: true\n")
	once := appOf(readStats(t, p, "dumpsys batterystats -c")).Stated["cpu_user_ms"]
	play(t, p)
	if twice := appOf(readStats(t, p, "dumpsys batterystats -c")).Stated["cpu_user_ms"]; once < 500 || twice != once {
		t.Errorf("%v ms are counted while unplugged, %v after it", once, twice)
	}
}

func TestBatteryServiceCanBeSet(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	output(t, p, "dumpsys battery set level 15; cmd battery set ac 1")
	has(t, output(t, p, "dumpsys battery"), "  level: 15\n", "  AC powered: true\n")
	if got := output(t, p, "cmd battery get level; cmd battery get ac; cmd battery get usb"); got != "15\ntrue\nfalse\n" {
		t.Errorf("the service tells %q", got)
	}
	if now := strings.TrimSpace(output(t, p, "cmd battery get current_now")); !strings.HasPrefix(now, "-") {
		t.Errorf("on battery, the current is %s", now)
	}
	output(t, p, "cmd battery reset")
	if got := output(t, p, "cmd battery get level; cmd battery get ac"); got != "96\nfalse\n" {
		t.Errorf("after the reset, the service tells %q", got)
	}
	if _, _, code := run(t, p, "dumpsys battery set level full"); code == 0 {
		t.Error("a level can be a word")
	}
}

func TestCPUTimesAddUp(t *testing.T) {
	for phone, folder := range map[string]string{"pixel-7-android-14": "cpufreq/policy", "nexus-5x-android-6.0.0": "cpu"} {
		p := newPhone(t, phone, quiet)
		stat := func() (busy, all float64) {
			words := strings.Fields(strings.SplitN(output(t, p, "cat /proc/stat"), "\n", 2)[0])
			for i, w := range words[1:] {
				v, _ := strconv.ParseFloat(w, 64)
				all += v / 100
				if i != 3 {
					busy += v / 100
				}
			}
			return busy, all
		}
		speeds := func(first string) (fast, all float64) {
			name := "/sys/devices/system/cpu/" + folder + first
			if folder == "cpu" {
				name += "/cpufreq"
			}
			lines := strings.Split(strings.TrimSpace(output(t, p, "cat "+name+"/stats/time_in_state")), "\n")
			for i, line := range lines {
				ticks, _ := strconv.ParseFloat(strings.Fields(line)[1], 64)
				all += ticks / 100
				if i > 0 {
					fast += ticks / 100
				}
			}
			return fast, all
		}
		busy, all := stat()
		fast, span := speeds("4")
		from, to := play(t, p)
		busyAfter, allAfter := stat()
		fastAfter, spanAfter := speeds("4")
		took, truth := (to - from).Seconds(), p.Truth(from, to).CPU.Seconds()
		// Eight CPUs, of which the kernel's workers keep four busy for 2 % of the time, and
		// SurfaceFlinger, including its notification of the app for each vsync.
		composes := 0.0
		for _, r := range p.Timeline().Runs {
			if r.To > from && (r.TID == sched.FlingerPID || r.TID == sched.AppVsync) {
				composes += (r.To - r.From).Seconds()
			}
		}
		if d := busyAfter - busy - truth - composes - 4*0.02*took; d < -0.2 || d > 0.2 || composes == 0 {
			t.Errorf("%s: the CPUs were busy for %.2f s, the app for %.2f", phone, busyAfter-busy, truth)
		}
		if d := allAfter - all - 8*took; d < -0.3 || d > 0.3 {
			t.Errorf("%s: the CPUs' times come to %.2f s in %.2f", phone, allAfter-all, took)
		}
		if d := spanAfter - span - took; d < -0.1 || d > 0.1 || fastAfter-fast > truth+0.1 || fastAfter-fast < truth/2 {
			t.Errorf("%s: the big CPUs ran %.2f s of %.2f above the least speed, the app %.2f", phone, fastAfter-fast, spanAfter-span, truth)
		}
	}
}

func TestScreenOnAndOff(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	draw := func() float64 {
		from := p.Clock().Now()
		pass(t, p, 10*time.Second)
		return p.Truth(from, from+10*time.Second).Parts["screen"]
	}
	middle := draw()
	output(t, p, "settings put system screen_brightness 255")
	bright := draw()
	output(t, p, "input keyevent 26")
	has(t, output(t, p, "dumpsys power"), "mWakefulness=Asleep", "Display Power: state=OFF")
	off := draw()
	output(t, p, "input keyevent KEYCODE_WAKEUP")
	has(t, output(t, p, "dumpsys power"), "mWakefulness=Awake", "Display Power: state=ON")
	if !(off == 0 && middle > 3 && bright > middle+1) || draw() != bright {
		t.Errorf("in ten seconds the screen draws %v J, %v J when bright and %v J when off", middle, bright, off)
	}
}
