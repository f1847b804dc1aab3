// Package logs reads what apps and the system wrote to Android's log from a Perfetto trace
// (android_log packets).
//
// It takes a stand: an entry is at the time that it says itself, on the device's wall
// clock, which the trace's snapshots lead to the trace's own; where nothing leads there it
// is left out and counted. Structured values of the events buffer are written behind the
// message, as Perfetto's own trace processor does (importers/proto/
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
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// Limits on what is kept.
const (
	MaxRows  = 1_000_000 // where the list does not spill
	maxText  = 4 << 10   // bytes of a message, as many as Android's log has
	maxBytes = 64 << 20  // of all messages, where they do not spill
	maxTags  = 100_000
	maxArgs  = 100 // of an entry
)

// info is the priority of an entry that says none (android_log_constants.proto).
const info = 4

// Entry is an entry of the log.
type Entry struct {
	At       time.Duration
	Thread   int32      // in the tracker's Threads
	Tag      int32      // in Reader.Tags
	UID      int32      // -1 where not told
	Buffer   uint8      // 0 main, 1 radio, 2 events, 3 system, 4 crash, 5 stats, 6 security, 7 kernel
	Priority uint8      // 2 verbose, 3 debug, 4 info, 5 warning, 6 error, 7 fatal
	Message  spill.Text // in Reader.Messages
}

// Reader reads entries.
type Reader struct {
	// Entries are in the order of time, but for those that stand far behind later ones.
	Entries  spill.List[Entry]
	Messages spill.Texts
	Tags     []string // the first is ""
	// Failed and Skipped are entries that Perfetto could not read, or left out.
	Failed, Skipped uint64

	file    *packets.File
	threads *threads.Tracker
	clock   int32
	tags    map[string]int32
}

// New is a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Reader {
	return &Reader{file: file, threads: tracker, clock: -1, tags: map[string]int32{"": 0}, Tags: []string{""}}
}

// Wants are packets of the log.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketAndroidLog}}
}

// Packet reads an AndroidLogPacket, whose entries come when their time has come.
func (r *Reader) Packet(p packets.Packet) {
	if p.Machine != r.file.Home {
		return
	}
	if r.clock < 0 {
		r.clock = r.file.Clocks.Place(packets.KeyOf(p.Machine, 0, packets.ClockRealtime))
	}
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.AndroidLogEvents:
			r.wait(f.Bytes)
		case field.AndroidLogStats:
			r.stats(f.Bytes)
		}
	}
}

func (r *Reader) stats(message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.LogStatsNumFailed:
			r.Failed = f.Value
		case field.LogStatsNumSkipped:
			r.Skipped = f.Value
		}
	}
}

// wait finds an entry's time, and reads the rest when that has come.
func (r *Reader) wait(message []byte) {
	var ns uint64
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.LogEventTimestamp {
			ns = f.Value
		}
	}
	at, ok := r.file.Time(packets.Stamp{Clock: r.clock, NS: int64(min(ns, packets.MaxTime))})
	if !ok {
		return
	}
	message = bytes.Clone(message)
	r.file.Defer(at, len(message), func() { r.entry(at, message) })
}

func (r *Reader) entry(at time.Duration, message []byte) {
	e := Entry{At: at, UID: -1, Priority: info}
	var pid, tid int32
	var text, values strings.Builder
	args := 0
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.LogEventLogID:
			e.Buffer = uint8(f.Value)
		case field.LogEventPID:
			pid = int32(f.Value)
		case field.LogEventTID:
			tid = int32(f.Value)
		case field.LogEventUID:
			e.UID = int32(f.Value)
		case field.LogEventTag:
			e.Tag = r.tag(f.Text())
		case field.LogEventPrio:
			if f.Value > 0 && f.Value <= math.MaxUint8 {
				e.Priority = uint8(f.Value)
			}
		case field.LogEventMessage:
			text.Reset()
			text.Write(f.Bytes[:min(len(f.Bytes), maxText)])
		case field.LogEventArgs:
			if args++; args <= maxArgs {
				value(&values, f.Bytes)
			}
		}
	}
	if text.Len() > 0 && values.Len() > 0 {
		text.WriteByte(' ')
	}
	text.WriteString(values.String())
	said := text.String()
	said = strings.ToValidUTF8(said[:min(len(said), maxText)], "�")
	e.Thread = int32(r.threads.Belongs(tid, pid))
	if r.file.Room("entries of the log", r.Entries.Len(), r.Entries.Most(MaxRows)) &&
		r.file.Room("entries of the log", r.Messages.Len()+len(said), r.Messages.Most(maxBytes)) {
		e.Message = r.Messages.Add(said)
		r.Entries.Add(e)
	}
}

// value writes a structured value behind others, as name=value.
func value(out *strings.Builder, message []byte) {
	var name, said string
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.LogArgName:
			name = f.Text()
		case field.LogArgIntValue:
			said = fmt.Sprint(int64(f.Value))
		case field.LogArgFloatValue:
			said = fmt.Sprintf("%f", math.Float32frombits(uint32(f.Value)))
		case field.LogArgStringValue:
			said = `"` + string(f.Bytes[:min(len(f.Bytes), maxText)]) + `"`
		}
	}
	if name == "" {
		return
	}
	if out.Len() > 0 {
		out.WriteByte(' ')
	}
	out.WriteString(name + "=" + said)
}

// tag is the place of a tag, that of "" where there are too many.
func (r *Reader) tag(name string) int32 {
	one, known := r.tags[name]
	if !known && r.file.Room("tags of the log", len(r.Tags), maxTags) {
		one = int32(len(r.Tags))
		r.tags[name] = one
		r.Tags = append(r.Tags, name)
	}
	return one
}
