// Package logs reads the entries of Android's log, from apps and the system, in a Perfetto trace
// (android_log packets).
//
// An entry has its own time, on the device's wall clock, which the trace's snapshots convert to the
// trace's own; if that fails it is left out and counted. Structured values of the events buffer are
// appended to the message, as Perfetto's own trace processor does (importers/proto/
// android_probes_parser.cc). Package logcat reads the text that `logcat` prints.
package logs

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// Limits of what is kept.
const (
	MaxRows  = 1_000_000 // if the list does not spill
	maxText  = 4 << 10   // bytes of a message, the limit of Android's log
	maxBytes = 64 << 20  // of all messages, if they do not spill
	maxTags  = 100_000
	maxArgs  = 100 // of an entry
)

// info is the priority of an entry that states none (android_log_constants.proto).
const info = 4

// Entry is an entry of the log.
type Entry struct {
	At       time.Duration
	Thread   int32      // in the tracker's Threads
	Tag      int32      // in Reader.Tags
	UID      int32      // -1 if unknown
	Buffer   uint8      // 0 main, 1 radio, 2 events, 3 system, 4 crash, 5 stats, 6 security, 7 kernel
	Priority uint8      // 2 verbose, 3 debug, 4 info, 5 warning, 6 error, 7 fatal
	Message  spill.Text // in Reader.Messages
}

// Reader reads entries.
type Reader struct {
	// Entries are in chronological order, except for those that come far too late.
	Entries  spill.List[Entry]
	Messages spill.Texts
	Tags     []string // the first is ""
	// Failed and Skipped count entries that Perfetto could not read, or left out.
	Failed, Skipped uint64

	file    *packets.File
	threads *threads.Tracker
	clock   int32
	tags    map[string]int32
}

// New returns a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Reader {
	return &Reader{file: file, threads: tracker, clock: -1, tags: map[string]int32{"": 0}, Tags: []string{""}}
}

// Wants returns packets of the log.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketAndroidLog}}
}

// Packet reads an AndroidLogPacket, whose entries are added in chronological order.
func (r *Reader) Packet(p packets.Packet) {
	if p.Machine != r.file.Home {
		return
	}
	if r.clock < 0 {
		r.clock = r.file.Clocks.Place(packets.KeyOf(p.Machine, 0, packets.ClockRealtime))
	}
	m := messages.AndroidLogOf(p.Data)
	for entry := range m.Events.Each {
		r.wait(entry)
	}
	if stats := messages.LogStatsOf(m.Stats); stats.HasNumFailed || stats.HasNumSkipped {
		r.Failed, r.Skipped = stats.NumFailed, stats.NumSkipped
	}
}

// wait finds an entry's time, and reads the rest when that has come.
func (r *Reader) wait(message []byte) {
	ns := messages.LogEventOf(message).Timestamp
	at, ok := r.file.Time(packets.Stamp{Clock: r.clock, NS: int64(min(ns, packets.MaxTime))})
	if !ok {
		return
	}
	message = bytes.Clone(message)
	r.file.Defer(at, len(message), func() { r.entry(at, message) })
}

func (r *Reader) entry(at time.Duration, message []byte) {
	m := messages.LogEventOf(message)
	e := Entry{At: at, UID: -1, Priority: info, Buffer: uint8(m.LogID), Tag: r.tag(packets.Name(m.Tag))}
	if m.HasUID {
		e.UID = m.UID
	}
	if m.Prio > 0 && m.Prio <= math.MaxUint8 {
		e.Priority = uint8(m.Prio)
	}
	var text, values strings.Builder
	text.Write(m.Message[:min(len(m.Message), maxText)])
	args := 0
	for arg := range m.Args.Each {
		if args++; args > maxArgs {
			break
		}
		value(&values, messages.LogArgOf(arg))
	}
	if text.Len() > 0 && values.Len() > 0 {
		text.WriteByte(' ')
	}
	text.WriteString(values.String())
	said := text.String()
	said = strings.ToValidUTF8(said[:min(len(said), maxText)], "�")
	e.Thread = int32(r.threads.Belongs(m.TID, m.PID))
	if r.file.Room("entries of the log", r.Entries.Len(), r.Entries.Most(MaxRows)) &&
		r.file.Room("entries of the log", r.Messages.Len()+len(said), r.Messages.Most(maxBytes)) {
		e.Message = r.Messages.Add(said)
		r.Entries.Add(e)
	}
}

// value appends a structured value, as name=value.
func value(out *strings.Builder, m messages.LogArg) {
	name, said := packets.Name(m.Name), ""
	switch {
	case m.HasIntValue:
		said = fmt.Sprint(m.IntValue)
	case m.HasFloatValue:
		said = fmt.Sprintf("%f", m.FloatValue)
	case m.StringValue != nil:
		said = `"` + string(m.StringValue[:min(len(m.StringValue), maxText)]) + `"`
	}
	if name == "" {
		return
	}
	if out.Len() > 0 {
		out.WriteByte(' ')
	}
	out.WriteString(name + "=" + said)
}

// tag returns the index of a tag, that of "" if there are too many.
func (r *Reader) tag(name string) int32 {
	one, known := r.tags[name]
	if !known && r.file.Room("tags of the log", len(r.Tags), maxTags) {
		one = int32(len(r.Tags))
		r.tags[name] = one
		r.Tags = append(r.Tags, name)
	}
	return one
}
