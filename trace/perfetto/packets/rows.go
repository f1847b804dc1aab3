package packets

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// Raw is an FtraceEvent as it stands in its bundle. Its bytes are the bundle's.
type Raw struct {
	NS   uint64           // of the bundle's clock
	TID  int32            // who ran, -1 where not told
	Kind protowire.Number // a field of FtraceEvent, 0 for none
	Data []byte           // what stands in that field
}

// RawOf reads an FtraceEvent. Nearly all begin with the time and who ran, which are read
// without more ado: a trace has millions of them.
func RawOf(message []byte) Raw {
	e := Raw{TID: -1}
	if v, n := leading(message, field.EventTimestamp); n > 0 {
		e.NS, message = v, message[n:]
		if v, n := leading(message, field.EventPID); n > 0 {
			e.TID, message = int32(v), message[n:]
		}
	}
	for f := FieldsOf(message); f.Next(); {
		switch {
		case f.Bytes != nil:
			e.Kind, e.Data = f.Number, f.Bytes
		case f.Number == field.EventTimestamp:
			e.NS = f.Value
		case f.Number == field.EventPID:
			e.TID = int32(f.Value)
		}
	}
	return e
}

// leading is the number that a message begins with, where it is of a field, and its size;
// else that is 0.
func leading(message []byte, number protowire.Number) (uint64, int) {
	if len(message) == 0 || message[0] != byte(number<<3)|byte(protowire.VarintType) {
		return 0, 0
	}
	v, n := protowire.ConsumeVarint(message[1:])
	if n < 0 {
		return 0, 0
	}
	return v, 1 + n
}

// Columns are a CompactSched: switches and wakings as columns, times as differences.
type Columns struct {
	// Names are of threads, by their place.
	Names [][]byte

	columns [field.CompactSchedWakingCommonFlags + 1][]byte
}

// ColumnsOf reads a CompactSched. Its bytes are the message's.
func ColumnsOf(message []byte) Columns {
	var c Columns
	for f := FieldsOf(message); f.Next(); {
		switch {
		case f.Number == field.CompactSchedInternTable && len(c.Names) < MaxList:
			c.Names = append(c.Names, f.Bytes)
		case int(f.Number) < len(c.columns) && f.Bytes != nil:
			c.columns[f.Number] = f.Bytes
		}
	}
	return c
}

// Switches are the turns that begin.
func (c *Columns) Switches() Rows {
	return Rows{
		times: c.columns[field.CompactSchedSwitchTimestamp], tids: c.columns[field.CompactSchedSwitchNextPID],
		prios: c.columns[field.CompactSchedSwitchNextPrio], comms: c.columns[field.CompactSchedSwitchNextCommIndex],
		last: c.columns[field.CompactSchedSwitchPrevState],
	}
}

// Wakings are the threads that are woken.
func (c *Columns) Wakings() Rows {
	return Rows{
		times: c.columns[field.CompactSchedWakingTimestamp], tids: c.columns[field.CompactSchedWakingPID],
		prios: c.columns[field.CompactSchedWakingPrio], comms: c.columns[field.CompactSchedWakingCommIndex],
		last: c.columns[field.CompactSchedWakingCommonFlags],
	}
}

// Rows goes through switches or wakings. A time beyond MaxTime ends them.
type Rows struct {
	NS   uint64 // of the bundle's clock
	TID  int32
	Prio int32
	Name uint64 // its place in Columns.Names, where there is one
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

// noName is the place of no name.
const noName = 1 << 63

// shift takes the first value of a column; 0 where it is too short.
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
