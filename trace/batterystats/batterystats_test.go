package batterystats_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/batterystats"
)

func read(t *testing.T, text string) batterystats.Dump {
	t.Helper()
	d, err := batterystats.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func inspect(t *testing.T, text string) (trace.Inspection, batterystats.Details) {
	t.Helper()
	seen, err := batterystats.Inspect(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return seen, seen.Details.(batterystats.Details)
}

func warned(ws []run.Warning, line int, part string) bool {
	for _, w := range ws {
		if w.Line == line && strings.Contains(w.Text, part) {
			return true
		}
	}
	return false
}

// checkinDump is a made-up dump of Android 9: one hour on battery, of which
// fifteen minutes with the screen off.
const checkinDump = `9,0,i,vers,32,177,BUILD.1,BUILD.2
9,hsp,0,10086,"CONNECTED"
9,h,0:RESET:TIME:1565788946717
9,h,0,Bl=100,Bs=d,Bp=n,Bv=4000,Bcc=3000,+r
9,h,3600000,Bv=3900
9,0,i,uid,10086,com.example
9,0,i,uid,10086,com.example.more
9,0,l,bt,1,3600000,3000000,7200000,6600000,1565788946713,900000,300000,2700,2600000,2800000,5000
9,0,l,gn,1000,200,30000,4000,10,20,30,40,5,6
9,0,l,m,2700000,60000,2600000,42000,120000,0,2650000,0,3,0,0,0,0,218,0,0,0,0,0,0,0
9,0,l,dc,3,4,2,1,100,20,0,1,2,3
9,0,l,kwl,"PowerManagerService.WakeLocks, all ",41500,12,-1,-1
9,0,l,pws,2700,50,81,108
9,0,l,pwi,scrn,20.5,1,0,0
9,10086,l,pwi,uid,7.25,0,3,8.5
9,10086,l,nt,900,100,20000,3000,8,20,9,10,6328,1,5,6,1,0
9,10086,l,cpu,61000,9000,0
9,10086,l,pr,"com.example",20000,10000,40000,1,0,0
9,10086,l,fg,2500000,1
9,10086,l,awl,42000,1000
9,10086,l,wl,sync_now,0,f,0,0,0,0,0,p,0,0,0,0,0,bp,0,0,0,0,0,w,0,0,0,0
9,10086,l,wl,upload,5000,f,2,0,0,0,42000,p,7,0,9000,50000,1000,bp,1,0,0,0,0,w,0,0,0,0
9,1000,l,cpu,500,250,0
`

func TestCheckin(t *testing.T) {
	t.Parallel()
	seen, details := inspect(t, checkinDump)
	if len(seen.Warnings) != 0 || len(details.Periods) != 1 {
		t.Fatalf("%d periods, %v", len(details.Periods), seen.Warnings)
	}
	// 50 mAh are 180 C; at 4 V until the history's last entry, 720 J in an hour on battery. 61 + 9
	// + 0.5 + 0.25 s of CPU.
	want := map[string]float64{"energy.total_j": 720, "power.mean_w": 0.2, "cpu.time_ms": 70750}
	if d := cmp.Diff(want, seen.Metrics, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Error(d)
	}
	p := details.Periods[0]
	for name, v := range map[string]float64{
		"on_battery_ms": 3600000, "screen_off_ms": 900000, "screen_on_ms": 2700000, "interactive_ms": 2650000,
		"capacity_min_learned_mah": 2600, "capacity_profile_mah": 2700, "discharge_mah": 100, "discharge_screen_off_mah": 20,
		"wakelock_full_ms": 2600000, "wakelock_partial_ms": 42000, "wifi_rx_bytes": 30000, "bluetooth_tx_bytes": 6,
	} {
		if got, ok := p.Stated[name]; !ok || got != v {
			t.Errorf("%s: %g (%v), want %g", name, got, ok, v)
		}
	}
	wantLocks := []batterystats.Wakelock{
		{UID: 10086, UIDName: "u0a86", Name: "upload", Kind: batterystats.Partial, HeldMS: 42000, Count: 7, ScreenOff: true},
		{Name: "PowerManagerService.WakeLocks, all", Kind: batterystats.Kernel, HeldMS: 41500, Count: 12, ScreenOff: true},
		{UID: 10086, UIDName: "u0a86", Name: "upload", Kind: batterystats.Full, HeldMS: 5000, Count: 2},
	}
	if d := cmp.Diff(wantLocks, p.Wakelocks); d != "" {
		t.Error(d)
	}
	u := p.UIDs[0]
	if u.Name != "u0a86" || u.Stated["power_mah"] != 7.25 || u.Stated["wifi_rx_bytes"] != 20000 || u.Stated["foreground_ms"] != 2500000 {
		t.Errorf("%+v", u)
	}
	if d := cmp.Diff([]string{"com.example", "com.example.more"}, u.Packages); d != "" {
		t.Error(d)
	}
	if c := details.Checkin; c.Format != 9 || c.Version != 32 || c.Parcel != 177 || c.Build != "BUILD.2" {
		t.Errorf("%+v", c)
	}
}

func TestReadOlderCheckinForms(t *testing.T) {
	t.Parallel()
	// Android 2.3: "t" is since ever, "l" the last run; traffic is not split, and the sums of
	// wakelocks are in microseconds.
	d := read(t, `5,0,t,bt,3,1000,900,2000,1900
5,0,t,m,600,0,10,10,0,7000,800,5000000,3000000,12
5,10020,t,nt,700,80
5,10020,t,wl,sync,100,f,1,200,p,2,0,w,0
5,10020,t,pr,"com.example",30,40,50,1
5,0,l,bt,N/A,500,400,600,500
`)
	p := d.Main()
	if len(d.Periods) != 2 || p.Since != batterystats.SinceEver || d.Periods[1].Since != batterystats.SinceLastRun {
		t.Fatalf("%+v", d.Periods)
	}
	if p.Stated["wakelock_full_ms"] != 5000 || p.Stated["wakelock_partial_ms"] != 3000 || p.Stated["rx_bytes"] != 7000 {
		t.Errorf("%v", p.Stated)
	}
	// These versions count a partial wakelock with the screen on or off.
	if w := p.Wakelocks; len(w) != 2 || w[0].HeldMS != 200 || w[0].Kind != batterystats.Partial || w[0].ScreenOff {
		t.Errorf("%+v", w)
	}
	if cpu, ok := p.CPUTimeMS(); !ok || cpu != 70 {
		t.Errorf("CPU time %g, %v, want that of the processes", cpu, ok)
	}
	if _, stated := d.Periods[1].Stated["starts"]; stated {
		t.Error("N/A was taken for a number")
	}
}

// TestWakelockTotalsByVersion reads the line "m" in the layouts that battery-historian's checkin
// parser documents by version.
func TestWakelockTotalsByVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text          string
		full, partial float64 // -1: not stated
	}{
		"version 8":  {"8,0,l,m,47452,0,1000,1000,0,10,20,30,40,918161000,7000,0\n", 918161, 7},
		"version 11": {"9,0,i,vers,11,100,a,b\n9,0,l,m,12469,0,228195,228195,0,10,20,30,40,5000,3000,0,70,71,550,0\n", 5000, 3000},
		"version 14": {"9,0,i,vers,14,120,a,b\n9,0,l,m,12469,0,5000,3000,70,71,11258,0,0,5,2,3,1\n", 5000, 3000},
		"version 35": {"9,0,i,vers,35,190,a,b\n9,0,l,m,12469,0,5000,3000,70,71,11258,0,0,5,2,3,1,0,0,0,0,0,0,0,0\n", 5000, 3000},
		"no version": {"9,0,l,m,12469,0,5000,3000,70,71,11258,0,0,5,2,3,1\n", -1, -1},
	} {
		stated := read(t, c.text).Main().Stated
		full, ok := stated["wakelock_full_ms"]
		if partial := stated["wakelock_partial_ms"]; ok != (c.full >= 0) || ok && (full != c.full || partial != c.partial) {
			t.Errorf("%s: %v", name, stated)
		}
		if stated["screen_on_ms"] == 0 {
			t.Errorf("%s: no time with the screen on: %v", name, stated)
		}
	}
}

