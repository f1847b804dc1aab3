package tables

import (
	"iter"
	"math"

	"github.com/apkgate/apkgate/trace/perfetto/logs"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// logColumns are those of android_logs. tid and pid are those of the thread that utid
// refers to.
var logColumns = []string{"ts", "prio", "tag", "msg", "tid", "pid", "utid"}

func readLogs(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t := threads.New(f)
	r := logs.New(f, t)
	spilling(keep, &r.Entries)
	keep.texts(&r.Messages)
	if err := in(f, t, r); err != nil {
		return nil, err
	}
	if lost := r.Failed + r.Skipped; lost > 0 {
		f.Warnings.Counted(0, int(min(lost, math.MaxInt)),
			"%d entry of the log is not in the trace: Perfetto could not read it, or left it out",
			"%d entries of the log are not in the trace: Perfetto could not read them, or left them out")
	}
	return func(yield func([]any) bool) {
		row := make([]any, len(logColumns))
		for _, e := range spill.InOrder(&r.Entries, func(e *logs.Entry) int64 { return int64(e.At) }) {
			row[0], row[1], row[2], row[3] = int64(e.At), int64(e.Priority), text(r.Tags[e.Tag]), r.Messages.Of(e.Message)
			threadCells(row[4:], t, int(e.Thread))
			if !yield(row) {
				return
			}
		}
	}, nil
}
