package arttasks

import (
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// context is a stack that schedules tasks.
type context struct {
	frames []string // the innermost first, as Java prints them
	outers []string // the classes of the app in it, the innermost first
}

// schedule adds a scheduling by the innermost call of a thread.
func (r *reader) schedule(s *callStack, as kind, at time.Duration) {
	if len(r.schedules) == maxMarks {
		r.leftOut++
		return
	}
	one := scheduling{at: at, thread: s.tid, kind: as, context: r.context(s), made: -1, args: -1, wait: -1, unit: -1}
	top := len(s.open) - 1
	if as == message {
		for top > 0 && r.method(s.open[top-1].method).Class == "android.os.Handler" {
			top--
		}
		m := r.method(s.open[top].method)
		one.later = m.Class == "android.os.Handler" && !now[m.Name]
	}
	for ; top >= 0 && one.made < 0; top-- {
		if ofApp(r.method(s.open[top].method).Class) {
			one.made = s.open[top].made
			break
		}
	}
	if s.in[serviceArgs] > 0 {
		one.args = int32(min(r.services, maxMarks)) - 1
	}
	s.schedule, s.since = int32(len(r.schedules)), len(s.open)
	r.schedules = append(r.schedules, one)
}

// context returns the place of a thread's stack among the contexts, -1 where there are too many.
func (r *reader) context(s *callStack) int32 {
	open := s.open[max(0, len(s.open)-run.MaxStack):]
	key := make([]byte, 0, 4*len(open))
	for _, f := range open {
		key = append(key, byte(f.method), byte(f.method>>8), byte(f.method>>16), byte(f.method>>24))
	}
	if at, ok := r.known[string(key)]; ok {
		return at
	}
	if r.frames += len(open); r.frames > maxFrames {
		r.contextless++
		return -1
	}
	c := context{}
	for i := len(open) - 1; i >= 0; i-- {
		m := r.method(open[i].method)
		c.frames = append(c.frames, r.line(open[i].method))
		if ofApp(m.Class) {
			c.outers = append(c.outers, outer(m.Class))
		}
	}
	r.contexts = append(r.contexts, c)
	r.known[string(key)] = int32(len(r.contexts) - 1)
	return int32(len(r.contexts) - 1)
}

// line is a method as Java prints a frame, without the line in its file.
func (r *reader) line(method int) string {
	line, ok := r.lines[method]
	if !ok {
		m := r.method(method)
		if line = m.String(); m.File != "" {
			line += "(" + m.File + ")"
		}
		line = prose.Clip(line, maxText)
		r.lines[method] = line
	}
	return line
}
