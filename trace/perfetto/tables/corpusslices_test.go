package tables_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// unreadNames are slices of threads that are not parsed: of the GPU's scheduler, and of Android's
// own track events.
var unreadNames = map[string]bool{
	"process_start": true, "process_start_again": true, "binder_died": true,
}

// sliceKeys maps the slices of a table by id to keys that do not depend on their numbering,
// including the enclosing slices.
func sliceKeys(all [][]string) (keys map[string]string, whole []string) {
	keys = map[string]string{}
	parents := map[string]string{}
	for _, row := range all[1:] {
		cells := map[string]string{}
		for i, column := range all[0] {
			cells[column] = row[i]
		}
		if unreadNames[cells["name"]] {
			continue
		}
		var key []string
		for _, column := range []string{"ts", "dur", "name", "category", "depth", "track_type", "track_name", "tid", "pid"} {
			key = append(key, cells[column])
		}
		keys[cells["id"]] = strings.Join(key, "|")
		parents[cells["id"]] = cells["parent_id"]
	}
	for id, key := range keys {
		whole = append(whole, key+" in "+keys[parents[id]])
	}
	return keys, whole
}

func TestCountersAgreeWithTraceProcessor(t *testing.T) {
	t.Parallel()
	for _, tr := range traces(t) {
		value := func(all [][]string) [][]string {
			for _, row := range all[1:] {
				v, err := strconv.ParseFloat(row[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				row[1] = fmt.Sprint(v)
			}
			return all
		}
		columns := []string{"ts", "value", "track_name", "track_type", "unit", "pid", "tid", "cpu"}
		want := rows(t, columns, value(theirs(t, tr.folder, "counter")), nil)
		compare(t, tr.name+" counters", want, rows(t, columns, value(ours(t, tr.path, "counters")), nil))
	}
}

func TestSlicesAgreeWithTraceProcessor(t *testing.T) {
	t.Parallel()
	for _, tr := range traces(t) {
		theirKeys, want := sliceKeys(theirs(t, tr.folder, "slice"))
		ourKeys, got := sliceKeys(ours(t, tr.path, "slices"))
		compare(t, tr.name+" slices", want, got)
		flows := func(keys map[string]string, all [][]string) []string {
			var out []string
			for _, row := range all[1:] {
				if keys[row[0]] == "" || keys[row[1]] == "" {
					continue
				}
				out = append(out, keys[row[0]]+" leads to "+keys[row[1]])
			}
			return out
		}
		if tr.name == "parser-graphics-gpu_render_stages_flow" {
			continue // some begin at a track event, which names a stage in an extension
		}
		compare(t, tr.name+" flows", flows(theirKeys, theirs(t, tr.folder, "flow")), flows(ourKeys, ours(t, tr.path, "flows")))
	}
}

func TestBinderAgreesWithTraceProcessor(t *testing.T) {
	t.Parallel()
	columns := []string{
		"aidl_name", "interface", "method_name", "client_process", "client_pid", "client_tid", "client_ts", "client_dur",
		"server_process", "server_pid", "server_tid", "server_ts", "server_dur", "is_sync", "is_main_thread", "client_oom_score", "server_oom_score",
	}
	found := 0
	for _, tr := range traces(t) {
		want := rows(t, columns, theirs(t, tr.folder, "binder"), nil)
		compare(t, tr.name+" binder", want, rows(t, columns, ours(t, tr.path, "binder"), nil))
		found += len(want)
	}
	if found < 900 {
		t.Errorf("only %d transactions were found", found)
	}
}
