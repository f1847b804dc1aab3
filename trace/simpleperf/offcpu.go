package simpleperf

import (
	"strings"
	"time"
)

// With record --trace-offcpu there are two events: a clock, whose samples are of the time that a
// thread ran, and sched:sched_switch, of which each sample is taken as a thread leaves its CPU. How
// long it was away is not in the file: until the record of its return, or where that was lost its
// next sample (simpleperf's doc/executable_commands_reference.md, and report_lib.cpp).

const (
	recordSwitch  = 14
	miscSwitchOut = 1 << 13
	switchEvent   = "sched:sched_switch"
)

// OffCPU reports whether the recording has the time for which threads did not run.
func (p *Profile) OffCPU() bool { return p.Meta["trace_offcpu"] == "true" }

// away are the threads that are not on a CPU.
type away struct {
	since map[uint32]int // places of their samples in Profile.Samples, by thread
	last  time.Duration  // the time of the newest record
}

// leaves notes that the thread of a sample, which comes next in Profile.Samples, leaves its CPU.
func (d *decoder) leaves(tid uint32, s *Sample) {
	name, _, _ := strings.Cut(d.p.Events[s.Event].Name, ":u")
	if s.OffCPU = d.p.OffCPU() && name == switchEvent; s.OffCPU {
		s.Period = 0
		d.away.since[tid] = len(d.p.Samples)
	}
}

// returns ends the time for which a thread was away.
func (d *decoder) returns(tid uint32, at time.Duration) {
	d.away.last = max(d.away.last, at)
	if i, known := d.away.since[tid]; known {
		d.p.Samples[i].Period = uint64(max(at-d.p.Samples[i].Time, 0))
		delete(d.away.since, tid)
	}
}

// switched reads the record of a thread that leaves a CPU or returns to one: its fields are those
// that end each record (sample_id_all).
func (d *decoder) switched(r record, c *cursor) {
	if a := d.attrs[0]; r.misc&miscSwitchOut != 0 || !a.idOnAll || a.sampleType&sampleTID == 0 || a.sampleType&sampleTime == 0 {
		return
	}
	c.skip(4) // the process
	if tid, at := c.u32(), time.Duration(min(c.u64(), 1<<62)); !c.short {
		d.returns(tid, at)
	}
}

// addAway ends the times of threads that were away until the recording ended.
func (d *decoder) addAway() {
	for tid := range d.away.since {
		d.returns(tid, d.away.last)
	}
}
