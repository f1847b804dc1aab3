package tables

import (
	"iter"
	"math"
	"slices"

	"github.com/apkgate/apkgate/trace/perfetto/logs"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// logRow is an entry of the log.
type logRow struct {
	*logs.Entry
	logs   *logs.Reader
	thread threadOf
}

// logColumns are the columns of android_logs. tid and pid are those of the thread that utid refers
// to.
var logColumns = slices.Concat(
	[]column[*logRow]{
		always("ts", func(r *logRow) int64 { return int64(r.At) }),
		always("prio", func(r *logRow) int64 { return int64(r.Priority) }),
		word("tag", func(r *logRow) string { return r.logs.Tags[r.Tag] }),
		always("msg", func(r *logRow) string { return r.logs.Messages.Of(r.Message) }),
	},
	threadCells(func(r *logRow) threadOf { return r.thread }),
)

func readLogs(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*logRow], error) {
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
	row := &logRow{logs: r, thread: threadOf{Tracker: t}}
	all := spill.InOrder(&r.Entries, func(e *logs.Entry) int64 { return int64(e.At) })
	return each(all, row, func(_ int, one *logs.Entry) { row.Entry, row.thread.number = one, int(one.Thread) }), nil
}
