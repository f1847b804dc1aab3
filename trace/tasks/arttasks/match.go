package arttasks

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// match matches the schedulings of each unit with its starts: first with what the thread that each
// woke did first, then those between two anchors, times at which the unit's queue was empty. There,
// the schedulings are of the tasks that started. What is left then has fewer units to be of.
func (r *reader) match(find *finder) {
	const rounds = 8 // at most
	r.byWaits()
	r.unmatched()
	for n := 1; n < rounds && find.more(); n++ {
		r.unmatched()
	}
	lost := 0
	for _, s := range r.schedules {
		if s.lost {
			s.unit = nil
			lost++
		}
	}
	r.warnings.Counted(0, find.unknown()-lost, "%d scheduling could be for several units: its task is known by its start alone", "%d schedulings could be for several units: their tasks are known by their starts alone")
	r.warnings.Counted(0, lost, "%d scheduling is left out: its queue has another number of starts, or of another class, and nothing shows which is its own", "%d schedulings are left out: their queues have other numbers of starts, or of other classes, and nothing shows which are their own")
	unsure := 0
	for _, u := range r.units {
		if u.unsure {
			unsure++
		}
	}
	r.warnings.Counted(0, unsure, "%d unit always had work in the trace: tasks that were in its queue before the trace began are taken for later ones", "%d units always had work in the trace: tasks that were in their queues before the trace began are taken for later ones")
}

// unmatched matches what has no scheduling or no start yet.
func (r *reader) unmatched() {
	for _, u := range r.units {
		u.starts, u.schedules = nil, nil
	}
	for _, s := range r.starts {
		if s.void || s.unit == nil || s.from != nil || s.timer {
			continue
		}
		// A looper that no scheduling woke: what it waited for came due, or is the kernel's.
		if s.kind == message && s.waited != nil && r.woken[message] && !s.unit.unseen && s.waited.by == nil {
			continue
		}
		s.unit.starts = append(s.unit.starts, s)
	}
	for _, s := range r.schedules {
		if s.unit != nil && s.task == nil && s.kind != service {
			s.lost = false
			s.unit.schedules = append(s.unit.schedules, s)
		}
	}
	for _, u := range r.units {
		u.unsure = u.unsure || u.older && len(u.anchors) == 0 && len(u.starts) > 0 && len(u.schedules) > 0
		r.matchUnit(u)
	}
}

// byWaits matches schedulings with what the thread that each woke did first.
func (r *reader) byWaits() {
	began := map[*wait]*start{}
	for _, s := range r.starts {
		if s.waited != nil && !s.void && s.from == nil && !s.timer {
			began[s.waited] = s
		}
	}
	for _, s := range r.schedules {
		if s.wait == nil || s.later || s.task != nil {
			continue
		}
		task := began[s.wait]
		if task == nil || task.begin < s.at || task.unit != s.unit {
			continue
		}
		r.pair(s, task)
		from, class := s.origin(), task.label()
		if before, known := r.expects[from]; known && before != class {
			class = ""
		}
		r.expects[from] = class
	}
}

// matchUnit matches what a unit did from each anchor to the next.
func (r *reader) matchUnit(u *unit) {
	slices.SortStableFunc(u.starts, func(a, b *start) int { return cmp.Compare(a.begin, b.begin) })
	slices.SortStableFunc(u.schedules, func(a, b *scheduling) int { return cmp.Compare(a.at, b.at) })
	from, starts := u.schedules, u.starts
	for part, end := range append(u.anchors, math.MaxInt64) {
		var scheduled []*scheduling
		var started []*start
		scheduled, from = split(from, func(s *scheduling) bool { return s.at < end || s.at == end && !s.woke })
		started, starts = split(starts, func(s *start) bool { return s.begin < end })
		r.matchPart(scheduled, started, part == 0 && u.older, part == len(u.anchors))
	}
}

