package pftrace

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// device is the kernel's number of the user data partition (254:48), and firstSector the first
// sector of requests on it.
const (
	device      = 254<<20 | 48
	firstSector = 61_440_000
	sectorBytes = 512
	inode       = 84_213
)

// sleeps adds the kernel's events for threads that waited for storage: each request, its
// completion by the device, and, once the thread is woken, where it slept and whether for
// storage (sched_blocked_reason, which the kernel writes after sched_waking).
func (k *kernel) sleeps(t *timeline.Timeline) {
	for i, one := range t.Sleeps {
		before, ok := k.running(one.TID, one.From)
		after, woken := k.next(one.TID, one.Woken)
		if !ok || !woken {
			continue
		}
		if r := one.Asks; r != nil {
			k.request(before, after, one, r, firstSector+uint64(i)*1024)
		}
		if k.asked.Events["sched_blocked_reason"] {
			k.add(event{at: one.Woken, cpu: after.CPU, rank: reasons, pid: k.on(after.CPU, one.Woken), kind: eventReason,
				body: number(number(number(nil, 1, uint64(one.TID)), 2, k.symbol(one.Function)), 3, 1)})
		}
	}
}

// request adds the requests to a block device, at each recorded level: by the thread that is
// about to sleep; and their completion, in an interrupt.
func (k *kernel) request(before, after timeline.Run, by timeline.Sleep, r *timeline.Request, sector uint64) {
	about := func() []byte { return number(number(number(nil, 1, device), 2, sector), 3, uint64(r.Sectors)) }
	name, kind := []byte(k.name(by.TID, before.CPU)), []byte(r.Kind)
	tells := func(asked string, e event) {
		if k.asked.Events[asked] {
			k.add(e)
		}
	}
	asks := func(rank int8, field protowire.Number, body []byte) event {
		return event{at: by.From, cpu: before.CPU, rank: rank, pid: by.TID, kind: field, body: body}
	}
	ends := func(field protowire.Number, body []byte) event {
		return event{at: r.Done, cpu: after.CPU, rank: completes, pid: k.on(after.CPU, r.Done), kind: field, body: body}
	}
	if r.Syncs {
		const regular = 0o100600
		body := number(number(number(nil, 1, device), 2, inode), 4, regular)
		tells("f2fs_sync_file_enter", asks(beginsBefore, eventSyncEnter, number(body, 5, uint64(r.Sectors)*sectorBytes)))
		tells("f2fs_sync_file_exit", event{at: after.From, cpu: after.CPU, rank: receives, pid: by.TID, kind: eventSyncExit, body: number(number(nil, 1, device), 2, inode)})
	}
	tells("block_bio_queue", asks(sends, eventBioQueue, message(message(about(), 4, kind), 5, name)))
	tells("block_rq_issue", asks(sends, eventRequestIssue, message(message(number(about(), 4, uint64(r.Sectors)*sectorBytes), 5, kind), 6, name)))
	tells("block_rq_complete", ends(eventRequestComplete, message(number(about(), 4, 0), 5, kind)))
	tells("block_bio_complete", ends(eventBioComplete, message(number(about(), 4, 0), 5, kind)))
}

// symbol returns the number of a kernel function in the trace: traced_probes numbers the
// addresses in order of appearance (CpuReader's KernelAddr), from 1.
func (k *kernel) symbol(function string) uint64 {
	i := slices.Index(k.symbols, function)
	if i < 0 {
		i, k.symbols = len(k.symbols), append(k.symbols, function)
	}
	return uint64(i) + 1
}

// interned encodes the names of those functions, which only a debug build reveals:
// /proc/kallsyms is not readable on others.
func (k *kernel) interned() []byte {
	if !k.asked.Symbols {
		return nil
	}
	var data []byte
	for i, name := range k.symbols {
		data = message(data, internedSymbols, message(number(nil, 1, uint64(i)+1), 2, []byte(name)))
	}
	return data
}
