package atrace

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Events are all of them.
var Events = []protowire.Number{field.EventPrint, field.EventZero, field.EventSdeTracingMarkWrite, field.EventDpuTracingMarkWrite, field.EventG2dTracingMarkWrite, field.EventMaliTracingMarkWrite}

// fields are where a driver's event has what it says: the field's number, 0 for none.
type fields struct{ pid, name, phase, value, begin protowire.Number }

var drivers = map[protowire.Number]fields{
	field.EventSdeTracingMarkWrite:  {pid: field.SDEPID, name: field.SDETraceName, phase: field.SDETraceType, value: field.SDEValue, begin: field.SDETraceBegin},
	field.EventDpuTracingMarkWrite:  {pid: field.DPUPID, name: field.DPUName, phase: field.DPUType, value: field.DPUValue},
	field.EventG2dTracingMarkWrite:  {pid: field.G2DPID, name: field.G2DName, phase: field.G2DType, value: field.G2DValue},
	field.EventMaliTracingMarkWrite: {pid: field.MaliPID, name: field.MaliName, phase: field.MaliType, value: field.MaliValue},
	field.EventZero:                 {pid: field.ZeroPID, name: field.ZeroName, phase: field.ZeroFlag, value: field.ZeroValue},
}

// reading is what an event said, and names of which one copy is kept.
type reading struct {
	point Point
	ok    bool
	names map[string]string
}

// Of is what an event of the kernel says; false for one that is of no such kind. Several may
// ask for the same event, which is read once.
func Of(e *packets.Event) (Point, bool) {
	made, now := e.Reading()
	r, known := made.(*reading)
	if !known {
		r, now = &reading{names: map[string]string{}}, false
	}
	if !now {
		r.point, r.ok = r.of(e)
		e.SetReading(r)
	}
	return r.point, r.ok
}

// text is a name, of which one copy is kept.
func (r *reading) text(b []byte) string {
	const most, short = 10_000, 100 // names, and bytes of one
	b = b[:min(len(b), maxName)]
	if one, known := r.names[string(b)]; known {
		return one
	}
	one := strings.ToValidUTF8(string(b), "\uFFFD")
	if len(b) > short {
		return one
	}
	if len(r.names) >= most {
		clear(r.names)
	}
	r.names[string(b)] = one
	return one
}

func (r *reading) of(e *packets.Event) (Point, bool) {
	if e.Kind == field.EventPrint {
		for f := packets.FieldsOf(e.Data); f.Next(); {
			if f.Number == field.PrintBuf {
				return parse(f.Bytes, r.text)
			}
		}
		return Point{}, false
	}
	at, known := drivers[e.Kind]
	if !known {
		return Point{}, false
	}
	var p Point
	phase, begin, told := uint64(0), false, false
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case at.pid:
			p.PID = int32(f.Value)
		case at.name:
			p.Name = r.text(f.Bytes)
		case at.phase:
			phase, told = f.Value, true
		case at.value:
			p.Value = int64(f.Value)
		case at.begin:
			begin, told = f.Value != 0, true
		}
	}
	p.Phase = phaseOf(e.Kind, phase, begin, told)
	if e.Kind == field.EventDpuTracingMarkWrite && p.Phase != 'C' {
		p.PID = 0 // some drivers name a process that the thread is not of
	}
	return p, p.Phase != 0
}

// phaseOf is the letter that a driver's event means, 0 for none. Vendors' kernels have
// bits, a letter, or whether a slice begins.
func phaseOf(kind protowire.Number, phase uint64, begin, told bool) byte {
	switch {
	case !told:
	case kind == field.EventZero:
		for i, letter := range []byte("BEC") {
			if phase&(1<<i) != 0 {
				return letter
			}
		}
	case phase == 'B', phase == 'E', phase == 'C', phase == 'I':
		return byte(phase)
	case phase == 0 && kind == field.EventSdeTracingMarkWrite && begin:
		return 'B'
	case phase == 0 && kind == field.EventSdeTracingMarkWrite:
		return 'E'
	}
	return 0
}
