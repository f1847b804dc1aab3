package logcat

import (
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Tag is the tag under which a test writes its UI events.
const Tag = "apkgate"

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	UIEvent    Kind = "ui"          // logged by the test under Tag
	Input      Kind = "input"       // the system sent input to another window than before (Android 11 and later)
	Crash      Kind = "crash"       // an exception or a fatal signal ended a process
	ANR        Kind = "anr"         // a process did not respond
	LongFrame  Kind = "long-frame"  // the graphics library reports a frame of 700 ms or more ("Davey!")
	Begun      Kind = "begun"       // a process started
	Died       Kind = "died"        // a process ended, for any reason
	Displayed  Kind = "displayed"   // an activity was drawn for the first time
	FullyDrawn Kind = "fully-drawn" // the app reports that an activity shows all its content (reportFullyDrawn)

	SNR           Kind = "snr"            // Android itself did not respond: its watchdog ended the system process
	SystemStarted Kind = "system-started" // Android's system process started
)

// Event is a relevant event in a log.
type Event struct {
	Kind Kind `json:"kind"`
	Line int  `json:"line"`
	// Clock and Time are those of the entry.
	Clock Clock         `json:"clock"`
	Time  time.Duration `json:"time_ns"`
	// Name is the UI event's name, or the window or activity.
	Name string `json:"name,omitempty"`
	// Process is the process or package concerned, PID its id (0: not stated).
	Process string `json:"process,omitempty"`
	PID     int    `json:"pid,omitempty"`
	// Args are the key=value words of a UI event.
	Args map[string]string `json:"args,omitempty"`
	// Duration is the start-up time of Displayed and FullyDrawn, or the duration of a LongFrame.
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Detail is the exception, signal or reason.
	Detail string `json:"detail,omitempty"`
}

// MaxName bounds the name of a UI event in bytes.
const MaxName = 200

// maxOfKind limits the events of one kind, so that an app that floods the log hides no events of
// another kind.
const maxOfKind = 10_000

// Events returns the events of a log, in its order. A crash or ANR reported by two buffers is
// returned once. At most 10,000 of each kind are kept; a warning states where there were more, and
// where the device dropped UI events.
func Events(entries []Entry) ([]Event, []run.Warning) {
	f := finder{byPID: map[pidKey]int{}, byName: map[nameKey]int{}, found: map[Kind]int{}}
	for i, e := range entries {
		ev, ok := eventOf(entries, i)
		if !ok {
			continue
		}
		ev.Line, ev.Clock, ev.Time = e.Line, e.Clock, e.Time
		f.add(ev)
	}
	return f.events, append(f.doubts(), dropped(entries)...)
}

func eventOf(entries []Entry, i int) (Event, bool) {
	e := entries[i]
	if e.App && systemTags[e.Tag] {
		return Event{}, false // any app can imitate the system's text
	}
	switch e.Tag {
	case Tag:
		return uiEvent(e)
	case "input_interaction":
		return inputEvent(e.Message)
	case "watchdog":
		return watchdogEvent(e.Message)
	case "Watchdog":
		return killed(e.Message)
	case "boot_progress_system_run":
		return systemStarted()
	case "am_crash", "am_anr", "am_proc_start", "am_proc_died":
		return amEvent(e)
	case "am_activity_launch_time", "wm_activity_launch_time":
		return launchTime(Displayed, e.Message)
	case "am_activity_fully_drawn_time":
		return launchTime(FullyDrawn, e.Message)
	case "AndroidRuntime":
		if strings.HasPrefix(e.Message, "FATAL EXCEPTION") || strings.HasPrefix(e.Message, "*** FATAL EXCEPTION") {
			return javaCrash(entries[i:])
		}
	case "OpenGLRenderer", "HWUI":
		return davey(e)
	case "libc":
		if strings.HasPrefix(e.Message, "Fatal signal ") {
			return Event{Kind: Crash, PID: e.PID, Detail: e.Message}, true
		}
	case "ActivityManager", "ActivityTaskManager":
		if about, ok := strings.CutPrefix(e.Message, "ANR in "); ok {
			return anrIn(entries[i:], about)
		}
		if about, ok := strings.CutPrefix(e.Message, "Displayed "); ok {
			return displayed(Displayed, about)
		}
		if about, ok := strings.CutPrefix(e.Message, "Fully drawn "); ok {
			return displayed(FullyDrawn, about)
		}
	}
	return Event{}, false
}

