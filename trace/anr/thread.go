package anr

import (
	"bytes"
	"strconv"
)

// begins parses the first line of a thread, and reports whether the line is one:
//
//	"main" prio=5 tid=1 Blocked
//	"FinalizerDaemon" daemon prio=5 tid=10 Waiting
//	"binder:4473_4" prio=5 (not attached)
//	"AsyncTask #1" prio=5 tid=0 Native (still starting up)
//	"RenderThread" sysTid=9997
//
// A thread's name may contain quotes, but nothing after it does.
func (r *reader) begins(text []byte) bool {
	end := bytes.LastIndexByte(text, '"')
	rest := bytes.TrimSpace(text[end+1:])
	known := bytes.HasPrefix(rest, []byte("prio=")) || bytes.HasPrefix(rest, []byte("daemon ")) ||
		bytes.HasPrefix(rest, []byte("sysTid=")) || bytes.HasPrefix(rest, []byte("tid="))
	if end < 1 || !known {
		return false
	}
	if r.process == nil {
		r.begin(0)
	}
	if r.process.PID == 0 && bytes.HasPrefix(rest, []byte("tid=")) {
		r.form(Play)
	}
	t := r.newThread(text[1:end])
	r.first(t, rest)
	r.mergeRepeated()
	return true
}

// mergeRepeated merges a thread begun twice: Google Play begins a thread with an additional line.
func (r *reader) mergeRepeated() {
	threads := r.process.Threads
	n := len(threads)
	if n < 2 || threads[n-1].VMTID == 0 || threads[n-1].VMTID != threads[n-2].VMTID || len(threads[n-2].Frames) > 0 {
		return
	}
	threads[n-2] = threads[n-1]
	r.process.Threads = threads[:n-1]
	r.thread = &threads[n-2]
	r.threads--
}

// first parses the text after a thread's name.
func (r *reader) first(t *Thread, rest []byte) {
	for len(rest) > 0 {
		word, more, _ := bytes.Cut(rest, []byte(" "))
		key, value, isPair := bytes.Cut(word, []byte("="))
		switch {
		case string(word) == "daemon":
			t.Daemon = true
		case isPair:
			t.set(string(key), value)
		case word[0] == '(':
			return
		default:
			t.State = r.name(stateOf(rest))
			return
		}
		rest = bytes.TrimLeft(more, " ")
	}
}

// exported parses the first line of a thread as Firebase exports it, and reports whether the line
// is one:
//
//	main (blocked):tid=1 systid=1001 | waiting to lock <0x0a714d13> (com.example.Store) held by thread 12
func (r *reader) exported(text []byte) bool {
	name, rest, ok := bytes.Cut(text, []byte("):tid="))
	open := bytes.LastIndex(name, []byte(" ("))
	if !ok || open < 0 {
		return false
	}
	tid, rest, ok := numbered(rest, " systid=")
	systid, rest, also := numbered(rest, " ")
	if !ok || !also {
		return false
	}
	if r.process == nil {
		r.begin(0)
	}
	r.form(Crashlytics)
	t := r.newThread(name[:open])
	t.VMTID, t.TID, t.State = tid, systid, r.name(runtimeState(name[open+len(" ("):]))
	if lock, ok := bytes.CutPrefix(bytes.TrimSpace(rest), []byte("| ")); ok {
		r.lock(lock)
	}
	return true
}

// runtimeState converts a state to the runtime's name: "timed waiting" to TimedWaiting.
func runtimeState(state []byte) []byte {
	var out []byte
	for word := range bytes.FieldsSeq(state) {
		out = append(append(out, bytes.ToUpper(word[:1])...), word[1:]...)
	}
	return out
}

// stateOf returns a state without its suffix in brackets.
func stateOf(text []byte) []byte {
	state, _, _ := bytes.Cut(text, []byte(" ("))
	return state
}

// newThread adds a thread to the process. One beyond the limits is returned but not kept.
func (r *reader) newThread(name []byte) *Thread {
	r.apart = false
	fresh := Thread{Name: r.name(name), Line: r.number, Core: -1}
	if r.threads >= MaxThreads {
		r.left.threads++
		r.thread = &fresh
		return r.thread
	}
	r.threads++
	r.process.Threads = append(r.process.Threads, fresh)
	r.thread = &r.process.Threads[len(r.process.Threads)-1]
	return r.thread
}

// tombstone parses the first line of a thread in debuggerd's format, or of a process in xCrash's
// (Util.java, NativeHandler.java). Those in a bug report are of processes that had ended, which its
// dumps do not show.
//
//	pid: 1234, tid: 1240, name: RenderThread  >>> com.example.mail <<<
//	pid: 1234  >>> com.example.mail <<<
func (r *reader) tombstone(text []byte) {
	if r.dump.Form == BugReport {
		return
	}
	before, command, _ := bytes.Cut(text[len("pid: "):], []byte(" >>> "))
	before = bytes.TrimSpace(before)
	command = bytes.TrimSuffix(command, []byte(" <<<"))
	if pid, ok := digits(before); ok && len(command) > 0 {
		r.warnUnended()
		r.begin(pid)
		r.framed = false
		r.process.Name = r.command(command)
		return
	}
	pid, rest, ok := numbered(before, ", tid: ")
	tid, name, also := numbered(rest, ", name: ")
	if !ok || !also {
		return
	}
	r.form(Tombstone)
	if r.process == nil || r.process.PID != pid {
		r.warnUnended()
		r.begin(pid)
		r.framed = false
	}
	if r.process.Name == "" {
		r.process.Name = r.command(command)
	}
	r.newThread(bytes.TrimSpace(name)).TID = tid
	r.apart = true // registers follow
	if r.dump.Crash != nil && r.dump.Crash.PID == 0 {
		r.crashed("")
	}
}

