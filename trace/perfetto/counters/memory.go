package counters

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// members are the names of rss_stat's kinds of memory (the kernel's mm_types_task.h).
var members = []string{"rss.file", "rss.anon", "swap", "rss.shmem", "unreclaimable"}

// memory is an event about a process's memory.
type memory struct {
	member   uint32
	size     int64  // bytes
	space    uint32 // whose it is, see user
	current  bool   // it is the writer's own
	reported bool   // space and current are reported
}

func (r *Reader) memory(e *packets.Event, m memory) {
	name := "unknown"
	if int(m.member) < len(members) {
		name = members[m.member]
	}
	thread := r.threads.Of(e.TID)
	if m.reported {
		thread = r.user(m.space, m.current, thread)
	}
	if m.size >= 0 && thread != None {
		r.ofThread(e.At, float64(m.size), "process_memory", "mem."+name, thread)
	}
}

// user returns a thread that uses a memory: the writer if it is the writer's own, or else a thread
// seen to use it. None if that is unknown or has ended.
func (r *Reader) user(space uint32, current bool, writer int) int {
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
	m := messages.OOMScoreOf(e.Data)
	score := int16(m.OOMScoreAdj) // older versions of Perfetto wrote numbers below 0 as 32 bits
	r.ofThread(e.At, float64(score), "oom_score_adj", "oom_score_adj", r.threads.Of(m.PID))
}

// ofThread adds a value of the process of a thread, which may not be known yet.
func (r *Reader) ofThread(at time.Duration, value float64, kind, name string, thread int) {
	r.put(at, value, Track{Type: kind, Name: name, Thread: thread, Process: None, CPU: None})
}

// stats are the fields of a process in ProcessStats (process_stats.proto) that are in KiB, by
// the names of their counters.
var stats = map[protowire.Number]string{
	field.StatsProcessVMSizeKb: "virt", field.StatsProcessVMRSSKb: "rss", field.StatsProcessRSSAnonKb: "rss.anon",
	field.StatsProcessRSSFileKb: "rss.file", field.StatsProcessRSSShmemKb: "rss.shmem", field.StatsProcessVMSwapKb: "swap",
	field.StatsProcessVMLockedKb: "locked", field.StatsProcessVMHwmKb: "rss.watermark",
}

// process reads /proc's numbers of a process. Tracks are numbered in the order of its fields, as in
// Perfetto's trace processor.
func (r *Reader) process(at time.Duration, message []byte) {
	track := Track{Thread: None, Process: r.threads.OfProcess(messages.StatsProcessOf(message).PID), CPU: None}
	for f := messages.FieldsOf(message); f.Next(); {
		if name := stats[f.Number]; name != "" {
			track.Type, track.Name = "process_memory", "mem."+name
			r.put(at, float64(int64(f.Value)*1024), track)
		} else if f.Number == field.StatsProcessOOMScoreAdj {
			track.Type, track.Name = "oom_score_adj", "oom_score_adj"
			r.put(at, float64(int64(f.Value)), track)
		}
	}
}
