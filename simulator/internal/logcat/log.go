// Package logcat simulates the log of a phone, and the command that prints it in the formats
// of each Android version. It does not decide what is logged.
//
// It has no lock: the phone's lock is held around all of its methods.
package logcat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
)

// Entry is one line of the log.
type Entry struct {
	Buffer   string // main, system, crash, events, radio
	PID, TID int
	Priority byte // V D I W E F
	Tag      string
	Text     string

	at       time.Duration // CLOCK_MONOTONIC
	wall     time.Time     // what logd stores
	position int64         // see Log.position
}

// maxLog limits this computer's memory for a simulated log, however large its buffers are: the
// oldest entries are dropped first.
const maxLog = 50_000

// Chatter is the rate of log output that is not simulated, in bytes a second, as measured on a
// Galaxy S21 (kernel-ai-assistant#1102 on GitHub).
const Chatter = 80_000

// Log is a phone's log and its followers.
type Log struct {
	API   int // of its Android version
	Clock *clock.Queue
	Boot  time.Time // the wall clock at CLOCK_MONOTONIC 0
	// LowRAM reports that the phone has little memory, Fixed that the size of its buffers
	// can't be changed.
	LowRAM, Fixed bool
	Chatter       int // from other processes, in bytes a second

	rings     map[string]*ring // by buffer
	entries   []Entry
	followers map[*follower]bool
	repeats   map[string]*repeats // by buffer
}

// SystemPID is the system process.
const SystemPID = 1040

// TombstonedPID is the process that stores the runtimes' dumps since Android 8
// (tombstoned.cpp).
const TombstonedPID = 720

// Add adds an entry with the current time.
func (l *Log) Add(e Entry) {
	e.at = l.Clock.Now()
	e.wall = l.Boot.Add(e.at)
	if e.TID == 0 {
		e.TID = e.PID
	}
	if !l.dropsRepeats() {
		l.write(e)
		return
	}
	r := l.repeats[e.Buffer]
	if r == nil {
		if l.repeats == nil {
			l.repeats = map[string]*repeats{}
		}
		r = &repeats{}
		l.repeats[e.Buffer] = r
	}
	for _, e := range r.squash(e) {
		l.write(e)
	}
}

// write inserts an entry after those of the same time, like logd.
func (l *Log) write(e Entry) {
	l.ring(e.Buffer).own += int64(len(e.Tag) + len(e.Text) + 3) // with the priority and two NULs
	e.position = l.position(e.Buffer, e.at)
	if len(l.entries) >= maxLog {
		l.entries = append(l.entries[:0], l.entries[maxLog/10:]...)
	}
	at := len(l.entries)
	for at > 0 && l.entries[at-1].at > e.at {
		at--
	}
	l.entries = slices.Insert(l.entries, at, e)
	for f := range l.followers {
		f.show(e)
	}
}

// Clear drops all entries, like a restart.
func (l *Log) Clear() { l.entries, l.repeats, l.rings = nil, nil, nil }

// System logs as the system process.
func (l *Log) System(buffer string, priority byte, tag, format string, args ...any) {
	l.Add(Entry{Buffer: buffer, PID: SystemPID, TID: SystemPID + 12, Priority: priority, Tag: tag, Text: fmt.Sprintf(format, args...)})
}

// Event logs to the events buffer: am_crash: [0,4211,…].
func (l *Log) Event(tag string, values ...any) {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	text := strings.Join(words, ",")
	if len(values) != 1 {
		text = "[" + text + "]"
	}
	l.Add(Entry{Buffer: "events", PID: SystemPID, TID: SystemPID + 19, Priority: 'I', Tag: tag, Text: text})
}
