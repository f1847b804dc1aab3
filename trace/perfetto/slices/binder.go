package slices

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Names of slices of binder.
const (
	Transaction      = "binder transaction"
	TransactionAsync = "binder transaction async"
	Reply            = "binder reply"
	Received         = "binder async rcv"

	lockWaiting = "binder lock waiting"
	lockHeld    = "binder lock held"
)

// oneWay is TF_ONE_WAY of the kernel's binder.h: the caller does not wait for a reply.
const oneWay = 1

// Call is the kernel's description of a transaction that a thread sends.
type Call struct {
	ID      int32 // the kernel's id
	Process int32 // the receiving process, by id
	Flags   uint32
}

// call is a transaction on its way.
type call struct {
	slice         int32 // that sent it, None if not kept
	reply, oneWay bool
}

// CallOf reads a BinderTransactionFtraceEvent, which the sending thread writes: the transaction,
// and whether it is a reply.
func CallOf(message []byte) (c Call, reply bool) {
	m := messages.BinderTransactionOf(message)
	return Call{ID: m.DebugID, Process: m.ToProc, Flags: m.Flags}, m.Reply == 1
}

// OneWay reports whether the caller does not wait for a reply.
func (c Call) OneWay() bool { return c.Flags&oneWay != 0 }

// transaction reads what a thread sends.
func (r *Reader) transaction(e *packets.Event) {
	c, reply := CallOf(e.Data)
	one := call{slice: None, reply: reply, oneWay: c.OneWay()}
	track := r.own(e.TID)
	switch {
	case one.reply:
		r.end(e.At, track, "")
	case one.oneWay:
		one.slice = r.begin(e.At, 0, track, "binder", TransactionAsync)
	default:
		one.slice = r.begin(e.At, -1, track, "binder", Transaction)
	}
	if _, again := r.calls[c.ID]; again || r.file.Room("binder transactions on their way", len(r.calls), MaxRows) {
		r.calls[c.ID] = one
	}
	r.sent(e.TID, one)
}

// received reads what a thread receives.
func (r *Reader) received(e *packets.Event) {
	id := messages.BinderReceivedOf(e.Data).DebugID
	one, known := r.calls[id]
	if !known {
		return
	}
	delete(r.calls, id)
	track := r.own(e.TID)
	r.arrived(e.TID, one)
	in := int32(None)
	switch {
	case one.reply:
		r.end(e.At, track, "")
	case one.oneWay:
		in = r.begin(e.At, 0, track, "binder", Received)
	default:
		in = r.begin(e.At, -1, track, "binder", Reply)
	}
	if one.slice != None && in != None {
		r.cause(one.slice, in)
	}
}

// lock reads the lock that binder had until Linux 4.14.
func (r *Reader) lock(e *packets.Event) {
	track := r.own(e.TID)
	switch {
	case e.Kind == field.EventBinderLock:
		r.begin(e.At, -1, track, "binder", lockWaiting)
	case e.Kind == field.EventBinderLocked && r.inside(track, lockWaiting):
		r.end(e.At, track, "")
		r.begin(e.At, -1, track, "binder", lockHeld)
	case e.Kind == field.EventBinderUnlock:
		r.end(e.At, track, lockHeld)
	}
}

// inside reports whether a slice with a name is still open.
func (r *Reader) inside(track int32, name string) bool {
	if track == None {
		return false
	}
	for _, one := range r.stacks[track] {
		if r.Names[one.name] == name && one.dur < 0 {
			return true
		}
	}
	return false
}
