package tables_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
)

// rows formats a table's rows, each as its cells in some columns separated by "|".
func rows(t *testing.T, columns []string, all [][]string, keep func(map[string]string) bool) []string {
	t.Helper()
	var out []string
	for _, row := range all[1:] {
		cells := map[string]string{}
		for i, column := range all[0] {
			cells[column] = row[i]
		}
		if keep != nil && !keep(cells) {
			continue
		}
		line := make([]string, len(columns))
		for i, column := range columns {
			line[i] = cells[column]
		}
		out = append(out, strings.Join(line, "|"))
	}
	slices.Sort(out)
	return out
}

// ours reads a table of a trace as we print it.
func ours(t *testing.T, path, table string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	read, err := tables.Read(f, table)
	if err != nil {
		t.Fatal(err)
	}
	out := [][]string{read.Columns}
	for row := range read.Rows {
		line := make([]string, len(row))
		for i, cell := range row {
			if cell != nil {
				line[i] = fmt.Sprint(cell)
			}
		}
		out = append(out, line)
	}
	return out
}

// theirs is a table as printed by trace_processor.
func theirs(t *testing.T, folder, table string) [][]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, table+".csv"))
	if err != nil {
		packed := filepath.Join(folder, table+".csv.xz")
		if _, err := os.Stat(packed); err != nil {
			return [][]string{{""}} // without rows
		}
		if raw, err = exec.Command("xz", "-dc", packed).Output(); err != nil {
			t.Skipf("unpack %s.csv.xz (Debian's xz-utils has xz): %v", table, err)
		}
	}
	out, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: %d rows, %v", table, len(out), err)
	}
	return out
}

func compare(t *testing.T, name string, want, got []string) {
	t.Helper()
	missing, extra := less(want, got), less(got, want)
	if len(missing)+len(extra) > 0 {
		t.Errorf("%s: of %d rows %d are missing, %d are too many\nmissing %s\ntoo many %s", name, len(want), len(missing), len(extra),
			strings.Join(missing[:min(5, len(missing))], "\n        "), strings.Join(extra[:min(5, len(extra))], "\n        "))
	}
}

// less returns the entries of a that are not in b.
func less(a, b []string) []string {
	count := map[string]int{}
	for _, line := range b {
		count[line]++
	}
	var out []string
	for _, line := range a {
		if count[line]--; count[line] < 0 {
			out = append(out, line)
		}
	}
	return out
}

// trace is a trace with trace_processor's tables.
type trace struct{ name, path, folder string }

// traces are the two real ones and those of Perfetto's own tests.
func traces(t *testing.T) []trace {
	t.Helper()
	var out []trace
	for _, name := range []string{"api32_startup_warm", "nowinandroid_trace"} {
		out = append(out, trace{name, corpustest.Path(t, "perfetto", name+".perfetto-trace"), corpustest.Path(t, "perfetto-tables", name)})
	}
	for _, folder := range []string{"diff_tests", "diff_tests_generated"} {
		above := corpustest.Path(t, "perfetto-tables", folder)
		entries, err := os.ReadDir(above)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			path := filepath.Join(above, e.Name(), e.Name()+".pftrace")
			if _, err := os.Stat(path); err != nil {
				path = corpustest.Path(t, "perfetto", folder, e.Name()+".pftrace")
			}
			out = append(out, trace{e.Name(), path, filepath.Join(above, e.Name())})
		}
	}
	return out
}

// known are the traces whose threads and processes differ, each with the reason
// (docs/format/inspect.md).
var known = map[string]string{
	"parser-android-android_framework_track_event": "the process is named in an extension of a track event",
}

// theirNames are trace_processor's names of the tables.
var theirNames = map[string]string{"threads": "thread", "processes": "process", "sched": "sched", "thread-states": "thread_state"}

func TestTablesAgreeWithTraceProcessor(t *testing.T) {
	t.Parallel()
	for _, tr := range traces(t) {
		for table, theirName := range theirNames {
			if known[tr.name] != "" && (table == "threads" || table == "processes") {
				continue
			}
			want := theirs(t, tr.folder, theirName)
			var columns []string
			for _, column := range want[0] {
				if column != "utid" && column != "upid" { // trace_processor's own ids
					columns = append(columns, column)
				}
			}
			compare(t, tr.name+" "+table, rows(t, columns, want, nil), rows(t, columns, ours(t, tr.path, table), nil))
		}
		all := ours(t, tr.path, "frames")
		for _, kind := range []string{"expected", "actual"} {
			want := theirs(t, tr.folder, kind+"_frame_timeline_slice")
			of := func(cells map[string]string) bool { return cells["track_type"] == "android_"+kind+"_frame_timeline" }
			compare(t, tr.name+" "+kind, rows(t, want[0][1:], want, nil), rows(t, want[0][1:], all, of))
		}
	}
}
