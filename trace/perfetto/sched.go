package perfetto

import (
	"bytes"
	"cmp"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// schedSwitch reads a SchedSwitchFtraceEvent.
func (b *bundle) schedSwitch(message []byte, ns int64) {
	var next int32
	var comm []byte
	for f := fieldsOf(message); f.next(); {
		switch f.number {
		case 5:
			comm = f.bytes
		case 6:
			next = int32(f.value)
		}
	}
	b.switched(ns, next, comm)
}

// compact reads a CompactSched: switches as columns, times as differences.
func (b *bundle) compact(message []byte) {
	var names [][]byte
	var times, pids, comms []byte
	for f := fieldsOf(message); f.next(); {
		switch f.number {
		case 1:
			times = f.bytes
		case 3:
			pids = f.bytes
		case 5:
			if len(names) < maxList {
				names = append(names, f.bytes)
			}
		case 6:
			comms = f.bytes
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
		if ns += min(delta, maxTime); !b.saw(ns) {
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
	c := &b.cpus[b.number]
	if c.running && c.tid != 0 && ns > c.since {
		if t := b.threads[c.tid]; t != nil {
			t.CPU += time.Duration(ns - c.since)
		}
	}
	c.running, c.tid, c.since = true, next, ns
	if next != 0 {
		if t := b.thread(b.d, next); t != nil && t.Name == "" {
			t.Name = name(comm)
		}
	}
}

// thread finds or adds a thread; nil where there are too many.
func (k *kernel) thread(d *decoder, tid int32) *Thread {
	t := k.threads[tid]
	if t == nil && d.room("threads", len(k.threads), maxThreads) {
		t = &Thread{TID: int(tid)}
		k.threads[tid] = t
	}
	return t
}

// tree reads a ProcessTree (process_tree.proto).
func (k *kernel) tree(d *decoder, message []byte) {
	for f := fieldsOf(message); f.next(); {
		switch f.number {
		case 1:
			k.process(d, f.bytes)
		case 2:
			var tid, pid int32
			var comm string
			for g := fieldsOf(f.bytes); g.next(); {
				switch g.number {
				case 1:
					tid = int32(g.value)
				case 2:
					comm = g.text()
				case 3:
					pid = int32(g.value)
				}
			}
			if t := k.thread(d, tid); t != nil {
				t.PID, t.Name = int(pid), cmp.Or(comm, t.Name)
			}
		}
	}
}

func (k *kernel) process(d *decoder, message []byte) {
	p := &Process{UID: -1}
	for f := fieldsOf(message); f.next(); {
		switch f.number {
		case 1:
			p.PID = int(int32(f.value))
		case 3:
			if p.Name == "" {
				first, _, _ := bytes.Cut(f.bytes, []byte{0})
				p.Name = name(first)
			}
		case 5:
			p.UID = int(int32(f.value))
		}
	}
	if k.processes[int32(p.PID)] != nil || d.room("processes", len(k.processes), maxThreads) {
		k.processes[int32(p.PID)] = p
	}
	if t := k.thread(d, int32(p.PID)); t != nil {
		t.PID, t.Name = p.PID, cmp.Or(p.Name, t.Name)
	}
}
