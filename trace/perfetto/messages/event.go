package messages

import "google.golang.org/protobuf/encoding/protowire"

// Event is an FtraceEvent. Its decoder is written by hand, since it finds which of hundreds of
// fields the event has: a declaration of each would be slower.
type Event struct {
	NS   uint64           // of the bundle's clock
	TID  int32            // the thread that ran, -1 if missing
	Kind protowire.Number // a field of FtraceEvent, 0 for none
	Data []byte           // the content of that field
}

// EventOf decodes an FtraceEvent.
func EventOf(message []byte) Event {
	e := Event{TID: -1}
	for len(message) > 0 {
		tag, value, data, size := next(message)
		switch {
		case data != nil:
			e.Kind, e.Data = protowire.Number(tag>>3), data
		case tag == 1<<3: // timestamp
			e.NS = value
		case tag == 2<<3: // pid
			e.TID = int32(value)
		}
		message = message[size:]
	}
	return e
}
