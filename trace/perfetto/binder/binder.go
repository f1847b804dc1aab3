// Package binder reads the transactions between processes of a Perfetto trace: who called,
// who answered on which thread and when, and what was called.
//
// It takes a stand: transactions are paired, and interfaces named, as in Perfetto's
// standard library (android.binder), so that its table can be held against this. A
// transaction that has no other end in the trace is not listed.
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
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// Transaction is a call of a thread that another answers, or takes where nobody waits for
// an answer.
type Transaction struct {
	Client, Server End
	// Interface is the name that the server says of what is called, as
	// "AIDL::java::IActivityManager::startService::server"; "" where it says none.
	Interface string
	// Waits says that the client waits for an answer.
	Waits bool
	// Call is what the kernel says of it.
	Call reader.Call
}

// End is the part of one thread in a transaction.
type End struct {
	Slice  int32 // in Reader.Slices
	Thread int   // in the tracker's Threads
	At     time.Duration
	For    time.Duration // 0 where nobody waits
	// OOMScore is how soon the kernel would end the process then, nil where not told.
	OOMScore *int64
}

// Parts are the interface and the method of a transaction, as far as its name has them.
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

// Reader reads transactions. It is a reader of slices, since they are where calls, answers
// and interfaces stand.
type Reader struct {
	*reader.Reader
	threads *threads.Tracker
	memory  *counters.Reader
}

// New is a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Reader {
	r := &Reader{Reader: reader.New(file, tracker), threads: tracker, memory: counters.New(file, tracker)}
	r.KeepCalls()
	return r
}

// Wants are what slices follow from, and scores of processes.
func (r *Reader) Wants() packets.Wants {
	wants := r.Reader.Wants()
	wants.Packets = append(slices.Clone(wants.Packets), field.PacketProcessStats)
	wants.Events = append(slices.Clone(wants.Events), protowire.Number(field.EventOOMScoreAdjUpdate))
	return wants
}

// Packet reads a packet.
func (r *Reader) Packet(p packets.Packet) {
	if p.Kind == field.PacketProcessStats {
		r.memory.Packet(p)
		return
	}
	r.Reader.Packet(p)
}

// Event reads an event. The tracker has read it before.
func (r *Reader) Event(e *packets.Event) {
	if e.Kind == field.EventOOMScoreAdjUpdate {
		r.memory.Event(e)
		return
	}
	r.Reader.Event(e)
}

// Transactions are all that have both ends, in the order in which they were sent. One is
// valid until the next.
func (r *Reader) Transactions() iter.Seq[*Transaction] {
	named, scores := r.interfaces(), r.scores()
	flows := slices.SortedFunc(slices.Values(r.Flows.Rows), func(a, b reader.Flow) int { return cmp.Compare(a.Out, b.Out) })
	return func(yield func(*Transaction) bool) {
		for _, flow := range flows {
			if t, ok := r.transaction(flow, named, scores); ok && !yield(&t) {
				return
			}
		}
	}
}

// transaction is the one that a flow leads from the client to the server; false where a
// flow is of something else, or one of the ends is not known whole.
func (r *Reader) transaction(flow reader.Flow, named map[int32]int32, scores map[int][]score) (Transaction, bool) {
	from, to := &r.Slices.Rows[flow.Out], &r.Slices.Rows[flow.In]
	sent, got := r.Names[from.Name], r.Names[to.Name]
	waits := sent == reader.Transaction && got == reader.Reply
	switch {
	case waits && (from.For < 0 || to.For < 0 || from.For < to.For):
		return Transaction{}, false
	case !waits && (sent != reader.TransactionAsync || got != reader.Received):
		return Transaction{}, false
	}
	t := Transaction{Client: r.end(flow.Out, scores), Server: r.end(flow.In, scores), Waits: waits}
	if r.threads.Threads[t.Client.Thread].Process < 0 || r.threads.Threads[t.Server.Thread].Process < 0 {
		return Transaction{}, false
	}
	if name, ok := named[flow.In]; ok {
		t.Interface = r.Names[name]
	}
	if at, found := slices.BinarySearchFunc(r.Calls, flow.Out, func(c reader.Call, slice int32) int { return cmp.Compare(c.Slice, slice) }); found {
		t.Call = r.Calls[at]
	}
	return t, true
}

func (r *Reader) end(slice int32, scores map[int][]score) End {
	s := &r.Slices.Rows[slice]
	e := End{Slice: slice, Thread: r.Tracks[s.Track].Thread, At: s.At, For: s.For}
	of := scores[r.threads.Threads[e.Thread].Process]
	if at, _ := slices.BinarySearchFunc(of, s.At+1, func(one score, at time.Duration) int { return cmp.Compare(one.at, at) }); at > 0 {
		e.OOMScore = &of[at-1].value
	}
	return e
}
