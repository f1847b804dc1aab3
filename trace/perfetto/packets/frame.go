package packets

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// The bits of sequence_flags.
const (
	flagStateCleared = 1
	flagNeedsState   = 2
)

// Packet is a packet of the trace.
type Packet struct {
	Kind    protowire.Number // of its content: a field of TracePacket, 0 if unknown
	Data    []byte           // its content
	At      Stamp            // its time, or that of the packet before if it has none
	Machine uint32           // 0 for the traced device
	Seq     *Sequence

	timestamp  uint64
	clockID    uint32 // 0 if not stated
	sequence   uint32
	timed      bool // it has a timestamp
	cleared    bool // the sequence's state is cleared
	dropped    bool // packets of the sequence are missing before it
	needsState bool
	defaults   []byte
	interned   []byte
}

// AfterGap reports whether packets of the sequence are missing before it. The first one of a
// sequence may be marked so too.
func (p Packet) AfterGap() bool { return p.dropped }

// packetOf reads the frame of a packet, as far as it is complete. It is written by hand, since it
// finds which of the many fields for a packet's content is present.
func packetOf(message []byte) (Packet, bool) {
	var p Packet
	f := messages.FieldsOf(message)
	for f.Next() {
		switch f.Number {
		case field.PacketTimestamp:
			p.timestamp, p.timed = f.Value, true
		case field.PacketTimestampClockID:
			p.clockID = uint32(f.Value)
		case field.PacketTrustedPacketSequenceID:
			p.sequence = uint32(f.Value)
		case field.PacketMachineID:
			p.Machine = uint32(f.Value)
		case field.PacketSequenceFlags:
			p.cleared = p.cleared || f.Value&flagStateCleared != 0
			p.needsState = f.Value&flagNeedsState != 0
		case field.PacketIncrementalStateCleared:
			p.cleared = p.cleared || f.Value != 0
		case field.PacketPreviousPacketDropped:
			p.dropped = f.Value != 0
		case field.PacketTracePacketDefaults:
			p.defaults = f.Bytes
		case field.PacketInternedData:
			p.interned = f.Bytes
		default:
			if kindName(f.Number) != "" {
				p.Kind, p.Data = f.Number, f.Bytes
			}
		}
	}
	return p, !f.Broken
}
