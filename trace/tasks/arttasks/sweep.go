package arttasks

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/tasks"
)

// What happens at the same time is passed in this order.
const (
	begins = iota // a thread
	schedules
	waits
	wakes // a scheduling that wakes a thread
	ends  // a wait
	gone  // a thread
)

// moment is something that happens.
type moment struct {
	at   time.Duration
	what uint8
	of   int32 // a scheduling, a wait or a unit
}

// sweep passes the times of the trace in their order: it finds the units' anchors, and the units
// of schedulings by which threads waited when.
func (r *reader) sweep(units []*unit, of map[uint32]int32) {
	r.newborns()
	var all []moment
	for tid, u := range of {
		if s := r.threads[tid]; u >= 0 {
			first := s.first
			if !s.newborn {
				first = 0
			}
			all = append(all, moment{first, begins, u})
			if s.gone != tasks.Unknown {
				all = append(all, moment{s.gone, gone, u})
			}
		}
	}
	for i, s := range r.schedules {
		what := uint8(schedules)
		if s.woke {
			what = wakes
		}
		all = append(all, moment{s.at, what, int32(i)})
	}
	for i, w := range r.waits {
		if u, ok := of[w.thread]; ok && u >= 0 {
			all = append(all, moment{w.begin, waits, int32(i)})
			if w.end != tasks.Unknown {
				all = append(all, moment{w.end, ends, int32(i)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what), cmp.Compare(a.of, b.of))
	})
	sites, possible := map[int32]int32{}, byKind(units)
	for _, m := range all {
		switch m.what {
		case begins:
			units[m.of].threads++
		case gone:
			units[m.of].threads--
		case waits:
			u := units[of[r.waits[m.of].thread]]
			if len(u.waiting) == maxMatching {
				continue
			}
			if u.waiting = append(u.waiting, m.of); len(u.waiting) == u.threads {
				u.anchors = append(u.anchors, m.at)
			}
		case ends:
			u := units[of[r.waits[m.of].thread]]
			u.waiting = slices.DeleteFunc(u.waiting, func(w int32) bool { return w == m.of })
		default:
			r.resolve(&r.schedules[m.of], units, possible, sites)
		}
	}
	r.rest(units, possible, sites)
}

// newborns matches threads with the calls that started them, in their order: the first task of a
// worker is the one that it was started for.
func (r *reader) newborns() {
	first := map[uint32]int32{}
	for i, s := range r.starts {
		if _, ok := first[s.thread]; !ok && s.kind != thread {
			first[s.thread] = int32(i)
		}
	}
	var threads []*callStack
	for _, s := range r.threads {
		if s.newborn {
			threads = append(threads, s)
		}
	}
	slices.SortFunc(threads, func(a, b *callStack) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.tid, b.tid)) })
	r.births = sorted(r.births, func(b birth) time.Duration { return b.at })
	for _, s := range threads {
		if len(r.births) == 0 || r.births[0].at > s.first {
			continue
		}
		from := r.births[0].from
		r.births = r.births[1:]
		task, ok := first[s.tid]
		if from >= 0 && r.schedules[from].kind == thread {
			task, ok = s.start, s.start >= 0
		}
		if from >= 0 && ok && !r.starts[task].void {
			r.pair(from, task)
		}
	}
	for i := range r.schedules {
		// A thread that runs no task of its own: a looper, a worker, or one that did not begin.
		if s := &r.schedules[i]; s.kind == thread && !s.matched {
			s.unit = -1
		}
	}
	for i := range r.starts {
		if s := &r.starts[i]; s.kind == thread && s.from < 0 {
			s.void = true
		}
	}
}

func (r *reader) pair(from, task int32) {
	s := &r.schedules[from]
	s.matched, s.unit = true, r.starts[task].unit
	r.starts[task].from = from
}

// resolve finds the unit of a scheduling by what its threads are doing: one that is woken waited.
func (r *reader) resolve(s *scheduling, units []*unit, possible [2][]int32, sites map[int32]int32) {
	if s.matched || s.unit >= 0 || s.kind == service || s.kind == thread {
		return
	}
	class := min(s.kind, execute)
	candidates := possible[class]
	one := -1
	switch {
	case s.woke:
		one = r.waiter(s, candidates, units)
	case len(candidates) > 1 && r.woken[class]:
		busy := slices.DeleteFunc(slices.Clone(candidates), func(u int32) bool { return len(units[u].waiting) > 0 })
		if len(busy) == 1 {
			one = int(busy[0])
		}
	}
	if one < 0 && len(candidates) == 1 {
		one = int(candidates[0])
	}
	if one < 0 {
		return
	}
	s.unit = int32(one)
	if before, ok := sites[s.context]; ok && before != s.unit {
		sites[s.context] = -1
	} else {
		sites[s.context] = s.unit
	}
}

