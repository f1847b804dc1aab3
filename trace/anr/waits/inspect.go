package waits

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr"
)

// Details are the details of an inspection (docs/format/inspect.md).
type Details struct {
	// Form is the writer of the file, Crash the crash that it is about, nil if none, and Cut is set
	// if the file is cut off.
	Form      string           `json:"form,omitempty"`
	Crash     *CrashDetails    `json:"crash,omitempty"`
	Cut       bool             `json:"cut,omitempty"`
	Subject   string           `json:"subject,omitempty"`
	Build     string           `json:"build,omitempty"`
	Processes []ProcessDetails `json:"processes"`
	// Threads is the wait chain as in a record, Cycle is set if it is a cycle.
	Threads []run.ANRThread `json:"threads"`
	Cycle   bool            `json:"cycle,omitempty"`
	// Process and PID identify the process of the chain's first thread.
	Process string `json:"process,omitempty"`
	PID     int    `json:"pid,omitempty"`
	// Cycles are the threads that wait for each other, over all processes; each begins and ends
	// with a different one.
	Cycles [][]run.ANRThread `json:"cycles,omitempty"`
	// Transactions counts the binder transactions that the file lists.
	Transactions int             `json:"transactions,omitempty"`
	CPU          []CPUDetails    `json:"cpu,omitempty"`
	Load         []float64       `json:"load,omitempty"`
	RSSKB        int64           `json:"rss_kb,omitempty"`
	SwapKB       int64           `json:"swap_kb,omitempty"`
	Pressure     []PressureShare `json:"pressure,omitempty"`
}

// ProcessDetails is one process and the number of its threads in each state; a native thread has no
// state and counts as "unattached".
type ProcessDetails struct {
	PID     int            `json:"pid"`
	Name    string         `json:"name,omitempty"`
	Time    string         `json:"time,omitempty"`
	Threads int            `json:"threads"`
	States  map[string]int `json:"states"`
}

