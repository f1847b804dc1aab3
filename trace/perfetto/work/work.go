// Package work counts in a Perfetto trace what an app has done, whatever time it took: frames
// begun, passes of measure and layout, draws, inflations, recompositions, the binder transactions
// that its main thread sent, and the files that it synced to storage.
//
// It owns which slice or event is counted by which metric (work.*): a new one is a line in one of
// two tables. If a trace has lost some of the kernel's events, the true counts are unknown.
package work

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	calls "github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// sections are the metrics that count slices of the app, with the slices' names: Choreographer.java,
// ViewRootImpl.java (performMeasure, performLayout, performDraw), LayoutInflater.java, and Compose's
// Recomposer.kt. A slice counts for the first metric that matches.
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

// kernels are the metrics that count the kernel's events. A metric is known if an event of its kinds
// was recorded, of any process: nothing else shows that they were enabled.
var kernels = []struct {
	metric string
	events map[protowire.Number]string // names for the trace's configuration (ftrace_config.proto)
	// threads is set if the events of all of the app's threads count, rather than the main thread's.
	threads bool
	// counts reports whether an event counts; nil if all do.
	counts func(e *packets.Event) bool
}{
	{metric: "work.transactions", events: map[protowire.Number]string{field.EventBinderTransaction: "binder/binder_transaction"}, counts: isSent},
	{metric: "work.syncs", threads: true, events: map[protowire.Number]string{ // f2fs_sync_file, ext4_sync_file: fsync and fdatasync
		field.EventF2fsSyncFileEnter: "f2fs/f2fs_sync_file_enter", field.EventExt4SyncFileEnter: "ext4/ext4_sync_file_enter",
	}},
}

// Events returns the kernel's events that a trace must record.
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

// isFrame reports whether a slice is a frame of the Choreographer: "Choreographer#doFrame", since
// Android 12 with the vsync's number. One that names the vsync that it took over is nested in it
// ("Choreographer#doFrame - resynced to 11 in 3.1s").
func isFrame(name string) bool {
	rest, ok := strings.CutPrefix(name, "Choreographer#doFrame")
	return ok && strings.Trim(rest, " 0123456789") == ""
}

// isSent reports whether a transaction is not a reply.
func isSent(e *packets.Event) bool {
	_, reply := calls.CallOf(e.Data)
	return !reply
}

// New returns a reader that counts the work of processes for which of is true, together with others
// of a pass.
func New(of func(pid int) bool) *Reader {
	r := &Reader{of: of, begun: make([]int, len(sections)), events: make([]map[int32]int, len(kernels)), file: packets.New()}
	r.roster = threads.NewRoster(r.file)
	return r
}

// maxThreads limits the threads whose events of one kind are counted.
const maxThreads = 10_000

// Reader counts.
type Reader struct {
	of     func(pid int) bool
	begun  []int           // slices, as in sections
	events []map[int32]int // events by thread, as in kernels; nil if none were recorded
	cut    int             // events of threads beyond maxThreads
	traced bool            // the app wrote slices: otherwise the counts are meaningless
	file   *packets.File
	roster *threads.Roster // the processes of threads
	tasks  threads.Tasks
}

// Metrics returns the counts by metric; lost is the number of gaps in the kernel's events. It returns
// none if the app wrote no slices, or if there are gaps, which doubt then states.
func (r *Reader) Metrics(lost int) (metrics map[string]float64, doubt string) {
	switch {
	case lost+r.cut > 0:
		return nil, "the trace did not hold all of each repetition: the app's work is not counted in those of which it lost a part"
	case !r.traced:
		return nil, ""
	}
	metrics = map[string]float64{}
	for i, s := range sections {
		metrics[s.metric] = float64(r.begun[i])
	}
	r.roster.Settle(&r.tasks, func(int32) string { return "" })
	for i, k := range kernels {
		if r.events[i] != nil {
			metrics[k.metric] = float64(r.ofApp(r.events[i], k.threads))
		}
	}
	return metrics, ""
}

// ofApp returns how many events are of the app's main threads, which have their processes' ids, or
// of all its threads.
func (r *Reader) ofApp(counts map[int32]int, threads bool) (n int) {
	for tid, events := range counts {
		member := r.roster.Threads[tid]
		if r.of(int(tid)) || threads && member != nil && r.of(int(member.PID)) {
			n += events
		}
	}
	return n
}

// Wants returns the lines that threads write to the kernel's trace, the kernel's events, and the
// processes of threads.
func (r *Reader) Wants() packets.Wants {
	events := []protowire.Number{field.EventPrint, field.EventTaskNewtask, field.EventSchedProcessExit}
	for _, k := range kernels {
		for number := range k.events {
			events = append(events, number)
		}
	}
	return packets.Wants{Packets: []protowire.Number{field.PacketProcessTree}, Events: events}
}

// Packet reads which threads are whose.
func (r *Reader) Packet(p packets.Packet) {
	if p.Kind == field.PacketProcessTree {
		r.roster.Tree(p.Data)
	}
}

// Event counts the beginning of a slice, or an event of the kernel.
func (r *Reader) Event(e *packets.Event) {
	switch e.Kind {
	case field.EventPrint:
		r.print(e)
	case field.EventTaskNewtask:
		r.tasks.Begin(r.file, int64(e.At), e.TID, messages.NewTaskOf(e.Data))
	case field.EventSchedProcessExit:
		r.tasks.Exit(r.file, e.Data)
	default:
		r.kernel(e)
	}
}

// kernel counts an event by its thread.
func (r *Reader) kernel(e *packets.Event) {
	for i, k := range kernels {
		if k.events[e.Kind] == "" {
			continue
		}
		if r.events[i] == nil {
			r.events[i] = map[int32]int{}
		}
		_, known := r.events[i][e.TID]
		switch {
		case k.counts != nil && !k.counts(e):
		case !known && len(r.events[i]) >= maxThreads:
			r.cut++
		default:
			r.events[i][e.TID]++
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
