package artexport

import (
	"bufio"
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// Values of the fields of Perfetto's messages (track_event.proto, trace_packet.proto).
const (
	sliceBegin   = 1
	sliceEnd     = 2
	stateCleared = 1
	needsState   = 2
	sequence     = 1
	processUUID  = 1
	firstThread  = 2 // uuid of the first thread
)

// Perfetto writes a trace with a track for each thread and a slice for each call. Its times are those
// of the method trace since its clock was 0. A call that has no exit has no end.
func (s *Source) Perfetto(w io.Writer) ([]run.Warning, error) {
	if s.trace.Clock == art.NoClock {
		return nil, ErrNoTimes
	}
	p := packets{out: bufio.NewWriter(w), source: s, tracks: map[uint32]uint64{}, names: map[int]uint64{}}
	p.process()
	var calls art.Calls
	calls.Opens = func(c art.Call) { p.event(c.Thread, c.Begin, sliceBegin, c.Method) }
	calls.Each = func(c art.Call) { p.event(c.Thread, c.Begin+c.Took, sliceEnd, 0) }
	if err := s.trace.Again(s.src, calls.Add); err != nil {
		return nil, err
	}
	return calls.Warnings(), p.out.Flush()
}

// packets writes a trace packet by packet.
type packets struct {
	out    *bufio.Writer // whose Flush returns the first error
	source *Source
	begun  bool
	tracks map[uint32]uint64 // uuids, by thread
	names  map[int]uint64    // ids of names, by the method's place
}

// packet writes a packet with what b has.
func (p *packets) packet(b []byte) {
	flags := uint64(needsState)
	if !p.begun {
		p.begun, flags = true, stateCleared
	}
	b = number(b, field.PacketTrustedPacketSequenceID, sequence)
	b = number(b, field.PacketSequenceFlags, flags)
	head := protowire.AppendVarint(protowire.AppendTag(nil, field.TracePacket, protowire.BytesType), uint64(len(b)))
	_, _ = p.out.Write(head)
	_, _ = p.out.Write(b)
}

// pid is the process: the trace's, or that of the main thread, or the lowest id of a thread.
func (s *Source) pid() uint32 {
	if s.trace.PID > 0 {
		return uint32(s.trace.PID)
	}
	tids := slices.Sorted(maps.Keys(s.trace.Threads))
	for _, tid := range tids {
		if s.trace.Threads[tid] == "main" {
			return tid
		}
	}
	if len(tids) > 0 {
		return cmp.Or(tids[0], 1)
	}
	return 1
}

// process describes the process.
func (p *packets) process() {
	track := number(nil, field.TrackUUID, processUUID)
	track = message(track, field.TrackProcess, number(nil, field.ProcessDescriptorPID, uint64(p.source.pid())))
	p.packet(message(nil, field.PacketTrackDescriptor, track))
}

// track is a thread's, which is described before its first event.
func (p *packets) track(tid uint32) uint64 {
	uuid, ok := p.tracks[tid]
	if !ok {
		uuid = uint64(len(p.tracks) + firstThread)
		p.tracks[tid] = uuid
		thread := number(nil, field.ThreadDescriptorPID, uint64(p.source.pid()))
		thread = number(thread, field.ThreadDescriptorTID, uint64(tid))
		thread = message(thread, field.ThreadDescriptorThreadName, []byte(p.source.trace.Thread(tid)))
		track := number(nil, field.TrackUUID, uuid)
		track = number(track, field.TrackParentUUID, processUUID)
		p.packet(message(nil, field.PacketTrackDescriptor, message(track, field.TrackThread, thread)))
	}
	return uuid
}

// event writes the begin or the end of a slice.
func (p *packets) event(tid uint32, at time.Duration, kind uint64, method int) {
	uuid := p.track(tid)
	event := number(nil, field.TrackEventType, kind)
	event = number(event, field.TrackEventTrackUUID, uuid)
	var b []byte
	if kind == sliceBegin {
		id, known := p.names[method]
		if !known {
			id = uint64(len(p.names) + 1)
			p.names[method] = id
			name := number(nil, field.InternedStringIID, id)
			name = message(name, field.InternedStringStr, []byte(p.source.name(method)))
			b = message(b, field.PacketInternedData, message(nil, field.InternedEventNames, name))
		}
		event = number(event, field.TrackEventNameIID, id)
	}
	b = number(b, field.PacketTimestamp, uint64(max(p.source.trace.Begin+at, 0)))
	p.packet(message(b, field.PacketTrackEvent, event))
}

func number(b []byte, f protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, f, protowire.VarintType), v)
}

func message(b []byte, f protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, f, protowire.BytesType), body)
}
