package anr

import (
	"bytes"
	"io"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// Limits of one dump. What exceeds them is dropped, and a warning states how much.
const (
	MaxProcesses    = 2_000
	MaxThreads      = 50_000
	MaxFrames       = 500_000
	MaxStack        = 2_000 // frames of one thread, and locks
	MaxLocks        = 200_000
	MaxTransactions = 50_000
	MaxUsages       = 10_000   // processes in the lists of CPU times
	maxParts        = 100      // sections written at different times
	maxName         = 2_000    // bytes of one name; longer ones are cut
	maxNames        = 32 << 20 // bytes of all names, each with nameCost more
	nameCost        = 64       // cost of the map's entry for a name
)

// Read reads a dump. It returns an error only where reading in fails; what can't be understood is a
// warning.
func Read(in io.Reader) (Dump, error) {
	r := reader{names: map[string]string{}, channels: map[int][]channel{}, commands: map[int]string{}, seen: map[int]bool{}}
	text := trace.NewLines(in)
	for text.Next() {
		r.number = text.Number()
		if text.Cut() {
			r.warnings.Addf(r.number, "the line is longer than %d bytes: its rest is skipped", trace.MaxLine)
		}
		line := bytes.TrimRight(text.Text(), " \t\x00")
		r.take(line)
		if len(line) > 0 {
			r.last = append(r.last[:0], bytes.TrimLeft(line[:min(len(line), maxName)], " \t")...)
		}
	}
	if err := text.Err(); err != nil {
		return Dump{}, err
	}
	r.finish()
	return r.dump, nil
}

// reader parses a dump line by line.
type reader struct {
	dump     Dump
	warnings trace.Warnings
	number   int

	process *Process // the current process, nil between processes
	thread  *Thread  // the current thread, nil between threads
	apart   bool     // the thread has only its first lines, and the next may belong to something else
	framed  bool     // the process begins with a line that states its id
	waiting int      // the process whose waiting channels are being read, 0: none
	of      string   // the resource whose pressure is being read

	seen   map[int]bool // processes of the current part
	last   []byte       // the last line that is not empty
	torn   int          // the first line of a thread without a beginning, 0: none
	closed bool         // xCrash's list of threads has ended
	filled bool         // the part has a process

	channels      map[int][]channel
	listed        []listing      // the processes of channels, in the order of the file
	commands      map[int]string // the names of the processes of channels
	names         map[string]string
	room          int // bytes left for names
	frames        int // of all threads
	threads       int
	listedThreads int
	locks         int
	usages        int
	left          leftOut
	odd           int // lines of threads that were not understood
}

// leftOut counts what exceeded a limit.
type leftOut struct{ parts, processes, threads, frames, locks, names, transactions, usages int }

// listing is a process that has a list of waiting channels, and the line where the first one
// begins.
type listing struct{ pid, line int }

// channel is where a thread waits in the kernel.
type channel struct {
	tid  int
	name string
}

// take parses a line without the blanks at its end.
func (r *reader) take(line []byte) {
	text := bytes.TrimLeft(line, " \t")
	switch {
	case len(text) == 0:
		r.blank()
	case bytes.HasPrefix(text, dashes):
		r.divider(text)
	case bytes.HasPrefix(text, pluses):
		r.warnUnended()
		r.closed = true
	case bytes.HasPrefix(text, []byte("[[TRUNCATED]]")):
		r.dump.Cut = true
		r.warnings.Addf(r.number, "Android cut the text here: the threads and processes after it are missing")
	case text[0] == '"' && r.begins(text):
	case bytes.HasPrefix(text, []byte("DALVIK THREADS")):
		r.stated(text)
	case bytes.HasPrefix(text, []byte("pid: ")):
		r.tombstone(text)
	case r.transaction(text):
	case r.thread != nil:
		r.inThread(text)
	case r.waiting != 0:
		r.inChannels(text)
	case r.process != nil:
		r.inProcess(text)
	default:
		r.around(line, text)
	}
}

var (
	dashes = []byte("-----")
	pluses = []byte("+++ +++ +++ +++") // after the threads of xCrash's logs
)

// blank ends a thread that has frames. Copies of dumps, and tombstones, have blank lines before the
// first frame, and Google Play's exports after their note on a frame.
func (r *reader) blank() {
	if r.dump.Form == Play {
		return
	}
	if r.thread == nil || len(r.thread.Frames) > 0 {
		r.thread = nil
		return
	}
	r.apart = true
}

// divider parses a line that begins or ends a part of the file:
//
//	----- pid 4473 at 2024-02-15 23:37:45.593138790-0800 -----
//	----- Waiting Channels: pid 4473 at 2024-02-15 23:37:45.588411332-0800 -----
//	----- end 4473 -----
//	----- Output from /proc/pressure/memory -----
func (r *reader) divider(text []byte) {
	said := bytes.Trim(text, "- ")
	r.thread = nil
	if r.section(text, said) {
		return
	}
	if rest, ok := bytes.CutPrefix(said, []byte("pid ")); ok {
		if pid, time, ok := numbered(rest, " at "); ok {
			r.warnUnended()
			r.begin(pid)
			r.process.Time = r.name(time)
			return
		}
	}
	if rest, ok := bytes.CutPrefix(said, []byte("Waiting Channels: pid ")); ok {
		if pid, _, ok := numbered(rest, " at "); ok {
			r.warnUnended()
			r.waiting, r.dump.Recognized = pid, true
			r.list(pid)
			return
		}
	}
	if rest, ok := bytes.CutPrefix(said, []byte("end ")); ok {
		if pid, _, ok := numbered(rest, " "); ok {
			r.end(pid)
			return
		}
	}
	r.of = ""
	if rest, ok := bytes.CutPrefix(said, []byte("Output from /proc/pressure/")); ok {
		r.of = r.name(rest)
	}
}

// section parses the first line of a section of a bug report (dumpstate's util.cpp), and reports
// whether it is one. Each section with dumps is a part.
//
//	------ VM TRACES AT LAST ANR (/data/anr/anr_2026-11-20-22-00-01-123: 2026-11-20 22:00:03) ------
func (r *reader) section(text, said []byte) bool {
	if !bytes.HasPrefix(text, []byte("------ ")) || len(said) < 2 || said[0] < 'A' || said[0] > 'Z' || said[1] < 'A' || said[1] > 'Z' {
		return false
	}
	r.dump.Form = BugReport
	r.warnUnended()
	r.waiting, r.of = 0, ""
	if bytes.Contains(said, []byte("TRACES")) || bytes.Contains(said, []byte("ANR")) {
		name, _, _ := bytes.Cut(said, []byte(" ("))
		r.part(r.name(name))
	}
	return true
}

// part begins a part of the file.
func (r *reader) part(name string) {
	clear(r.seen)
	switch parts := r.dump.Parts; {
	case len(parts) >= maxParts:
		r.left.parts++
	case len(parts) > 0 && !r.filled: // the part before is empty
		parts[len(parts)-1] = name
	default:
		r.dump.Parts = append(parts, name)
	}
	r.filled = false
}

// numbered parses a number, and returns the text after it and the separator.
func numbered(text []byte, separator string) (n int, rest []byte, ok bool) {
	number, rest, _ := bytes.Cut(text, []byte(separator))
	n, ok = digits(number)
	return n, rest, ok
}

// digits parses a number of up to nine digits.
func digits(text []byte) (n int, ok bool) {
	if len(text) == 0 || len(text) > 9 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// begin begins a process; pid is 0 if unknown.
func (r *reader) begin(pid int) {
	r.dump.Recognized = true
	r.waiting, r.thread, r.framed = 0, nil, pid != 0
	r.form(Android)
	if len(r.dump.Processes) >= MaxProcesses {
		r.left.processes++
		r.process = &Process{PID: pid, Line: r.number} // dropped
		return
	}
	if len(r.dump.Parts) == 0 || pid != 0 && r.seen[pid] {
		r.part("") // a repeated process was dumped at another time
	}
	r.seen[pid], r.filled = true, true
	r.dump.Processes = append(r.dump.Processes, Process{PID: pid, Part: len(r.dump.Parts) - 1, Line: r.number})
	r.process = &r.dump.Processes[len(r.dump.Processes)-1]
}

// form records the writer of the file: the first one recognized stays, unless it is one that any
// part of Android may have written.
func (r *reader) form(f Form) {
	if r.dump.Form == "" || r.dump.Form == Android {
		r.dump.Form = f
	}
}

// end ends a process, or a list of waiting channels.
func (r *reader) end(pid int) {
	if p := r.process; p != nil {
		if p.PID == 0 {
			p.PID = pid
		}
		r.warnMissingThreads(p)
	}
	r.process, r.thread, r.waiting = nil, nil, 0
}

// warnUnended warns that a process has no end, where another begins or the file ends.
func (r *reader) warnUnended() {
	if r.process == nil {
		return
	}
	if r.framed {
		r.warnings.Addf(r.process.Line, "process %d has no end: it is cut off, and its last threads and frames may be missing", r.process.PID)
	}
	r.warnMissingThreads(r.process)
	r.process, r.thread = nil, nil
}

// warnMissingThreads warns that a process has fewer threads than its dump states.
func (r *reader) warnMissingThreads(p *Process) {
	if n := p.missingThreads(); n > 0 && r.left.threads == 0 {
		r.warnings.Addf(p.Line, "the dump states that process %d has %d Java threads, and %d are there", p.PID, p.Stated, p.Stated-n)
	}
}

// missingThreads returns how many of the stated Java threads are missing.
func (p *Process) missingThreads() int {
	n := p.Stated
	for i := range p.Threads {
		if p.Threads[i].State != "" {
			n--
		}
	}
	return max(n, 0)
}

// aborted returns the crash of a tombstone that lacks the line of its signal: its first thread
// aborted the process. It returns nil if the thread did not.
func (d *Dump) aborted() *Crash {
	if len(d.Processes) == 0 || len(d.Processes[0].Threads) == 0 {
		return nil
	}
	p := d.Processes[0]
	t := p.Threads[0]
	for _, f := range t.Frames[:min(len(t.Frames), 3)] { // abort sends itself the signal
		if f.Name == "abort" {
			return &Crash{Process: p.Name, PID: p.PID, Thread: t.Name, Signal: "6 (SIGABRT)"}
		}
	}
	return nil
}

// native reports whether the dump has stacks, all of them native.
func (d *Dump) native() bool {
	frames := 0
	for i := range d.Processes {
		for j := range d.Processes[i].Threads {
			if t := &d.Processes[i].Threads[j]; t.State != "" || t.VMTID != 0 {
				return false
			} else {
				frames += len(t.Frames)
			}
		}
	}
	return frames > 0
}

// broken reports whether no dump ends after such a last line, or whether the line itself is
// incomplete.
func broken(line []byte) bool {
	open := bytes.Count(line, []byte("(")) > bytes.Count(line, []byte(")"))
	switch {
	case len(line) == 0:
		return false
	case line[0] == '|', bytes.HasPrefix(line, []byte("DALVIK THREADS")), bytes.HasPrefix(line, []byte("Cmd line: ")):
		return true
	case bytes.HasPrefix(line, []byte("at ")):
		return !bytes.HasSuffix(line, []byte(")"))
	case bytes.HasPrefix(line, []byte("- ")):
		return open || bytes.Count(line, []byte("<")) > bytes.Count(line, []byte(">"))
	case bytes.HasPrefix(line, []byte("native: ")), line[0] == '#':
		return open || line[0] != '#' && len(bytes.Fields(line)) < 5
	case line[0] == '"':
		return !bytes.Contains(line, []byte("tid=")) && !bytes.Contains(line, []byte("sysTid="))
	}
	return false
}

// warnTorn warns that a file begins in the middle of a thread.
func (r *reader) warnTorn() {
	if r.torn != 0 && len(r.dump.Processes) > 0 {
		r.dump.Cut = true
		r.warnings.Addf(r.torn, "the file begins in the middle of a thread: the lines before it are missing")
	}
}

// stated parses "DALVIK THREADS (46):"; a dump may begin with it.
func (r *reader) stated(text []byte) {
	r.thread = nil
	if r.process == nil {
		r.begin(0)
	}
	if _, rest, ok := bytes.Cut(text, []byte("(")); ok {
		if n, _, ok := numbered(rest, ")"); ok {
			r.process.Stated = n
		}
	}
}

// inChannels parses a line of a list of waiting channels: "sysTid=4473      futex_wait_queue_me",
// and before them the process's name.
func (r *reader) inChannels(text []byte) {
	if _, kept := r.channels[r.waiting]; !kept {
		return
	}
	if name, ok := bytes.CutPrefix(text, []byte("Cmd line: ")); ok {
		r.commands[r.waiting] = r.command(name)
		return
	}
	number, name, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("sysTid=")), []byte(" "))
	tid, ok := digits(number)
	if !ok {
		return
	}
	if r.listedThreads++; r.listedThreads > MaxThreads {
		r.left.threads++
		return
	}
	r.channels[r.waiting] = append(r.channels[r.waiting], channel{tid, r.name(bytes.TrimSpace(name))})
}

