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

// isMark reports whether a slice may mark a part of a start by its name.
func isMark(name string) bool {
	switch name {
	case "bindApplication", "activityStart", "activityResume":
		return true
	}
	for _, beginning := range []string{"launching: ", "Choreographer#doFrame", "DrawFrame", "reportFullyDrawn"} {
		if strings.HasPrefix(name, beginning) {
			return true
		}
	}
	return false
}

// marks are the slices of a start.
type marks struct{ launch, bind, start, resume, frame, drawn, full moment }

// startOf returns the parts of a process's first start, nil if it has none.
func startOf(process int, name string, tracker *threads.Tracker, all *sections.Reader) []Part {
	var m marks
	for _, s := range all.Slices.All() {
		track := &all.Tracks[s.Track]
		m.see(s, all.Names[s.Name], track, name, process, tracker)
	}
	if !m.start.known && !m.resume.known {
		return nil
	}
	began := tracker.Processes[process].Start
	first := m.bind
	if !first.known {
		if first = m.start; !first.known {
			first = m.resume
		}
	}
	zero := first.at
	if m.launch.known && m.launch.at <= first.at {
		zero = m.launch.at
	} else if began != nil && *began <= first.at && m.bind.known {
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

// see keeps a slice that marks a part. Slices are in the order of their beginnings.
func (m *marks) see(s *sections.Slice, text string, track *sections.Track, name string, process int, tracker *threads.Tracker) {
	if track.Thread < 0 {
		if app, ok := strings.CutPrefix(text, "launching: "); ok && app == name {
			m.launch.first(s, 0)
		}
		return
	}
	thread := tracker.Threads[track.Thread]
	if thread.Process != process {
		return
	}
	main := thread.TID == tracker.Processes[process].PID
	began := max(m.start.at, m.resume.at)
	switch {
	case main && text == "bindApplication":
		m.bind.first(s, 0)
	case main && text == "activityStart":
		m.start.first(s, 0)
	case main && text == "activityResume":
		m.resume.first(s, 0)
	case main && (m.start.known || m.resume.known) && strings.HasPrefix(text, "Choreographer#doFrame"):
		m.frame.first(s, began)
	case m.frame.known && strings.HasPrefix(text, "DrawFrame"):
		m.drawn.first(s, m.frame.at)
	case strings.HasPrefix(text, "reportFullyDrawn"):
		m.full.first(s, began)
	}
}
