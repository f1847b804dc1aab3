package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/blockio"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// blockColumns are, behind event, those of the arguments of the kernel's events.
var blockColumns = []string{"ts", "dur", "event", "dev", "sector", "nr_sector", "bytes", "rwbs", "comm", "error", "tid", "pid", "utid"}

func readBlockIO(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t := threads.New(f)
	r := blockio.New(f, t)
	spilling(keep, &r.Work)
	err := in(f, t, r)
	return func(yield func([]any) bool) {
		row := make([]any, len(blockColumns))
		for _, w := range r.Work.All() {
			row[0], row[1], row[2], row[3], row[4] = int64(w.At), open(w.For), w.Level.String(), int64(w.Device), int64(w.Sector)
			row[5], row[6], row[7], row[8], row[9] = int64(w.Sectors), int64(w.Bytes), text(r.Names[w.Kind]), text(r.Names[w.Command]), int64(w.Error)
			threadCells(row[10:], t, int(w.Thread))
			if !yield(row) {
				return
			}
		}
	}, err
}

// threadCells fills the cells tid, pid and utid.
func threadCells(row []any, t *threads.Tracker, number int) {
	thread := &t.Threads[number]
	row[0], row[1], row[2] = t.ID(thread.TID), nil, int64(number)
	if thread.Process >= 0 {
		row[1] = t.ID(t.Processes[thread.Process].PID)
	}
}
