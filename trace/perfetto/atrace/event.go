package atrace

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// The kernel's events that say what such a line does (ftrace_event.proto).
const (
	EventPrint = 3
	EventZero  = 331 // systrace.proto
	eventSDE   = 333 // sde.proto
	eventDPU   = 348 // dpu.proto
	eventG2D   = 349 // g2d.proto
	eventMali  = 350 // mali.proto
)

// Events are all of them.
var Events = []protowire.Number{EventPrint, EventZero, eventSDE, eventDPU, eventG2D, eventMali}

// fields are where a driver's event has what it says: the field's number, 0 for none.
type fields struct{ pid, name, phase, value, begin protowire.Number }

var drivers = map[protowire.Number]fields{
	eventSDE:  {pid: 1, name: 2, phase: 3, value: 4, begin: 5},
	eventDPU:  {pid: 1, name: 4, phase: 5, value: 6},
	eventG2D:  {pid: 1, name: 4, phase: 5, value: 6},
	eventMali: {pid: 2, name: 1, phase: 3, value: 4},
	EventZero: {pid: 3, name: 2, phase: 1, value: 4},
}

// Of is what an event of the kernel says; false for one that is of no such kind.
func Of(e *packets.Event) (Point, bool) {
	if e.Kind == EventPrint {
		for f := packets.FieldsOf(e.Data); f.Next(); {
			if f.Number == 2 {
				return Parse(f.Bytes)
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
			p.Name = text(f.Bytes)
		case at.phase:
			phase, told = f.Value, true
		case at.value:
			p.Value = int64(f.Value)
		case at.begin:
			begin, told = f.Value != 0, true
		}
	}
	p.Phase = phaseOf(e.Kind, phase, begin, told)
	if e.Kind == eventDPU && p.Phase != 'C' {
		p.PID = 0 // some drivers name a process that the thread is not of
	}
	return p, p.Phase != 0
}

// phaseOf is the letter that a driver's event means, 0 for none. Vendors' kernels have
// bits, a letter, or whether a slice begins.
func phaseOf(kind protowire.Number, phase uint64, begin, told bool) byte {
	switch {
	case !told:
	case kind == EventZero:
		for i, letter := range []byte("BEC") {
			if phase&(1<<i) != 0 {
				return letter
			}
		}
	case phase == 'B', phase == 'E', phase == 'C', phase == 'I':
		return byte(phase)
	case phase == 0 && kind == eventSDE && begin:
		return 'B'
	case phase == 0 && kind == eventSDE:
		return 'E'
	}
	return 0
}
