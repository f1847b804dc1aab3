package arttasks

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
)

// finder finds the units of schedulings: by the threads that wait or are busy then, by what the same
// stack has scheduled for before, and by the classes of what the units run.
type finder struct {
	*reader
	possible [2][]*unit      // loopers and pools, none where there are too many
	sites    map[int32]*unit // of places; nil of one that has scheduled for several
	waits    map[*unit]bool  // the trace has waits of it
}

// origin is what classes are told by.
type origin struct {
	class       int
	place, made int32
}

func (s *scheduling) origin() origin { return origin{s.kind.class(), s.place, s.made} }

// class is 0 of what loopers run, 1 of what pools run.
func (k kind) class() int { return int(min(k, execute)) }

func newFinder(r *reader) *finder {
	f := &finder{reader: r, sites: map[int32]*unit{}, waits: map[*unit]bool{}}
	for _, w := range r.waits {
		f.waits[w.on.unit] = true
	}
	for _, u := range r.units {
		if u.as <= execute {
			f.possible[u.as] = append(f.possible[u.as], u)
		}
	}
	for class, units := range f.possible {
		if len(units) > maxMatching {
			f.possible[class] = nil
		}
	}
	return f
}

// found reports whether a scheduling needs no unit, or has it.
func (s *scheduling) found() bool { return s.unit != nil || s.kind == service || s.kind == startThread }

// byThreads finds the unit of a scheduling by what its threads are doing: one that is woken waited,
// and one that is not has no thread that waits.
func (f *finder) byThreads(s *scheduling) {
	if s.found() {
		return
	}
	s.could = f.possible[s.kind.class()]
	switch {
	case s.woke:
		if w := soonest(s); w != nil {
			if w.by != nil { // it woke something else, as one scheduling ends a wait
				w.by.wait, w.by.unit = nil, nil
			}
			s.wait, s.unit, w.by = w, w.on.unit, s
		}
		if s.kind == message { // only what never waits in the trace may have been woken otherwise
			s.could = slices.DeleteFunc(slices.Clone(s.could), func(u *unit) bool { return f.waits[u] })
		}
	case f.woken[s.kind.class()]:
		s.could = slices.DeleteFunc(slices.Clone(s.could), func(u *unit) bool { return len(u.waiting) > 0 || u.threads == 0 && u.as == execute })
	}
	if s.unit == nil && len(s.could) == 1 {
		s.unit = s.could[0]
	}
}

// awake is within what time a thread that is woken runs, also where others compute.
const awake = 100 * time.Millisecond

// soonest returns the wait that a scheduling may have ended which ends first, but for that of the
// thread that schedules, nil where none waits. One that an earlier scheduling has ended comes after the
// others, and only a looper's: the later one is nearer to its end.
func soonest(s *scheduling) (first *wait) {
	for _, u := range s.could {
		for _, w := range u.waiting {
			taken := w.by != nil
			if w.on == s.by || w.end == tasks.Unknown || w.end > s.at+awake || taken && s.kind != message {
				continue
			}
			if first == nil || first.by != nil && !taken || (first.by != nil) == taken && w.end < first.end {
				first = w
			}
		}
	}
	return first
}

// rest finds the units of the schedulings that are left, by the place that scheduled them, or by
// the classes of what the units run.
func (f *finder) rest() {
	for _, s := range f.starts {
		if s.unit == nil {
			continue
		}
		if s.named {
			s.unit.classes[outer(s.class)] = true
		}
		if !s.void {
			s.unit.begun = append(s.unit.begun, s)
		}
	}
	for _, u := range f.units {
		slices.SortStableFunc(u.begun, func(a, b *start) int { return cmp.Compare(a.begin, b.begin) })
	}
	if f.services == 0 {
		f.ownServices()
	}
	later := 0
	for _, s := range f.schedules {
		if s.later {
			later++
			s.unit = nil
		}
	}
	f.warnings.Counted(0, later, "%d message was sent with a delay or for a time, which the trace does not have: when it was scheduled is not known of the task", "%d messages were sent with a delay or for a time, which the trace does not have: when they were scheduled is not known of the tasks")
	f.learn()
	f.each(func(s *scheduling) *unit { return f.sites[s.place] })
	f.more()
}

