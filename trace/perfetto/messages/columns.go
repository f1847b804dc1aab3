package messages

import "google.golang.org/protobuf/encoding/protowire"

// MaxTime keeps sums of two times within an int64, in ns; it is 73 years.
const MaxTime = 1 << 61

// Switches are the turns that begin.
func (c *CompactSched) Switches() Rows {
	return Rows{times: c.SwitchTimestamp, tids: c.SwitchNextPID, prios: c.SwitchNextPrio, comms: c.SwitchNextCommIndex, last: c.SwitchPrevState}
}

// Wakings are the threads that are woken.
func (c *CompactSched) Wakings() Rows {
	return Rows{times: c.WakingTimestamp, tids: c.WakingPID, prios: c.WakingPrio, comms: c.WakingCommIndex, last: c.WakingCommonFlags}
}

// Rows goes through switches or wakings. A time beyond MaxTime ends them.
type Rows struct {
	NS   uint64 // of the bundle's clock
	TID  int32
	Prio int32
	Name uint64 // its index in CompactSched.InternTable, if there is one
	Last uint64 // the state of the thread before, or the flags of the waking

	times, tids, prios, comms, last []byte
}

// Next goes to the next row, and reports whether there is one.
func (r *Rows) Next() bool {
	if len(r.times) == 0 || len(r.tids) == 0 {
		return false
	}
	delta, n := protowire.ConsumeVarint(r.times)
	tid, m := protowire.ConsumeVarint(r.tids)
	if n < 0 || m < 0 {
		return false
	}
	r.times, r.tids = r.times[n:], r.tids[m:]
	r.NS += min(delta, MaxTime)
	r.TID, r.Prio, r.Last, r.Name = int32(tid), int32(shift(&r.prios)), shift(&r.last), noName
	if len(r.comms) > 0 {
		r.Name = shift(&r.comms)
	}
	return true
}

// noName is the index of no name.
const noName = 1 << 63

// shift removes the first value of a column; it returns 0 if the column is too short.
func shift(column *[]byte) uint64 {
	c := *column
	if len(c) > 0 && c[0] < 0x80 {
		*column = c[1:]
		return uint64(c[0])
	}
	v, n := protowire.ConsumeVarint(c)
	if n < 0 {
		return 0
	}
	*column = c[n:]
	return v
}
