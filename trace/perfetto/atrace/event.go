package atrace

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Events are all of them.
var Events = []protowire.Number{packets.EventPrint, packets.EventZero, packets.EventSDE, packets.EventDPU, packets.EventG2D, packets.EventMali}

// fields are where a driver's event has what it says: the field's number, 0 for none.
type fields struct{ pid, name, phase, value, begin protowire.Number }

var drivers = map[protowire.Number]fields{
	packets.EventSDE:  {pid: 1, name: 2, phase: 3, value: 4, begin: 5},
	packets.EventDPU:  {pid: 1, name: 4, phase: 5, value: 6},
	packets.EventG2D:  {pid: 1, name: 4, phase: 5, value: 6},
	packets.EventMali: {pid: 2, name: 1, phase: 3, value: 4},
	packets.EventZero: {pid: 3, name: 2, phase: 1, value: 4},
}

// Of is what an event of the kernel says; false for one that is of no such kind.
func Of(e *packets.Event) (Point, bool) {
	if e.Kind == packets.EventPrint {
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
	if e.Kind == packets.EventDPU && p.Phase != 'C' {
		p.PID = 0 // some drivers name a process that the thread is not of
	}
	return p, p.Phase != 0
}

// phaseOf is the letter that a driver's event means, 0 for none. Vendors' kernels have
// bits, a letter, or whether a slice begins.
func phaseOf(kind protowire.Number, phase uint64, begin, told bool) byte {
	switch {
	case !told:
	case kind == packets.EventZero:
		for i, letter := range []byte("BEC") {
			if phase&(1<<i) != 0 {
				return letter
			}
		}
	case phase == 'B', phase == 'E', phase == 'C', phase == 'I':
		return byte(phase)
	case phase == 0 && kind == packets.EventSDE && begin:
		return 'B'
	case phase == 0 && kind == packets.EventSDE:
		return 'E'
	}
	return 0
}
