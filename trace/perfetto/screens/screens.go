// Package screens reads from a Perfetto trace which activities of an app were shown when.
//
// It owns which slices tell that: those that an activity writes around its resumption, pause and
// stop, with its class (Activity.performResume, performPause and performStop, category wm). Versions
// of Android that don't write them tell of no screens, and none tells of fragments.
package screens

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxScreens limits the screens of a trace.
const maxScreens = 10_000

// Read returns the screens of the processes for which of is true, in the order in which they were
// resumed: one that is resumed again is another one. One that is paused first was resumed before the
// trace began, and counts from time 0 of its clock. It returns an error only where reading fails.
// Without CLOCK_MONOTONIC in the trace there are none.
func Read(in packets.Source, of func(pid int) bool) ([]trace.Screen, error) {
	r := &reader{of: of}
	f := packets.New()
	if err := in(f, r); err != nil {
		return nil, err
	}
	to, ok := f.Monotonic()
	if !ok {
		return nil, nil
	}
	var out []trace.Screen
	for _, s := range r.screens {
		from, ok := to(s.from)
		if !ok {
			continue
		}
		one := trace.Screen{From: from, To: -1}
		if s.to >= 0 {
			one.To, _ = to(s.to) // as from
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b trace.Screen) int { return cmp.Compare(a.From, b.From) })
	return out, nil
}

// screen is an activity from its resumption on, on the trace's own clock.
type screen struct {
	pid      int32
	class    string
	from, to time.Duration // to is -1 until it is stopped
	paused   bool
}

type reader struct {
	of      func(pid int) bool
	screens []screen
}

// Wants returns the lines that threads write to the kernel's trace.
func (r *reader) Wants() packets.Wants {
	return packets.Wants{Events: []protowire.Number{field.EventPrint}}
}

// Packet ignores packets.
func (r *reader) Packet(packets.Packet) {}

// Event reads the beginning of a slice.
func (r *reader) Event(e *packets.Event) {
	p, _ := atrace.Of(e)
	if p.Phase != 'B' || !r.of(int(p.PID)) {
		return
	}
	what, class, _ := strings.Cut(p.Name, ":")
	switch what {
	case "performResume":
		if len(r.screens) < maxScreens {
			r.screens = append(r.screens, screen{pid: p.PID, class: class, from: e.At, to: -1})
		}
	case "performPause":
		known := false
		r.each(p.PID, class, func(s *screen) { s.paused, known = true, true })
		if !known && len(r.screens) < maxScreens { // resumed before the trace began
			r.screens = append(r.screens, screen{pid: p.PID, class: class, to: -1, paused: true})
		}
	case "performStop":
		// Another instance of the class may be in front: it has not been paused.
		r.each(p.PID, class, func(s *screen) {
			if s.paused {
				s.to = e.At
			}
		})
	}
}

// each calls do for the screens of an activity that have not been stopped.
func (r *reader) each(pid int32, class string, do func(*screen)) {
	for i := range r.screens {
		if s := &r.screens[i]; s.to < 0 && s.pid == pid && s.class == class {
			do(s)
		}
	}
}
