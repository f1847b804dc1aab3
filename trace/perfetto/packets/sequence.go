package packets

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

type sequenceKey struct{ machine, sequence uint32 }

// Sequence is the state of one writer's packets.
type Sequence struct {
	ID uint32
	// Generation changes each time that the state is cleared.
	Generation int
	// Defaults are the defaults for packets of this generation (TracePacketDefaults), nil if there
	// are none.
	Defaults []byte

	key     sequenceKey
	clockID uint32 // for packets that do not state one
	known   bool   // a packet was seen
	valid   bool   // no packet is missing since the state began
	entries map[internedKey][]byte
	held    int // bytes of entries and defaults
}

type internedKey struct {
	kind protowire.Number
	id   uint64
}

// Valid reports whether no packet is missing since the sequence's state began.
func (s *Sequence) Valid() bool { return s.valid }

// Interned returns an entry of interned data by its field in InternedData and its number; nil if
// this generation has none.
func (s *Sequence) Interned(kind protowire.Number, id uint64) []byte {
	return s.entries[internedKey{kind, id}]
}

// sequence returns the state of a packet's sequence, updated for the packet.
func (f *File) sequence(p Packet) *Sequence {
	seq := f.find(sequenceKey{p.Machine, p.sequence})
	if p.dropped {
		seq.valid = false
		if seq.known { // the first packet always has a gap
			f.Lost++
		}
	}
	if p.cleared {
		seq.valid, seq.clockID, seq.Defaults = true, 0, nil
		f.held -= seq.held
		seq.entries, seq.held = nil, 0
		seq.Generation++
	}
	seq.known = true
	if p.interned != nil && len(f.interned) > 0 && seq.valid {
		f.intern(seq, p.interned)
	}
	if p.defaults == nil {
		return seq
	}
	seq.clockID = messages.DefaultsOf(p.defaults).TimestampClockID
	if len(f.wanted[field.PacketTrackEvent]) > 0 {
		f.keepDefaults(seq, p.defaults)
	}
	return seq
}

// keepDefaults stores a TracePacketDefaults, which is read for each event of its sequence.
func (f *File) keepDefaults(seq *Sequence, defaults []byte) {
	f.held -= len(seq.Defaults)
	seq.held -= len(seq.Defaults)
	seq.Defaults = nil
	if len(defaults) > maxDefaults || f.held+len(defaults) > maxInterned {
		f.TooMany["defaults of packets"]++
		return
	}
	seq.Defaults = append([]byte(nil), defaults...)
	f.held += len(defaults)
	seq.held += len(defaults)
}

// find finds or adds a sequence. One that there is no room for is not remembered.
func (f *File) find(key sequenceKey) *Sequence {
	if f.last != nil && f.last.key == key {
		return f.last
	}
	seq, ok := f.sequences[key]
	if !ok {
		seq = &Sequence{ID: key.sequence, key: key}
		if f.Room("sequences", len(f.sequences), maxSequences) {
			f.sequences[key] = seq
		} else {
			return seq
		}
	}
	f.last = seq
	return seq
}

// intern keeps the entries of InternedData that a reader asks for. Each has its number
// in its first field (interned_data.proto).
func (f *File) intern(seq *Sequence, message []byte) {
	for g := messages.FieldsOf(message); g.Next(); {
		if g.Bytes == nil || !f.interned[g.Number] {
			continue
		}
		f.enter(seq, internedKey{g.Number, messages.InternedStringOf(g.Bytes).IID}, g.Bytes)
	}
}

// enter stores one entry.
func (f *File) enter(seq *Sequence, key internedKey, entry []byte) {
	const each = 64 // overhead of a map entry
	if f.held+len(entry)+each > maxInterned {
		f.TooMany["interned data"]++
		return
	}
	if seq.entries == nil {
		seq.entries = map[internedKey][]byte{}
	}
	if old, again := seq.entries[key]; again {
		f.held -= len(old) + each
		seq.held -= len(old) + each
	}
	seq.entries[key] = append([]byte(nil), entry...)
	f.held += len(entry) + each
	seq.held += len(entry) + each
}