// inProcess parses a line between a process's beginning and its threads: the runtime's own state.
func (r *reader) inProcess(text []byte) {
	p := r.process
	if name, ok := bytes.CutPrefix(text, []byte("Cmd line: ")); ok {
		p.Name = r.command(name)
		return
	}
	if build, ok := bytes.CutPrefix(text, []byte("Build fingerprint: ")); ok {
		r.build(build)
		return
	}
	if heap, ok := bytes.CutPrefix(text, []byte("Heap: ")); ok && p.Heap == nil {
		p.Heap = heapOf(string(heap[:min(len(heap), 200)]))
		return
	}
	r.exported(text)
}

// command returns a process's name from its command line, whose arguments are separated by zeros or
// blanks.
func (r *reader) command(text []byte) string {
	if i := bytes.IndexAny(text, "\x00 "); i >= 0 {
		text = text[:i]
	}
	return r.name(text)
}

// build keeps the first fingerprint.
func (r *reader) build(text []byte) {
	if r.dump.Build == "" {
		r.dump.Build = r.name(bytes.Trim(text, "' "))
	}
}

// name interns a text of the file.
func (r *reader) name(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if len(text) > maxName {
		r.left.names++
		text = text[:maxName]
	}
	if s, ok := r.names[string(text)]; ok {
		return s
	}
	if r.room+len(text)+nameCost > maxNames {
		r.left.names++
		return ""
	}
	r.room += len(text) + nameCost
	raw := string(text)
	s := strings.ToValidUTF8(raw, "\uFFFD")
	r.names[raw] = s
	return s
}

