package rendering

import (
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// span is a slice of a thread.
type span struct {
	at, took time.Duration // took is negative until it has ended
	name     string
	thread   int32 // in the tracker's Threads
	parent   int32 // in the list, none for the outermost
}

// end returns when it ended, or an unreachable time.
func (s *span) end() time.Duration {
	if s.took < 0 {
		return packets.MaxTime
	}
	return s.at + s.took
}

func (s *span) endsBefore(t time.Duration) bool { return s.end() < t }

// Limits of slices. What exceeds them is counted.
const (
	maxSpans = 1_000_000 // kept at one time
	maxDepth = 512
	maxNames = 100_000 // interned; then the cache is cleared
)

// spans are the slices of threads, as written by atrace and Perfetto's SDK, nested by thread. Those
// on tracks of another kind are not part of a thread's path.
type spans struct {
	list []span
	open map[int32][]int32 // by thread, indices in list, none for one that is not kept

	file    *packets.File
	threads *threads.Tracker
	tracks  *trackevent.Tracks
	names   map[string]string
	held    int // bytes of the names of the slices that are kept, as if none were shared
}

func newSpans(file *packets.File, tracker *threads.Tracker) *spans {
	return &spans{open: map[int32][]int32{}, file: file, threads: tracker, tracks: trackevent.New(file, tracker), names: map[string]string{}}
}

// share interns a text, cut if it is too long.
func (s *spans) share(text string) string {
	text = prose.Clip(text, packets.MaxName)
	one, known := s.names[text]
	if known {
		return one
	}
	if len(s.names) >= maxNames {
		clear(s.names)
	}
	s.names[text] = text
	return text
}

// rows returns the number of slices in terms of memory: long names count for more.
func (s *spans) rows() int {
	const usual = 256 // bytes of a slice and a long name
	return max(len(s.list), s.held/usual)
}

// begin begins a slice of a thread.
func (s *spans) begin(at time.Duration, thread int32, name string) {
	stack := s.open[thread]
	if !s.file.Room("nested slices", len(stack), maxDepth) {
		return
	}
	row := int32(none)
	if s.file.Room("slices", len(s.list), maxSpans) {
		row = int32(len(s.list))
		one := span{at: at, took: -1, name: s.share(name), thread: thread, parent: none}
		if len(stack) > 0 {
			one.parent = stack[len(stack)-1]
		}
		s.list = append(s.list, one)
		s.held += len(one.name)
	}
	s.open[thread] = append(stack, row)
}

// end ends the innermost slice of a thread and returns its index, none if there is none.
func (s *spans) end(at time.Duration, thread int32) int32 {
	stack := s.open[thread]
	if len(stack) == 0 {
		return none
	}
	row := stack[len(stack)-1]
	if s.open[thread] = stack[:len(stack)-1]; len(stack) == 1 {
		delete(s.open, thread)
	}
	if row != none {
		s.list[row].took = at - s.list[row].at
	}
	return row
}

// innermost returns the name of the slice that a thread is in, "" for none.
func (s *spans) innermost(thread int32) string {
	stack := s.open[thread]
	if len(stack) == 0 || stack[len(stack)-1] == none {
		return ""
	}
	return s.list[stack[len(stack)-1]].name
}

// packet reads a TrackEvent or the description of a track.
func (s *spans) packet(p packets.Packet) {
	if p.Machine != s.file.Home || s.tracks.Describe(p) {
		return
	}
	stamp, timed := s.tracks.Stamp(p)
	e, ok := s.tracks.Read(p)
	if !ok || !timed || e.Kind == trackevent.OfCounter || e.Async != nil {
		return
	}
	at, ok := s.file.Time(stamp)
	if !ok {
		return
	}
	s.file.Defer(at, len(e.Name)+len(e.Category), func() { s.place(at, &e) })
}

// place begins or ends the slice of an event on a thread.
func (s *spans) place(at time.Duration, e *trackevent.Event) {
	thread := int32(none)
	if e.Writer {
		thread = int32(s.threads.Belongs(e.TID, e.PID))
	} else if place := s.tracks.Place(e.Track); place != nil && place.Own {
		thread = int32(place.Thread)
	}
	switch {
	case thread == none:
	case e.Kind == trackevent.Begin:
		s.begin(at, thread, e.Name)
	case e.Kind == trackevent.End:
		s.end(at, thread)
	case e.Kind == trackevent.Complete:
		s.begin(at, thread, e.Name)
		s.end(at+max(e.For, 0), thread)
	}
}

// forget drops the slices that ended before a time, and returns where the others moved.
func (s *spans) forget(before time.Duration) {
	moved := make([]int32, len(s.list))
	kept := s.list[:0]
	for i := range s.list {
		one := s.list[i]
		moved[i] = none
		if one.end() < before {
			continue
		}
		if one.parent != none {
			one.parent = moved[one.parent]
		}
		moved[i] = int32(len(kept))
		kept = append(kept, one)
	}
	clear(s.list[len(kept):])
	s.list, s.held = kept, 0
	for i := range kept {
		s.held += len(kept[i].name)
	}
	for _, stack := range s.open {
		for i, row := range stack {
			if row != none {
				stack[i] = moved[row]
			}
		}
	}
}
