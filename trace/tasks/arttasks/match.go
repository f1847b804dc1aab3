package arttasks

import (
	"sort"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
)

// segment is the number of anchors before a time.
func (u *unit) segment(at time.Duration, inclusive bool) int {
	return sort.Search(len(u.anchors), func(i int) bool { return u.anchors[i] > at || !inclusive && u.anchors[i] == at })
}

// match matches the schedulings of each unit with its starts.
func (r *reader) match(units []*unit, out *tasks.List) {
	r.direct()
	for i := range r.starts {
		s := &r.starts[i]
		if s.void || s.unit < 0 || s.from >= 0 || s.timer {
			continue
		}
		// A looper that no scheduling woke: what it waited for came due, or is the kernel's.
		if s.kind == message && s.waited >= 0 && r.woken[message] && !units[s.unit].unseen && !r.waits[s.waited].used {
			continue
		}
		units[s.unit].starts = append(units[s.unit].starts, int32(i))
	}
	for i := range r.schedules {
		if s := &r.schedules[i]; s.unit >= 0 && !s.matched && s.kind != service {
			units[s.unit].schedules = append(units[s.unit].schedules, int32(i))
		}
	}
	lost, unsure := 0, 0
	for _, u := range units {
		if u.older && len(u.anchors) == 0 && len(u.starts) > 0 && len(u.schedules) > 0 {
			unsure++
		}
		u.starts = sorted(u.starts, func(i int32) time.Duration { return r.starts[i].begin })
		u.schedules = sorted(u.schedules, func(i int32) time.Duration { return r.schedules[i].at })
		starts, from := u.starts, u.schedules
		for part := 0; part <= len(u.anchors); part++ {
			d := sort.Search(len(starts), func(i int) bool { return u.segment(r.starts[starts[i]].begin, true) > part })
			s := sort.Search(len(from), func(i int) bool {
				one := r.schedules[from[i]]
				return u.segment(one.at, one.woke) > part
			})
			lost += r.pairs(u, part, from[:s], starts[:d])
			starts, from = starts[d:], from[s:]
		}
	}
	r.warnings.Counted(0, lost, "%d scheduling is left out: its queue has another number of starts, or of another class, and nothing shows which is its own", "%d schedulings are left out: their queues have other numbers of starts, or of other classes, and nothing shows which are their own")
	r.warnings.Counted(0, unsure, "%d unit always had work in the trace: tasks that were in its queue before the trace began are taken for later ones", "%d units always had work in the trace: tasks that were in their queues before the trace began are taken for later ones")
	r.intents(out.Units)
}

// pairs matches what a unit did between two anchors. It returns how many schedulings are left out.
func (r *reader) pairs(u *unit, part int, from, starts []int32) int {
	first, last := part == 0 && u.older, part == len(u.anchors)
	likely, begun := from, starts
	switch {
	case first && !last && len(starts) > len(from): // the first ones were scheduled before the trace
		begun = starts[len(starts)-len(from):]
	case last && len(from) > len(starts): // the last ones did not start in it
		likely = from[:len(starts)]
	}
	if r.inOrder(likely, begun) {
		return 0
	}
	// One was removed, or came due: those of a class are matched if there are as many of both.
	ofClass := map[string][2][]int32{}
	for _, f := range from {
		if class := r.expected(&r.schedules[f]); class != "" {
			of := ofClass[class]
			of[0] = append(of[0], f)
			ofClass[class] = of
		}
	}
	for _, d := range starts {
		if class := r.starts[d].label(); class != "" {
			of := ofClass[class]
			of[1] = append(of[1], d)
			ofClass[class] = of
		}
	}
	for _, of := range ofClass {
		r.inOrder(of[0], of[1])
	}
	left := 0
	for _, f := range from {
		if s := &r.schedules[f]; !s.matched {
			s.unit = -1
			left++
		}
	}
	return left
}

// label is the class that a task is known by, "" where it is not.
func (s *start) label() string {
	if !s.named {
		return ""
	}
	return outer(s.class)
}

// inOrder matches schedulings with starts one by one, if there are as many of both, none is after
// its start, and no class is another than expected.
func (r *reader) inOrder(from, starts []int32) bool {
	if len(from) != len(starts) {
		return false
	}
	for i, f := range from {
		s, one := &r.schedules[f], &r.starts[starts[i]]
		expected, label := r.expected(s), one.label()
		if s.at > one.begin || expected != "" && label != "" && expected != label {
			return false
		}
	}
	for i, f := range from {
		r.pair(f, starts[i])
	}
	return true
}

// direct matches schedulings with what the thread that each woke did first.
func (r *reader) direct() {
	began := map[int32]int32{}
	for i, s := range r.starts {
		if s.waited >= 0 && !s.void && s.from < 0 && !s.timer {
			began[s.waited] = int32(i)
		}
	}
	r.expects = map[origin]string{}
	for i := range r.schedules {
		s := &r.schedules[i]
		if s.wait < 0 || s.later {
			continue
		}
		d, ok := began[s.wait]
		if !ok || s.matched || r.starts[d].begin < s.at || r.starts[d].unit != s.unit {
			continue
		}
		r.pair(int32(i), d)
		from, class := origin{min(s.kind, execute), s.context, s.made}, r.starts[d].label()
		if before, known := r.expects[from]; known && before != class {
			class = ""
		}
		r.expects[from] = class
	}
}

// expected is the class of what a scheduling has run: what the same place had run when it woke a
// thread, or a class that it points to and that its unit runs. It is "" where neither is known.
func (r *reader) expected(s *scheduling) string {
	if class, known := r.expects[origin{min(s.kind, execute), s.context, s.made}]; known {
		return class
	}
	to := r.pointsTo(s)
	for _, class := range to[:min(len(to), 2)] { // callers further out call other things, too
		if s.unit >= 0 && r.classes[s.unit][class] {
			return class
		}
	}
	return ""
}

// intents gives what services run in their own threads the stacks that started the services, where
// each start is known.
func (r *reader) intents(units []tasks.Unit) {
	var started []int32
	for i, s := range r.schedules {
		if s.kind == service {
			started = append(started, int32(i))
		}
	}
	started = sorted(started, func(i int32) time.Duration { return r.schedules[i].at })
	if len(started) == 0 || len(started) != r.services {
		r.warnings.Counted(0, len(started), "%d start of a service is left out: services got another number of intents", "%d starts of services are left out: services got another number of intents")
		return
	}
	for i := range r.schedules {
		s := &r.schedules[i]
		if s.kind != message || s.args < 0 || s.unit < 0 || units[s.unit].Kind != run.IntentService {
			continue
		}
		if from := r.schedules[started[s.args]]; from.at <= s.at {
			s.at, s.thread, s.context, s.made = from.at, from.thread, from.context, from.made
		}
	}
}
