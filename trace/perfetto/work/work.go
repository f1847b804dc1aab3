// Package work counts in a Perfetto trace what an app has done, whatever time it took:
// frames begun, passes of measure and layout, draws, inflations, recompositions, and the
// binder transactions that its main thread sent.
//
// It owns which slice or event is counted by which metric (work.*): a new one is a line in
// one of two tables. It takes a stand: of a trace that has lost some of the kernel's events,
// nobody can say how many there were.
package work

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	calls "github.com/apkgate/apkgate/trace/perfetto/slices"
)

// sections are the metrics that count slices of the app, with what a slice is called:
// Choreographer.java, ViewRootImpl.java (performMeasure, performLayout, performDraw),
// LayoutInflater.java, and Compose's Recomposer.kt. A slice counts for the first that has it.
var sections = []struct {
	metric string
	has    func(name string) bool
}{
	{"work.measures", isNamed("measure")},
	{"work.layouts", isNamed("layout")},
	{"work.draws", func(name string) bool { return name == "draw" || strings.HasPrefix(name, "draw-VRI[") }}, // the latter in later versions
	{"work.inflations", isNamed("inflate")},
	{"work.recompositions", isNamed("Recomposer:recompose")},
	{"work.frames", isFrame},
}

// kernels are the metrics that count the kernel's events. One is known where an event of
// its kinds was recorded, whoever's it is: there is no other sign that the kernel tells of them.
var kernels = []struct {
	metric string
	events map[protowire.Number]string // by what a trace is asked for (ftrace_config.proto)
	// counts reports whether an event of the app's main thread is one; nil where each is.
	counts func(e *packets.Event) bool
}{
	{"work.transactions", map[protowire.Number]string{field.EventBinderTransaction: "binder/binder_transaction"}, isSent},
}

// Events are what a trace has to be asked for of the kernel's events.
func Events() (out []string) {
	for _, k := range kernels {
		for _, name := range k.events {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func isNamed(name string) func(string) bool { return func(other string) bool { return other == name } }

// isFrame reports whether a slice is a frame of the Choreographer: "Choreographer#doFrame",
// since Android 12 with the vsync's number. One that says which vsync it took over instead
// lies within ("Choreographer#doFrame - resynced to 11 in 3.1s").
func isFrame(name string) bool {
	rest, ok := strings.CutPrefix(name, "Choreographer#doFrame")
	return ok && strings.Trim(rest, " 0123456789") == ""
}

// isSent reports whether a transaction is no answer.
func isSent(e *packets.Event) bool {
	_, reply := calls.CallOf(e.Data)
	return !reply
}

// New is a reader that counts what the processes did that are the app's, beside others of a
// pass.
func New(of func(pid int) bool) *Reader {
	return &Reader{of: of, begun: make([]int, len(sections)), told: make([]int, len(kernels)), known: make([]bool, len(kernels))}
}

// Reader counts.
type Reader struct {
	of     func(pid int) bool
	begun  []int  // slices, as in sections
	told   []int  // events, as in kernels,
	known  []bool // and whether there were any at all
	traced bool   // the app wrote about its work: without, the counts say nothing
}

// Metrics are the counts by metric, of a trace that has lost so much of the kernel's events;
// none where the app wrote nothing about its work, or where a part is lost, which doubt says.
func (r *Reader) Metrics(lost int) (metrics map[string]float64, doubt string) {
	switch {
	case lost > 0:
		return nil, "the trace did not hold all of each repetition: the app's work is not counted in those of which it lost a part"
	case !r.traced:
		return nil, ""
	}
	metrics = map[string]float64{}
	for i, s := range sections {
		metrics[s.metric] = float64(r.begun[i])
	}
	for i, k := range kernels {
		if r.known[i] {
			metrics[k.metric] = float64(r.told[i])
		}
	}
	return metrics, ""
}

// Wants are what threads write into the kernel's trace, and what the kernel tells of them.
func (r *Reader) Wants() packets.Wants {
	events := []protowire.Number{field.EventPrint}
	for _, k := range kernels {
		for number := range k.events {
			events = append(events, number)
		}
	}
	return packets.Wants{Events: events}
}

// Packet reads nothing: all that is counted is the kernel's.
func (r *Reader) Packet(packets.Packet) {}

// Event counts the beginning of a slice, or an event of the kernel. A main thread has its
// process's number.
func (r *Reader) Event(e *packets.Event) {
	if e.Kind == field.EventPrint {
		r.print(e)
		return
	}
	for i, k := range kernels {
		if k.events[e.Kind] == "" {
			continue
		}
		r.known[i] = true
		if r.of(int(e.TID)) && (k.counts == nil || k.counts(e)) {
			r.told[i]++
		}
	}
}

// print counts a slice that the app begins.
func (r *Reader) print(e *packets.Event) {
	p, ok := atrace.Of(e)
	if !ok || p.Phase != 'B' || !r.of(int(p.PID)) {
		return
	}
	r.traced = true
	for i := range sections {
		if sections[i].has(p.Name) {
			r.begun[i]++
			return
		}
	}
}
