package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// The columns of thread, process, sched and thread_state. tid, pid, parent_pid and
// waker_tid are those of the rows that the tables refer to.
var (
	threadColumns  = []string{"utid", "tid", "name", "upid", "pid", "is_main_thread", "start_ts", "end_ts"}
	processColumns = []string{"upid", "pid", "name", "uid", "start_ts", "end_ts", "parent_pid", "cmdline"}
	schedColumns   = []string{"ts", "dur", "cpu", "tid", "end_state", "priority", "utid"}
	stateColumns   = []string{"ts", "dur", "tid", "state", "cpu", "waker_tid", "io_wait", "blocked_function", "irq_context", "utid"}
)

// tasks reads threads, processes and what the scheduler says of them.
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

func readThreads(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, _, err := tasks(f, in, sched.Keep{}, keep)
	return func(yield func([]any) bool) {
		row := make([]any, len(threadColumns))
		for i, one := range t.Threads {
			row[0], row[1], row[2] = int64(i), t.ID(one.TID), text(one.Name)
			row[3], row[4], row[5] = number(one.Process), nil, nil
			if one.Process >= 0 {
				row[4], row[5] = t.ID(t.Processes[one.Process].PID), flag(one.Main)
			}
			row[6], row[7] = optional(one.Start), optional(one.End)
			if !yield(row) {
				return
			}
		}
	}, err
}

func readProcesses(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, _, err := tasks(f, in, sched.Keep{}, keep)
	return func(yield func([]any) bool) {
		row := make([]any, len(processColumns))
		for i, one := range t.Processes {
			row[0], row[1], row[2], row[3] = int64(i), t.ID(one.PID), text(one.Name), number(one.UID)
			row[4], row[5], row[6], row[7] = optional(one.Start), optional(one.End), nil, text(one.Cmdline)
			if one.Parent >= 0 {
				row[6] = t.ID(t.Processes[one.Parent].PID)
			}
			if !yield(row) {
				return
			}
		}
	}, err
}

func readSched(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, r, err := tasks(f, in, sched.Keep{Turns: true}, keep)
	return func(yield func([]any) bool) {
		row := make([]any, len(schedColumns))
		for _, one := range r.Turns.All() {
			row[0], row[1], row[2], row[3] = int64(one.At), open(one.For), int64(one.CPU), t.ID(t.Threads[one.Thread].TID)
			row[4], row[5], row[6] = text(r.Names[one.End]), int64(one.Priority), int64(one.Thread)
			if !yield(row) {
				return
			}
		}
	}, err
}

func readStates(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, r, err := tasks(f, in, sched.Keep{States: true}, keep)
	return func(yield func([]any) bool) {
		row := make([]any, len(stateColumns))
		for _, one := range r.States.All() {
			row[0], row[1], row[2], row[3] = int64(one.At), open(one.For), t.ID(t.Threads[one.Thread].TID), text(r.Names[one.Name])
			row[4], row[5] = number(one.CPU), nil
			if one.Waker >= 0 {
				row[5] = t.ID(t.Threads[one.Waker].TID)
			}
			row[6], row[7], row[8], row[9] = number(one.IOWait), text(r.Functions[one.Blocked]), number(one.IRQ), int64(one.Thread)
			if !yield(row) {
				return
			}
		}
	}, err
}
