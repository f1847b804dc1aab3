package slices

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// blockIO reads a BlockIoStartFtraceEvent, or a BlockIoDoneFtraceEvent (block.proto). As in
// Perfetto's trace processor, concurrent requests of a device are nested by their beginnings;
// package blockio separates them.
func (r *Reader) blockIO(e *packets.Event) {
	// Both have the device in the same field.
	t := Track{Type: "block_io", Thread: None, Process: None, Number: messages.BlockIOStartOf(e.Data).Dev}
	if e.Kind == field.EventBlockIOStart {
		r.begin(e.At, -1, r.track(t), "", "block_io")
	} else {
		r.end(e.At, r.track(t), "block_io")
	}
}
