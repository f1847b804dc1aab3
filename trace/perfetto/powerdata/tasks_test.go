package powerdata_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// turn is a switch to a thread.
func turn(ms, next int64, comm string) message {
	return event(ms*millisecond, 4, message(nil).text(5, comm).num(6, next))
}

// by is an event that a thread itself causes.
func by(tid, ms int64, kind protowire.Number, data message) message {
	return message(nil).num(1, ms*millisecond).num(2, tid).in(kind, data)
}

// clone is the creation of a thread of the same process, or of another's first one.
func clone(parent, ms, child int64, comm string, thread bool) message {
	flags := int64(0x00000100) // CLONE_VM
	if thread {
		flags |= 0x00010000 // CLONE_THREAD
	}
	return by(parent, ms, 235, message(nil).num(1, child).text(2, comm).num(3, flags))
}

// exit is the end of a thread of a process.
func exit(tid, ms, process int64) message {
	return by(tid, ms, 238, message(nil).num(2, tid).num(3, process))
}

func rename(tid, ms int64, to string) message {
	return by(tid, ms, 236, message(nil).num(1, tid).text(2, "old").text(3, to))
}

func TestReadThreadsThatBeginInTheTrace(t *testing.T) {
	t.Parallel()
	// CPU 1 precedes CPU 0 in the file, though its events are later. The threads have ended before
	// a process tree could list them.
	got := read(t, file(
		bundle(1, turn(20, 102, "com.example"), rename(102, 21, "RenderThread"), turn(25, 103, "Thread-9"), turn(27, 0, "swapper")),
		tree(),
		bundle(0, turn(10, 101, "RenderThread"), clone(101, 15, 102, "com.example", true), turn(18, 0, "swapper"),
			clone(102, 22, 103, "Thread-9", true)),
	))
	want := []powerdata.Thread{
		{TID: 101, PID: 100, Name: "RenderThread", CPU: 8 * time.Millisecond},
		{TID: 102, PID: 100, Name: "RenderThread", CPU: 5 * time.Millisecond},
		{TID: 103, PID: 100, Name: "Thread-9", CPU: 2 * time.Millisecond},
	}
	if diff := cmp.Diff(want, got.Threads); diff != "" {
		t.Error(diff)
	}
	if p := got.Processes[0]; p.PID != 100 || p.CPU != 15*time.Millisecond {
		t.Errorf("process %d has %v, want 100 with 15ms", p.PID, p.CPU)
	}
}

func TestReadThreadKnownByItsEnd(t *testing.T) {
	t.Parallel()
	got := read(t, file(tree(), bundle(0, turn(10, 150, "Thread-3"), exit(150, 12, 100), turn(13, 0, "swapper"))))
	want := []powerdata.Thread{{TID: 150, PID: 100, Name: "Thread-3", CPU: 3 * time.Millisecond}}
	if diff := cmp.Diff(want, got.Threads); diff != "" || got.Processes[0].CPU != 3*time.Millisecond {
		t.Errorf("%s; process %+v", diff, got.Processes[0])
	}
}

func TestReadForkedProcess(t *testing.T) {
	t.Parallel()
	got := read(t, file(
		tree(),
		bundle(0, turn(10, 200, "surfaceflinger"), clone(200, 11, 300, "surfaceflinger", false), turn(12, 300, "surfaceflinger"),
			rename(300, 13, "dumpsys"), clone(300, 14, 301, "dumpsys", true), turn(16, 301, "dumpsys"), turn(19, 0, "swapper")),
	))
	wantThreads := []powerdata.Thread{
		{TID: 300, PID: 300, Name: "dumpsys", CPU: 4 * time.Millisecond},
		{TID: 301, PID: 300, Name: "dumpsys", CPU: 3 * time.Millisecond},
		{TID: 200, PID: 200, Name: "surfaceflinger", CPU: 2 * time.Millisecond},
	}
	if diff := cmp.Diff(wantThreads, got.Threads); diff != "" {
		t.Error(diff)
	}
	wantProcesses := []powerdata.Process{
		{PID: 100, UID: 10001, Name: "com.example"},
		{PID: 200, UID: -1, Name: "surfaceflinger", CPU: 2 * time.Millisecond},
		{PID: 300, UID: -1, Name: "dumpsys", CPU: 7 * time.Millisecond},
	}
	if diff := cmp.Diff(wantProcesses, got.Processes); diff != "" {
		t.Error(diff)
	}
}