const textDump = `Battery History (0%% used, 828 used of 512KB, 9 strings using 768):
                    0 (10) RESET:TIME: 2017-12-11-17-52-02
                    0 (1) 043 status=charging plug=usb volt=4300 +running
            +10s000ms (3) 043 status=discharging plug=none volt=4000 charge=2000
            +30s000ms (2) 042 volt=3700
            +40s000ms (2) 042 -wake_lock charge=1990

Per-PID Stats:
  PID 0 wake time: +950ms

Statistics since last charge:
  System starts: 0, currently on battery: false
rawRealtime = 540987611 (ms) 
  Estimated battery capacity: 2600 mAh
  Time on battery: 1m 40s 0ms (92,0%%) realtime, 1m 30s 5ms (92,0%%) uptime
  Time on battery screen off: 20s 0ms (7.3%%) realtime, 10s 0ms (3.8%%) uptime
  Total run time: 2m 0s 0ms realtime, 2m 0s 0ms uptime
  Discharge: 10.5 mAh
  Screen on: 1m 20s 0ms (80%%) 0x, Interactive: 1m 19s 0ms (79%%)
  Total partial wakelock time: 9s 5ms
  Mobile total received: 0B, sent: 12B (packets received 0, sent 1)
  Wi-Fi total received: 1,50MB, sent: 2.00KB (packets received 3, sent 4)

  Device battery use since last full charge
    Amount discharged (lower bound): 1
    Amount discharged while screen on: 2

  Estimated power use (mAh):
    Capacity: 2600, Computed drain: 10, actual drain: 26.0-52.0
%s

  All kernel wake locks:
  Kernel Wake lock a: b: 1ms: 2s 10ms (5 times) realtime

  All partial wake locks:
  Wake lock u0a7 *sync*/x: y: 9s 5ms (3 times) max=5000 actual=9005 realtime
  Wake lock 1000 never realtime

  0:
    Proc kworker/u9:0:
      CPU: 10ms usr + 1s 490ms krn ; 0ms fg
  u0a7:
    Wi-Fi network: 22,50KB received, 6.00KB sent (packets 275 received, 101 sent)
    Wake lock *sync*/x: y: 1s 0ms full (1 times), 9s 5ms partial (3 times) max=5000, 8s 0ms background partial (2 times) realtime
    Total cpu time: u=180ms s=22s 970ms p=0mAh
    Proc com.example:
      CPU: 1s 0ms usr + 2s 0ms krn ; 0ms fg
    Apk com.example:
      Wakeup alarm *walarm*: 0 times
`

