package messagequeue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
	"github.com/apkgate/apkgate/trace/tasks"
)

// mainName is the name of the main thread in Java.
const mainName = "main"

// list returns the messages as tasks.
func (r *reader) list() tasks.List {
	l := tasks.List{Source: Source, Tells: tasks.Tells{Capacity: true}, LeftOut: r.leftOut}
	u := units{reader: r, list: &l, byThread: map[int]int{}, byName: map[receiver]int{}}
	for i := range r.messages { // those that know their thread first: others have a name alone
		if m := &r.messages[i]; m.thread != trackevent.None && m.receiver != "" {
			u.unit(m)
		}
	}
	on := r.clock(&l)
	for i := range r.messages {
		m := &r.messages[i]
		if m.barrier() {
			continue
		}
		unit := u.unit(m)
		if unit < 0 {
			l.LeftOut++
			continue
		}
		t := tasks.Task{
			Unit: unit, Name: m.name(), Sender: m.sender, Inside: m.inside, Delay: m.delay,
			Scheduled: on(m.sent), Started: on(m.received), Done: on(m.done),
		}
		if m.thread != trackevent.None {
			t.Thread = l.Units[unit].Name
		}
		l.Tasks = append(l.Tasks, t)
	}
	slices.SortStableFunc(l.Tasks, func(a, b tasks.Task) int { return cmp.Compare(begins(a), begins(b)) })
	if r.any {
		r.doubts(&l)
	}
	l.Warnings = append(l.Warnings, r.file.Warnings.List()...)
	return l
}

// begins returns when a task was scheduled, or else started.
func begins(t tasks.Task) time.Duration {
	if t.Scheduled != tasks.Unknown {
		return t.Scheduled
	}
	return t.Started
}

// clock returns the conversion of times to CLOCK_MONOTONIC.
func (r *reader) clock(l *tasks.List) func(time.Duration) time.Duration {
	to, ok := r.file.Monotonic()
	if !ok && len(r.messages) > 0 {
		l.Warnings = append(l.Warnings, run.Warning{Text: "nothing in the trace leads to CLOCK_MONOTONIC: the times of tasks are on the trace's own clock"})
	}
	return func(own time.Duration) time.Duration {
		if own == tasks.Unknown || !ok {
			return own
		}
		if at, ok := to(own); ok {
			return at
		}
		return tasks.Unknown
	}
}

// doubts warns of what was lost in a trace that has such events.
func (r *reader) doubts(l *tasks.List) {
	if l.LeftOut > 0 {
		l.Warnings = append(l.Warnings, run.Warning{Text: fmt.Sprintf("the trace has more tasks than are kept: %d are left out", l.LeftOut)})
	}
	r.file.Doubts()
}

// barrier reports whether a message is what Android itself keeps others back with before each frame
// (MessageQueue.postSyncBarrier): it has no handler and is removed. One that the main thread posted
// to itself and removed looks the same.
func (m *message) barrier() bool {
	return m.received == tasks.Unknown && m.receiver == mainName && m.sender == mainName && m.code == 0 && m.delay == 0
}

// name returns what identifies the work besides the slice within it and its sender: its code. 0 is
// that of each posted runnable.
func (m *message) name() string {
	switch {
	case m.code != 0:
		return fmt.Sprintf("message %d", m.code)
	case m.inside != "":
		return ""
	case m.coded:
		return "message 0"
	}
	return "message"
}

// receiver is a thread by its name.
type receiver struct {
	process int
	name    string
}

// units are the receiving threads.
type units struct {
	*reader
	list     *tasks.List
	byThread map[int]int
	byName   map[receiver]int
}

// unit returns the unit of a message, -1 if there are too many. Of a message that was not received
// only the name of the thread is known.
func (u *units) unit(m *message) int {
	key := receiver{m.process, m.receiver}
	if m.thread == trackevent.None {
		if at, known := u.byName[key]; known {
			return at
		}
		return u.add(key, -1, m.receiver == mainName)
	}
	if at, known := u.byThread[m.thread]; known {
		return at
	}
	if key.name == "" {
		key.name = u.javaName(m.thread)
	}
	return u.add(key, m.thread, u.isMain(m.thread))
}

func (u *units) add(key receiver, thread int, isMain bool) int {
	if len(u.list.Units) >= tasks.MaxUnits {
		return -1
	}
	one := tasks.Unit{Name: u.unique(key, thread), Kind: run.HandlerThread, Capacity: 1}
	switch {
	case isMain:
		one.Kind = run.MainThread
	case strings.HasPrefix(key.name, "IntentService["):
		one.Kind = run.IntentService
	}
	u.list.Units = append(u.list.Units, one)
	at := len(u.list.Units) - 1
	if thread >= 0 {
		u.byThread[thread] = at
	}
	if _, taken := u.byName[key]; !taken {
		u.byName[key] = at
	}
	return at
}

// unique returns the name of a thread, with that of its process where the app has several.
func (u *units) unique(key receiver, thread int) string {
	name := key.name
	taken := func(name string) bool {
		return slices.ContainsFunc(u.list.Units, func(one tasks.Unit) bool { return one.Name == name })
	}
	if taken(name) {
		name = fmt.Sprintf("%s (%s)", key.name, u.threads.Processes[key.process].Name)
	}
	for n := 2; taken(name) && n < 100; n++ {
		name = fmt.Sprintf("%s (%d)", key.name, n)
	}
	return name
}