// systemTags are those under which only the system's entries are trusted.
var systemTags = map[string]bool{
	"input_interaction": true, "am_crash": true, "am_anr": true, "am_proc_start": true, "am_proc_died": true,
	"am_activity_launch_time": true, "wm_activity_launch_time": true, "am_activity_fully_drawn_time": true,
	"ActivityManager": true, "ActivityTaskManager": true,
	"watchdog": true, "Watchdog": true, "boot_progress_system_run": true,
}

// uiEvent parses "name" or "name key=value …". The words before the first key=value are the name,
// so it may contain spaces.
func uiEvent(e Entry) (Event, bool) {
	words := strings.Fields(e.Message)
	ev := Event{Kind: UIEvent, PID: e.PID}
	for n, word := range words {
		if key, value, found := strings.Cut(word, "="); n > 0 && found && key != "" {
			if ev.Args == nil {
				ev.Args = map[string]string{}
			}
			ev.Args[key] = value
		} else if ev.Args == nil {
			ev.Name = strings.TrimSpace(ev.Name + " " + word)
		}
	}
	ev.Name = strings.ToValidUTF8(ev.Name, "�")
	if len(ev.Name) > MaxName {
		ev.Name = strings.ToValidUTF8(ev.Name[:MaxName], "")
	}
	return ev, ev.Name != ""
}

// inputEvent parses "Interaction with: HASH WINDOW (server), …", which the input dispatcher logs
// when a touch goes to other windows than the one before.
func inputEvent(message string) (Event, bool) {
	list, ok := strings.CutPrefix(message, "Interaction with: ")
	if !ok {
		return Event{}, false
	}
	for target := range strings.SplitSeq(list, ", ") {
		hash, window, found := strings.Cut(strings.TrimSuffix(target, " (server)"), " ")
		if found && isHex(hash) {
			process, _, _ := strings.Cut(window, "/")
			return Event{Kind: Input, Name: window, Process: process}, true
		}
	}
	return Event{}, false
}

func isHex(s string) bool {
	_, err := strconv.ParseUint(s, 16, 64)
	return err == nil
}

// amEvent parses the lists of the events buffer, "[user,pid,process,…]". The user was added in
// Android 4.2; the process id precedes the first field that is not a number, or in am_proc_start
// ("[user,pid,uid,process,…]") the number before that.
func amEvent(e Entry) (Event, bool) {
	fields := list(e.Message)
	kinds := map[string]Kind{"am_crash": Crash, "am_anr": ANR, "am_proc_start": Begun, "am_proc_died": Died}
	for i, field := range fields {
		if _, err := strconv.Atoi(field); err == nil {
			continue
		}
		ev := Event{Kind: kinds[e.Tag], Process: field}
		at := i - 1
		if ev.Kind == Begun {
			at--
		}
		if at < 0 || field == "" {
			return Event{}, false
		}
		ev.PID, _ = strconv.Atoi(fields[at])
		switch {
		case i+2 >= len(fields): // flags, then exception or reason
		case ev.Kind == ANR:
			ev.Detail = strings.Join(fields[i+2:], ",")
		case ev.Kind == Crash:
			ev.Detail = strings.Join(fields[i+2:min(i+4, len(fields))], ": ")
		}
		return ev, true
	}
	return Event{}, false
}

// davey parses "Davey! duration=1234ms; Flags=0, …, IntendedVsync=144134370098, …", which Android's
// graphics library logs from the app's own process (JankTracker.cpp; tag HWUI, OpenGLRenderer until
// Android 12). Name is the vsync that the frame was meant for, in ns of CLOCK_MONOTONIC.
func davey(e Entry) (Event, bool) {
	about, ok := strings.CutPrefix(e.Message, "Davey! duration=")
	if !ok {
		return Event{}, false
	}
	ms, rest, ok := strings.Cut(about, "ms;")
	took, err := strconv.ParseInt(ms, 10, 32)
	_, vsync, hasVsync := strings.Cut(rest, " IntendedVsync=")
	vsync, _, _ = strings.Cut(vsync, ",")
	if _, notNumber := strconv.ParseInt(vsync, 10, 62); !ok || err != nil || took <= 0 || !hasVsync || notNumber != nil {
		return Event{}, false
	}
	return Event{Kind: LongFrame, PID: e.PID, Name: vsync, Duration: time.Duration(took) * time.Millisecond}, true
}

