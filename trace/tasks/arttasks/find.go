package arttasks

import (
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
)

// finder finds the units of schedulings: by the threads that wait or are busy then, by what the same
// stack has scheduled for before, and by the classes of what the units run.
type finder struct {
	*reader
	possible [2][]*unit       // loopers and pools, none where there are too many
	sites    map[int32]*unit  // of contexts; nil of one that has scheduled for several
	origins  map[origin]*unit // nil where none is known
}

// origin is what classes are told by.
type origin struct {
	class         int
	context, made int32
}

func (s *scheduling) origin() origin { return origin{s.kind.class(), s.context, s.made} }

// class is 0 of what loopers run, 1 of what pools run.
func (k kind) class() int { return int(min(k, execute)) }

func newFinder(r *reader) *finder {
	f := &finder{reader: r, sites: map[int32]*unit{}, origins: map[origin]*unit{}}
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

// byThreads finds the unit of a scheduling by what its threads are doing: one that is woken waited.
func (f *finder) byThreads(s *scheduling) {
	if s.found() {
		return
	}
	candidates := f.possible[s.kind.class()]
	switch {
	case s.woke:
		if s.wait = soonest(candidates); s.wait != nil {
			s.wait.used = true
			s.unit = s.wait.on.unit
		}
	case len(candidates) > 1 && f.woken[s.kind.class()]:
		busy := slices.DeleteFunc(slices.Clone(candidates), func(u *unit) bool { return len(u.waiting) > 0 })
		if len(busy) == 1 {
			s.unit = busy[0]
		}
	}
	if s.unit == nil && len(candidates) == 1 {
		s.unit = candidates[0]
	}
	if s.unit == nil {
		return
	}
	if before, known := f.sites[s.context]; known && before != s.unit {
		f.sites[s.context] = nil
	} else {
		f.sites[s.context] = s.unit
	}
}

// soonest returns the wait of some units that ends first, nil where none waits.
func soonest(units []*unit) (first *wait) {
	for _, u := range units {
		for _, w := range u.waiting {
			if !w.used && w.end != tasks.Unknown && (first == nil || w.end < first.end) {
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
		if s.unit != nil && s.named {
			s.unit.classes[outer(s.class)] = true
		}
	}
	if f.services == 0 {
		f.ownServices()
	}
	unknown, later := 0, 0
	for _, s := range f.schedules {
		if s.later {
			later++
			s.unit = nil
			continue
		}
		if s.found() {
			continue
		}
		if s.context >= 0 {
			s.unit = f.sites[s.context]
		}
		if s.unit == nil {
			s.unit = f.byOrigin(s)
		}
		if s.unit == nil {
			unknown++
		}
	}
	f.warnings.Counted(0, later, "%d message was sent with a delay or for a time, which the trace does not have: when it was scheduled is not known of the task", "%d messages were sent with a delay or for a time, which the trace does not have: when they were scheduled is not known of the tasks")
	f.warnings.Counted(0, unknown, "%d scheduling could be for several units: its task is known by its start alone", "%d schedulings could be for several units: their tasks are known by their starts alone")
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

// byOrigin is byClass, which is the same of all schedulings of an origin.
func (f *finder) byOrigin(s *scheduling) *unit {
	from := s.origin()
	one, known := f.origins[from]
	if !known {
		one = f.byClass(s)
		f.origins[from] = one
	}
	return one
}

// byClass returns the only unit that runs a class which a scheduling points to: that of the object
// that was made for it, or the innermost one of its stack that any unit runs. It returns nil where
// there is none or more than one.
func (f *finder) byClass(s *scheduling) *unit {
	for class := range f.pointsTo(s) {
		var one *unit
		for _, u := range f.possible[s.kind.class()] {
			switch {
			case !u.classes[class]:
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
