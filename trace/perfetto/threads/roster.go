package threads

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Roster lists, at the end of a trace, its threads and processes and which belong together. It
// accepts packets and events in any order, which a Tracker can't, so that one pass over a trace is
// enough; it does not distinguish a thread from an earlier one with the same id.
type Roster struct {
	Processes map[int32]*Listed // by id
	Threads   map[int32]*Member // by id

	file *packets.File
}

// Listed is a process.
type Listed struct {
	UID  int    // -1 if unknown
	Name string // the command line's first word
}

// Member is a thread.
type Member struct {
	PID  int32  // 0 if unknown
	Name string // "" if unknown
}

// NewRoster returns an empty roster of a file.
func NewRoster(file *packets.File) *Roster {
	return &Roster{file: file, Processes: map[int32]*Listed{}, Threads: map[int32]*Member{}}
}

// Tree reads a ProcessTree.
func (r *Roster) Tree(message []byte) {
	tree := messages.ProcessTreeOf(message)
	for process := range tree.Processes.Each {
		r.process(messages.TreeProcessOf(process))
	}
	for thread := range tree.Threads.Each {
		one := messages.TreeThreadOf(thread)
		if m := r.member(one.TID); m != nil {
			m.PID, m.Name = one.TGID, cmp.Or(packets.Name(one.Name), m.Name)
		}
	}
}

func (r *Roster) process(p messages.TreeProcess) {
	first, _, _ := bytes.Cut(firstWord(&p), []byte{0})
	one := Listed{UID: -1, Name: packets.Name(first)}
	if p.HasUID {
		one.UID = int(p.UID)
	}
	if r.Processes[p.PID] != nil || r.file.Room("processes", len(r.Processes), most) {
		r.Processes[p.PID] = &one
	}
	if m := r.member(p.PID); m != nil {
		m.PID, m.Name = p.PID, cmp.Or(one.Name, m.Name)
	}
}

// member finds or adds a thread; nil if there are too many.
func (r *Roster) member(tid int32) *Member {
	m := r.Threads[tid]
	if m == nil && r.file.Room("threads", len(r.Threads), most) {
		m = &Member{}
		r.Threads[tid] = m
	}
	return m
}

// Tasks are the kernel's events of threads that begin and end, in any order.
type Tasks struct {
	births []birth
	owners map[int32]int32 // processes of threads, from their ends
}

// birth is the beginning of a thread, or of a process with its main thread.
type birth struct {
	ns          int64
	parent, tid int32
	process     bool
}

// Begin records that a parent began a task.
func (k *Tasks) Begin(file *packets.File, ns int64, parent int32, task messages.NewTask) bool {
	if task.PID == 0 || !file.Room("threads", len(k.births), most) {
		return false
	}
	k.births = append(k.births, birth{ns, parent, task.PID, !sameProcess(task)})
	return true
}

// Exit reads a SchedProcessExitFtraceEvent, which states the process of a thread.
func (k *Tasks) Exit(file *packets.File, message []byte) {
	task := messages.SchedExitOf(message)
	if task.TGID != 0 && file.Room("threads", len(k.owners), most) {
		if k.owners == nil {
			k.owners = map[int32]int32{}
		}
		k.owners[task.PID] = task.TGID
	}
}

// Settle assigns the threads that began or ended while the kernel was recorded to their processes,
// and adds the processes that began, named after their main threads. Process trees take precedence:
// they are read from the device later.
func (r *Roster) Settle(k *Tasks, called func(tid int32) string) {
	slices.SortStableFunc(k.births, func(a, b birth) int { return cmp.Compare(a.ns, b.ns) })
	for _, one := range k.births {
		m := r.member(one.tid)
		if m == nil || m.PID != 0 {
			continue
		}
		switch parent := r.Threads[one.parent]; {
		case one.process:
			m.PID = one.tid
		case parent != nil:
			m.PID = parent.PID
		}
		if one.process && r.Processes[one.tid] == nil && r.file.Room("processes", len(r.Processes), most) {
			r.Processes[one.tid] = &Listed{UID: -1, Name: called(one.tid)}
		}
	}
	for tid, process := range k.owners {
		if m := r.member(tid); m != nil && m.PID == 0 {
			m.PID = process
		}
	}
}
