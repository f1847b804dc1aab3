package tables

import (
	"iter"
	"slices"

	"github.com/apkgate/apkgate/trace/perfetto/binder"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// binderRow is a transaction.
type binderRow struct {
	*binder.Transaction
	threads *threads.Tracker
}

// binderColumns are the columns of android_binder_txns. binder_txn_id and binder_reply_id are the
// ids of its slices in the table of slices.
var binderColumns = slices.Concat(
	[]column[*binderRow]{
		word("aidl_name", func(r *binderRow) string { return r.Interface }),
		word("interface", func(r *binderRow) string { named, _ := r.Parts(); return named }),
		word("method_name", func(r *binderRow) string { _, method := r.Parts(); return method }),
	},
	binderEnd("binder_txn_id", "client", func(r *binderRow) *binder.End { return &r.Client }),
	binderEnd("binder_reply_id", "server", func(r *binderRow) *binder.End { return &r.Server }),
	[]column[*binderRow]{
		always("is_sync", func(r *binderRow) int64 { return flag(r.Waits) }),
		always("is_main_thread", func(r *binderRow) int64 { return flag(r.threads.Threads[r.Client.Thread].Main) }),
		some("client_oom_score", func(r *binderRow) (int64, bool) { return score(r.Client.OOMScore) }),
		some("server_oom_score", func(r *binderRow) (int64, bool) { return score(r.Server.OOMScore) }),
	},
)

// binderEnd are the columns of one end of a transaction, of which the process is known.
func binderEnd(id, prefix string, of func(*binderRow) *binder.End) []column[*binderRow] {
	thread := func(r *binderRow) *threads.Thread { return &r.threads.Threads[of(r).Thread] }
	process := func(r *binderRow) *threads.Process { return &r.threads.Processes[thread(r).Process] }
	return []column[*binderRow]{
		always(id, func(r *binderRow) int64 { return int64(of(r).Slice) }),
		word(prefix+"_process", func(r *binderRow) string { return process(r).Name }),
		always(prefix+"_pid", func(r *binderRow) int64 { return r.threads.ID(process(r).PID) }),
		word(prefix+"_thread", func(r *binderRow) string { return thread(r).Name }),
		always(prefix+"_tid", func(r *binderRow) int64 { return r.threads.ID(thread(r).TID) }),
		always(prefix+"_ts", func(r *binderRow) int64 { return int64(of(r).At) }),
		always(prefix+"_dur", func(r *binderRow) int64 { return int64(of(r).For) }),
	}
}

func score(v *int64) (int64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}

func readBinder(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*binderRow], error) {
	t := threads.New(f)
	r := binder.New(f, t)
	spilling(keep, &r.Slices)
	spilling(keep, &r.Flows)
	spilling(keep, &r.Interfaces)
	spilling(keep, &r.Memory.Values)
	// The scheduler's events name threads.
	if err := in(f, t, sched.New(f, t, sched.Keep{}), r); err != nil {
		return nil, err
	}
	all := r.Transactions()
	return func(yield func(*binderRow) bool) {
		row := &binderRow{threads: t}
		for row.Transaction = range all {
			if !yield(row) {
				return
			}
		}
	}, nil
}
