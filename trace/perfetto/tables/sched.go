package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// tasks reads threads, processes and the scheduler's events of them.
func tasks(f *packets.File, in packets.Source, keep sched.Keep, to *lists) (*threads.Tracker, *sched.Reader, error) {
	tracker := threads.New(f)
	r := sched.New(f, tracker, keep)
	spilling(to, &r.Turns)
	spilling(to, &r.States)
	readers := []packets.Reader{tracker, trackevent.New(f, tracker), r}
	if keep == (sched.Keep{}) { // all threads and processes are asked for
		readers = append(readers, threads.NewMentions(tracker))
	}
	err := in(f, readers...)
	if r.Disordered > 0 {
		f.Warnings.Counted(0, r.Disordered,
			"%d state of a task can't follow the state before it: it is left out",
			"%d states of tasks can't follow the state before them: they are left out")
	}
	return tracker, r, err
}

// turnRow is a thread's turn on a CPU.
type turnRow struct {
	*sched.Turn
	threads *threads.Tracker
	sched   *sched.Reader
}

// schedColumns are the columns of sched. tid is that of the row of thread that utid refers to.
var schedColumns = []column[*turnRow]{
	always("ts", func(r *turnRow) int64 { return int64(r.At) }),
	always("dur", func(r *turnRow) int64 { return open(r.For) }),
	always("cpu", func(r *turnRow) int64 { return int64(r.CPU) }),
	always("tid", func(r *turnRow) int64 { return r.threads.ID(r.threads.Threads[r.Thread].TID) }),
	word("end_state", func(r *turnRow) string { return r.sched.Names[r.End] }),
	always("priority", func(r *turnRow) int64 { return int64(r.Priority) }),
	always("utid", func(r *turnRow) int64 { return int64(r.Thread) }),
}

func readSched(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*turnRow], error) {
	t, r, err := tasks(f, in, sched.Keep{Turns: true}, keep)
	row := &turnRow{threads: t, sched: r}
	return each(r.Turns.All(), row, func(_ int, one *sched.Turn) { row.Turn = one }), err
}

// stateRow is a period of a thread in one state.
type stateRow struct {
	*sched.State
	threads *threads.Tracker
	sched   *sched.Reader
}

// stateColumns are the columns of thread_state. tid and waker_tid are those of rows of thread.
var stateColumns = []column[*stateRow]{
	always("ts", func(r *stateRow) int64 { return int64(r.At) }),
	always("dur", func(r *stateRow) int64 { return open(r.For) }),
	always("tid", func(r *stateRow) int64 { return r.threads.ID(r.threads.Threads[r.Thread].TID) }),
	word("state", func(r *stateRow) string { return r.sched.Names[r.Name] }),
	some("cpu", func(r *stateRow) (int64, bool) { return known(r.CPU) }),
	some("waker_tid", func(r *stateRow) (int64, bool) {
		if r.Waker < 0 {
			return 0, false
		}
		return r.threads.ID(r.threads.Threads[r.Waker].TID), true
	}),
	some("io_wait", func(r *stateRow) (int64, bool) { return known(r.IOWait) }),
	word("blocked_function", func(r *stateRow) string { return r.sched.Functions[r.Blocked] }),
	some("irq_context", func(r *stateRow) (int64, bool) { return known(r.IRQ) }),
	always("utid", func(r *stateRow) int64 { return int64(r.Thread) }),
}

func readStates(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*stateRow], error) {
	t, r, err := tasks(f, in, sched.Keep{States: true}, keep)
	row := &stateRow{threads: t, sched: r}
	return each(r.States.All(), row, func(_ int, one *sched.State) { row.State = one }), err
}
