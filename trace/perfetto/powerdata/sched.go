package powerdata

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// compact reads the switches of a CompactSched.
func (b *bundle) compact(message []byte) {
	columns := messages.CompactSchedOf(message)
	var names [][]byte
	for name := range columns.InternTable.Each {
		if len(names) == packets.MaxList {
			break
		}
		names = append(names, name)
	}
	for r := columns.Switches(); r.Next(); {
		b.events++
		if !b.saw(r.NS) {
			return
		}
		var name []byte
		if r.Name < uint64(len(names)) {
			name = names[r.Name]
		}
		b.switched(int64(r.NS), r.TID, name)
	}
}

// switched ends the turn of the thread that ran on the CPU and begins another's.
func (b *bundle) switched(ns int64, next int32, comm []byte) {
	b.switches++
	c := &b.cpus[b.number]
	if c.running && c.tid != 0 && ns > c.since {
		if r := b.ran[c.tid]; r != nil {
			r.cpu = plus(r.cpu, time.Duration(ns-c.since))
			b.begins.took(turn{c.tid, c.since, ns})
		}
	}
	c.running, c.tid, c.since = true, next, ns
	b.named(next, ns, comm)
}

// named records the name that a thread has from a time on. CPUs are recorded separately, so an
// older name may come later.
func (b *bundle) named(tid int32, ns int64, name []byte) {
	if tid == 0 {
		return
	}
	r := b.thread(b.d, tid)
	if r == nil || len(name) == 0 || ns < r.named {
		return
	}
	r.named = ns
	if r.comm != string(name) {
		r.comm = packets.Name(name)
	}
}

// called returns a thread's last name, "" if there were too many threads to keep it.
func (r *ran) called() string {
	if r == nil {
		return ""
	}
	return r.comm
}

// plus adds times, up to the range of a duration.
func plus(a, b time.Duration) time.Duration { return a + min(b, math.MaxInt64-a) }

// thread finds or adds a thread that ran; nil if there are too many.
func (k *kernel) thread(d *decoder, tid int32) *ran {
	r := k.ran[tid]
	if r == nil && d.Room("threads", len(k.ran), maxThreads) {
		r = &ran{}
		k.ran[tid] = r
	}
	return r
}
