package batterystats_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A timeout of dumpsys leaves the part written so far, and status 0.
func TestReadMarksAnAbortedDumpCut(t *testing.T) {
	t.Parallel()
	half := checkinDump[:strings.Index(checkinDump, "9,1000,l,cpu")]
	for _, said := range []string{
		"*** SERVICE 'batterystats' DUMP TIMEOUT (10000ms) EXPIRED ***",
		"*** SERVICE 'batterystats' DUMP TIMEOUT (10s) EXPIRED ***",
		"*** SERVICE DUMP TIMEOUT EXPIRED ***",
		"*** command 'dumpsys -t 60 batterystats -c' timed out after 60.010s (killing pid 4711)",
	} {
		d := read(t, half+"\n"+said+"\n\n")
		if !d.Cut || len(d.Warnings) != 1 || !warned(d.Warnings, strings.Count(half, "\n")+2, "aborted its own dump") {
			t.Errorf("%q: cut %v, %v", said, d.Cut, d.Warnings)
		}
	}
	other := read(t, checkinDump+"\n*** SERVICE 'meminfo' DUMP TIMEOUT (10000ms) EXPIRED ***\n")
	if other.Cut || len(other.Warnings) != 0 {
		t.Errorf("another service's timeout cuts this one: %v", other.Warnings)
	}
}

func TestReadMarksATruncatedDumpCut(t *testing.T) {
	t.Parallel()
	const checkin = `9,0,l,bt,1,3600000,3000000,7200000,6600000,1565788946713,900000,300000
9,0,l,pwi,scrn,20.5,1,0,0
9,10086,l,pwi,uid,7.25,0,3,8.5
9,1000,l,pwi,uid,2.5,1,0,0
9,1000,l,cpu,500,250,0
9,10086,l,cpu,61000,9000,0
`
	text := fmt.Sprintf(textDump, oldPower)
	for name, whole := range map[string]string{"checkin": checkin, "text": text} {
		if d := read(t, whole); d.Cut || len(d.Warnings) != 0 {
			t.Errorf("%s, whole: %v", name, d.Warnings)
		}
	}
	for name, c := range map[string]struct {
		text, warning string
	}{
		"checkin within a line":        {checkin[:len(checkin)-9], "middle of a line"},
		"checkin before the last UID":  {checkin[:strings.Index(checkin, "9,10086,l,cpu")], "1 UIDs have an estimate"},
		"checkin before all UIDs":      {checkin[:strings.Index(checkin, "9,1000,l,cpu")], "2 UIDs have an estimate"},
		"text within a line":           {text[:len(text)-9], "middle of a line"},
		"text within the estimates":    {text[:strings.Index(text, "    Uid 0: 1.25")], "within the estimates"},
		"text before the last UID":     {text[:strings.Index(text, "  u0a7:\n")], "1 UIDs have an estimate"},
		"text before the UIDs' totals": {text[:strings.Index(text, "  All partial wake locks")], "2 UIDs have an estimate"},
	} {
		d := read(t, c.text)
		// A UID with only an estimate is unusual, but no proof.
		if certain := !strings.Contains(c.warning, "UIDs"); d.Cut != certain || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, c.warning) {
			t.Errorf("%s: cut %v, %v, want %q", name, d.Cut, d.Warnings, c.warning)
		}
	}
}

// A service among several ends with a line that marks the end.
func TestReadWarnsOfAnUnclosedService(t *testing.T) {
	t.Parallel()
	const closed = "--------- 0.064s was the duration of dumpsys batterystats, ending at: 2019-08-15 15:09:10\n"
	text := "DUMP OF SERVICE batterystats:\n" + fmt.Sprintf(textDump, oldPower)
	checkin := "------ CHECKIN BATTERYSTATS (/system/bin/dumpsys batterystats -c) ------\n" + checkinDump
	for name, c := range map[string]struct {
		text    string
		doubted bool
	}{
		"text":                       {text, true},
		"text, closed":               {text + closed, false},
		"text, before Android 7":     {text + "-----\nDUMP OF SERVICE meminfo:\n  Total: 1\n", false},
		"checkin":                    {checkin, true},
		"checkin, closed":            {checkin + "------ 0.103s was the duration of 'CHECKIN BATTERYSTATS' ------\n", false},
		"checkin, closed, Android 6": {checkin + "[CHECKIN BATTERYSTATS: 0.103s elapsed]\n", false},
		"another service":            {"DUMP OF SERVICE activity:\n" + fmt.Sprintf(textDump, oldPower), false},
	} {
		d := read(t, c.text)
		if doubted := len(d.Warnings) == 1 && strings.Contains(d.Warnings[0].Text, "ends a service's dump"); doubted != c.doubted || d.Cut || len(d.Warnings) > 1 {
			t.Errorf("%s: %v", name, d.Warnings)
		}
	}
}

