package arttasks

import (
	"iter"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/art"
)

// contexts are the different stacks that schedule tasks.
type contexts struct {
	all     []context
	known   map[string]int32 // places in all, by their methods
	size    int              // frames of all
	dropped int              // schedulings without one: there are too many
}

// context is one stack.
type context struct {
	methods []int32  // the outermost first
	frames  []string // the innermost first, as Java prints them; nil until they are needed
}

// of returns the place of a stack, -1 where there are too many.
func (c *contexts) of(open []frame) int32 {
	open = open[max(0, len(open)-run.MaxStack):]
	key := make([]byte, 0, 4*len(open))
	for _, f := range open {
		key = append(key, byte(f.method), byte(f.method>>8), byte(f.method>>16), byte(f.method>>24))
	}
	if at, ok := c.known[string(key)]; ok {
		return at
	}
	if c.size+len(open) > maxFrames {
		c.dropped++
		return -1
	}
	c.size += len(open)
	methods := make([]int32, len(open))
	for i, f := range open {
		methods[i] = f.method
	}
	at := int32(len(c.all))
	c.all = append(c.all, context{methods: methods})
	c.known[string(key)] = at
	return at
}

// schedule adds a scheduling by the innermost call of a thread.
func (r *reader) schedule(s *thread, as kind, c art.Call) {
	one := scheduling{at: c.Begin, by: s, kind: as, context: r.contexts.of(s.open), made: -1, args: -1}
	outermost := slices.IndexFunc(s.open, func(f frame) bool { return r.t.Method(int(f.method)).OfApp() })
	one.place = r.contexts.of(s.open[max(outermost, 0):])
	top := len(s.open) - 1
	if as == message {
		for top > 0 && r.t.Method(int(s.open[top-1].method)).Class == "android.os.Handler" {
			top--
		}
		m := r.t.Method(int(s.open[top].method))
		one.later = m.Class == "android.os.Handler" && !now[m.Name]
	}
	for ; top >= 0; top-- {
		if r.t.Method(int(s.open[top].method)).OfApp() {
			one.made = s.open[top].made
			break
		}
	}
	if s.in[serviceArgs] > 0 {
		one.args = int32(r.services) - 1
	}
	s.schedule, s.since = add(r, &r.schedules, one), c.Depth
}

// frames returns the stack of a scheduling.
func (r *reader) frames(place int32) []string {
	if place < 0 {
		return nil
	}
	c := &r.contexts.all[place]
	if c.frames == nil {
		for _, method := range slices.Backward(c.methods) {
			m := r.t.Method(int(method))
			line := m.String()
			if m.File != "" {
				line += "(" + m.File + ")"
			}
			c.frames = append(c.frames, r.names.Of(line))
		}
	}
	return c.frames
}

// pointsTo returns the classes that a scheduling points to, the surest first: that of the object that
// was made for it, and those of the app in its stack, which its own thread runs anyway.
func (r *reader) pointsTo(s *scheduling) iter.Seq2[string, bool] {
	return func(yield func(class string, made bool) bool) {
		if s.made >= 0 && !yield(outer(r.t.Methods[s.made].Class), true) || s.context < 0 {
			return
		}
		for _, method := range slices.Backward(r.contexts.all[s.context].methods) {
			if m := r.t.Method(int(method)); m.OfApp() && !yield(outer(m.Class), false) {
				return
			}
		}
	}
}