// TestCPUTimeOfARealStartUp compares CPU time by process with Perfetto's own table of turns on the
// CPUs. That leaves out the first turn of each CPU's record, and accepts the stated process of
// thread 7774, which ended before a process tree listed it.
func TestCPUTimeOfARealStartUp(t *testing.T) {
	t.Parallel()
	pids := map[string]string{}
	for _, row := range tableOf(t, "api32_startup_warm", "thread") {
		pids[row["utid"]] = row["pid"]
	}
	want := map[string]time.Duration{}
	cpus := map[string]bool{}
	for _, row := range tableOf(t, "api32_startup_warm", "sched") {
		cpus[row["cpu"]] = true
		if row["tid"] == "7774" {
			continue
		}
		if dur, _ := strconv.ParseInt(row["dur"], 10, 64); dur > 0 && row["tid"] != "0" {
			want[pids[row["utid"]]] += time.Duration(dur)
		}
	}
	trace := readFile(t, corpus(t, "perfetto", "api32_startup_warm.perfetto-trace"))
	got := map[string]time.Duration{}
	for _, p := range trace.Processes {
		got[strconv.Itoa(p.PID)] = p.CPU
	}
	var more time.Duration
	differ := 0
	for pid, cpu := range want {
		if pid == "" { // threads of unknown processes
			continue
		}
		if got[pid] != cpu {
			more, differ = more+got[pid]-cpu, differ+1
		}
		if got[pid] < cpu {
			t.Errorf("process %s has %v, want %v", pid, got[pid], cpu)
		}
	}
	if differ > len(cpus) || more > time.Millisecond {
		t.Errorf("%d processes have %v more than Perfetto gives them; %d CPUs have a first turn", differ, more, len(cpus))
	}
	if got["7663"] != want["7663"] || got["1858"] != want["1858"] {
		t.Errorf("the app has %v of %v, the system server %v of %v", got["7663"], want["7663"], got["1858"], want["1858"])
	}
	for tid, name := range map[int]string{7776: "pgrep", 7779: "dumpsys", 7784: "cp", 7806: "rm", 7818: "kill"} {
		at := slices.IndexFunc(trace.Threads, func(t powerdata.Thread) bool { return t.TID == tid })
		if at < 0 || trace.Threads[at].Name != name || trace.Threads[at].PID != tid {
			t.Errorf("thread %d is not the main thread of a process %q: %+v", tid, name, trace.Threads[max(at, 0)])
		}
	}
}

// tableOf returns a table of Perfetto's own trace processor for a trace, by row and column.
func tableOf(t *testing.T, trace, table string) []map[string]string {
	t.Helper()
	folder := corpus(t, "perfetto-tables", trace)
	raw, err := readTable(folder + "/" + table + ".csv")
	if err != nil {
		t.Skip(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s of %s: %d rows, %v", table, trace, len(rows), err)
	}
	out := make([]map[string]string, len(rows)-1)
	for i, row := range rows[1:] {
		out[i] = map[string]string{}
		for j, column := range rows[0] {
			out[i][column] = row[j]
		}
	}
	return out
}

// readTable reads a file of a table, which is packed with xz if it is large.
func readTable(path string) ([]byte, error) {
	if plain, err := os.ReadFile(path); err == nil {
		return plain, nil
	}
	plain, err := exec.Command("xz", "-dc", path+".xz").Output()
	if err != nil {
		return nil, fmt.Errorf("unpack %s.xz (Debian's xz-utils has xz): %w", path, err)
	}
	return plain, nil
}