// Both histories begin with 10 s on battery at 4.0 V. Then the clock jumps ahead by an hour and
// back to 20 s after the beginning; 20 s at 3.8 V follow.
func TestHistoryCountsRepeatedTimesOnce(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"text": `Battery History (0%):
                    0 (2) 100 plug=none volt=4000
            +10s000ms (1) 100 +wifi
       +1h00m10s000ms (1) 100 TIME: 2026-01-01-00-00-00
            +20s000ms (2) 100 volt=3800
            +40s000ms (1) 100 -wifi
`,
		"checkin": "9,h,0:RESET:TIME:1565788946717\n9,h,0,Bp=n,Bv=4000\n9,h,10000,+W\n9,h,3600000,-r\n9,h,-3590000,Bv=3800\n9,h,20000,-W\n",
	} {
		d := read(t, text)
		h := d.History
		if h.OnBatteryMS != 40_000 || h.SpanMS != 40_000 || math.Abs(h.VoltageMV-3900) > 1e-9 {
			t.Errorf("%s: %g of %g ms on battery at %g mV, want 40000 of 40000 at 3900", name, h.OnBatteryMS, h.SpanMS, h.VoltageMV)
		}
		if len(d.Warnings) != 1 || !warned(d.Warnings, 5, "set back") {
			t.Errorf("%s: %v", name, d.Warnings)
		}
	}
}

func TestHistoryWithManyStepsBackIsBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("9,h,0,Bp=n,Bv=4000\n")
	for i := range 300_000 { // each 10 s ahead, 5 s back
		fmt.Fprintf(&text, "9,h,10000,Bv=%d\n9,h,-5000,Bv=%d\n", 4000+i%2, 4000+i%2)
	}
	if h := read(t, text.String()).History; h.OnBatteryMS != 300_000*5000 {
		t.Errorf("%g ms on battery, want %d", h.OnBatteryMS, 300_000*5000)
	}
}

// A bug report has the same history in both forms.
func TestHistoryInBothFormsCountsOnce(t *testing.T) {
	t.Parallel()
	both := "DUMP OF SERVICE batterystats:\n" + fmt.Sprintf(textDump, oldPower) +
		"------ CHECKIN BATTERYSTATS (/system/bin/dumpsys batterystats -c) ------\n" + checkinDump
	d := read(t, both)
	if h := d.History; h.OnBatteryMS != 3_600_000 || h.SpanMS != 3_600_000 || h.Entries != 3 {
		t.Errorf("%+v, want the checkin form's hour", h)
	}
}

func TestInspectWarnsOfADeviceOnACharger(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"text":    "Statistics since last charge:\n  Time on battery: 0ms (0.0%) realtime, 0ms (0.0%) uptime\n  Total run time: 1h 0m 0s 0ms realtime, 1h 0m 0s 0ms uptime\n",
		"checkin": "9,0,l,bt,0,0,0,3600000,3600000,1565788946713,0,0\n9,0,l,pws,2700,0,0,0\n",
	} {
		seen, _ := inspect(t, text)
		if len(seen.Metrics) != 0 || len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0].Text, "on a charger all the time") {
			t.Errorf("%s: %v, %v", name, seen.Metrics, seen.Warnings)
		}
	}
}

// The level of a battery of 5,000 mAh falls by steps of 50 mAh.
func TestEnergyContradictedByTheLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		computed, least, most float64
		doubt                 string
		given                 bool
	}{
		{500, 480, 680, "", true},
		{720, 480, 680, "", true}, // within a step
		{920, 480, 680, "may be too high", true},
		{300, 480, 680, "may be too low", true},
		{11911, 480, 680, "no energy is given", false},
		{891, 83, 111, "no energy is given", false},
		{544, 1320, 1350, "no energy is given", false},
		{20, 0, 0, "", true}, // the level has not fallen yet
	} {
		text := fmt.Sprintf("9,h,0,Bp=n,Bv=4000\n9,0,l,bt,0,3600000,0,0,0\n9,0,l,pws,5000,%g,%g,%g\n", c.computed, c.least, c.most)
		seen, details := inspect(t, text)
		joules, given := seen.Metrics["energy.total_j"]
		if given != c.given || given && math.Abs(joules-c.computed*3.6*4) > 1e-6 {
			t.Errorf("%g mAh beside %g to %g: %g J (%v)", c.computed, c.least, c.most, joules, given)
		}
		if p := details.Periods[0]; p.Stated["computed_mah"] != c.computed {
			t.Errorf("%g mAh beside %g to %g: the charge is not stated", c.computed, c.least, c.most)
		}
		if c.doubt == "" && len(seen.Warnings) != 0 || c.doubt != "" && (len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0].Text, c.doubt)) {
			t.Errorf("%g mAh beside %g to %g: %v, want %q", c.computed, c.least, c.most, seen.Warnings, c.doubt)
		}
	}
}

// A gauge that switches from one cell to two in series doubles the joules.
func TestEnergyOfImpossibleVoltage(t *testing.T) {
	t.Parallel()
	seen, _ := inspect(t, "9,h,0,Bp=n,Bv=4069\n9,h,60000,Bv=8714\n9,h,60000,Bl=90\n9,0,l,bt,0,120000,0,0,0\n9,0,l,pws,5000,500,480,680\n")
	if _, given := seen.Metrics["energy.total_j"]; given || len(seen.Warnings) != 1 || !warned(seen.Warnings, 4, "4069 to 8714 mV") {
		t.Errorf("%v, %v", seen.Metrics, seen.Warnings)
	}
}