// finish ends what is still open, joins the channels with their threads and adds the warnings about
// what was left out.
func (r *reader) finish() {
	r.warnTorn()
	open := r.process != nil && r.framed
	lacks := r.process != nil && !r.framed && r.process.missingThreads() > 0 && r.left.threads == 0
	if r.waiting != 0 {
		r.dump.Cut = true
		r.warnings.Addf(r.number, "the file ends in a list of waiting channels: the lines after it are missing")
	}
	unclosed := r.dump.Form == XCrash && r.dump.Crash == nil && !r.closed && len(r.dump.Processes) > 0
	r.warnUnended()
	switch {
	case len(r.dump.Processes) == 0 && r.waiting == 0:
	case open:
		r.dump.Cut = true // the warning is already there
	case lacks || unclosed || broken(r.last):
		r.dump.Cut = true
		r.warnings.Addf(r.number, "the file ends in the middle of a dump: threads and processes after its last line are missing")
	}
	r.join()
	if d := &r.dump; len(d.Processes) == 1 && d.Processes[0].Name == "" && d.Processes[0].PID == 0 {
		d.Processes[0].Name = d.Process // of the head
	}
	if r.dump.Form == Tombstone && r.dump.Crash == nil {
		r.dump.Crash = r.dump.aborted()
	}
	if r.dump.Form == Android && r.dump.native() {
		r.dump.Form = Debuggerd
	}
	w := &r.warnings
	w.Counted(0, r.odd, "%d line of a thread is not understood", "%d lines of threads are not understood")
	w.Counted(0, r.left.parts, "%d part of the file counts as one with the one before: it may have %d", "%d parts of the file count as one with those before: it may have %d", maxParts)
	w.Counted(0, r.left.processes, "%d process is not kept: a dump may have %d", "%d processes are not kept: a dump may have %d", MaxProcesses)
	w.Counted(0, r.left.threads, "%d thread is not kept: a dump may have %d", "%d threads are not kept: a dump may have %d", MaxThreads)
	w.Counted(0, r.left.frames, "%d frame is not kept: a dump may have %d, a thread %d", "%d frames are not kept: a dump may have %d, a thread %d", MaxFrames, MaxStack)
	w.Counted(0, r.left.locks, "%d lock is not kept: a dump may have %d, a thread %d", "%d locks are not kept: a dump may have %d, a thread %d", MaxLocks, MaxStack)
	w.Counted(0, r.left.transactions, "%d transaction is not kept: a dump may have %d", "%d transactions are not kept: a dump may have %d", MaxTransactions)
	w.Counted(0, r.left.usages, "%d use of the CPUs is not kept: a dump may have %d", "%d uses of the CPUs are not kept: a dump may have %d", MaxUsages)
	w.Counted(0, r.left.names, "%d name is cut or left out: one may have %d bytes, all of them %d MiB", "%d names are cut or left out: one may have %d bytes, all of them %d MiB", maxName, maxNames>>20)
	r.dump.Warnings = w.List()
}

// list begins a list of waiting channels; the last one of a process counts.
func (r *reader) list(pid int) {
	if _, again := r.channels[pid]; !again {
		if len(r.listed) >= MaxProcesses {
			r.left.processes++
			return
		}
		r.listed = append(r.listed, listing{pid, r.number})
	}
	r.channels[pid] = nil
}

// join adds the waiting channels in separate lists to their threads. A process with only such a
// list has threads without frames.
func (r *reader) join() {
	there := map[int]bool{}
	for i := range r.dump.Processes {
		there[r.dump.Processes[i].PID] = true
	}
	for _, of := range r.listed {
		if there[of.pid] || len(r.channels[of.pid]) == 0 {
			continue
		}
		r.begin(of.pid)
		r.process.Name, r.process.Line = r.commands[of.pid], of.line
		for _, c := range r.channels[of.pid] {
			r.newThread(nil).TID = c.tid
		}
	}
	for i := range r.dump.Processes {
		p := &r.dump.Processes[i]
		names := map[int]string{}
		for _, c := range r.channels[p.PID] {
			names[c.tid] = c.name
		}
		for j := range p.Threads {
			p.Threads[j].Channel = names[p.Threads[j].TID]
		}
	}
}
