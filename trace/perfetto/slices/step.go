package slices

import (
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Codes that threads send to the kernel's binder, and that it returns (the kernel's binder.h). If a
// trace has them, failed transactions can be ended.
const (
	commandTransaction       = 0x40406300
	commandTransactionSG     = 0x40486311
	commandReply             = 0x40406301
	commandReplySG           = 0x40486312
	returnTransaction        = 0x80407202
	returnTransactionSecCtx  = 0x80487202
	returnReply              = 0x80407203
	returnDeadReply          = 0x7205
	returnComplete           = 0x7206
	returnFailedReply        = 0x7211
	returnFrozenReply        = 0x7212
	returnSpamSuspect        = 0x7213
	returnPendingFrozenReply = 0x7214
)

// step is a thread's progress with a transaction that it sends or answers.
type step int8

const (
	sends step = iota // it asked the kernel to send
	sent
	sentComplete
	answered // its answer has come
	receives // it got a transaction
	works
	replies // it asked the kernel to reply
	replied
)

// frame is a transaction that a thread is working on. Transactions may be nested.
type frame struct {
	step          step
	known         bool // what follows is
	oneWay, reply bool
}

// maxFrames limits the nesting of transactions in one thread.
const maxFrames = 100

func (r *Reader) frame(tid int32) *frame {
	frames := r.frames[r.threads.Of(tid)]
	if len(frames) == 0 {
		return nil
	}
	return &frames[len(frames)-1]
}

func (r *Reader) pushFrame(tid int32, one frame) {
	thread := r.threads.Of(tid)
	frames := r.frames[thread]
	if len(frames) == 0 && !r.file.Room("threads with binder transactions", len(r.frames), maxTracks) {
		return
	}
	if r.file.Room("nested binder transactions", len(frames), maxFrames) {
		r.frames[thread] = append(frames, one)
	}
}

func (r *Reader) popFrame(tid int32) {
	thread := r.threads.Of(tid)
	if frames := r.frames[thread]; len(frames) > 1 {
		r.frames[thread] = frames[:len(frames)-1]
	} else {
		delete(r.frames, thread)
	}
}

// sent records that a thread's transaction left it.
func (r *Reader) sent(tid int32, c call) {
	one := r.frame(tid)
	switch {
	case one == nil:
	case one.step == sends:
		*one = frame{sent, true, c.oneWay, c.reply}
	case one.step == replies:
		*one = frame{replied, true, c.oneWay, c.reply}
	case one.step == receives: // the trace has no returns, it seems
		r.popFrame(tid)
	}
}

// arrived records that a transaction reached a thread.
func (r *Reader) arrived(tid int32, c call) {
	switch {
	case c.oneWay:
	case !c.reply:
		r.pushFrame(tid, frame{step: receives, known: true})
	default:
		if one := r.frame(tid); one != nil && one.step == sentComplete {
			one.step = answered
		}
	}
}

// command reads a BinderCommandFtraceEvent.
func (r *Reader) command(e *packets.Event) {
	switch messages.BinderCommandOf(e.Data).Cmd {
	case commandTransaction, commandTransactionSG:
		r.pushFrame(e.TID, frame{step: sends})
	case commandReply, commandReplySG:
		if one := r.frame(e.TID); one != nil && one.step == works {
			one.step = replies
		}
	}
}

// returned reads a BinderReturnFtraceEvent.
func (r *Reader) returned(e *packets.Event) {
	one := r.frame(e.TID)
	if one == nil {
		return
	}
	switch messages.BinderReturnOf(e.Data).Cmd {
	case returnDeadReply, returnFailedReply, returnFrozenReply, returnPendingFrozenReply:
		r.failed(e, one)
	case returnComplete, returnSpamSuspect:
		switch {
		case one.step == sent && one.known && !one.oneWay:
			one.step = sentComplete
		case one.step == sent, one.step == replied, one.step == sends:
			r.popFrame(e.TID)
		}
	case returnReply:
		if one.step == answered {
			r.popFrame(e.TID)
		}
	case returnTransaction, returnTransactionSecCtx:
		if one.step == receives {
			one.step = works
		}
	}
}

// failed ends the slice of a transaction without a reply.
func (r *Reader) failed(e *packets.Event, one *frame) {
	switch one.step {
	case sends:
		r.popFrame(e.TID)
	case replies, sent, replied, sentComplete:
		if one.known && !one.oneWay && !one.reply {
			r.end(e.At, r.own(e.TID), "")
		}
		r.popFrame(e.TID)
	}
}
