package simpleperf

import (
	"math"
	"slices"
	"sort"
)

// Limits of the state that a file can make the reader keep. A Linux process has at most 65,530
// mappings (vm.max_map_count).
const (
	maxMappings = 1 << 16 // in one process
	maxForked   = 1 << 22 // copied from parents to children, in total
	maxMoved    = 1 << 31 // moved to make room for others, in total
	maxThreads  = 1 << 18
)

// mapping is a part of a process's memory that maps a file.
type mapping struct {
	start, end uint64 // end is exclusive
	offset     uint64 // in the file
	jit        bool   // the file's symbols are addresses of the process
	file       *file
}

// memory is the mappings of one process, sorted by address and disjoint.
type memory struct{ list []*mapping }

// add adds a mapping; older ones keep what it does not cover. It returns how many others were moved
// for it.
func (m *memory) add(n mapping) (moved int) {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].end > n.start })
	j := sort.Search(len(m.list), func(i int) bool { return m.list[i].start >= n.end })
	var parts [3]*mapping
	put := parts[:0]
	if i < j && m.list[i].start < n.start {
		left := *m.list[i]
		left.end = n.start
		put = append(put, &left)
	}
	put = append(put, &n)
	if i < j && m.list[j-1].end > n.end {
		right := *m.list[j-1]
		right.offset += n.end - right.start
		right.start = n.end
		put = append(put, &right)
	}
	if j = max(i, j); len(put) != j-i {
		moved = len(m.list) - j
	}
	m.list = slices.Replace(m.list, i, j, put...)
	return moved
}

// find returns the mapping at an address, nil if there is none.
func (m *memory) find(address uint64) *mapping {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].end > address })
	if i < len(m.list) && m.list[i].start <= address {
		return m.list[i]
	}
	return nil
}

// task is a thread that exists at the current point of the file.
type task struct {
	pid, tid uint32
	name     string
	memory   *memory
	listed   int // index in Profile.Threads, -1 until it has a sample
}

// tasks are the threads and processes that exist at the current point of the file.
type tasks struct {
	byTID  map[uint32]*task
	mains  map[uint32]string // the last name of each process's main thread
	kernel memory
	forked int   // mappings copied so far
	moved  int64 // mappings moved so far
}

func newTasks() *tasks {
	t := &tasks{byTID: map[uint32]*task{}, mains: map[uint32]string{}}
	t.find(0, 0).name = "swapper" // the idle threads, which no record names
	return t
}

// find returns the thread, and adds it if it is new. A thread shares the memory of its process, and
// its name until it has one of its own.
func (t *tasks) find(pid, tid uint32) *task {
	if known, ok := t.byTID[tid]; ok && known.pid == pid {
		return known
	}
	made := &task{pid: pid, tid: tid, listed: -1}
	if pid == tid {
		made.memory = &memory{}
	} else {
		process := t.find(pid, pid)
		made.name, made.memory = process.name, process.memory
	}
	if len(t.byTID) < maxThreads {
		t.byTID[tid] = made
	}
	return made
}

// put adds a mapping to a process's memory. It returns false if that has too many, or if too much
// work was done for mappings already.
func (t *tasks) put(in *memory, n mapping) bool {
	if len(in.list) >= maxMappings || t.moved > maxMoved {
		return false
	}
	t.moved += int64(in.add(n))
	return true
}

// rename applies a comm record.
func (t *tasks) rename(pid, tid uint32, name string) {
	if _, known := t.mains[pid]; pid == tid && (known || len(t.mains) < maxThreads) {
		t.mains[pid] = name
	}
	if known := t.find(pid, tid); known.name != name {
		known.name, known.listed = name, -1
	}
}

// fork applies a fork record: a thread of the same process, or a new process that begins with its
// parent's memory. It returns false if a limit is exceeded.
func (t *tasks) fork(pid, tid, parentPID, parentTID uint32) bool {
	if tid == parentTID || pid != tid && pid != parentPID {
		return true // clone(2) can't create this
	}
	parent := t.find(parentPID, parentTID)
	child := t.find(pid, tid)
	child.name = parent.name
	child.listed = -1
	if pid == parentPID {
		return true
	}
	if t.forked += len(parent.memory.list); t.forked > maxForked {
		return false
	}
	if len(child.memory.list) == 0 {
		child.memory.list = slices.Clone(parent.memory.list)
		return true
	}
	ok := true
	for _, m := range parent.memory.list { // the child was mentioned before its fork
		ok = t.put(child.memory, *m) && ok
	}
	return ok
}

// exit applies an exit record: the id may be reused.
func (t *tasks) exit(pid, tid uint32) {
	if known, ok := t.byTID[tid]; ok && known.pid == pid {
		delete(t.byTID, tid)
	}
}

// span returns a mapping's end without wrapping around.
func span(start, length uint64) uint64 {
	if length > math.MaxUint64-start {
		return math.MaxUint64
	}
	return start + length
}
