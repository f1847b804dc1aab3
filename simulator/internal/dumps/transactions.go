package dumps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// transactionsFile is where the kernel lists unanswered binder calls, for root only. Since
// Android 11 it is in binderfs.
func transactionsFile(api int) string {
	if api < 30 {
		return "/sys/kernel/debug/binder/transactions"
	}
	return "/dev/binderfs/binder_logs/transactions"
}

// RootsOwn reports whether only root may read a file of the kernel's.
func RootsOwn(a *account.Account, name string) bool { return name == transactionsFile(a.Profile.API) }

// transactions lists those calls, by the calling process (drivers/android/binder.c,
// print_binder_transaction_ilocked; with their duration since Linux 5.15).
func transactions(a *account.Account) string {
	a.Advance()
	processes := map[int32]int32{}
	for _, t := range a.Timeline.Threads {
		processes[t.TID] = t.PID
	}
	open := map[int32]timeline.Transaction{} // by the waiting thread
	for _, t := range a.Timeline.Transactions {
		switch {
		case t.Reply:
			delete(open, t.To)
		case !t.OneWay:
			open[t.From] = t
		}
	}
	var waiting []timeline.Transaction
	for _, t := range open {
		waiting = append(waiting, t)
	}
	slices.SortFunc(waiting, func(a, b timeline.Transaction) int { return int(a.ID - b.ID) })
	var b strings.Builder
	b.WriteString("binder transactions:\n")
	line := func(direction string, t timeline.Transaction, owner, thread int32) {
		elapsed := ""
		if a.Profile.API >= 33 {
			elapsed = fmt.Sprintf(" elapsed %dms", (a.Clock.Now() - t.Sent).Milliseconds())
		}
		fmt.Fprintf(&b, "proc %d\ncontext binder\n  thread %d: l 00 need_return 0 tr 0\n    %s transaction %d: 0000000000000000 from %d:%d to %d:%d code %x flags 10 pri 0:120 r1%s\n",
			owner, thread, direction, t.ID, processes[t.From], t.From, t.Process, t.To, t.Code, elapsed)
	}
	for _, t := range waiting {
		line("outgoing", t, processes[t.From], t.From)
		line("incoming", t, t.Process, t.To)
	}
	return b.String()
}
