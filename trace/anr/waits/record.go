package waits

import (
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Fill writes the chain into the record of an ANR: its threads with their waits and their stacks,
// the process and its id if the record lacks them, and whether the chain is a cycle. A chain with
// more threads than a record has room for (run.MaxANRThreads) loses those in its middle; the thread
// before the gap states how many.
func (c Chain) Fill(a *run.ANR) {
	a.Threads, a.Cycle = nil, c.Cycle >= 0
	if len(c.Steps) == 0 {
		return
	}
	first := c.Steps[0].Process
	if a.Process == "" {
		a.Process = prose.Clip(first.Name, most)
	}
	if a.PID == 0 {
		a.PID = first.PID
	}
	head, tail := c.kept()
	for i, s := range c.Steps {
		if i >= head && i < tail {
			continue
		}
		t := c.thread(i, a.Process)
		if i == head-1 && tail > head {
			t.WaitsFor += ", and so on for " + prose.Count(tail-head, "thread", "threads") + " more"
		}
		if i == len(c.Steps)-1 && c.Cycle >= 0 && (c.Cycle < head || c.Cycle >= tail) {
			t.Next = placed(c.Cycle, head, tail)
		}
		t.Stack, t.Tells = stackOf(s)
		a.Threads = append(a.Threads, t)
	}
}

// most limits a text, in characters: a record's have at most 4,096 bytes.
const most = 1_000

// kept returns the range of steps that a record leaves out: from head, before tail.
func (c Chain) kept() (head, tail int) {
	if len(c.Steps) <= run.MaxANRThreads {
		return len(c.Steps), len(c.Steps)
	}
	head = run.MaxANRThreads / 2
	return head, len(c.Steps) - (run.MaxANRThreads - head)
}

// placed returns the place of a step in the record, from 1.
func placed(step, head, tail int) int {
	if step < head {
		return step + 1
	}
	return step - (tail - head) + 1
}

// thread returns a step as in a record, without its stack.
func (c Chain) thread(i int, process string) run.ANRThread {
	s := c.Steps[i]
	t := run.ANRThread{
		Name: prose.Clip(nameOfThread(s), most), State: prose.Clip(s.Thread.State, most), Kind: s.Kind,
		WaitsFor: prose.Clip(c.waitsFor(i), most), Critical: i == len(c.Steps)-1 || c.Cycle >= 0 && i >= c.Cycle,
	}
	first := c.Steps[0].Process
	if name := prose.Clip(nameOf(s.Process), most); name != process && (s.Process != first || first.Name != "") {
		t.Process = name
	}
	return t
}

// nameOfThread returns a thread's name. In a list of waiting channels threads have no names; there
// the main thread is the one with the process's id.
func nameOfThread(s Step) string {
	if s.Thread.Name == "" && s.Thread.TID != 0 && s.Thread.TID == s.Process.PID {
		return "main"
	}
	return s.Thread.Name
}

// stackOf returns as much of a thread's stack as a record has room for, and the place, from 1, of
// the line that shows what it waits for, 0 if none does.
func stackOf(s Step) (lines []string, place int) {
	lines, at := s.Thread.Stack(run.MaxStack, s.At)
	for i := range lines {
		lines[i] = prose.Clip(lines[i], most)
	}
	return lines, at + 1
}

// waitsFor returns what a step waits for, its kind first: "lock com.example.Store held by sync",
// "binder android.app.IActivityManager::getTasks (system_server)", "join worker", "io
// f2fs_sync_file"; "" if nothing.
func (c Chain) waitsFor(i int) string {
	s := c.Steps[i]
	next, has := c.next(i)
	said := []string{s.Kind}
	if s.What != "" {
		said = append(said, s.What)
	}
	switch {
	case s.Kind == run.WaitRunning:
		return ""
	case s.Kind == run.WaitLock && has:
		said = append(said, "held by "+next.Thread.Name)
	case s.Kind == run.WaitLock && s.Peer != "":
		said = append(said, "held by "+s.Peer+", which the dump does not show")
	case s.Likely:
		said = append(said, "("+nameOf(next.Process)+", likely)")
	case s.Kind == run.WaitBinder && has:
		said = append(said, "("+nameOf(next.Process)+")")
	case s.Kind == run.WaitBinder && s.Peer != "":
		said = append(said, "("+s.Peer+")")
	case has:
		said = append(said, next.Thread.Name)
	}
	return strings.Join(said, " ")
}

// next returns the step for which step i waits.
func (c Chain) next(i int) (Step, bool) {
	switch {
	case i+1 < len(c.Steps):
		return c.Steps[i+1], true
	case c.Cycle >= 0:
		return c.Steps[c.Cycle], true
	}
	return Step{}, false
}
