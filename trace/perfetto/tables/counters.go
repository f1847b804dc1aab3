package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/counters"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// counterColumns are those of counter. track_name, track_type, unit, pid, tid and cpu are
// those of the track that track_id refers to.
var counterColumns = []string{"ts", "value", "track_id", "track_name", "track_type", "unit", "pid", "tid", "cpu"}

func readCounters(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t := threads.New(f)
	r := counters.New(f, t)
	spilling(keep, &r.Values)
	err := in(f, t, r)
	f.Warnings.Counted(0, r.Unread, "%d track event bears a value of no counter that the trace describes: it is left out",
		"%d track events bear values of no counter that the trace describes: they are left out")
	if len(r.LeftOut) > 0 {
		f.Warnings.Addf(0, "values of the system that are not read: %s", listed(r.LeftOut))
	}
	unread(f)
	return func(yield func([]any) bool) {
		row := make([]any, len(counterColumns))
		for _, v := range r.Values.All() {
			row[0], row[1], row[2] = int64(v.At), v.Value, int64(v.Track)
			counterTrack(row, &r.Tracks[v.Track], t)
			if !yield(row) {
				return
			}
		}
	}, err
}

func counterTrack(row []any, track *counters.Track, t *threads.Tracker) {
	row[3], row[4], row[5], row[8] = text(track.Name), track.Type, text(track.Unit), number(track.CPU)
	row[6], row[7] = nil, nil
	process := track.Process
	if track.Thread >= 0 {
		thread := t.Threads[track.Thread]
		process = thread.Process
		switch {
		case track.Own:
			row[7] = t.ID(thread.TID)
		case process < 0:
			row[4], row[7] = track.Type+"_thread_fallback", t.ID(thread.TID)
		}
	}
	if process >= 0 {
		row[6] = int64(t.Processes[process].PID)
	}
}