// signal parses the fatal signal in a tombstone, below the thread's first line
// (libdebuggerd/tombstone.cpp, dump_signal_info). A tombstone on request stops the process by
// debuggerd's own signal, which is no crash.
//
//	signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0000000000000010
//	signal 35 (<debuggerd signal>), code -1 (SI_QUEUE from pid 5024, uid 0), fault addr --------
func (r *reader) signal(text []byte) {
	number, name, ok := numbered(text[len("signal "):], " (")
	name, _, closed := bytes.Cut(name, []byte(")"))
	if !ok || !closed || !r.apart || bytes.Contains(name, []byte("debuggerd")) || r.dump.Crash != nil && r.dump.Crash.Signal != "" {
		return
	}
	r.crashed(strconv.Itoa(number) + " (" + r.name(name) + ")")
}

// crashed records that the current thread ended its process.
func (r *reader) crashed(signal string) {
	if r.dump.Crash == nil {
		r.dump.Crash = &Crash{}
	}
	c := r.dump.Crash
	c.Process, c.PID, c.Thread = r.process.Name, r.process.PID, r.thread.Name
	c.Signal = signal
}

// inThread parses a line of a thread.
func (r *reader) inThread(text []byte) {
	switch {
	case text[0] == '|':
		r.attributes(text[1:])
	case bytes.HasPrefix(text, []byte("at ")):
		r.java(text[len("at "):])
	case bytes.HasPrefix(text, []byte("- ")):
		r.lock(text[len("- "):])
	case bytes.HasPrefix(text, []byte("native: ")):
		r.native(bytes.TrimSpace(text[len("native: "):]))
	case text[0] == '#':
		r.native(text)
	case bytes.HasPrefix(text, []byte("kernel: ")):
		r.kernel(bytes.TrimSpace(text[len("kernel: "):]))
	case bytes.HasPrefix(text, []byte("signal ")):
		r.signal(text)
	case bytes.HasPrefix(text, abort) && r.dump.Crash != nil:
		r.dump.Crash.Message = r.name(bytes.Trim(text[len(abort):], "'"))
	case text[0] == '(', bytes.HasPrefix(text, []byte("NOTE: ")), bytes.HasPrefix(text, []byte("... repeated ")):
		// Such as "(no managed stack frames)": there is nothing to parse.
	default:
		r.unknownLine(text)
	}
}

var abort = []byte("Abort message: ")

// unknownLine counts a line that is not understood; the first ones are warnings.
func (r *reader) unknownLine(text []byte) {
	if r.exported(text) || r.apart && len(r.thread.Frames) == 0 {
		return
	}
	if r.dump.Form == Play && bytes.Contains(text, []byte("ANR")) {
		return // Google Play's note on the frame above, in the user's language
	}
	const reported = 20
	if r.odd++; r.odd <= reported {
		r.warnings.Addf(r.number, "a line of thread %q is not understood: %q", r.thread.Name, short(text))
	}
}

// short cuts a text for a warning.
func short(text []byte) []byte { return text[:min(len(text), 60)] }

// attributes parses the pairs of a line such as
//
//	| sysTid=28941 nice=-10 cgrp=top-app sched=0/0 handle=0x7deceb74f8
//	| state=S schedstat=( 324804784 183300334 997 ) utm=23 stm=8 core=3 HZ=100
//	| held mutexes= "mutator lock"(shared held)
func (r *reader) attributes(text []byte) {
	text = bytes.TrimSpace(text)
	if mutexes, ok := bytes.CutPrefix(text, []byte("held mutexes=")); ok {
		r.thread.Mutexes = r.name(bytes.TrimSpace(mutexes))
		return
	}
	for len(text) > 0 {
		word, more, _ := bytes.Cut(text, []byte(" "))
		key, value, isPair := bytes.Cut(word, []byte("="))
		if isPair && string(key) == "schedstat" {
			inside, behind, _ := bytes.Cut(text[len("schedstat="):], []byte(")"))
			r.thread.scheduled(bytes.TrimLeft(inside, "( "))
			more = behind
		} else if isPair && string(key) == "cgrp" {
			r.thread.Group = r.name(value)
		} else if isPair {
			r.thread.set(string(key), value)
		}
		text = bytes.TrimLeft(more, " ")
	}
}

// scheduled parses the numbers of /proc/PID/schedstat.
func (t *Thread) scheduled(text []byte) {
	ran, rest, _ := bytes.Cut(text, []byte(" "))
	queued, _, _ := bytes.Cut(rest, []byte(" "))
	t.Ran, _ = strconv.ParseInt(string(ran), 10, 64)
	t.Queued, _ = strconv.ParseInt(string(queued), 10, 64)
}

// set sets a value of a thread's first lines.
func (t *Thread) set(key string, value []byte) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case key == "obj":
		t.Object, _ = strconv.ParseUint(string(bytes.TrimPrefix(value, []byte("0x"))), 16, 64)
	case key == "state" && len(value) == 1:
		t.Kernel = string(value)
	case err != nil:
	case key == "dsCount", key == "ucsCount": // of a debugger; renamed in Android 12
		t.Debugged = n > 0
	case key == "prio":
		t.Priority = int(n)
	case key == "nice":
		t.Nice = int(n)
	case key == "utm":
		t.User = n
	case key == "stm":
		t.System = n
	case key == "core":
		t.Core = int(n)
	case key == "tid" && n >= 0:
		t.VMTID = int(n)
	case key == "sysTid" && n >= 0:
		t.TID = int(n)
	}
}
