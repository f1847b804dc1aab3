package overview

import (
	"strings"
	"time"

	sections "github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// moment is a slice's time.
type moment struct {
	at, end time.Duration
	known   bool
}

// first keeps the first slice that is not before a time.
func (m *moment) first(s *sections.Slice, after time.Duration) {
	if !m.known && s.For >= 0 && s.At >= after {
		*m = moment{s.At, s.At + s.For, true}
	}
}

// marked selects the slices that may mark a part of a start. Of the frames, of which a trace has most,
// only the first of a thread after each of its starts do.
type marked struct {
	frames map[int]int  // that are still kept, of a thread whose activity was started or resumed
	drawn  map[int]drew // by thread
	begun  int          // the frames kept so far
}

// drew is how many draws of a thread were kept since so many frames.
type drew struct{ since, kept int }

// firsts is how many frames after a start, and how many draws after each of them, are kept. One would
// do, but for one that does not end, or is nested.
const firsts = 4

func newMarked() *marked { return &marked{frames: map[int]int{}, drawn: map[int]drew{}} }

// keeps reports whether a slice that begins is kept.
func (m *marked) keeps(name string, track *sections.Track) bool {
	on := track.Thread
	switch {
	case on < 0:
		return strings.HasPrefix(name, launching)
	case name == "bindApplication":
		return true
	case name == "activityStart", name == "activityResume":
		m.frames[on] = firsts
		return true
	case strings.HasPrefix(name, frame):
		if m.frames[on] == 0 {
			return false
		}
		m.frames[on]--
		m.begun++
		return true
	case strings.HasPrefix(name, draw):
		d := m.drawn[on]
		if d.since != m.begun {
			d = drew{since: m.begun}
		}
		d.kept++
		m.drawn[on] = d
		return m.begun > 0 && d.kept <= firsts
	}
	return strings.HasPrefix(name, fully)
}

// The beginnings of slices' names.
const (
	launching = "launching: "
	frame     = "Choreographer#doFrame"
	draw      = "DrawFrame"
	fully     = "reportFullyDrawn"
)

// marks are the slices of a start.
type marks struct{ launch, bind, start, resume, frame, drawn, full moment }

// startsOf returns the parts of the first start of each of the processes whose names are given, by
// their numbers; none of one that has no start.
func startsOf(names map[int]string, tracker *threads.Tracker, all *sections.Reader) map[int][]Part {
	launches, seen := map[string]moment{}, map[int]*marks{} // the last of each app; by process
	for _, s := range all.Slices.All() {                    // in the order of their beginnings
		text, on := all.Names[s.Name], all.Tracks[s.Track].Thread
		if on < 0 {
			if app, is := strings.CutPrefix(text, launching); is {
				launches[app] = moment{s.At, s.At + s.For, s.For >= 0}
			}
			continue
		}
		thread := tracker.Threads[on]
		name, wanted := names[thread.Process]
		if !wanted {
			continue
		}
		m := seen[thread.Process]
		if m == nil {
			m = &marks{}
			seen[thread.Process] = m
		}
		begun := m.begun()
		if m.see(s, text, thread.TID == tracker.Processes[thread.Process].PID); !begun && m.begun() {
			m.launch = launches[name]
		}
	}
	out := map[int][]Part{}
	for process, m := range seen {
		out[process] = m.parts(tracker.Processes[process].Start)
	}
	return out
}

// begun reports whether one of the first parts is known.
func (m *marks) begun() bool { return m.bind.known || m.start.known || m.resume.known }

// parts returns the parts of a start of a process, which began at a time if that is known; nil if
// there is no start.
func (m *marks) parts(began *time.Duration) []Part {
	if !m.start.known && !m.resume.known {
		return nil
	}
	first := m.inOrder()
	zero := first
	if m.launch.known {
		zero = m.launch.at
	} else if began != nil && *began <= first && m.bind.known {
		zero = *began
	}
	var out []Part
	add := func(name string, from, to time.Duration) {
		if to > from {
			out = append(out, Part{name, from - zero, to - from})
		}
	}
	switch created := began != nil && m.bind.known && *began >= zero && *began <= m.bind.at; {
	case created:
		add(UntilProcess, zero, *began)
		add(UntilBound, *began, m.bind.at)
	case m.bind.known:
		add(UntilBound, zero, m.bind.at)
	}
	for _, part := range []struct {
		name string
		m    moment
	}{{Bind, m.bind}, {Start, m.start}, {Resume, m.resume}} {
		add(part.name, part.m.at, part.m.end)
	}
	if m.frame.known {
		add(FirstFrame, m.frame.at, max(m.frame.end, m.drawn.end))
	}
	if m.launch.known {
		add(Displayed, zero, m.launch.end)
	}
	if m.full.known {
		add(FullyDrawn, zero, m.full.at)
	}
	return out
}

// inOrder forgets the marks of other starts, which are those out of order, and returns when the first
// remaining part began: it is one of bind, start and resume.
func (m *marks) inOrder() time.Duration {
	if m.start.known && m.resume.known && m.resume.at < m.start.at {
		m.start = moment{}
	}
	first := m.start
	if !first.known {
		first = m.resume
	}
	if m.bind.known && m.bind.at > first.at {
		m.bind = moment{}
	}
	if m.bind.known {
		first = m.bind
	}
	if m.launch.end < first.at {
		m.launch = moment{}
	}
	return first.at
}

// see keeps a slice of a thread of the process that marks a part.
func (m *marks) see(s *sections.Slice, text string, main bool) {
	began := max(m.start.at, m.resume.at)
	switch {
	case main && text == "bindApplication":
		m.bind.first(s, 0)
	case main && text == "activityStart":
		m.start.first(s, 0)
	case main && text == "activityResume":
		m.resume.first(s, 0)
	case main && (m.start.known || m.resume.known) && strings.HasPrefix(text, frame):
		m.frame.first(s, began)
	case m.frame.known && strings.HasPrefix(text, draw):
		m.drawn.first(s, m.frame.at)
	case strings.HasPrefix(text, fully):
		m.full.first(s, began)
	}
}
