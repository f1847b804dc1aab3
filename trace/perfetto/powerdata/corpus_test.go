package powerdata_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// corpus returns a path among the real files outside the repository.
func corpus(t testing.TB, parts ...string) string {
	t.Helper()
	return corpustest.Path(t, parts...)
}

func readFile(t testing.TB, path string) *powerdata.Trace {
	t.Helper()
	return corpustest.Read(t, path, powerdata.Read)
}

func TestCorpusIsRead(t *testing.T) {
	t.Parallel()
	read := 0
	for _, folder := range []string{"perfetto", "perfetto-expected"} {
		err := filepath.WalkDir(corpus(t, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			seen, err := powerdata.Inspect(f)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if _, err := json.Marshal(seen); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if strings.HasSuffix(path, ".pftrace") || strings.HasSuffix(path, ".perfetto-trace") {
				read++
				for _, w := range seen.Warnings {
					if strings.Contains(w.Text, "no Perfetto trace") || strings.Contains(w.Text, "middle of") {
						t.Errorf("%s: %s", path, w.Text)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 80 {
		t.Errorf("only %d traces were found", read)
	}
}

// TestCorpusAgainstTraceProcessor compares with the tables of Perfetto's own trace processor for
// the same traces. If a trace has no snapshot that leads to CLOCK_MONOTONIC, both are on
// CLOCK_BOOTTIME.
func TestCorpusAgainstTraceProcessor(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]func(*powerdata.Trace) [][]string{
		"PowerPowerRails__android_power_rails_metadata":                  railTable("name", "raw", "friendly", "subsystem"),
		"PowerPowerRails__power_rails_event_power_rails_custom_clock":    railTable("ts", "value"),
		"PowerPowerRails__power_rails_multi_device":                      railTable("name", "ts", "value", "machine"),
		"PowerPowerRails__power_rails_session_uuid_same_index_same_name": railTable("name", "ts", "value", "session"),
		"PowerPowerRails__power_rails_well_known_power_rails":            railMeans,
		"PowerEnergyBreakdown__energy_breakdown_event":                   consumerTable("ts", "value"),
		"PowerEnergyBreakdown__energy_breakdown_table":                   consumerTable("id", "name", "type", "ordinal"),
		"PowerEnergyBreakdown__energy_breakdown_table_machine_id":        consumerTable("id", "name", "type", "ordinal"),
		"PowerEnergyBreakdown__energy_per_uid_table":                     shareTable("id", "uid"),
		"PowerEnergyBreakdown__energy_breakdown_uid_table_machine_id":    shareTable("uid", "name"),
		"Battery__android_battery_charge":                                batteryCharge,
		"LinuxSysfsPower__multiple_batteries":                            batteryNames,
		"LinuxSysfsPower__charge_from_energy_and_voltage":                chargeFromEnergy,
		"LinuxSysfsPower__charge_from_energy_and_bad_voltage":            chargeFromEnergy,
		"LinuxSysfsPower__power_from_current_and_voltage":                powerOfBattery,
		"AndroidCpuPerUid__android_cpu_per_uid_basic":                    uidTable,
		"AndroidCpuPerUid__android_cpu_per_uid_malformed":                uidTable,
		"AndroidCpuPerUid__android_cpu_per_uid_track_summaries":          uidSums,
		"BatteryStats__battery_stats_tracks":                             stateTable,
	} {
		got := table(readFile(t, corpus(t, "perfetto-expected", name+".pftrace")))
		f, err := os.Open(corpus(t, "perfetto-expected", name+".out"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil || len(want) == 0 {
			t.Fatalf("%s: %d rows, %v", name, len(want), err)
		}
		if diff := cmp.Diff(sorted(want[1:]), sorted(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func sorted(rows [][]string) [][]string {
	out := slices.Clone(rows)
	slices.SortFunc(out, slices.Compare[[]string])
	if len(out) == 0 {
		return nil
	}
	return out
}

func whole[T int64 | uint64 | int32 | uint32 | int](v T) string {
	return strconv.FormatInt(int64(v), 10)
}
func real(v float64) string        { return strconv.FormatFloat(v, 'f', 6, 64) }
func nanos(t time.Duration) string { return whole(int64(t)) }

// friendly are the trace processor's names of the two rails.
var friendly = map[string]string{"S3M_VDD_CPUCL1": "cpu.mid", "S2S_VDD_G3D": "gpu"}

func trackName(r powerdata.Rail) string {
	if name, ok := friendly[r.Name]; ok {
		return "power.rails." + name
	}
	return "power." + r.Name + "_uws"
}

// railTable has a row for each reading, or for each rail if no column is of readings.
func railTable(columns ...string) func(*powerdata.Trace) [][]string {
	return func(t *powerdata.Trace) [][]string {
		var out [][]string
		for _, r := range t.Rails {
			samples := r.Samples
			if !slices.Contains(columns, "ts") {
				samples = []powerdata.RailSample{{}}
			}
			for _, s := range samples {
				all := map[string]string{
					"name": trackName(r), "raw": r.Name, "subsystem": r.Subsystem, "friendly": "[NULL]",
					"machine": whole(r.Machine), "session": whole(r.Session),
					"ts": nanos(s.Time), "value": real(float64(s.MicroWattSeconds)),
				}
				if name, ok := friendly[r.Name]; ok {
					all["friendly"] = name
				}
				out = append(out, row(all, columns))
			}
		}
		return out
	}
}

func row(all map[string]string, columns []string) []string {
	var out []string
	for _, c := range columns {
		out = append(out, all[c])
	}
	return out
}

func railMeans(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, r := range t.Rails {
		sum := 0.0
		for _, s := range r.Samples {
			sum += float64(s.MicroWattSeconds)
		}
		out = append(out, []string{trackName(r), real(sum / float64(len(r.Samples))), whole(len(r.Samples))})
	}
	return out
}

func consumerTable(columns ...string) func(*powerdata.Trace) [][]string {
	return func(t *powerdata.Trace) [][]string {
		var out [][]string
		for _, c := range t.Consumers {
			for _, s := range c.Samples {
				out = append(out, row(map[string]string{
					"id": whole(c.ID), "name": c.Name, "type": c.Type, "ordinal": whole(c.Ordinal),
					"ts": nanos(s.Time), "value": real(float64(s.MicroWattSeconds)),
				}, columns))
			}
		}
		return out
	}
}

func shareTable(columns ...string) func(*powerdata.Trace) [][]string {
	return func(t *powerdata.Trace) [][]string {
		var out [][]string
		for _, c := range t.Consumers {
			for _, u := range c.UIDs {
				out = append(out, row(map[string]string{"id": whole(c.ID), "uid": whole(u.UID), "name": c.Name}, columns))
			}
		}
		return out
	}
}

func batteryCharge(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, s := range t.Battery {
		milliwatts := math.Abs(float64(*s.CurrentUA * *s.VoltageUV / 1_000_000_000))
		out = append(out, []string{nanos(s.Time), real(float64(*s.CurrentAverageUA)), real(*s.Percent), real(float64(*s.ChargeUAH)),
			real(float64(*s.CurrentUA)), real(float64(*s.VoltageUV)), "[NULL]", real(milliwatts)})
	}
	return out
}

func batteryNames(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, s := range t.Battery {
		if s.Percent != nil {
			out = append(out, []string{"batt." + s.Name + ".capacity_pct", real(*s.Percent)})
		}
		if s.ChargeUAH != nil {
			out = append(out, []string{"batt." + s.Name + ".charge_uah", real(float64(*s.ChargeUAH))})
		}
		if s.CurrentUA != nil {
			out = append(out, []string{"batt." + s.Name + ".current_ua", real(float64(*s.CurrentUA))})
		}
	}
	return out
}

// chargeFromEnergy computes the charge as the trace processor does, which this package leaves to
// its callers.
func chargeFromEnergy(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, s := range t.Battery {
		if *s.VoltageUV > 0 {
			out = append(out, []string{real(float64(*s.EnergyUWH * 1_000_000 / *s.VoltageUV))})
		}
	}
	return out
}

func powerOfBattery(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, s := range t.Battery {
		out = append(out, []string{real(math.Abs(float64(*s.CurrentUA * *s.VoltageUV / 1_000_000_000)))})
	}
	return out
}

func stateTable(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, s := range t.States {
		for _, c := range s.Changes {
			out = append(out, []string{s.Name, nanos(c.Time), real(float64(c.Value)), "battery_stats"})
		}
	}
	return out
}

// uidTable leaves out unchanged values, as the trace processor does.
func uidTable(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, u := range t.UIDTimes {
		for i, s := range u.Samples {
			if i == 0 || s.Total != u.Samples[i-1].Total {
				out = append(out, []string{fmt.Sprintf("CPU for UID %d CL%d", u.UID, u.Cluster), nanos(s.Time), real(float64(s.Total / time.Millisecond))})
			}
		}
	}
	return out
}

// uidSums groups the UIDs of isolated processes, as the trace processor does.
func uidSums(t *powerdata.Trace) [][]string {
	var out [][]string
	for _, u := range t.UIDTimes {
		uid := u.UID
		if uid%100_000 >= 90_000 {
			uid -= uid % 10_000
		}
		out = append(out, []string{whole(uid), whole(u.Cluster), whole(int64(u.CPU() / time.Millisecond))})
	}
	return out
}

// numbers returns the values of a field in a text of trace processor's metrics.
func numbers(t *testing.T, text, field string) []float64 {
	t.Helper()
	var out []float64
	for _, m := range regexp.MustCompile(`(?m)\b`+field+`: ([-0-9.]+)`).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func expected(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(corpus(t, "perfetto-expected", name+".out"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCorpusAgainstMetricOfRails(t *testing.T) {
	t.Parallel()
	const name = "StartupMetrics__android_startup_powrails"
	want := expected(t, name)
	var ms, uws, milliwatts []float64
	for _, r := range readFile(t, corpus(t, "perfetto-expected", name+".pftrace")).Rails {
		for _, s := range r.Samples {
			ms, uws = append(ms, float64(s.Time/time.Millisecond)), append(uws, float64(s.MicroWattSeconds))
		}
		j, over := r.Energy()
		milliwatts = append(milliwatts, math.Round(j/over.Seconds()*1e3*1e6)/1e6)
	}
	for field, got := range map[string][]float64{"timestamp_ms": ms, "energy_uws": uws, "avg_used_power_mw": milliwatts} {
		if diff := cmp.Diff(numbers(t, want, field), got); diff != "" || len(got) < 3 {
			t.Errorf("%s: %s", field, diff)
		}
	}
}

func TestCorpusAgainstMetricOfBattery(t *testing.T) {
	t.Parallel()
	const name = "StartupMetrics__android_batt_counters"
	want := expected(t, name)
	got := map[string][]float64{}
	add := func(field string, v *int64) {
		if v != nil {
			got[field] = append(got[field], float64(*v))
		}
	}
	for _, s := range readFile(t, corpus(t, "perfetto-expected", name+".pftrace")).Battery {
		ns := int64(s.Time)
		add("timestamp_ns", &ns)
		add("charge_counter_uah", s.ChargeUAH)
		add("current_ua", s.CurrentUA) // three of four readings have one
		add("current_avg_ua", s.CurrentAverageUA)
		add("voltage_uv", s.VoltageUV)
		got["capacity_percent"] = append(got["capacity_percent"], math.Round(*s.Percent*1e6)/1e6)
	}
	for _, field := range []string{"timestamp_ns", "charge_counter_uah", "current_ua", "current_avg_ua", "voltage_uv", "capacity_percent"} {
		if diff := cmp.Diff(numbers(t, want, field), got[field]); diff != "" || len(got[field]) < 3 {
			t.Errorf("%s: %s", field, diff)
		}
	}
}

func TestCorpusAgainstSuspendPeriods(t *testing.T) {
	t.Parallel()
	const name = "PowerVoltageAndScaling__suspend_period"
	want := expected(t, name)
	var starts, lengths []float64
	for _, s := range readFile(t, corpus(t, "perfetto-expected", name+".pftrace")).Suspends {
		starts, lengths = append(starts, float64(s.Start)), append(lengths, float64(s.End-s.Start))
	}
	if diff := cmp.Diff(numbers(t, want, "timestamp_ns"), starts); diff != "" || len(starts) != 2 {
		t.Errorf("starts: %s", diff)
	}
	if diff := cmp.Diff(numbers(t, want, "duration_ns"), lengths); diff != "" {
		t.Errorf("lengths: %s", diff)
	}
	// The other trace's table has each step; the sleep itself is one of them.
	other := readFile(t, corpus(t, "perfetto-expected", "PowerVoltageAndScaling__suspend_resume.pftrace")).Suspends
	if len(other) != 1 || !strings.Contains(expected(t, "PowerVoltageAndScaling__suspend_resume"),
		fmt.Sprintf("%d,%d,\"timekeeping_freeze(0)\"", other[0].Start, other[0].End-other[0].Start)) {
		t.Errorf("suspensions %v", other)
	}
}

// TestCorpusPixel6 compares a phone's recording with the result of a Python script that shares
// nothing with this package.
func TestCorpusPixel6(t *testing.T) {
	t.Parallel()
	got := readFile(t, corpus(t, "perfetto", "api32_startup_warm.perfetto-trace"))
	if got.Clock != "monotonic" || len(got.Warnings) > 0 {
		t.Errorf("clock %s, warnings %v", got.Clock, got.Warnings)
	}
	want := map[string]float64{ // J
		"S10M_VDD_TPU": 0.003408, "VSYS_PWR_DISPLAY": 0.232679, "L15M_VDD_SLC_M": 0.024175, "S2M_VDD_CPUCL2": 0.112181,
		"S3M_VDD_CPUCL1": 0.083984, "S4M_VDD_CPUCL0": 0.256239, "S5M_VDD_INT": 0.053064, "S1M_VDD_MIF": 0.186835,
		"L9S_GNSS_CORE": 0.001848, "L2S_VDD_AOC_RET": 0.015207, "S9S_VDD_AOC": 0.036229, "S5S_VDDQ_MEM": 0.029643,
		"S10S_VDD2L": 0.019634, "S4S_VDD2H_MEM": 0.086021, "S2S_VDD_G3D": 0.015334, "L8S_UFS_VCCQ": 0.041465,
	}
	have := map[string]float64{}
	for _, r := range got.Rails {
		have[r.Name], _ = r.Energy()
		if len(r.Samples) != 8 {
			t.Errorf("%s has %d readings, want 8", r.Name, len(r.Samples))
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	// The four LDOs are fed by bucks.
	sum := 0.0
	apart, ok := got.Apart()
	for _, r := range apart {
		j, _ := r.Energy()
		sum += j
	}
	if !ok || len(apart) != 12 || math.Abs(sum-1.115251) > 1e-9 {
		t.Errorf("%d rails apart (%v) with %v J, want 12 with 1.115251", len(apart), ok, sum)
	}
	var busy time.Duration
	for _, thread := range got.Threads {
		busy += thread.CPU
	}
	if busy != 2_308_138_072 || got.Threads[0].TID != 1178 || got.Threads[0].CPU != 311_327_272 || got.Threads[0].Name != "/system/bin/traced_probes" {
		t.Errorf("%v of CPU time, most by %+v", busy, got.Threads[0])
	}
	changes := 0
	for _, f := range got.Frequencies {
		changes += len(f.Changes)
	}
	if len(got.Frequencies) != 8 || changes != 4*244+2*132+2*101 {
		t.Errorf("%d changes of frequency on %d CPUs", changes, len(got.Frequencies))
	}
	if len(got.Battery) != 8 || *got.Battery[0].ChargeUAH != 4_430_000 {
		t.Errorf("%d readings of the battery", len(got.Battery))
	}
}

func BenchmarkRead(b *testing.B) {
	path := corpus(b, "perfetto", "api32_startup_warm.perfetto-trace")
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		readFile(b, path)
	}
}