// learn learns for which units places have scheduled.
func (f *finder) learn() {
	clear(f.sites)
	for _, s := range f.schedules {
		if s.unit == nil || s.place < 0 {
			continue
		}
		if before, known := f.sites[s.place]; known && before != s.unit {
			f.sites[s.place] = nil
		} else {
			f.sites[s.place] = s.unit
		}
	}
}

// more finds units of schedulings that have none, by what no scheduling is known of yet. It reports
// whether there are any.
func (f *finder) more() bool {
	for _, u := range f.units {
		u.unexplained = slices.DeleteFunc(slices.Clone(u.begun), func(t *start) bool {
			return t.from != nil || t.waited != nil && t.waited.by != nil
		})
	}
	before := f.unknown()
	f.each(f.byStarts)
	f.learn()
	f.each(func(s *scheduling) *unit {
		if u := f.sites[s.place]; slices.Contains(s.could, u) {
			return u
		}
		return f.byClass(s)
	})
	return f.unknown() < before
}

// each gives schedulings without a unit the one that is found.
func (f *finder) each(find func(*scheduling) *unit) {
	for _, s := range f.schedules {
		if !s.found() && !s.later {
			s.unit = find(s)
		}
	}
}

// unknown is how many schedulings have no unit.
func (f *finder) unknown() (n int) {
	for _, s := range f.schedules {
		if !s.found() && !s.later {
			n++
		}
	}
	return n
}

// ownServices takes starts of services for messages of the only IntentService, where the trace does
// not have what the main thread does in between.
func (f *finder) ownServices() {
	intents := slices.DeleteFunc(slices.Clone(f.units), func(u *unit) bool { return u.Kind != run.IntentService })
	if len(intents) != 1 {
		return
	}
	for _, s := range f.schedules {
		if s.kind == service {
			s.kind, s.unit, intents[0].unseen = message, intents[0], true
		}
	}
}

// soon is within what time a looper begins what is sent to it, if it does nothing else.
const soon = 5 * time.Millisecond

// byStarts returns the only unit that may have been scheduled for: that begins something, which no
// known scheduling woke it for, before its queue is empty again, and soon if it was idle.
func (f *finder) byStarts(s *scheduling) (one *unit) {
	var first time.Duration // when an idle one begins
	for _, u := range s.could {
		next, idle := u.next(s)
		switch from, _ := slices.BinarySearch(u.anchors, s.at+1); {
		case next == nil && from == len(u.anchors) && !idle: // it may not have begun within the trace
		case next == nil, from < len(u.anchors) && next.begin > u.anchors[from], idle && next.begin > s.at+soon:
			continue
		case idle && first > 0 && next.begin >= first:
			continue
		case idle && (first > 0 || one == nil):
			first, one = next.begin, nil
		}
		if one != nil {
			return nil
		}
		one = u
	}
	return one
}

// next returns what a unit begins after a scheduling, which no known one woke it for, nil for
// nothing; and whether it does nothing then.
func (u *unit) next(s *scheduling) (next *start, idle bool) {
	after := func(list []*start) int {
		i, _ := slices.BinarySearchFunc(list, s.at, func(t *start, at time.Duration) int {
			if t.begin == at && t.on == s.by { // it is what schedules
				return -1
			}
			return cmp.Compare(t.begin, at)
		})
		return i
	}
	i := after(u.begun)
	idle = i == 0 || u.begun[i-1].end != tasks.Unknown && u.begun[i-1].end < s.at
	if i := after(u.unexplained); i < len(u.unexplained) {
		next = u.unexplained[i]
	}
	return next, idle
}

// byClass returns the only possible unit that runs a class which a scheduling points to: that of the
// object that was made for it, or the innermost one of its stack that any of these units runs. It
// returns nil where there is none or more than one.
func (f *finder) byClass(s *scheduling) *unit {
	for class, made := range f.pointsTo(s) {
		var one *unit
		for _, u := range s.could {
			switch {
			case !u.classes[class] || u == s.by.unit && !made:
			case one != nil:
				return nil
			default:
				one = u
			}
		}
		if one != nil {
			return one
		}
	}
	return nil
}
