package atrace

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Events returns all of them.
var Events = []protowire.Number{field.EventPrint, field.EventZero, field.EventSdeTracingMarkWrite, field.EventDpuTracingMarkWrite, field.EventG2dTracingMarkWrite, field.EventMaliTracingMarkWrite}

// reading is the content of an event, and interned names.
type reading struct {
	point Point
	ok    bool
	names map[string]string
}

// Of returns the content of an event of the kernel; false for other events. Several readers may ask
// for the same event, which is parsed once.
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

// text interns a name.
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
	var p Point
	phase, hasPhase := uint32(0), false
	switch e.Kind {
	case field.EventPrint:
		return parse(messages.PrintOf(e.Data).Buf, r.text)
	case field.EventZero:
		m := messages.ZeroOf(e.Data)
		p, phase, hasPhase = Point{PID: m.PID, Name: r.text(m.Name), Value: m.Value}, uint32(m.Flag), m.HasFlag
	case field.EventSdeTracingMarkWrite:
		m := messages.SDEOf(e.Data)
		p, phase, hasPhase = Point{PID: m.PID, Name: r.text(m.TraceName), Value: int64(m.Value)}, m.TraceType, m.HasTraceType || m.HasTraceBegin
		if phase == 0 && m.TraceBegin != 0 {
			phase = 'B'
		} else if phase == 0 {
			phase = 'E'
		}
	case field.EventDpuTracingMarkWrite:
		m := messages.DPUOf(e.Data)
		p, phase, hasPhase = Point{PID: m.PID, Name: r.text(m.Name), Value: int64(m.Value)}, m.Type, m.HasType
		if phase != 'C' {
			p.PID = 0 // some drivers name a process that the thread is not of
		}
	case field.EventG2dTracingMarkWrite:
		m := messages.G2DOf(e.Data)
		p, phase, hasPhase = Point{PID: m.PID, Name: r.text(m.Name), Value: int64(m.Value)}, m.Type, m.HasType
	case field.EventMaliTracingMarkWrite:
		m := messages.MaliOf(e.Data)
		p, phase, hasPhase = Point{PID: m.PID, Name: r.text(m.Name), Value: int64(m.Value)}, m.Type, m.HasType
	}
	if hasPhase {
		p.Phase = phaseOf(e.Kind, phase)
	}
	return p, p.Phase != 0
}

// phaseOf returns the letter of a driver's event, 0 for none. Vendors' kernels have bits or a
// letter.
func phaseOf(kind protowire.Number, phase uint32) byte {
	switch {
	case kind == field.EventZero:
		for i, letter := range []byte("BEC") {
			if phase&(1<<i) != 0 {
				return letter
			}
		}
	case phase == 'B', phase == 'E', phase == 'C', phase == 'I':
		return byte(phase)
	}
	return 0
}