// mostStart limits the start time of an activity, apart from whole days.
const mostStart = 24 * time.Hour

// launchTime parses "[user,token,component,ms,total]". Where other activities of the app led to
// this one, the total counts from the first of them; Android 10 has the total alone.
func launchTime(kind Kind, message string) (Event, bool) {
	fields := list(message)
	for i, field := range fields[:max(len(fields)-1, 0)] {
		process, _, found := strings.Cut(field, "/")
		if ms, err := strconv.Atoi(fields[min(i+2, len(fields)-1)]); found && err == nil && ms >= 0 && ms < int(mostStart/time.Millisecond) {
			return Event{Kind: kind, Name: field, Process: process, Duration: time.Duration(ms) * time.Millisecond}, true
		}
	}
	return Event{}, false
}

func list(message string) []string {
	message = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(message), "["), "]")
	return strings.Split(message, ",")
}

// crashWithin is how many entries of other processes may come between the lines of one crash.
const crashWithin = 200

// javaCrash parses "FATAL EXCEPTION: main" and the two entries below it: "Process: com.example,
// PID: 17" (Android 4.4 and later) and the exception.
func javaCrash(entries []Entry) (Event, bool) {
	head := entries[0]
	ev := Event{Kind: Crash, PID: head.PID, Detail: head.Message}
	below := 0
	for _, e := range entries[1:min(len(entries), crashWithin)] {
		if e.PID != head.PID || e.Tag != head.Tag {
			continue
		}
		if process, ok := strings.CutPrefix(e.Message, "Process: "); ok {
			ev.Process, _, _ = strings.Cut(process, ",")
		} else {
			ev.Detail = e.Message
			break
		}
		if below++; below == 2 {
			break
		}
	}
	return ev, true
}

// anrIn parses "ANR in com.example (com.example/.Main)" and "PID: 17" below it.
func anrIn(entries []Entry, about string) (Event, bool) {
	process, _, _ := strings.Cut(about, " ")
	ev := Event{Kind: ANR, Process: process}
	for n, e := range entries[1:] {
		if n > 20 {
			break
		}
		if pid, ok := strings.CutPrefix(e.Message, "PID: "); ok && e.Tag == entries[0].Tag {
			ev.PID, _ = strconv.Atoi(strings.TrimSpace(pid))
		}
		if reason, ok := strings.CutPrefix(e.Message, "Reason: "); ok && e.Tag == entries[0].Tag {
			ev.Detail = reason
			break
		}
	}
	return ev, process != ""
}

// displayed parses "com.example/.Main: +1s23ms", with "for user 0" before the colon since Android
// 14. Before Android 10, "(total +2s)" follows where other activities led to this one: that counts
// from the first of them, as later versions do.
func displayed(kind Kind, about string) (Event, bool) {
	activity, took, found := strings.Cut(about, ": +")
	activity, _, _ = strings.Cut(activity, " for user ")
	took, total, _ := strings.Cut(took, " (total +")
	if total != "" {
		took = strings.TrimSuffix(total, ")")
	}
	took, _, _ = strings.Cut(took, " ")
	d, ok := duration(took)
	process, _, _ := strings.Cut(activity, "/")
	return Event{Kind: kind, Name: activity, Process: process, Duration: d}, found && ok
}

// duration parses Android's TimeUtils.formatDuration: "1d2h3m4s5ms".
func duration(s string) (time.Duration, bool) {
	if day, rest, found := strings.Cut(s, "d"); found {
		days, err := strconv.Atoi(day)
		tail, ok := duration(rest)
		return time.Duration(days)*24*time.Hour + tail, err == nil && days >= 0 && days < 1000 && (ok || rest == "")
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0 && d < mostStart
}
