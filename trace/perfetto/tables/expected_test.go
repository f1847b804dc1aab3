package tables_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// TestTablesAgreeWithPerfettosTests compares with the expectations of Perfetto's own tests,
// as far as they are rows of these tables.
func TestTablesAgreeWithPerfettosTests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]expected{
		"Parsing__sched_blocked_proto_sched_blocked_reason":         {table: "thread-states", keep: is("state", "D")},
		"Parsing__ftrace_with_tracing_start_list_sched_slice_spans": {table: "sched"},
		"GraphicsParser__display_power_mode_change":                 {table: "frames", keep: is("track_type", "android_actual_frame_timeline")},

		"GenericKernelParser__cpu_frequency_event":                              {table: "counters", theirs: is("machine_id", "0")},
		"GenericKernelParser__sched_switch_huge_tid":                            {table: "sched"},
		"GenericKernelParser__sched_switch_interleaved_mismatched":              {table: "sched"},
		"GenericKernelParser__sched_switch_multiple_threads":                    {table: "sched"},
		"GenericKernelParser__sched_switch_interleaved_mismatched_thread_state": {table: "thread-states"},
		"GenericKernelParser__sched_switch_multiple_threads_thread_state":       {table: "thread-states"},
		"GenericKernelParser__thread_state_consecutive_running_states":          {table: "thread-states"},
		"GenericKernelParser__thread_state_created_and_dead":                    {table: "thread-states"},
		"GenericKernelParser__thread_state_destroyed_after_dead":                {table: "thread-states"},
		"GenericKernelParser__thread_state_gap_between_state_change":            {table: "thread-states"},
		"GenericKernelParser__thread_state_running_after_destroyed":             {table: "thread-states"},

		"SchedParser__cpu_frequency_limits":                           {table: "counters", edit: limitNames},
		"SchedParser__sched_cpu_util_cfs":                             {table: "counters"},
		"SchedParser__sched_cpu_util_cfs_machine_id":                  {table: "counters"},
		"PowerVoltageAndScaling__suspend_resume":                      {table: "slices", keep: is("track_name", "Suspend/Resume Latency")},
		"GraphicsParser__graphics_frame_events":                       {table: "slices", keep: is("track_type", "graphics_frame_event"), args: true},
		"GraphicsParser__graphics_frame_events_machine_id":            {table: "slices", keep: is("track_type", "graphics_frame_event"), args: true},
		"AndroidCpuPerUid__android_cpu_per_uid_basic":                 {table: "counters", keep: is("track_type", "android_cpu_per_uid")},
		"AndroidCpuPerUid__android_cpu_per_uid_malformed":             {table: "counters", keep: is("track_type", "android_cpu_per_uid")},
		"AndroidCpuPerUid__android_cpu_per_uid_cumulative_tracks":     {table: "counters", keep: is("track_type", "android_cpu_per_uid_totals")},
		"AndroidCpuPerUid__android_cpu_per_uid_isolated_uids":         {table: "counters", keep: is("track_type", "android_cpu_per_uid")},
		"LinuxSysfsPower__multiple_batteries":                         {table: "counters"},
		"LinuxSysfsPower__charge_from_energy_and_voltage":             {table: "counters", keep: is("track_name", "batt.charge_uah")},
		"LinuxSysfsPower__charge_from_energy_and_bad_voltage":         {table: "counters", keep: is("track_name", "batt.charge_uah")},
		"LinuxSysfsPower__power_from_current_and_voltage":             {table: "counters", keep: is("track_name", "batt.power_mw")},
		"PowerEnergyBreakdown__energy_breakdown_event":                {table: "counters"},
		"PowerPowerRails__power_rails_event_power_rails_custom_clock": {table: "counters", keep: is("track_type", "power_rails")},

		// Results of SQL that are rows of ours, with the cells that it adds. Ids of slices, threads
		// and processes differ.
		"Frames__android_frames_get_frame_table_with_id": {table: "slices", keep: numbered("Choreographer#doFrame "), edit: frameID, drop: "id"},
		"Frames__android_frames_choreographer_do_frame":  {table: "slices", keep: numbered("Choreographer#doFrame "), edit: frameID, drop: "id ui_thread_utid upid"},
		"Frames__android_frames_draw_frame":              {table: "slices", keep: numbered("DrawFrames "), edit: frameID, drop: "id render_thread_utid upid"},
		"AndroidStdlib__android_dvfs_counters":           {table: "counters", keep: is("track_name", "domain@1 Frequency"), edit: untilNext()},

		"BatteryStats__battery_stats_tracks": {table: "counters"},
	} {
		c.compare(t, name)
	}
}

// expected is a table expected by one of Perfetto's own tests.
type expected struct {
	table string // the table of ours with these rows
	// theirs and keep select the rows of both that are compared, all if nil.
	theirs, keep func(cells map[string]string) bool
	edit         func(cells map[string]string) // adds cells to ours
	drop         string                        // columns that are not compared
	args         bool                          // columns of theirs are arguments
}