// split returns the first of a list, as long as they are so, and the others.
func split[T any](list []T, are func(T) bool) (first, others []T) {
	n := slices.IndexFunc(list, func(one T) bool { return !are(one) })
	if n < 0 {
		n = len(list)
	}
	return list[:n], list[n:]
}

// matchPart matches what a unit did between two anchors: in order, as the queue is FIFO. Where there
// are not as many schedulings as starts, a message with a delay came due, or one was removed: then
// those of a class are matched if there are as many of both.
func (r *reader) matchPart(from []*scheduling, starts []*start, first, last bool) {
	likely, begun := from, starts
	switch {
	case first && !last && len(starts) > len(from): // the first ones were scheduled before the trace
		begun = starts[len(starts)-len(from):]
	case last && len(from) > len(starts): // the last ones did not start in it
		likely = from[:len(starts)]
	}
	if r.inOrder(likely, begun) {
		return
	}
	scheduled, started := map[string][]*scheduling{}, map[string][]*start{}
	for _, s := range from {
		class := cmp.Or(r.expected(s), outer(r.had[s.place]))
		scheduled[class] = append(scheduled[class], s)
	}
	for _, s := range starts {
		started[s.label()] = append(started[s.label()], s)
	}
	delete(scheduled, "") // unknown
	for class, list := range scheduled {
		r.inOrder(list, started[class])
	}
	if !first && !last && len(from) > len(starts) && r.removed(from) {
		return
	}
	for _, s := range from {
		s.lost = s.task == nil
	}
}

// removed gives the schedulings of a part that have no start the class that their place has had run, if
// it is one place: some were removed, although it is unknown which.
func (r *reader) removed(from []*scheduling) bool {
	class := r.had[from[0].place]
	if class == "" || slices.ContainsFunc(from, func(s *scheduling) bool { return s.place != from[0].place }) {
		return false
	}
	for _, s := range from {
		s.class = class
	}
	return true
}

// inOrder matches schedulings with starts one by one, if there are as many of both, none is after
// its start, and no class is another than expected.
func (r *reader) inOrder(from []*scheduling, starts []*start) bool {
	if len(from) != len(starts) {
		return false
	}
	for i, s := range from {
		expected, label := r.expected(s), starts[i].label()
		if s.at > starts[i].begin || s.at == starts[i].begin && s.by == starts[i].on || expected != "" && label != "" && expected != label {
			return false
		}
	}
	for i, s := range from {
		r.pair(s, starts[i])
	}
	return true
}

// label is the class that a task is known by, "" where it is not.
func (s *start) label() string {
	if !s.named {
		return ""
	}
	return outer(s.class)
}

// expected is the class of what a scheduling has run: what the same place had run when it woke a
// thread, or a class that it points to and that its unit runs. It is "" where neither is known.
func (r *reader) expected(s *scheduling) string {
	if class, known := r.expects[s.origin()]; known {
		return class
	}
	const surest = 2 // callers further out call other things, too
	n := 0
	for class, made := range r.pointsTo(s) {
		if n++; n > surest {
			break
		}
		if s.unit != nil && s.unit.classes[class] && (made || s.unit != s.by.unit) {
			return class
		}
	}
	return ""
}

// intents gives what services run in their own threads the stacks that started the services, where
// each start is known.
func (r *reader) intents() {
	started := slices.DeleteFunc(slices.Clone(r.schedules), func(s *scheduling) bool { return s.kind != service })
	slices.SortStableFunc(started, func(a, b *scheduling) int { return cmp.Compare(a.at, b.at) })
	if len(started) == 0 || len(started) != r.services {
		r.warnings.Counted(0, len(started), "%d start of a service is left out: services got another number of intents", "%d starts of services are left out: services got another number of intents")
		return
	}
	for _, s := range r.schedules {
		if s.kind != message || s.args < 0 || s.unit == nil || s.unit.Kind != run.IntentService {
			continue
		}
		if from := started[s.args]; from.at <= s.at {
			s.at, s.by, s.context, s.made = from.at, from.by, from.context, from.made
		}
	}
}
