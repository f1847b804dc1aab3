package counters

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// members are the names of rss_stat's kinds of memory (the kernel's mm_types_task.h).
var members = []string{"rss.file", "rss.anon", "swap", "rss.shmem", "unreclaimable"}

// memory reads an RssStatFtraceEvent (kmem.proto).
func (r *Reader) memory(e *packets.Event) {
	member := uint64(0)
	var size, space int64
	current, told := false, 0
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case 1:
			member = f.Value
		case 2:
			size = int64(f.Value)
		case 3:
			current = f.Value != 0
			told |= 1
		case 4:
			space = int64(f.Value)
			told |= 2
		}
	}
	name := "unknown"
	if member < uint64(len(members)) {
		name = members[member]
	}
	thread := r.threads.Of(e.TID)
	if told == 3 || e.Kind == packets.EventRSSThrottled {
		thread = r.user(space, current, thread)
	}
	if size >= 0 && thread != None {
		r.ofThread(e.At, float64(size), "process_memory", "mem."+name, thread)
	}
}

// user is a thread that uses a memory: who writes where it is the writer's own, or else
// who was seen to. None where that is not known or gone.
func (r *Reader) user(space int64, current bool, writer int) int {
	if current {
		if _, known := r.spaces[space]; known || r.file.Room("address spaces", len(r.spaces), maxTracks) {
			r.spaces[space] = writer
		}
		return writer
	}
	thread, known := r.spaces[space]
	if !known {
		return None
	}
	if !r.threads.Alive(thread) {
		delete(r.spaces, space)
		return None
	}
	return thread
}

// oomScore reads an OomScoreAdjUpdateFtraceEvent (oom.proto).
func (r *Reader) oomScore(e *packets.Event) {
	var score int16 // older versions of Perfetto wrote numbers below 0 as 32 bits
	var tid int32
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case 2:
			score = int16(f.Value)
		case 3:
			tid = int32(f.Value)
		}
	}
	r.ofThread(e.At, float64(score), "oom_score_adj", "oom_score_adj", r.threads.Of(tid))
}

// ofThread keeps a value that is of the process of a thread, which may not be known yet.
func (r *Reader) ofThread(at time.Duration, value float64, kind, name string, thread int) {
	r.put(at, value, Track{Type: kind, Name: name, Thread: thread, Process: None, CPU: None})
}

// stats are the fields of a process in ProcessStats (process_stats.proto) by their names,
// and what one of each is in bytes.
var stats = map[protowire.Number]struct {
	name  string
	bytes int64
}{
	2: {"virt", 1024}, 3: {"rss", 1024}, 4: {"rss.anon", 1024}, 5: {"rss.file", 1024}, 6: {"rss.shmem", 1024},
	7: {"swap", 1024}, 8: {"locked", 1024}, 9: {"rss.watermark", 1024},
}

// process reads what /proc says of a process.
func (r *Reader) process(at time.Duration, message []byte) {
	var pid int32
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == 1 {
			pid = int32(f.Value)
		}
	}
	track := Track{Thread: None, Process: r.threads.OfProcess(pid), CPU: None}
	for f := packets.FieldsOf(message); f.Next(); {
		switch stat, known := stats[f.Number]; {
		case known:
			track.Type, track.Name = "process_memory", "mem."+stat.name
			r.put(at, float64(int64(f.Value)*stat.bytes), track)
		case f.Number == 10:
			track.Type, track.Name = "oom_score_adj", "oom_score_adj"
			r.put(at, float64(int64(f.Value)), track)
		}
	}
}
