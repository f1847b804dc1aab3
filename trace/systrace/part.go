package systrace

import (
	"bytes"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// part is the part of a file that a line is in. systrace's HTML has the trace between lines of the
// viewer, and the output of ps before or after it.
type part int

const (
	unknown     part = iota // before the first line
	events                  // of the kernel: all of a text file
	outside                 // HTML
	data                    // the beginning of an embedded file, whose next lines identify it
	processes               // ps: USER PID PPID VSZ RSS WCHAN PC S NAME CMD
	threadsOfPS             // ps -T: USER PID TID CMD
	ignored                 // another embedded file
)

var (
	embedded  = []byte(`<script class="trace-data" type="application/text">`)
	scriptEnd = []byte("</script>")
	// older is how systrace embedded a trace until 2014: as a string of JavaScript, whose lines end
	// with "\n\".
	older    = []byte("linuxPerfData")
	olderEnd = []byte(`\n\`)
)

// line parses a line according to the part of the file that it is in.
func (r *reader) line(text []byte, number int) {
	if first := bytes.TrimSpace(text); r.part == unknown && len(first) > 0 {
		r.part = events
		if _, event := parse(text); first[0] == '<' && !event { // it may be "<idle>-0 …"
			r.part = outside
		}
	}
	switch {
	case r.part == outside:
		if bytes.Contains(text, embedded) {
			r.part = data
		} else if bytes.Contains(text, older) {
			r.part = events
		}
	case r.part != unknown && bytes.Contains(text, scriptEnd):
		r.part = outside
	case r.part == events:
		r.event(bytes.TrimSuffix(text, olderEnd), number)
	case r.part == data:
		r.part = partOf(text)
	case r.part == processes || r.part == threadsOfPS:
		r.ps(text)
	}
}

// partOf identifies an embedded file by one of its first lines.
func partOf(text []byte) part {
	switch {
	case bytes.HasPrefix(text, []byte("#")) && bytes.Contains(text, []byte("TASK-PID")):
		return events
	case bytes.HasPrefix(text, []byte("PROCESS DUMP")):
		return processes
	case bytes.HasPrefix(text, []byte("CGROUP DUMP")):
		return ignored
	}
	return data
}

// ps parses a line of ps's output.
func (r *reader) ps(text []byte) {
	words := bytes.Fields(text)
	if len(words) < 4 {
		return
	}
	if string(words[0]) == "USER" && string(words[1]) == "PID" {
		r.part = processes
		if string(words[2]) == "TID" {
			r.part = threadsOfPS
		}
		return
	}
	pid, pidOK := number32(words[1])
	second, secondOK := number32(words[2])
	switch {
	case !pidOK || !secondOK:
	case r.part == threadsOfPS:
		r.threadOf(second, pid, packets.Name(bytes.Join(words[3:], []byte(" "))))
	case len(words) >= 10:
		r.process(pid, second, words[8])
	}
}

func number32(text []byte) (int32, bool) {
	v, err := strconv.ParseUint(string(text), 10, 31)
	return int32(v), err == nil
}

// task parses a line of a list of the files of /proc, "/proc/123/task/124", which atrace's own
// script keeps with a trace.
func (r *reader) task(text []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(text, []byte("/")), []byte("proc/"))
	if !ok {
		return false
	}
	pid, tid, _ := bytes.Cut(rest, []byte("/task/"))
	process, ok := number32(pid)
	thread, whole := number32(tid)
	if !ok || !whole {
		return false
	}
	r.threadOf(thread, process, "")
	return true
}

// threadOf reports a thread and its process to the readers.
func (r *reader) threadOf(tid, pid int32, name string) {
	r.seen.tasks++
	if r.feed.Asked(0) {
		r.feed.Event(packets.Event{At: r.now(), TID: tid, Writer: &packets.Writer{Name: name, PID: pid}})
	}
}

// now returns the time for input without a time: after all events before it.
func (r *reader) now() time.Duration { return time.Duration(r.seen.last + 1) }

// process reports a process and its parent to the readers, as a packet does.
func (r *reader) process(pid, parent int32, name []byte) {
	r.seen.tasks++
	var process, tree []byte
	process = protowire.AppendVarint(protowire.AppendTag(process, field.TreeProcessPID, protowire.VarintType), uint64(pid))
	process = protowire.AppendVarint(protowire.AppendTag(process, field.TreeProcessPpid, protowire.VarintType), uint64(parent))
	process = protowire.AppendBytes(protowire.AppendTag(process, field.TreeProcessCmdline, protowire.BytesType), name)
	tree = protowire.AppendBytes(protowire.AppendTag(tree, field.ProcessTreeProcesses, protowire.BytesType), process)
	r.feed.Packet(field.PacketProcessTree, r.now(), tree)
}
