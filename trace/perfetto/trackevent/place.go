package trackevent

// Place is what a track represents: a thread, a process, or neither.
type Place struct {
	Thread  int // in the tracker's Threads, None for another kind
	Process int // in the tracker's Processes, None for another kind
	// Own is set if it is the thread's or the process's track itself, rather than one of several
	// below it.
	Own bool
	// Separate is set if a thread's own track is not that of the kernel's events.
	Separate bool
	// Alone is set if the track is never merged with others of its name.
	Alone   bool
	Name    string // "" if unknown
	Counter *Counter
}

// Scope returns thread, process or global, as in Perfetto's names of types of tracks.
func (p *Place) Scope() string {
	switch {
	case p.Thread != None:
		return "thread"
	case p.Process != None:
		return "process"
	}
	return "global"
}

// maxAbove limits the depth of tracks.
const maxAbove = 100

// Place returns the track of an id; nil if there are too many.
func (t *Tracks) Place(uuid uint64) *Place {
	if place, known := t.places[uuid]; known {
		if d := t.descriptors[uuid]; d != nil {
			place.Name = d.name
		}
		return place
	}
	if !t.file.Room("tracks of events", len(t.places), maxTracks) {
		return nil
	}
	d := t.descriptors[uuid]
	if d == nil {
		d = &descriptor{}
		if uuid == 0 {
			d.name = "Default Track"
		}
		if len(t.descriptors) < maxTracks {
			t.descriptors[uuid] = d
		}
	}
	place := t.resolve(uuid, d)
	t.places[uuid] = place
	return place
}

func (t *Tracks) resolve(uuid uint64, d *descriptor) *Place {
	p := &Place{Thread: None, Process: None, Name: d.name, Alone: d.alone, Separate: d.separate, Counter: d.counter}
	switch {
	case d.thread:
		p.Own, p.Thread = true, t.thread(uuid, d)
	case d.process:
		p.Own, p.Process = true, t.process(uuid, d)
	default:
		p.Thread, p.Process = t.above(d.parent)
	}
	return p
}

// thread returns the thread that a track represents.
func (t *Tracks) thread(uuid uint64, d *descriptor) int {
	thread := t.threads.Belongs(d.tid, d.pid)
	if before, known := t.ofThread[thread]; known && before != uuid {
		thread = t.threads.Again(d.tid, d.pid)
	}
	t.ofThread[thread] = uuid
	t.threads.Describe(thread, d.threadName)
	return thread
}

// process returns the process that a track represents.
func (t *Tracks) process(uuid uint64, d *descriptor) int {
	process := t.threads.OfProcess(d.pid)
	if before, known := t.ofProcess[process]; known && before != uuid {
		process = t.threads.ProcessAgain(d.pid)
	}
	t.ofProcess[process] = uuid
	t.threads.DescribeProcess(process, d.processName)
	return process
}

// above finds the thread or the process that a track is below.
func (t *Tracks) above(uuid uint64) (thread, process int) {
	for i := 0; uuid != 0 && i < maxAbove; i++ {
		d := t.descriptors[uuid]
		switch {
		case d == nil:
			return None, None
		case d.thread, d.process:
			place := t.Place(uuid)
			if place == nil {
				return None, None
			}
			return place.Thread, place.Process
		}
		uuid = d.parent
	}
	return None, None
}
