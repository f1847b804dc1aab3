package art

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/trace"
)

// Limits on what an inspection lists.
const (
	topMethods = 20
	topThreads = 50
	maxText    = 300 // bytes of a name
)

// Details are what an inspection reports beside the totals (docs/format/inspect.md).
type Details struct {
	Format  Format        `json:"format"`
	Version int           `json:"version"`
	Clock   Clock         `json:"clock"`
	Begin   time.Duration `json:"begin_ns"`
	Elapsed time.Duration `json:"elapsed_ns"`
	PID     int           `json:"pid,omitempty"`
	Full    bool          `json:"full"`
	Cut     bool          `json:"cut"`
	Events  int           `json:"events"`
	// Calls counts entries, Open those without an exit, Early exits without an entry.
	Calls int `json:"calls"`
	Open  int `json:"calls_open"`
	Early int `json:"exits_early"`
	// Methods counts the methods that were called.
	Methods int             `json:"methods"`
	Top     []MethodDetails `json:"top"`
	Threads []ThreadDetails `json:"threads"`
}

// MethodDetails is one method.
type MethodDetails struct {
	Method    string        `json:"method"`
	Signature string        `json:"signature,omitempty"`
	File      string        `json:"file,omitempty"`
	Calls     int           `json:"calls"`
	Self      time.Duration `json:"self_ns"`
	Total     time.Duration `json:"total_ns"`
	Longest   time.Duration `json:"longest_ns"`
}

// ThreadDetails is one thread.
type ThreadDetails struct {
	TID   uint32 `json:"tid"`
	Name  string `json:"name,omitempty"`
	Calls int    `json:"calls"`
}

// Inspect reads a method trace. Times are wall time, or processor time where the trace has no
// other.
func Inspect(r io.Reader) (trace.Inspection, error) {
	var d Details
	var sums Sums
	threads := map[uint32]int{}
	calls := Calls{Each: func(c Call) {
		sums.Add(c)
		if c.Open {
			d.Open++
		}
	}}
	t, err := Read(r, func(e Event) {
		if e.Action == Enter {
			d.Calls++
			threads[e.Thread]++
		}
		calls.Add(e)
	})
	if err != nil {
		return trace.Inspection{}, err
	}
	calls.Finish()
	d.Format, d.Version, d.Clock, d.Begin, d.Elapsed, d.PID = t.Format, t.Version, t.Clock, t.Begin, t.Elapsed, t.PID
	d.Full, d.Cut, d.Events, d.Early = t.Full, t.Cut, t.Events, calls.Early
	d.Top, d.Methods = top(t, sums.List())
	d.Threads = busiest(t, threads)
	out := trace.NewInspection("art", nil, append(t.Warnings, calls.Warnings()...), d)
	if t.Format == Unknown {
		return out.Empty(), nil
	}
	return out, nil
}

func top(t *Trace, sums []MethodSums) (out []MethodDetails, methods int) {
	out = []MethodDetails{}
	for _, s := range sums[:min(len(sums), topMethods)] {
		m := t.Method(s.Method)
		out = append(out, MethodDetails{
			Method: prose.Clip(m.String(), maxText), Signature: prose.Clip(m.Signature, maxText), File: prose.Clip(m.File, maxText),
			Calls: s.Calls, Self: s.Self, Total: s.Total, Longest: s.Longest,
		})
	}
	return out, len(sums)
}

func busiest(t *Trace, calls map[uint32]int) []ThreadDetails {
	out := []ThreadDetails{}
	for tid, n := range calls {
		out = append(out, ThreadDetails{TID: tid, Name: t.Threads[tid], Calls: n})
	}
	slices.SortFunc(out, func(a, b ThreadDetails) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.TID, b.TID))
	})
	return out[:min(len(out), topThreads)]
}

// Summary is the inspection in lines of text.
func (d Details) Summary() []string {
	if d.Format == Unknown {
		return nil
	}
	version := ""
	switch {
	case d.Version > 0xf:
		version = fmt.Sprintf(" %#x", d.Version)
	case d.Version > 0:
		version = fmt.Sprintf(" %d", d.Version)
	}
	lines := []string{fmt.Sprintf("format %s%s, clock %s: %d %s of %d %s in %d %s",
		d.Format, version, d.Clock, d.Calls, prose.Plural(d.Calls, "call", "calls"), d.Methods, prose.Plural(d.Methods, "method", "methods"),
		len(d.Threads), prose.Plural(len(d.Threads), "thread", "threads"))}
	if d.Open > 0 || d.Early > 0 {
		lines = append(lines, fmt.Sprintf("%d %s no exit in the trace, %d %s no entry", d.Open, prose.Plural(d.Open, "call has", "calls have"), d.Early, prose.Plural(d.Early, "exit has", "exits have")))
	}
	for _, m := range d.Top {
		line := fmt.Sprintf("%6d × %s", m.Calls, m.Method)
		if d.Clock != NoClock {
			line = fmt.Sprintf("%10.3f ms of its own, %10.3f ms in all, %s", m.Self.Seconds()*1000, m.Total.Seconds()*1000, line)
		}
		lines = append(lines, line)
	}
	return lines
}
