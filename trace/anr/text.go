package anr

import (
	"fmt"
	"strconv"
	"strings"
)

// PartOf returns the name of the part with that index, "" if it has none.
func (d *Dump) PartOf(part int) string {
	if part < 0 || part >= len(d.Parts) {
		return ""
	}
	return d.Parts[part]
}

// String returns the frame in the runtime's notation, without the "at" before a method.
func (f Frame) String() string {
	switch f.Kind {
	case Java:
		switch {
		case f.Line == -2:
			return f.Name + "(Native method)"
		case f.Line > 0:
			return f.Name + "(" + f.File + ":" + strconv.Itoa(f.Line) + ")"
		}
		return f.Name + "(" + f.File + ")"
	case Kernel:
		return "kernel: " + f.Name
	}
	var b strings.Builder
	fmt.Fprintf(&b, "native: pc %016x  %s", f.PC, f.Library)
	if f.Name != "" {
		fmt.Fprintf(&b, " (%s+%d)", f.Name, f.Offset)
	}
	if f.BuildID != "" {
		fmt.Fprintf(&b, " (BuildId: %s)", f.BuildID)
	}
	return b.String()
}

// String returns the lock in the runtime's notation, such as "waiting to lock <0x0d3a2f0a> (a
// java.lang.Object) held by thread 5".
func (l Lock) String() string {
	var b strings.Builder
	b.WriteString(map[string]string{Held: "locked", Wanted: "waiting to lock", WaitedOn: "waiting on", SleptOn: "sleeping on"}[l.Kind])
	if l.ID == "" {
		b.WriteString(" an unknown object")
	} else {
		b.WriteString(" <" + l.ID + ">")
	}
	if l.Class != "" {
		b.WriteString(" (a " + l.Class + ")")
	}
	if l.Owner != 0 {
		b.WriteString(" held by thread " + strconv.Itoa(l.Owner))
	}
	return b.String()
}

// Stack returns at most `most` lines of the thread's stack as the runtime writes it, the innermost
// frame first, with each lock after its frame. at is the index of the line of one frame, -1 if it
// is not among them.
func (t *Thread) Stack(most, frame int) (lines []string, at int) {
	at = -1
	lock := 0
	for i := -1; i < len(t.Frames) && len(lines) < most; i++ {
		if i >= 0 && i == frame {
			at = len(lines)
		}
		if i >= 0 {
			lines = append(lines, t.Frames[i].String())
		}
		for ; lock < len(t.Locks) && t.Locks[lock].Frame <= i; lock++ {
			lines = append(lines, "- "+t.Locks[lock].String())
		}
	}
	return lines[:min(len(lines), most)], at
}
