package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/binder"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// binderColumns are those of android_binder_txns. binder_txn_id and binder_reply_id are the ids of
// its slices in the table of slices.
var binderColumns = []string{
	"aidl_name", "interface", "method_name", "binder_txn_id", "client_process", "client_pid", "client_thread", "client_tid", "client_ts", "client_dur",
	"binder_reply_id", "server_process", "server_pid", "server_thread", "server_tid", "server_ts", "server_dur", "is_sync", "is_main_thread",
	"client_oom_score", "server_oom_score",
}

func readBinder(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t := threads.New(f)
	r := binder.New(f, t)
	spilling(keep, &r.Slices)
	spilling(keep, &r.Flows)
	spilling(keep, &r.Interfaces)
	spilling(keep, &r.Memory.Values)
	// The scheduler tells the names of threads.
	if err := in(f, t, sched.New(f, t, sched.Keep{}), r); err != nil {
		return nil, err
	}
	all := r.Transactions()
	return func(yield func([]any) bool) {
		row := make([]any, len(binderColumns))
		for one := range all {
			named, method := one.Parts()
			row[0], row[1], row[2] = text(one.Interface), text(named), text(method)
			binderEnd(row[3:10], &one.Client, t)
			binderEnd(row[10:17], &one.Server, t)
			row[17], row[18] = flag(one.Waits), flag(t.Threads[one.Client.Thread].Main)
			row[19], row[20] = score(one.Client.OOMScore), score(one.Server.OOMScore)
			if !yield(row) {
				return
			}
		}
	}, nil
}

// binderEnd fills the seven cells of one end of a transaction.
func binderEnd(row []any, e *binder.End, t *threads.Tracker) {
	thread := &t.Threads[e.Thread]
	process := &t.Processes[thread.Process]
	row[0], row[1], row[2] = int64(e.Slice), text(process.Name), t.ID(process.PID)
	row[3], row[4], row[5], row[6] = text(thread.Name), t.ID(thread.TID), int64(e.At), int64(e.For)
}

func score(v *int64) any {
	if v == nil {
		return nil
	}
	return *v
}
