package systrace_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
	"github.com/apkgate/apkgate/trace/systrace"
)

// writer writes the kernel's events of a trace of packets as the kernel prints them, as far as the
// readers use them.
type writer struct {
	out   strings.Builder
	runs  map[int32]int32 // the thread that runs, by CPU
	names map[int32]string
}

func (w *writer) Wants() packets.Wants {
	return packets.Wants{Events: append(slices.Clone(atrace.Events), field.EventSchedSwitch, field.EventSchedWaking, field.EventTaskNewtask)}
}

func (w *writer) Packet(packets.Packet) {}

func (w *writer) Event(e *packets.Event) {
	tid, known := e.TID, true
	if e.Compact != nil {
		tid, known = w.runs[e.CPU]
	}
	line := func(format string, args ...any) {
		at := e.At / time.Microsecond
		fmt.Fprintf(&w.out, "<...>-%d (-----) [%03d] d..2 %d.%06d: %s\n", tid, e.CPU, at/1e6, at%1e6, fmt.Sprintf(format, args...))
	}
	switch c := e.Compact; {
	case e.Kind == field.EventTaskNewtask:
		task := messages.NewTaskOf(e.Data)
		line("task_newtask: pid=%d comm=%s clone_flags=%x oom_score_adj=0", task.PID, task.Comm, task.CloneFlags)
	case c != nil && e.Kind == field.EventSchedSwitch:
		if known && !e.Early {
			line("sched_switch: prev_comm=%s prev_pid=%d prev_prio=1 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d",
				w.names[tid], tid, letters(c.State), c.Comm, c.TID, c.Prio)
		}
		w.runs[e.CPU], w.names[c.TID] = c.TID, c.Comm
	case c != nil && known:
		line("sched_waking: comm=%s pid=%d prio=1 target_cpu=000", c.Comm, c.TID)
	case c == nil:
		if p, ok := atrace.Of(e); ok && strings.IndexByte("BEI", p.Phase) >= 0 {
			line("tracing_mark_write: %c|%d|%s", p.Phase, p.PID, p.Name)
		} else if ok && p.Phase == 'C' {
			line("tracing_mark_write: C|%d|%s|%d", p.PID, p.Name, p.Value)
		}
	}
}

// letters formats a thread's state as in Linux 5.10, on which the trace was recorded.
func letters(state int64) string {
	switch {
	case state == 0:
		return "R"
	case state&0x100 != 0:
		return "R+"
	}
	var out []string
	for i, letter := range "SDTtXZPI" {
		if state&(1<<i) != 0 {
			out = append(out, string(letter))
		}
	}
	return strings.Join(out, "|")
}

// TestTableOfTextAgreesWithPackets writes a real trace of packets as text, with times in µs, and
// compares its tables with those of the packets.
func TestTableOfTextAgreesWithPackets(t *testing.T) {
	t.Parallel()
	src, err := os.Open(corpustest.Path(t, "perfetto", "api32_startup_warm.perfetto-trace"))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := packets.New()
	w := &writer{runs: map[int32]int32{}, names: map[int32]string{}}
	if err := f.ReadInOrder(src, w); err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"sched": 11_000, "thread-states": 22_900, "slices": 6_000, "counters": 2_900} {
		if _, err := src.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		packed, err := tables.Read(src, name)
		if err != nil {
			t.Fatal(err)
		}
		want, got := comparable(name, packed), comparable(name, textTable(t, w.out.String(), name))
		if diff := gocmp.Diff(want, got); diff != "" || len(want) < least {
			t.Errorf("%s: %d rows, at least %d are there; %s", name, len(want), least, diff[:min(len(diff), 2_000)])
		}
	}
}

func textTable(t *testing.T, text, name string) *tables.Table {
	t.Helper()
	read, err := systrace.Table(strings.NewReader(text), name)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// comparable returns the cells of a table's rows that the text has too, in order of time. Slices
// are nested less deeply in the text, since binder's around them are not written.
func comparable(name string, table *tables.Table) []string {
	columns := map[string][]int{"sched": {0, 2, 3, 4, 5}, "thread-states": {0, 2, 3, 4, 5}, "slices": {1, 3, 10}, "counters": {0, 1, 3, 6}}[name]
	kind := map[string]int{"slices": 8, "counters": 4}[name]
	var out []string
	for row := range table.Rows {
		if kind > 0 && row[kind] != "thread_execution" && row[kind] != "atrace_counter" {
			continue
		}
		if name == "slices" && (row[4] != nil || row[3] == "dma_fence_wait") { // not written either
			continue
		}
		cells := []string{fmt.Sprintf("%016d", row[columns[0]].(int64)/1000)}
		for _, at := range columns[1:] {
			cells = append(cells, fmt.Sprint(row[at]))
		}
		out = append(out, strings.Join(cells, "|"))
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
