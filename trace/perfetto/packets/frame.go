package packets

import "google.golang.org/protobuf/encoding/protowire"

// The fields of TracePacket (trace_packet.proto).
const (
	FieldFtrace         = 1
	FieldProcessTree    = 2
	FieldClockSnapshot  = 6
	fieldTimestamp      = 8
	fieldSequence       = 10
	fieldInterned       = 12
	fieldSequenceFlags  = 13
	FieldProcessStats   = 9
	FieldBattery        = 38
	FieldSystemInfo     = 45
	FieldTrackEvent     = 11
	FieldTrack          = 60
	FieldServiceEvent   = 69
	FieldDisplayState   = 70
	FieldFrames         = 76
	FieldPowerRails     = 40
	fieldStateCleared   = 41
	fieldPacketsDropped = 42
	fieldZlib           = 50
	FieldGraphicsFrame  = 57
	fieldClockID        = 58
	fieldDefaults       = 59
	FieldConsumers      = 77
	FieldProperties     = 86
	FieldResidency      = 91
	fieldMachine        = 98
	fieldRemoteClocks   = 107
	FieldTaskState      = 117
	FieldCPUFrequency   = 118
	FieldUIDTimes       = 119
	FieldGenericRename  = 120
	FieldGenericTree    = 122
	FieldGPUFrequency   = 129
	fieldZstd           = 133
)

// The bits of sequence_flags.
const (
	flagStateCleared = 1
	flagNeedsState   = 2
)

// Packet is a packet of the trace.
type Packet struct {
	Kind    protowire.Number // of what it holds: a field of TracePacket, 0 where not known
	Data    []byte           // what it holds
	At      Stamp            // its time, or where it has none that of the one before
	Machine uint32           // 0 for the device that was traced
	Seq     *Sequence

	timestamp  uint64
	clockID    uint32 // 0 where not told
	sequence   uint32
	timed      bool // it bears a timestamp
	cleared    bool // the sequence starts anew
	dropped    bool // packets of the sequence are missing before it
	needsState bool
	defaults   []byte
	interned   []byte
}

// packetOf reads the frame of a packet, as far as it is whole.
func packetOf(message []byte) (Packet, bool) {
	var p Packet
	f := FieldsOf(message)
	for f.Next() {
		switch f.Number {
		case fieldTimestamp:
			p.timestamp, p.timed = f.Value, true
		case fieldClockID:
			p.clockID = uint32(f.Value)
		case fieldSequence:
			p.sequence = uint32(f.Value)
		case fieldMachine:
			p.Machine = uint32(f.Value)
		case fieldSequenceFlags:
			p.cleared = p.cleared || f.Value&flagStateCleared != 0
			p.needsState = f.Value&flagNeedsState != 0
		case fieldStateCleared:
			p.cleared = p.cleared || f.Value != 0
		case fieldPacketsDropped:
			p.dropped = f.Value != 0
		case fieldDefaults:
			p.defaults = f.Bytes
		case fieldInterned:
			p.interned = f.Bytes
		default:
			if kindName(f.Number) != "" {
				p.Kind, p.Data = f.Number, f.Bytes
			}
		}
	}
	return p, !f.Broken
}
