// Package work counts in a Perfetto trace what an app has done, whatever time it took:
// frames begun, passes of measure and layout, draws, inflations, recompositions, and the
// binder transactions that its main thread sent.
//
// It owns which slice or event is one of which. It takes a stand: of a trace that has lost
// some of the kernel's events, nobody can say how many there were.
package work

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
)

// Counts are what an app has done in a trace.
type Counts struct {
	Frames         int // begun by the Choreographer
	Measures       int // passes of measure over a window's views
	Layouts        int // passes of layout
	Draws          int // of a window
	Inflations     int // of a layout's XML
	Recompositions int // passes of Compose's Recomposer
	Transactions   int // that the main thread sent by binder, without answers
	// Traced says that the app wrote about its work at all, and Called that anybody's
	// transactions were recorded: without, the counts say nothing.
	Traced, Called bool
	// Lost counts what the trace has lost of the kernel's events. There may be more of each.
	Lost int
}

// New is a reader that counts what the processes did that are the app's, beside others of a
// pass.
func New(of func(pid int) bool) *Reader { return &Reader{of: of} }

// Reader counts. What its trace has lost is for who read it to say.
type Reader struct {
	Counts
	of func(pid int) bool
}

// Wants are what threads write into the kernel's trace, and what binder writes of them.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Events: []protowire.Number{field.EventPrint, field.EventBinderTransaction}}
}

// Packet is of nobody's interest.
func (r *Reader) Packet(packets.Packet) {}

// Event counts the beginning of a slice, or a transaction. A main thread has its
// process's number.
func (r *Reader) Event(e *packets.Event) {
	if e.Kind == field.EventBinderTransaction {
		r.Called = true
		if _, reply := slices.CallOf(e.Data); !reply && r.of(int(e.TID)) {
			r.Transactions++
		}
		return
	}
	if p, ok := atrace.Of(e); ok && p.Phase == 'B' && r.of(int(p.PID)) {
		r.Traced = true
		r.begun(p.Name)
	}
}

// begun counts a slice by its name: Choreographer.java, ViewRootImpl.java (performMeasure,
// performLayout, performDraw), LayoutInflater.java, and Compose's Recomposer.kt.
func (r *Reader) begun(name string) {
	switch {
	case name == "measure":
		r.Measures++
	case name == "layout":
		r.Layouts++
	case name == "draw", strings.HasPrefix(name, "draw-VRI["): // the latter in later versions
		r.Draws++
	case name == "inflate":
		r.Inflations++
	case name == "Recomposer:recompose":
		r.Recompositions++
	case isFrame(name):
		r.Frames++
	}
}

// isFrame reports whether a slice is a frame of the Choreographer: "Choreographer#doFrame",
// since Android 12 with the vsync's number. One that says which vsync it took over instead
// lies within ("Choreographer#doFrame - resynced to 11 in 3.1s").
func isFrame(name string) bool {
	rest, ok := strings.CutPrefix(name, "Choreographer#doFrame")
	return ok && strings.Trim(rest, " 0123456789") == ""
}