// byKind is the units of loopers and of pools, none where there are too many.
func byKind(units []*unit) (out [2][]int32) {
	for i, u := range units {
		if u.as <= execute {
			out[u.as] = append(out[u.as], int32(i))
		}
	}
	for i := range out {
		if len(out[i]) > maxMatching {
			out[i] = nil
		}
	}
	return out
}

// waiter returns the unit whose thread's wait ends first, -1 where none waits.
func (r *reader) waiter(s *scheduling, candidates []int32, units []*unit) int {
	one, which, soonest := -1, int32(-1), time.Duration(0)
	for _, u := range candidates {
		for _, w := range units[u].waiting {
			if end := r.waits[w].end; !r.waits[w].used && end != tasks.Unknown && (one < 0 || end < soonest) {
				one, which, soonest = int(u), w, end
			}
		}
	}
	if one >= 0 {
		r.waits[which].used, s.wait = true, which
	}
	return one
}

// rest finds the units of the schedulings that are left, by the place that scheduled them, or by
// the classes of what the units run.
func (r *reader) rest(units []*unit, possible [2][]int32, sites map[int32]int32) {
	r.classes = make([]map[string]bool, len(units))
	for i := range r.classes {
		r.classes[i] = map[string]bool{}
	}
	for i := range r.starts {
		if s := &r.starts[i]; s.unit >= 0 && s.named {
			r.classes[s.unit][outer(s.class)] = true
		}
	}
	if r.services == 0 {
		r.ownServices(units)
	}
	origins := map[origin]int32{}
	unknown, later := 0, 0
	for i := range r.schedules {
		s := &r.schedules[i]
		if s.later {
			later++
			s.unit = -1
			continue
		}
		if s.matched || s.unit >= 0 || s.kind == service || s.kind == thread {
			continue
		}
		if u, ok := sites[s.context]; ok && s.context >= 0 && u >= 0 {
			s.unit = u
			continue
		}
		class := min(s.kind, execute)
		from := origin{class, s.context, s.made}
		unit, known := origins[from]
		if !known {
			unit = r.byClass(s, possible[class])
			origins[from] = unit
		}
		if s.unit = unit; unit < 0 {
			unknown++
		}
	}
	r.warnings.Counted(0, later, "%d message was sent with a delay or for a time, which the trace does not have: when it was scheduled is not known of the task", "%d messages were sent with a delay or for a time, which the trace does not have: when they were scheduled is not known of the tasks")
	r.warnings.Counted(0, unknown, "%d scheduling could be for several units: its task is known by its start alone", "%d schedulings could be for several units: their tasks are known by their starts alone")
}

// ownServices takes starts of services for messages of the only IntentService, where the trace does
// not have what the main thread does in between.
func (r *reader) ownServices(units []*unit) {
	one := int32(-1)
	for i, u := range units {
		if u.intents {
			if one >= 0 {
				return
			}
			one = int32(i)
		}
	}
	for i := range r.schedules {
		if s := &r.schedules[i]; s.kind == service && one >= 0 {
			s.kind, s.unit, units[one].unseen = message, one, true
		}
	}
}

// origin is what byClass decides by.
type origin struct {
	kind          kind
	context, made int32
}

// byClass returns the only unit that runs a class which a scheduling points to: that of the object
// that was made for it, or the innermost one of its stack that any unit runs. It returns -1 where
// there is none or more than one.
func (r *reader) byClass(s *scheduling, units []int32) int32 {
	for _, name := range r.pointsTo(s) {
		one, several := int32(-1), false
		for _, u := range units {
			if r.classes[u][name] {
				one, several = u, one >= 0
			}
		}
		if several {
			return -1
		}
		if one >= 0 {
			return one
		}
	}
	return -1
}

// pointsTo lists the classes that a scheduling points to, the surest first.
func (r *reader) pointsTo(s *scheduling) (out []string) {
	if s.made >= 0 {
		out = append(out, outer(r.t.Methods[s.made].Class))
	}
	if s.context >= 0 {
		out = append(out, r.contexts[s.context].outers...)
	}
	return out
}
