// Package binder reads the transactions between processes in a Perfetto trace: the caller, the
// thread that answered and when, and the called method.
//
// Transactions are paired, and interfaces named, as in Perfetto's standard library
// (android.binder), so that its table can be compared with this. A transaction whose other end is
// not in the trace is not listed.
package binder

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/counters"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	reader "github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// Transaction is a thread's call that another thread answers, or receives if it is one-way.
type Transaction struct {
	Client, Server End
	// Interface is the server's name of the called method, as
	// "AIDL::java::IActivityManager::startService::server"; "" if unknown.
	Interface string
	// Waits is set if the client waits for a reply.
	Waits bool
}

// End is one thread's part of a transaction.
type End struct {
	Slice  int32 // in Reader.Slices
	Thread int   // in the tracker's Threads
	At     time.Duration
	For    time.Duration // 0 for a one-way call
	// OOMScore is how soon the kernel would kill the process at the time, nil if unknown.
	OOMScore *int64
}

// Parts returns the interface and the method of a transaction, as far as its name has them.
func (t *Transaction) Parts() (named, method string) {
	parts := strings.Split(t.Interface, "::")
	if len(parts) > 2 {
		named = parts[2]
	}
	if len(parts) > 3 {
		method = parts[3]
	}
	return named, method
}

// Reader reads transactions. It embeds a reader of slices, since calls, replies and interfaces are
// slices.
type Reader struct {
	*reader.Reader
	// Memory has the scores of processes among its values.
	Memory *counters.Reader
	// Interfaces are by slice the method that a server names in it, in Names: 0 for none.
	// Transactions fills them.
	Interfaces spill.List[int32]

	file    *packets.File
	threads *threads.Tracker
}

// New returns a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Reader {
	return &Reader{Reader: reader.New(file, tracker), Memory: counters.New(file, tracker), file: file, threads: tracker}
}

// Wants returns the inputs of slices, and scores of processes.
func (r *Reader) Wants() packets.Wants {
	wants := r.Reader.Wants()
	wants.Packets = append(slices.Clone(wants.Packets), field.PacketProcessStats)
	wants.Events = append(slices.Clone(wants.Events), protowire.Number(field.EventOOMScoreAdjUpdate))
	return wants
}

// Packet reads a packet.
func (r *Reader) Packet(p packets.Packet) {
	if p.Kind == field.PacketProcessStats {
		r.Memory.Packet(p)
		return
	}
	r.Reader.Packet(p)
}

// Event reads an event. The tracker has already read it.
func (r *Reader) Event(e *packets.Event) {
	if e.Kind == field.EventOOMScoreAdjUpdate {
		r.Memory.Event(e)
		return
	}
	r.Reader.Event(e)
}

// Transactions returns all transactions with both ends, in the order in which they were sent. One
// is valid until the next.
func (r *Reader) Transactions() iter.Seq[*Transaction] {
	r.interfaces()
	j := joining{Reader: r, scores: r.scores(), sent: r.Slices.Cursor(together), got: r.Slices.Cursor(together), named: r.Interfaces.Cursor(together)}
	return func(yield func(*Transaction) bool) {
		for _, flow := range spill.InOrder(&r.Flows, func(f *reader.Flow) int64 { return int64(f.Out) }) {
			if t, ok := j.transaction(*flow); ok && !yield(&t) {
				return
			}
		}
	}
}

// together is the number of neighbouring rows that are read at once.
const together = 256

// joining joins what is known of both ends of a transaction.
type joining struct {
	*Reader
	scores    map[int][]score
	sent, got *spill.Cursor[reader.Slice]
	named     *spill.Cursor[int32]
}

// transaction returns the transaction of a flow from the client to the server; false if the flow is
// something else, or one of the ends is incomplete.
func (j *joining) transaction(flow reader.Flow) (Transaction, bool) {
	from, to, name := j.sent.At(flow.Out), j.got.At(flow.In), j.named.At(flow.In)
	if from == nil || to == nil || name == nil {
		return Transaction{}, false
	}
	sent, got := j.Names[from.Name], j.Names[to.Name]
	waits := sent == reader.Transaction && got == reader.Reply
	switch {
	case waits && (from.For < 0 || to.For < 0 || from.For < to.For):
		return Transaction{}, false
	case !waits && (sent != reader.TransactionAsync || got != reader.Received):
		return Transaction{}, false
	}
	client, known := j.end(flow.Out, from)
	server, knownToo := j.end(flow.In, to)
	return Transaction{Client: client, Server: server, Waits: waits, Interface: j.Names[*name]}, known && knownToo
}

// end returns the end of a slice; false if it is of no thread, or its process is unknown.
func (j *joining) end(slice int32, s *reader.Slice) (End, bool) {
	e := End{Slice: slice, Thread: j.Tracks[s.Track].Thread, At: s.At, For: s.For}
	if e.Thread < 0 || j.threads.Threads[e.Thread].Process < 0 {
		return e, false
	}
	of := j.scores[j.threads.Threads[e.Thread].Process]
	if at, _ := slices.BinarySearchFunc(of, s.At+1, func(one score, at time.Duration) int { return cmp.Compare(one.at, at) }); at > 0 {
		e.OOMScore = &of[at-1].value
	}
	return e, true
}
