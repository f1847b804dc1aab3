package power

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// schedSwitch reads a SchedSwitchFtraceEvent.
func (b *bundle) schedSwitch(message []byte, ns int64) {
	var next int32
	var comm []byte
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.SchedSwitchNextComm:
			comm = f.Bytes
		case field.SchedSwitchNextPID:
			next = int32(f.Value)
		}
	}
	b.switched(ns, next, comm)
}

// compact reads a CompactSched: switches as columns, times as differences.
func (b *bundle) compact(message []byte) {
	var names [][]byte
	var times, pids, comms []byte
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.CompactSchedSwitchTimestamp:
			times = f.Bytes
		case field.CompactSchedSwitchNextPID:
			pids = f.Bytes
		case field.CompactSchedInternTable:
			if len(names) < packets.MaxList {
				names = append(names, f.Bytes)
			}
		case field.CompactSchedSwitchNextCommIndex:
			comms = f.Bytes
		}
	}
	var ns uint64
	for len(times) > 0 {
		delta, n := protowire.ConsumeVarint(times)
		pid, m := protowire.ConsumeVarint(pids)
		place, o := protowire.ConsumeVarint(comms)
		if n < 0 || m < 0 {
			return
		}
		times, pids, comms = times[n:], pids[m:], comms[max(o, 0):]
		b.events++
		if ns += min(delta, packets.MaxTime); !b.saw(ns) {
			return
		}
		var comm []byte
		if o > 0 && place < uint64(len(names)) {
			comm = names[place]
		}
		b.switched(int64(ns), int32(pid), comm)
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
	if next != 0 {
		if r := b.thread(b.d, next); r != nil {
			r.call(ns, comm)
		}
	}
}

// plus adds times up, to what a duration can hold.
func plus(a, b time.Duration) time.Duration { return a + min(b, math.MaxInt64-a) }

// thread finds or adds a thread that ran; nil where there are too many.
func (k *kernel) thread(d *decoder, tid int32) *ran {
	r := k.ran[tid]
	if r == nil && d.Room("threads", len(k.ran), maxThreads) {
		r = &ran{}
		k.ran[tid] = r
	}
	return r
}
