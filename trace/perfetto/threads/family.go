package threads

import "time"

// join adds a thread to a process.
func (t *Tracker) join(thread, process int, main bool) {
	one := &t.Threads[thread]
	one.Process, one.Main = process, main
	t.members[process] = append(t.members[process], thread)
}

// fork begins a process with its main thread.
func (t *Tracker) fork(at *time.Duration, pid int32, name string) int {
	replaced, known := t.pids.of(pid)
	t.pids.drop(pid)
	delete(t.tids, pid)
	t.live.drop(pid)
	thread := t.start(at, pid)
	t.call(thread, name, byKernel)
	process := t.OfProcess(pid)
	if one := &t.Processes[process]; one.PID == pid { // unless there was no room for it
		one.Start = at
		if name != "" {
			one.Name = name
		}
	}
	if known {
		t.forget(replaced)
	}
	return process
}

// forget resolves the ids of a process's threads again.
func (t *Tracker) forget(process int) {
	for _, thread := range t.members[process] {
		t.refresh(t.Threads[thread].TID)
	}
}

// end ends the thread that has an id now, and with a main thread its process.
func (t *Tracker) end(at time.Duration, tid int32) {
	thread, ok := t.live.of(tid)
	if !ok || thread == 0 {
		return
	}
	one := &t.Threads[thread]
	one.End = &at
	t.tids[tid] = without(t.tids[tid], thread)
	t.refresh(tid)
	if one.Process == None || t.Processes[one.Process].PID != tid {
		return
	}
	t.Processes[one.Process].End = &at
	t.pids.drop(tid)
	t.forget(one.Process)
}

// begun records the process that a thread began.
func (t *Tracker) begun(process, by int) {
	if parent := t.Threads[by].Process; parent != None {
		t.Processes[process].Parent = parent
	} else {
		t.children[by] = append(t.children[by], process)
	}
}

// tie records that two threads are of one process.
func (t *Tracker) tie(a, b int) {
	ofA, ofB := t.Threads[a].Process, t.Threads[b].Process
	switch {
	case ofA != None && ofB == None:
		t.adopt(b, ofA)
	case ofB != None && ofA == None:
		t.adopt(a, ofB)
	case ofA == None:
		t.together[a], t.together[b] = append(t.together[a], b), append(t.together[b], a)
	}
}

func (t *Tracker) adopt(thread, process int) {
	t.join(thread, process, t.Threads[thread].TID == t.Processes[process].PID)
	t.resolve(thread)
}

// resolve sets the process of all threads that waited for a thread's process.
func (t *Tracker) resolve(thread int) {
	process := t.Threads[thread].Process
	for queue := []int{thread}; len(queue) > 0 && len(t.together)+len(t.children) > 0; queue = queue[1:] {
		for _, child := range t.children[queue[0]] {
			t.Processes[child].Parent = process
		}
		delete(t.children, queue[0])
		waiting := t.together[queue[0]]
		delete(t.together, queue[0])
		for _, other := range waiting {
			if t.Threads[other].Process == None {
				t.join(other, process, t.Threads[other].TID == t.Processes[process].PID)
				queue = append(queue, other)
			}
		}
	}
}