const oldPower = `    Screen: 5.25 Excluded from smearing
    Uid u0a7: 3.5 ( cpu=3.0 wifi=0.5 ) Including smearing: 4.25 ( proportional=0.75 )
    Uid 0: 1.25`

const newPower = `    Global
      screen: 5.25 apps: 4 duration: 1m 20s 0ms 
    UID u0a7: 3.5 fg: 1 bg: 0.5 ( screen=2.5 (1m 0s 0ms) cpu=1 (10s 0ms) cpu:fg=0.9 (9s 0ms) ) 
      (on battery, screen on)
    UID 0: 1.25 ( cpu=1.25 (1m 0s 0ms) ) `

func TestText(t *testing.T) {
	t.Parallel()
	for name, power := range map[string]string{"Android 8": oldPower, "Android 14": newPower} {
		seen, details := inspect(t, fmt.Sprintf(textDump, power))
		if len(seen.Warnings) != 0 || len(details.Periods) != 1 {
			t.Fatalf("%s: %v", name, seen.Warnings)
		}
		// On battery 4 V for 20 s and 3.7 V for 10 s: 3.9 V. 10 mAh are 36 C, so 140.4 J in 100 s.
		// CPU: UID 0 states only its process, u0a7 its total.
		want := map[string]float64{"energy.total_j": 140.4, "power.mean_w": 1.404, "cpu.time_ms": 1500 + 180 + 22970}
		if d := cmp.Diff(want, seen.Metrics, cmpopts.EquateApprox(1e-12, 0)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		p := details.Periods[0]
		for key, v := range map[string]float64{
			"on_battery_ms": 100000, "on_battery_uptime_ms": 90005, "screen_off_ms": 20000, "screen_on_ms": 80000, "interactive_ms": 79000,
			"discharge_mah": 10.5, "capacity_estimated_mah": 2600, "capacity_profile_mah": 2600, "actual_max_mah": 52,
			"wifi_rx_bytes": 1.5 * 1024 * 1024, "wifi_tx_bytes": 2048, "mobile_tx_bytes": 12,
			"discharge_min_percent": 1, "discharge_screen_on_percent": 2, "wakelock_partial_ms": 9005,
		} {
			if got, ok := p.Stated[key]; !ok || got != v {
				t.Errorf("%s: %s: %g (%v), want %g", name, key, got, ok, v)
			}
		}
		if len(p.Components) != 1 || p.Components[0].Name != "screen" || p.Components[0].PowerMAh != 5.25 {
			t.Errorf("%s: %+v", name, p.Components)
		}
		wantLocks := []batterystats.Wakelock{
			{UID: 10007, UIDName: "u0a7", Name: "*sync*/x: y", Kind: batterystats.Partial, HeldMS: 9005, Count: 3, ScreenOff: true},
			{Name: "a: b: 1ms", Kind: batterystats.Kernel, HeldMS: 2010, Count: 5, ScreenOff: true},
			{UID: 10007, UIDName: "u0a7", Name: "*sync*/x: y", Kind: batterystats.Full, HeldMS: 1000, Count: 1},
		}
		if d := cmp.Diff(wantLocks, p.Wakelocks); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		u := p.UIDs[0]
		if u.UID != 10007 || u.Stated["power_mah"] != 3.5 || u.Stated["wifi_rx_bytes"] != 23040 || len(u.Packages) != 1 || u.Packages[0] != "com.example" {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

func TestReadPartsOfAUID(t *testing.T) {
	t.Parallel()
	_, before := inspect(t, fmt.Sprintf(textDump, oldPower))
	u := before.Periods[0].UIDs[0]
	if d := cmp.Diff(map[string]float64{"cpu": 3, "wifi": 0.5}, u.PartsMAh); d != "" || u.Stated["power_smeared_mah"] != 4.25 {
		t.Errorf("%v\n%s", u.Stated, d)
	}
	_, since12 := inspect(t, fmt.Sprintf(textDump, newPower))
	u = since12.Periods[0].UIDs[0]
	want := map[string]float64{"screen": 2.5, "cpu": 1, "cpu:fg": 0.9}
	if d := cmp.Diff(want, u.PartsMAh); d != "" || u.Stated["power_fg_mah"] != 1 || u.Stated["power_bg_mah"] != 0.5 {
		t.Errorf("%v\n%s", u.Stated, d)
	}
	c := since12.Periods[0].Components[0]
	if *c.AppsMAh != 4 || *c.DurationMS != 80000 {
		t.Errorf("screen: %g mAh of apps, %g ms", *c.AppsMAh, *c.DurationMS)
	}
}

// TestEnergyIsNeverGuessed tests that there is no energy if the file lacks what it is computed
// from, and a warning gives the reason.
func TestEnergyIsNeverGuessed(t *testing.T) {
	t.Parallel()
	const pws, hour = "9,0,l,pws,2700,50,0,0\n", "9,0,l,bt,0,3600000,0,0,0\n"
	for name, c := range map[string]struct {
		text, doubt string
		joules      float64 // 0: none
	}{
		"no voltage":           {pws + hour, "no voltage", 0},
		"no drain":             {"9,h,0,Bp=n,Bv=4000\n" + hour, "", 0},
		"a drain of zero":      {"9,h,0,Bp=n,Bv=4000\n9,0,l,pws,2700,0,0,0\n", "0 mAh", 0},
		"volts, not mV":        {"9,h,0,Bp=n,Bv=4\n" + pws, "no battery has", 0},
		"charging all along":   {"9,h,0,Bp=u,Bv=4300\n9,h,5000,Bv=4310\n" + pws, "no voltage", 0},
		"one reading":          {"9,h,0,Bp=n,Bv=4000\n" + pws, "", 720},
		"the battery service":  {pws + "Current Battery Service state:\n  USB powered: false\n  voltage: 3500\n", "", 630},
		"one that is plugged":  {pws + "Current Battery Service state:\n  USB powered: true\n  voltage: 3500\n", "no voltage", 0},
		"off between readings": {"9,h,0,Bp=n,Bv=4000\n9,h,10:SHUTDOWN\n9,h,90000:START\n9,h,0,Bp=n,Bv=3000\n9,h,10,Bl=9\n" + pws, "", 630},
	} {
		seen, details := inspect(t, c.text)
		got, stated := seen.Metrics["energy.total_j"]
		if stated != (c.joules > 0) || math.Abs(got-c.joules) > 1e-9 || (details.Energy != nil) != stated {
			t.Errorf("%s: %g J (%v), want %g", name, got, stated, c.joules)
		}
		if c.doubt == "" && len(seen.Warnings) != 0 || c.doubt != "" && (len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0].Text, c.doubt)) {
			t.Errorf("%s: %v, want %q", name, seen.Warnings, c.doubt)
		}
	}
}

func TestInspectWithoutStatistics(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                    "no line of batterystats",
		"hello\n  there: 3\n": "no line of batterystats",
		"\x00\x01\x02":        "no line of batterystats",
		"Battery History (0%)\n    0 (2) 100 volt=4000\n":             "only history",
		"Current Battery Service state:\r\n  voltage: 4000\r\n":       "only battery",
		"DUMP OF SERVICE activity:\n  Time on battery: 5s 0ms (1%)\n": "no line of batterystats",
	} {
		seen, _ := inspect(t, text)
		if len(seen.Metrics) != 0 || len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0].Text, want) {
			t.Errorf("%q: %v, %v, want %q", text, seen.Metrics, seen.Warnings, want)
		}
	}
}