// numbered selects slices with a frame's number after a name; others have the name for other events
// of frames.
func numbered(name string) func(map[string]string) bool {
	return func(cells map[string]string) bool {
		_, number, found := strings.Cut(cells["name"], name)
		return found && strings.HasPrefix(cells["name"], name) && strings.TrimLeft(number, " 0123456789") == ""
	}
}

// frameID is the number in the name of a slice, as the SQL extracts it.
func frameID(cells map[string]string) {
	if words := strings.Fields(cells["name"]); len(words) > 1 {
		cells["frame_id"] = words[1]
	}
}

// untilNext is how long a value was its counter's: a value's cells get their dur when the next one
// comes. The last of these traces is at their end.
func untilNext() func(map[string]string) {
	last := map[string]map[string]string{}
	return func(cells map[string]string) {
		cells["dur"] = "0"
		if before := last[cells["track_id"]]; before != nil {
			from, _ := strconv.ParseInt(before["ts"], 10, 64)
			to, _ := strconv.ParseInt(cells["ts"], 10, 64)
			before["dur"] = strconv.FormatInt(to-from, 10)
		}
		last[cells["track_id"]] = cells
	}
}

func is(column, value string) func(map[string]string) bool {
	return func(cells map[string]string) bool { return cells[column] == value }
}

// limitNames shortens a counter's names as the test's query does.
func limitNames(cells map[string]string) {
	cells["cpu"] = strings.TrimSuffix(cells["track_name"], " Freq Limit")
}

// theirColumns are columns of the tests that have another name in ours.
var theirColumns = map[string]string{"ucpu": "cpu", "utid": "utid", "name": "track_name", "type": "track_type", "slice_name": "name", "action": "name"}

// leftOut are columns that ours do not have: ids of machines, of which ours have one.
const leftOut = "machine_id raw_machine_id"

func (c expected) compare(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(corpustest.Path(t, "perfetto-expected", name+".out"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(f).ReadAll()
	_ = f.Close()
	if err != nil {
		t.Fatal(err)
	}
	want := cellsOf(all)
	path := corpustest.Path(t, "perfetto-expected", name+".pftrace")
	got := cellsOf(ours(t, path, c.table))
	if c.args {
		addArgs(got, cellsOf(ours(t, path, "args")))
	}
	if c.edit != nil {
		for _, cells := range got {
			c.edit(cells)
		}
	}
	lines := func(rows []map[string]string, keep func(map[string]string) bool, ours bool) []string {
		var out []string
		for _, cells := range rows {
			if keep != nil && !keep(cells) {
				continue
			}
			var line []string
			for _, column := range all[0] {
				if slices.Contains(strings.Fields(leftOut+" "+c.drop), column) {
					continue
				}
				if _, has := cells[column]; ours && !has {
					column = theirColumns[column]
				}
				line = append(line, plain(cells[column]))
			}
			out = append(out, strings.Join(line, "|"))
		}
		return out
	}
	compare(t, name, lines(want, c.theirs, false), lines(got, c.keep, true))
}

// addArgs adds to slices the cells of their arguments.
func addArgs(slices, args []map[string]string) {
	byID := map[string]map[string]string{}
	for _, cells := range slices {
		byID[cells["id"]] = cells
	}
	for _, arg := range args {
		byID[arg["arg_set_id"]][arg["key"]] = arg["int_value"] + arg["string_value"]
	}
}

func cellsOf(rows [][]string) []map[string]string {
	var out []map[string]string
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, column := range rows[0] {
			cells[column] = row[i]
		}
		out = append(out, cells)
	}
	return out
}

// plain normalizes a cell: 1 for 1.000000, "" for [NULL].
func plain(cell string) string {
	if cell == "[NULL]" {
		return ""
	}
	if v, err := strconv.ParseFloat(cell, 64); err == nil && strings.ContainsAny(cell, ".e") {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return cell
}

// TestBinderSlicesAgreeWithPerfettosTest counts slices as the metric does.
func TestBinderSlicesAgreeWithPerfettosTest(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(corpustest.Path(t, "perfetto-expected", "Parsing__android_binder.out"))
	if err != nil {
		t.Fatal(err)
	}
	path := corpustest.Path(t, "perfetto-expected", "Parsing__android_binder.pftrace")
	names := map[string]string{}
	for _, cells := range cellsOf(ours(t, path, "processes")) {
		names[cells["pid"]] = cells["name"]
	}
	count := map[string]int{}
	for _, cells := range cellsOf(ours(t, path, "slices")) {
		if strings.HasPrefix(cells["name"], "binder") {
			count[fmt.Sprintf("process_name: %q\npid: %s\nslice_name: %q", names[cells["pid"]], cells["pid"], cells["name"])]++
		}
	}
	var got []string
	for key, n := range count {
		got = append(got, fmt.Sprintf("process_breakdown {\n%s\ncount: %d\n}\n", key, n))
	}
	slices.Sort(got)
	if want := "android_binder {\n" + strings.Join(got, "") + "}\n"; strings.TrimSpace(string(raw)) != strings.TrimSpace(want) {
		t.Errorf("%s\nexpected is\n%s", want, raw)
	}
}
