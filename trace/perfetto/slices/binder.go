package slices

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

const (
	lockWaiting = "binder lock waiting"
	lockHeld    = "binder lock held"
)

// oneWay is TF_ONE_WAY of the kernel's binder.h: nobody waits for an answer.
const oneWay = 1

// call is a transaction on its way.
type call struct {
	slice         int32 // that sent it, None where not kept
	reply, oneWay bool
}

// transaction reads a BinderTransactionFtraceEvent, of the thread that sends.
func (r *Reader) transaction(e *packets.Event) {
	var id int32
	one := call{slice: None}
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case field.BinderTransactionDebugID:
			id = int32(f.Value)
		case field.BinderTransactionReply:
			one.reply = f.Value == 1
		case field.BinderTransactionFlags:
			one.oneWay = f.Value&oneWay != 0
		}
	}
	track := r.own(e.TID)
	switch {
	case one.reply:
		r.end(e.At, track, "")
	case one.oneWay:
		one.slice = r.begin(e.At, 0, track, "binder", "binder transaction async")
	default:
		one.slice = r.begin(e.At, -1, track, "binder", "binder transaction")
	}
	if _, again := r.calls[id]; again || r.file.Room("binder transactions on their way", len(r.calls), MaxRows) {
		r.calls[id] = one
	}
}

// received reads a BinderTransactionReceivedFtraceEvent, of the thread that receives.
func (r *Reader) received(e *packets.Event) {
	var id int32
	for f := packets.FieldsOf(e.Data); f.Next(); {
		if f.Number == field.BinderReceivedDebugID {
			id = int32(f.Value)
		}
	}
	one, known := r.calls[id]
	if !known {
		return
	}
	delete(r.calls, id)
	track := r.own(e.TID)
	in := int32(None)
	switch {
	case one.reply:
		r.end(e.At, track, "")
	case one.oneWay:
		in = r.begin(e.At, 0, track, "binder", "binder async rcv")
	default:
		in = r.begin(e.At, -1, track, "binder", "binder reply")
	}
	if one.slice != None && in != None && r.file.Room("flows", len(r.Flows), MaxRows) {
		r.Flows = append(r.Flows, Flow{Out: one.slice, In: in})
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

// inside reports that a slice of a name has not ended.
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