func TestReadWarnings(t *testing.T) {
	t.Parallel()
	d := read(t, `9,0,l,bt,1,abc
9,0,l,pws,2700,-5
9,0,l,pwi,scrn
9,10086,l,cpu,1e999,0,0
9,10086,l,wl,lock,x,p,1
Statistics since last charge:
  Time on battery: soon
  Wi-Fi total received: many, sent: 0B
  Estimated power use (mAh):
    Capacity: none
    Uid root: 3.5

  u0q7:
    Total cpu time: u=1ms
  u0a7:
    Total cpu time: u=1ms
Battery History (0%)
     soon (2) 100
     +5q (2) 100
`)
	for line, part := range map[int]string{
		1: "column 2", 2: "column 2", 3: "before the charge", 4: "column 1", 5: "not a number", 7: "a time",
		8: "bytes", 10: "charge", 11: "names no UID", 13: "no UID", 16: "user and in system", 19: "1 entry",
	} {
		if !warned(d.Warnings, line, part) {
			t.Errorf("no warning of line %d tells of %q: %v", line, part, d.Warnings)
		}
	}
	if len(d.Warnings) != 12 {
		t.Errorf("%d warnings: %v", len(d.Warnings), d.Warnings)
	}
	if n := len(d.Periods[0].Stated); n != 2 { // starts, and the profile's capacity
		t.Errorf("%v", d.Periods[0].Stated)
	}
}

