package counters

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// members are the names of rss_stat's kinds of memory (the kernel's mm_types_task.h).
var members = []string{"rss.file", "rss.anon", "swap", "rss.shmem", "unreclaimable"}

// memory is what an event says of a process's memory.
type memory struct {
	member  uint64
	size    int64 // bytes
	space   int64 // whose it is, see user
	current bool  // it is the writer's own
	told    bool  // space and current are told
}

// rss reads an RssStatFtraceEvent.
func rss(message []byte) memory {
	var m memory
	current, space := false, false
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.RSSMember:
			m.member = f.Value
		case field.RSSSize:
			m.size = int64(f.Value)
		case field.RSSCurr:
			m.current, current = f.Value != 0, true
		case field.RSSMmID:
			m.space, space = int64(f.Value), true
		}
	}
	m.told = current && space
	return m
}

// throttled reads an RssStatThrottledFtraceEvent, which always says whose memory it is.
func throttled(message []byte) memory {
	m := memory{told: true}
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.RSSThrottledMember:
			m.member = f.Value
		case field.RSSThrottledSize:
			m.size = int64(f.Value)
		case field.RSSThrottledCurr:
			m.current = f.Value != 0
		case field.RSSThrottledMmID:
			m.space = int64(f.Value)
		}
	}
	return m
}

func (r *Reader) memory(e *packets.Event, m memory) {
	name := "unknown"
	if m.member < uint64(len(members)) {
		name = members[m.member]
	}
	thread := r.threads.Of(e.TID)
	if m.told {
		thread = r.user(m.space, m.current, thread)
	}
	if m.size >= 0 && thread != None {
		r.ofThread(e.At, float64(m.size), "process_memory", "mem."+name, thread)
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
		case field.OOMScoreOOMScoreAdj:
			score = int16(f.Value)
		case field.OOMScorePID:
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
	field.StatsProcessVMSizeKb: {"virt", 1024}, field.StatsProcessVMRSSKb: {"rss", 1024}, field.StatsProcessRSSAnonKb: {"rss.anon", 1024},
	field.StatsProcessRSSFileKb: {"rss.file", 1024}, field.StatsProcessRSSShmemKb: {"rss.shmem", 1024}, field.StatsProcessVMSwapKb: {"swap", 1024},
	field.StatsProcessVMLockedKb: {"locked", 1024}, field.StatsProcessVMHwmKb: {"rss.watermark", 1024},
}

// process reads what /proc says of a process.
func (r *Reader) process(at time.Duration, message []byte) {
	var pid int32
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.StatsProcessPID {
			pid = int32(f.Value)
		}
	}
	track := Track{Thread: None, Process: r.threads.OfProcess(pid), CPU: None}
	for f := packets.FieldsOf(message); f.Next(); {
		switch stat, known := stats[f.Number]; {
		case known:
			track.Type, track.Name = "process_memory", "mem."+stat.name
			r.put(at, float64(int64(f.Value)*stat.bytes), track)
		case f.Number == field.StatsProcessOOMScoreAdj:
			track.Type, track.Name = "oom_score_adj", "oom_score_adj"
			r.put(at, float64(int64(f.Value)), track)
		}
	}
}
