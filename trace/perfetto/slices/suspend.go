package slices

import (
	"fmt"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// The kernel's progress into suspension.
const (
	awake = iota
	entering
	freezing
)

// suspend is a suspension that has begun.
type suspend struct {
	step  int
	enter string // the slice with which it began
}

// suspension reads a SuspendResumeFtraceEvent (power.proto). Its steps may overlap.
func (r *Reader) suspension(e *packets.Event) {
	m := messages.SuspendResumeOf(e.Data)
	action, value, begins := packets.Name(m.Action), m.Val, m.Start != 0
	if action == "timekeeping_freeze" {
		value = 0 // the CPU, which may be another one when the device wakes up
	}
	name := packets.Name(fmt.Appendf(nil, "%s(%d)", action, value))
	switch {
	case begins && action == "suspend_enter":
		r.suspend = suspend{entering, name}
	case begins && action == "freeze_processes" && r.suspend.step == entering:
		r.suspend.step = freezing
	case !begins && action == "suspend_enter":
		r.suspend.step = awake
	}
	r.step(e, begins, name)
	// If the kernel can't suspend, it does not report the end: processes continue from within the
	// step that stops them.
	if !begins && action == "thaw_processes" && r.suspend.step == freezing {
		r.step(e, false, r.suspend.enter)
		r.suspend.step = awake
	}
}

func (r *Reader) step(e *packets.Event, begins bool, name string) {
	p := atrace.Point{Phase: 'H', Name: name, Value: int64(r.intern(name))}
	if begins {
		p.Phase = 'G'
	}
	r.async(e, p, Track{Type: "suspend_resume", Name: "Suspend/Resume Latency", Thread: None, Process: None})
}

// minimal reads a SuspendResumeMinimalFtraceEvent (power.proto).
func (r *Reader) minimal(e *packets.Event) {
	track := r.track(Track{Type: "suspend_resume_minimal", Name: "Suspend/Resume Minimal", Thread: None, Process: None})
	if messages.SuspendMinimalOf(e.Data).Start != 0 {
		r.begin(e.At, -1, track, "", "Suspended")
	} else {
		r.end(e.At, track, "")
	}
}
