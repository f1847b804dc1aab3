package batterystats_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/batterystats"
)

// corpus returns the folder of real dumps outside the repository.
func corpus(t testing.TB) string {
	t.Helper()
	return corpustest.Path(t, "batterystats")
}

func inspectCorpus(t testing.TB, name string) (trace.Inspection, batterystats.Details) {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	seen, err := batterystats.Inspect(f)
	if err != nil {
		t.Fatal(err)
	}
	return seen, seen.Details.(batterystats.Details)
}

// TestCorpusText compares the real texts with numbers that a Python script with regular expressions
// found in them: the CPU time summed over the UIDs, the mean voltage on battery over time (an
// instant that occurs twice counts once, as stated last, since some entries are out of order), the
// computed drain, the screen's times, the number of UIDs with an estimate and the sum of these, and
// the wakelocks of the two lists.
func TestCorpusText(t *testing.T) {
	t.Parallel()
	// Android's own value if the history is complete: "Time on battery".
	onBattery := map[string]float64{
		"androidcommon_dumpsys_batterystats.txt": 596348062, "fishbonec_batterystats.txt": 3691254,
		"fishbonec_batterystats0.txt": 1811, "hpbl_batterystats.txt": 494616,
	}
	for _, c := range []struct {
		file                       string
		cpuMS, mv, drain           float64
		screenOnMS, screenOffMS    float64
		uids                       int
		uidsMAh, partial, kernelMS float64
	}{
		{"adbcleaner_batterystats.txt", -1, 0, -1, 0, 0, 0, 0, 0, 0}, // plugged in all the time
		{"androidcommon_dumpsys_batterystats.txt", 20091240, 3891.2434, 2391, 7029157, 589318905, 55, 1169.79, 17151235, 36092927},
		{"fishbonec_batterystats.txt", 4677578, 4411.4115, 410, 2525987, 1165267, 115, 388.955, 949964, 1430867},
		{"fishbonec_batterystats0.txt", 4031, 4453, 0, 1811, 0, 44, 0.277866, 0, 0},
		{"fishbonec_batterystats3.txt", 57287352, 3989.8680, 5500, 24085854, 1882945, 161, 3634.65, 546385, 1598555},
		{"fishbonec_batterystats4.txt", 63172340, 3982.6183, 6340, 26402840, 1882945, 163, 3996.49, 546385, 1598555},
		{"hpbl_batterystats.txt", 109930, 3762.5418, 28.4, 494616, 0, 33, 2.99981, 0, 0},
		{"jeanboydev_emulator_9_batterystats.txt", 3819730, 5000, 10.7, 10897873, 1035, 8, 9.2352, 0, 2060},
	} {
		seen, details := inspectCorpus(t, c.file)
		p := details.Periods[0]
		value := func(stated map[string]float64, name string) float64 {
			if v, ok := stated[name]; ok {
				return v
			}
			return -1
		}
		if cpu := value(seen.Metrics, "cpu.time_ms"); cpu != c.cpuMS {
			t.Errorf("%s: CPU time %g ms, want %g", c.file, cpu, c.cpuMS)
		}
		if drain := value(p.Stated, "computed_mah"); drain != c.drain {
			t.Errorf("%s: computed drain %g mAh, want %g", c.file, drain, c.drain)
		}
		if mv := details.History.VoltageMV; math.Abs(mv-c.mv) > 1e-4 {
			t.Errorf("%s: %g mV, want %g", c.file, mv, c.mv)
		}
		if held, ok := onBattery[c.file]; ok && (details.History.OnBatteryMS != held || p.Stated["on_battery_ms"] != held) {
			t.Errorf("%s: %g ms on battery, Android states %g, want %g", c.file, details.History.OnBatteryMS, p.Stated["on_battery_ms"], held)
		}
		on, off := value(p.Stated, "screen_on_ms"), value(p.Stated, "screen_off_ms")
		if on != c.screenOnMS || off != c.screenOffMS {
			t.Errorf("%s: screen on %g ms, off %g; want %g, %g", c.file, on, off, c.screenOnMS, c.screenOffMS)
		}
		joules, stated := seen.Metrics["energy.total_j"]
		if want := c.drain * 3.6 * c.mv / 1000; stated != (c.drain > 0) || stated && math.Abs(joules/want-1) > 1e-6 {
			t.Errorf("%s: %g J (%v), want %g", c.file, joules, stated, want)
		}
		uids, mah := 0, 0.0
		for _, u := range p.UIDs {
			if v, ok := u.Stated["power_mah"]; ok {
				uids, mah = uids+1, mah+v
			}
		}
		if uids != c.uids || math.Abs(mah-c.uidsMAh) > 1e-5*c.uidsMAh {
			t.Errorf("%s: %d UIDs draw %g mAh, want %d and %g", c.file, uids, mah, c.uids, c.uidsMAh)
		}
		held := map[batterystats.LockKind]float64{}
		for _, w := range p.Wakelocks {
			held[w.Kind] += w.HeldMS
		}
		if held[batterystats.Partial] != c.partial || held[batterystats.Kernel] != c.kernelMS {
			t.Errorf("%s: partial and kernel wakelocks %v, want %g and %g", c.file, held, c.partial, c.kernelMS)
		}
		// Android states the sum itself, rounded once instead of once per lock.
		if sum, stated := p.Stated["wakelock_partial_ms"]; stated && math.Abs(sum-c.partial) > 10 {
			t.Errorf("%s: the file states %g ms of partial wakelocks", c.file, sum)
		}
	}
}