// CrashDetails is how a process ended itself.
type CrashDetails struct {
	Process string `json:"process,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Thread  string `json:"thread,omitempty"`
	Signal  string `json:"signal,omitempty"`
	Message string `json:"message,omitempty"`
}

// CPUDetails is the use of all CPUs over a period, in percent of them.
type CPUDetails struct {
	FromMS int64   `json:"from_ms"`
	ToMS   int64   `json:"to_ms"`
	Later  bool    `json:"later,omitempty"`
	Total  float64 `json:"total"`
	IOWait float64 `json:"iowait"`
}

// PressureShare is the share of the last 10 s, in percent, in which some or all tasks
// waited for a resource.
type PressureShare struct {
	Of   string  `json:"of"`
	Some float64 `json:"some_avg10"`
	Full float64 `json:"full_avg10"`
}

// Inspect reads a dump of threads and finds the wait chain. It measures nothing, so there are no
// metrics.
func Inspect(r io.Reader) (trace.Inspection, error) {
	d, err := anr.Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	if len(d.Processes) == 0 {
		return trace.NewInspection("anr", nil, d.Warnings, Details{Processes: []ProcessDetails{}, Threads: []run.ANRThread{}}).Empty(), nil
	}
	var a run.ANR
	var chain Chain
	if d.Crash == nil { // a crashed process was not unresponsive
		chain = Of(d, Subject{})
		chain.Fill(&a)
	}
	details := Details{
		Form: string(d.Form), Cut: d.Cut, Cycles: cyclesOf(d),
		Subject: d.Subject, Build: d.Build, Threads: a.Threads, Cycle: a.Cycle, Process: a.Process, PID: a.PID,
		Transactions: len(d.Binder), Load: d.Load, RSSKB: d.Memory.RSS, SwapKB: d.Memory.Swap,
	}
	if c := d.Crash; c != nil {
		details.Crash, details.Threads = &CrashDetails{c.Process, c.PID, c.Thread, c.Signal, c.Message}, []run.ANRThread{}
	}
	for _, p := range d.Processes {
		details.Processes = append(details.Processes, processDetails(p))
	}
	for _, c := range d.CPU {
		details.CPU = append(details.CPU, CPUDetails{c.FromMS, c.ToMS, c.Later, c.Total.Percent, c.Total.IOWait})
	}
	for _, p := range d.Pressure {
		details.Pressure = append(details.Pressure, PressureShare(p))
	}
	return trace.NewInspection("anr", nil, append(d.Warnings, chain.Warnings...), details), nil
}

// cyclesOf returns the cycles of a dump as in a record, each thread with its process.
func cyclesOf(d anr.Dump) (out [][]run.ANRThread) {
	for _, c := range Cycles(d) {
		var a run.ANR
		c.Fill(&a)
		for i := range a.Threads {
			a.Threads[i].Process = cmp.Or(a.Threads[i].Process, a.Process)
		}
		out = append(out, a.Threads)
	}
	return out
}

func processDetails(p anr.Process) ProcessDetails {
	out := ProcessDetails{PID: p.PID, Name: p.Name, Time: p.Time, Threads: len(p.Threads), States: map[string]int{}}
	for _, t := range p.Threads {
		out.States[cmp.Or(t.State, "unattached")]++
	}
	return out
}

// Summary returns the details as lines for people: the processes, and the chain.
func (d Details) Summary() []string {
	const shown = 20
	var lines []string
	if d.Subject != "" {
		lines = append(lines, "subject: "+d.Subject)
	}
	for _, p := range d.Processes[:min(len(d.Processes), shown)] {
		name := strings.TrimSpace(numberOf(p.PID) + " " + p.Name)
		if p.PID == 0 {
			name = cmp.Or(p.Name, name)
		}
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", name, prose.Count(p.Threads, "thread", "threads"), stateList(p.States)))
	}
	if more := len(d.Processes) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", prose.Count(more, "process", "processes")))
	}
	for _, c := range d.CPU {
		lines = append(lines, fmt.Sprintf("CPUs from %d to %d ms: %.1f%% used, %.1f%% waiting for I/O", c.FromMS, c.ToMS, c.Total, c.IOWait))
	}
	if c := d.Crash; c != nil {
		lines = append(lines, fmt.Sprintf("a crash, not an ANR: %s ended %s in its thread %s", cmp.Or(c.Signal, "an exception"), cmp.Or(c.Process, "a process"), c.Thread))
	}
	for _, c := range d.Cycles {
		var names []string
		for _, t := range c {
			names = append(names, strings.TrimSpace(t.Name+" of "+t.Process))
		}
		lines = append(lines, "deadlock: "+strings.Join(names, " waits for ")+" waits for "+names[0])
	}
	return append(lines, d.chain()...)
}

// stateList lists the number of threads in each state, the most first.
func stateList(states map[string]int) string {
	var list []string
	for _, state := range slices.SortedFunc(maps.Keys(states), func(a, b string) int {
		return cmp.Or(states[b]-states[a], cmp.Compare(a, b))
	}) {
		list = append(list, fmt.Sprintf("%d %s", states[state], state))
	}
	return prose.Few(list, 8)
}

// chain prints the wait chain, each thread with the frames nearest to its wait.
func (d Details) chain() []string {
	if len(d.Threads) == 0 {
		return nil
	}
	const frames = 8
	lines := []string{"waiting:"}
	for i, t := range d.Threads {
		line := fmt.Sprintf("  %d. %s of %s", i+1, t.Name, cmp.Or(t.Process, d.Process, numberOf(d.PID)))
		if t.State != "" {
			line += ", " + t.State
		}
		line += ": " + cmp.Or(t.WaitsFor, t.Kind)
		if t.Next > 0 {
			line += fmt.Sprintf(", which is thread %d", t.Next)
		}
		if t.Critical {
			line += " (critical)"
		}
		lines = append(lines, line)
		for _, frame := range t.Stack[:min(len(t.Stack), frames)] {
			lines = append(lines, "       "+frame)
		}
		if more := len(t.Stack) - frames; more > 0 {
			lines = append(lines, fmt.Sprintf("       and %s more", prose.Count(more, "line", "lines")))
		}
	}
	return lines
}