func TestUIDs(t *testing.T) {
	t.Parallel()
	// UserHandle.formatUid: user × 100000 + app id.
	for name, uid := range map[string]int{
		"0": 0, "1000": 1000, "u0a86": 10086, "u999a318": 99_910_318, "u999s1000": 99_901_000,
		"u0i3": 99_003, "u10i0": 1_099_000, "u0a40007": 50_007,
	} {
		if got, ok := batterystats.ParseUID(name); !ok || got != uid {
			t.Errorf("%s is read as %d, %v, want %d", name, got, ok, uid)
		}
		if got := batterystats.FormatUID(uid); got != name {
			t.Errorf("%d is written %s, want %s", uid, got, name)
		}
	}
	for _, bad := range []string{"", "u", "u0", "ua3", "u0a", "u0a-1", "u0z3", "-1", "99999999999", "u0a90000", "u99999a1", "root"} {
		if got, ok := batterystats.ParseUID(bad); ok {
			t.Errorf("%q was taken for UID %d", bad, got)
		}
	}
}

// TestReadIsBounded reads a file with more of everything than a device can have.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&text, "9,%d,l,wl,%s%d,1,p,1,2,w,1\n", i, strings.Repeat("n", 400), i)
		fmt.Fprintf(&text, "9,%d,l,pwi,part%d,1\n", i, i)
	}
	for range 100 {
		text.WriteString("Statistics since last charge:\n")
	}
	d := read(t, text.String())
	p := d.Periods[0]
	if len(d.Periods) != 16 || len(p.UIDs) != 20_000 || len(p.Components) != 256 || len(p.Wakelocks[0].Name) > 300 {
		t.Errorf("%d periods, %d UIDs, %d components", len(d.Periods), len(p.UIDs), len(p.Components))
	}
	if !warned(d.Warnings, 1, "is left out") || !warned(d.Warnings, 60_016, "more than 16 sets") || len(d.Warnings) != 2 {
		t.Errorf("%v", d.Warnings)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(checkinDump))
	f.Add([]byte(fmt.Sprintf(textDump, oldPower)))
	f.Add([]byte(fmt.Sprintf(textDump, newPower)))
	f.Add([]byte("5,0,t,m,1,2,3,4,5,6,7,8,9,10\n9,h,*:RESET\n9,h,,Bv=1\n9,0,l,kwl,\"a,b\",1,2\n"))
	f.Add([]byte("Current Battery Service state:\n  voltage: -5\n  AC powered: true\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen, err := batterystats.Inspect(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err) // a text of this size is always readable
		}
		for name, v := range seen.Metrics {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%s is %g", name, v)
			}
		}
		for _, p := range seen.Details.(batterystats.Details).Periods {
			for name, v := range p.Stated {
				if math.IsNaN(v) || v < 0 || v > 1e15 {
					t.Errorf("%s is %g", name, v)
				}
			}
		}
	})
}

func TestSummaryListsWakelocks(t *testing.T) {
	t.Parallel()
	_, details := inspect(t, strings.ReplaceAll(checkinDump, "upload", "up\x1b[31mload"))
	got := details.Summary()
	want := []string{
		"since the last charge: 1h0m0s on battery, the screen on for 45m0s",
		"estimated drain: 50 mAh",
		`held awake with the screen off: 42s by "up\x1b[31mload" of u0a86 (7 times)`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, details = inspect(t, "Battery History (0%)\n"); details.Summary() != nil {
		t.Errorf("%q of a file without statistics", details.Summary())
	}
}
