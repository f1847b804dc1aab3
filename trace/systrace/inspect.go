package systrace

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// Tables are the tables that a text trace can fill.
var Tables = []string{"binder", "block-io", "counters", "flows", "processes", "sched", "slices", "thread-states", "threads"}

// Table reads a table of a trace, as tables.Read does for a trace of packets.
func Table(r io.Reader, name string) (*tables.Table, error) { return tables.Of(Source(r), name) }

// topThreads and topProcesses limit the lists of an inspection.
const (
	topThreads   = 50
	topProcesses = 50
)

// Details are the details of an inspection besides its metrics (docs/format/inspect.md).
type Details struct {
	// First and Last are the span of the events on the trace's clock, which it does not name.
	First     time.Duration  `json:"first_ns"`
	Last      time.Duration  `json:"last_ns"`
	CPUs      int            `json:"cpus"`
	Events    int            `json:"events"`
	Unread    int            `json:"unread"` // of kinds that are not parsed
	Kinds     map[string]int `json:"kinds"`  // events by their name
	Processes []Ran          `json:"processes,omitempty"`
	Threads   []Ran          `json:"threads,omitempty"`
}

// Ran is a thread or a process that used the CPUs.
type Ran struct {
	PID   int     `json:"pid,omitempty"` // 0 if unknown
	TID   int     `json:"tid,omitempty"`
	Name  string  `json:"name"`
	CPUMS float64 `json:"cpu_ms"`
}

// Inspect reads a trace and returns its totals: cpu.time_ms, if it has the scheduler's events.
func Inspect(r io.Reader) (trace.Inspection, error) {
	f := packets.New()
	t := threads.New(f)
	s := sched.New(f, t, sched.Keep{Turns: true})
	seen, err := read(r, f, t, s)
	if err != nil {
		return trace.Inspection{}, err
	}
	d := Details{
		First: time.Duration(seen.first), Last: time.Duration(seen.last), CPUs: len(seen.cpus),
		Events: seen.events, Unread: seen.unread, Kinds: map[string]int{},
	}
	for name, n := range seen.kinds {
		d.Kinds[name] = *n
	}
	metrics := map[string]float64{}
	if n := s.Turns.Len(); n > 0 && n < sched.MaxRows {
		metrics["cpu.time_ms"] = d.ran(t, s.Turns.Rows)
	}
	f.Doubts()
	out := trace.NewInspection("systrace", metrics, f.Warnings.List(), d)
	if f.Nothing {
		return out.Empty(), nil
	}
	return out, nil
}

// ran lists the threads and processes that used the CPUs, and returns their total time in ms.
func (d *Details) ran(t *threads.Tracker, turns []sched.Turn) float64 {
	total := time.Duration(0)
	byThread, byProcess := map[int32]time.Duration{}, map[int]time.Duration{}
	for _, one := range turns {
		if one.Thread == 0 || one.For <= 0 {
			continue
		}
		total += one.For
		byThread[one.Thread] += one.For
		if process := t.Threads[one.Thread].Process; process != threads.None {
			byProcess[process] += one.For
		}
	}
	for number, cpu := range byThread {
		thread := t.Threads[number]
		r := Ran{TID: int(thread.TID), Name: thread.Name, CPUMS: milliseconds(cpu)}
		if thread.Process != threads.None {
			r.PID = int(t.Processes[thread.Process].PID)
		}
		d.Threads = append(d.Threads, r)
	}
	for number, cpu := range byProcess {
		process := t.Processes[number]
		d.Processes = append(d.Processes, Ran{PID: int(process.PID), Name: process.Name, CPUMS: milliseconds(cpu)})
	}
	d.Threads, d.Processes = busiest(d.Threads, topThreads), busiest(d.Processes, topProcesses)
	return milliseconds(total)
}

func busiest(all []Ran, most int) []Ran {
	slices.SortFunc(all, func(a, b Ran) int {
		return cmp.Or(cmp.Compare(b.CPUMS, a.CPUMS), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID))
	})
	return all[:min(len(all), most)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
