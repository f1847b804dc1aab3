package slices

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// blockIO reads a BlockIoStartFtraceEvent, or a BlockIoDoneFtraceEvent (block.proto). As in
// Perfetto's trace processor, what a device does at one time is nested by when it begins;
// package blockio tells requests apart.
func (r *Reader) blockIO(e *packets.Event) {
	t := Track{Type: "block_io", Thread: None, Process: None}
	number := field.BlockIOStartDev
	if e.Kind == field.EventBlockIODone {
		number = field.BlockIODoneDev
	}
	for f := packets.FieldsOf(e.Data); f.Next(); {
		if f.Number == number {
			t.Number = f.Value
		}
	}
	if e.Kind == field.EventBlockIOStart {
		r.begin(e.At, -1, r.track(t), "", "block_io")
	} else {
		r.end(e.At, r.track(t), "block_io")
	}
}
