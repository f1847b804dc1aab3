package tables

import (
	"iter"
	"slices"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// threadRow is a thread, by its number.
type threadRow struct {
	threadOf
	threads.Thread
}

// threadColumns are the columns of thread. pid is that of the row of process that upid refers to.
var threadColumns = []column[*threadRow]{
	always("utid", func(r *threadRow) int64 { return int64(r.number) }),
	always("tid", func(r *threadRow) int64 { return r.ID(r.TID) }),
	word("name", func(r *threadRow) string { return r.Name }),
	some("upid", func(r *threadRow) (int64, bool) { return known(r.Process) }),
	some("pid", func(r *threadRow) (int64, bool) {
		if r.Process < 0 {
			return 0, false
		}
		return r.ID(r.process().PID), true
	}),
	some("is_main_thread", func(r *threadRow) (int64, bool) { return flag(r.Main), r.Process >= 0 }),
	some("start_ts", func(r *threadRow) (int64, bool) { return when(r.Start) }),
	some("end_ts", func(r *threadRow) (int64, bool) { return when(r.Thread.End) }),
}

func readThreads(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*threadRow], error) {
	t, _, err := tasks(f, in, sched.Keep{}, keep)
	row := &threadRow{threadOf: threadOf{Tracker: t}}
	return each(slices.All(t.Threads), row, func(number int, one threads.Thread) { row.number, row.Thread = number, one }), err
}

// processRow is a process, by its number.
type processRow struct {
	threads.Process
	number  int
	threads *threads.Tracker
}

// processColumns are the columns of process. parent_pid is that of the row of the process that
// began it.
var processColumns = []column[*processRow]{
	always("upid", func(r *processRow) int64 { return int64(r.number) }),
	always("pid", func(r *processRow) int64 { return r.threads.ID(r.PID) }),
	word("name", func(r *processRow) string { return r.Name }),
	some("uid", func(r *processRow) (int64, bool) { return known(r.UID) }),
	some("start_ts", func(r *processRow) (int64, bool) { return when(r.Start) }),
	some("end_ts", func(r *processRow) (int64, bool) { return when(r.End) }),
	some("parent_pid", func(r *processRow) (int64, bool) {
		if r.Parent < 0 {
			return 0, false
		}
		return r.threads.ID(r.threads.Processes[r.Parent].PID), true
	}),
	word("cmdline", func(r *processRow) string { return r.Cmdline }),
}

func readProcesses(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*processRow], error) {
	t, _, err := tasks(f, in, sched.Keep{}, keep)
	row := &processRow{threads: t}
	return each(slices.All(t.Processes), row, func(number int, one threads.Process) { row.number, row.Process = number, one }), err
}