// TestCorpusCheckinAgreesWithText reads both forms of the same statistics of an emulator with
// Android 9. The checkin form was written 2.35 s later.
func TestCorpusCheckinAgreesWithText(t *testing.T) {
	t.Parallel()
	text, textDetails := inspectCorpus(t, "jeanboydev_emulator_9_batterystats.txt")
	checkin, details := inspectCorpus(t, "jeanboydev_emulator_9_batterystats_checkin.txt")
	if len(checkin.Warnings) != 0 || details.Checkin.Version != 32 || details.Source.Form != batterystats.FormCheckin {
		t.Errorf("%+v, %v", details.Checkin, checkin.Warnings)
	}
	for _, name := range []string{"energy.total_j", "cpu.time_ms"} {
		if text.Metrics[name] == 0 || text.Metrics[name] != checkin.Metrics[name] {
			t.Errorf("%s: %g and %g", name, text.Metrics[name], checkin.Metrics[name])
		}
	}
	a, b := textDetails.Periods[0], details.Periods[0]
	compared := 0
	for name, v := range a.Stated {
		w, stated := b.Stated[name]
		if !stated {
			continue
		}
		compared++
		// Running times advanced for those 2.35 s; the text rounds bytes to a hundredth of a KB.
		if math.Abs(v-w) > 2500 || v != w && !isRunning(name) && math.Abs(v-w) > 0.006*1024+500 {
			t.Errorf("%s: %g in the text, %g in the checkin form", name, v, w)
		}
	}
	if compared < 25 || len(a.UIDs) != len(b.UIDs) || len(a.Components) != len(b.Components) {
		t.Errorf("%d numbers, %d and %d UIDs, %d and %d components", compared, len(a.UIDs), len(b.UIDs), len(a.Components), len(b.Components))
	}
	sensors := 0
	for i, u := range a.UIDs {
		for handle, ms := range u.SensorsMS {
			sensors++
			if later := b.UIDs[i].SensorsMS[handle]; ms == 0 || later < ms || later > ms+2500 {
				t.Errorf("%s: sensor %d for %g ms in the text, %g ms in the checkin form", u.Name, handle, ms, later)
			}
		}
	}
	if sensors != 2 {
		t.Errorf("%d times of sensors in the text", sensors)
	}
	for i := range a.Wakelocks {
		if a.Wakelocks[i] != b.Wakelocks[i] {
			t.Errorf("%+v and %+v", a.Wakelocks[i], b.Wakelocks[i])
		}
	}
}

func isRunning(name string) bool {
	return slices.Contains([]string{"on_battery_ms", "on_battery_uptime_ms", "total_ms", "total_uptime_ms",
		"screen_on_ms", "screen_medium_ms", "interactive_ms", "mobile_radio_active_ms", "wifi_on_ms", "wifi_running_ms"}, name)
}

// TestCorpusWithoutStatistics reads the real files without statistics.
func TestCorpusWithoutStatistics(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct {
		contents string
		entries  int
		mv       float64
	}{
		"androidperf_battery.txt":           {"battery", 0, 4350},
		"jeanboydev_emulator_9_battery.txt": {"battery", 0, 5000},
		// grep -c '^ *\(+[0-9dhms]*\|0\) (' after iconv; the first voltages are 4395.
		"linkadb_battery_history.txt": {"history", 146, 4390.6},
		"mvt_androidqf_dumpsys.txt":   {"history", 30, 4345},
		"mvt_dumpsys_battery.txt":     {"history", 8, 4302},
	} {
		seen, details := inspectCorpus(t, file)
		if len(seen.Metrics) != 0 || len(details.Contents) != 1 || details.Contents[0] != want.contents ||
			!warned(seen.Warnings, 0, "only "+want.contents) {
			t.Errorf("%s: %v, %v, %v", file, details.Contents, seen.Metrics, seen.Warnings)
			continue
		}
		switch {
		case details.Battery != nil:
			if mv := details.Battery.Stated["voltage_mv"]; mv != want.mv {
				t.Errorf("%s: %g mV", file, mv)
			}
		case details.History.Entries != want.entries || math.Abs(details.History.VoltageMV-want.mv) > 0.1:
			t.Errorf("%s: %+v, want %+v", file, details.History, want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(corpus(b), "fishbonec_batterystats4.txt"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := batterystats.Inspect(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}
