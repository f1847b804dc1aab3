package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/counters"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// counterRow is a counter's new value.
type counterRow struct {
	*counters.Value
	track   *counters.Track
	threads *threads.Tracker
}

// process returns the index of the track's process, or of its thread's; negative for none.
func (r *counterRow) process() int {
	if r.track.Thread >= 0 {
		return r.threads.Threads[r.track.Thread].Process
	}
	return r.track.Process
}

// stray reports whether the track belongs to the unknown process of a thread.
func (r *counterRow) stray() bool { return r.track.Thread >= 0 && !r.track.Own && r.process() < 0 }

// counterColumns are the columns of counter. track_name, track_type, unit, pid, tid and cpu are
// those of the track that track_id refers to.
var counterColumns = []column[*counterRow]{
	always("ts", func(r *counterRow) int64 { return int64(r.At) }),
	always("value", func(r *counterRow) float64 { return r.Value.Value }),
	always("track_id", func(r *counterRow) int64 { return int64(r.Track) }),
	word("track_name", func(r *counterRow) string { return r.track.Name }),
	always("track_type", func(r *counterRow) string {
		if r.stray() {
			return r.track.Type + "_thread_fallback"
		}
		return r.track.Type
	}),
	word("unit", func(r *counterRow) string { return r.track.Unit }),
	some("pid", func(r *counterRow) (int64, bool) {
		if r.process() < 0 {
			return 0, false
		}
		return int64(r.threads.Processes[r.process()].PID), true
	}),
	some("tid", func(r *counterRow) (int64, bool) {
		if !r.stray() && (r.track.Thread < 0 || !r.track.Own) {
			return 0, false
		}
		return r.threads.ID(r.threads.Threads[r.track.Thread].TID), true
	}),
	some("cpu", func(r *counterRow) (int64, bool) { return known(r.track.CPU) }),
}

func readCounters(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*counterRow], error) {
	t := threads.New(f)
	r := counters.New(f, t)
	spilling(keep, &r.Values)
	err := in(f, t, r)
	f.Warnings.Counted(0, r.Unread, "%d track event has a value of a counter that the trace does not describe: it is left out",
		"%d track events have values of counters that the trace does not describe: they are left out")
	if len(r.LeftOut) > 0 {
		f.Warnings.Addf(0, "values of the system that are not read: %s", listed(r.LeftOut))
	}
	unread(f)
	row := &counterRow{threads: t}
	return each(r.Values.All(), row, func(_ int, one *counters.Value) { row.Value, row.track = one, &r.Tracks[one.Track] }), err
}
