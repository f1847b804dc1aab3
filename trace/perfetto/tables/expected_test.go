package tables_test

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// TestTablesEqualWhatPerfettosTestsExpect compares with what Perfetto's own tests say of
// their traces, as far as that is rows of these tables.
func TestTablesEqualWhatPerfettosTestsExpect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table string
		keep  func(cells map[string]string) bool
	}{
		"Parsing__sched_blocked_proto_sched_blocked_reason":         {"thread-states", func(c map[string]string) bool { return c["state"] == "D" }},
		"Parsing__ftrace_with_tracing_start_list_sched_slice_spans": {"sched", nil},
		"GraphicsParser__display_power_mode_change":                 {"frames", func(c map[string]string) bool { return c["jank_type"] != "" }},
	} {
		f, err := os.Open(corpustest.Path(t, "perfetto-expected", name+".out"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range want {
			for i := range row {
				row[i] = strings.ReplaceAll(row[i], "[NULL]", "")
			}
		}
		got := ours(t, corpustest.Path(t, "perfetto-expected", name+".pftrace"), c.table)
		compare(t, name, rows(t, want[0], want, nil), rows(t, want[0], got, c.keep))
	}
}
