package systrace

import (
	"bytes"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// part is where in a file a line stands. systrace's HTML has the trace between lines of
// the viewer, and what ps printed before or after it.
type part int

const (
	unknown     part = iota // the first line tells
	events                  // of the kernel, as the whole of a text is
	outside                 // HTML
	data                    // the beginning of an embedded file, whose next lines tell what it is
	processes               // ps: USER PID PPID VSZ RSS WCHAN PC S NAME CMD
	threadsOfPS             // ps -T: USER PID TID CMD
	ignored                 // another embedded file
)

var (
	embedded  = []byte(`<script class="trace-data" type="application/text">`)
	scriptEnd = []byte("</script>")
	// older is how systrace embedded a trace until 2014: as a string of JavaScript, whose
	// lines end with "\n\".
	older    = []byte("linuxPerfData")
	olderEnd = []byte(`\n\`)
)

// line reads a line by the part of the file that it stands in.
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

// partOf is what an embedded file is by one of its first lines.
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

// ps reads a line of what ps printed.
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
		r.belongs(second, pid, packets.Name(bytes.Join(words[3:], []byte(" "))))
	case len(words) >= 10:
		r.process(pid, second, words[8])
	}
}

func number32(text []byte) (int32, bool) {
	v, err := strconv.ParseUint(string(text), 10, 31)
	return int32(v), err == nil
}

// task reads a line of a list of the files of /proc, "/proc/123/task/124", which atrace's
// own script keeps with a trace.
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
	r.belongs(thread, process, "")
	return true
}

// belongs tells of a thread and its process.
func (r *reader) belongs(tid, pid int32, name string) {
	r.seen.tasks++
	if r.feed.Asked(0) {
		r.feed.Event(packets.Event{At: r.now(), TID: tid, Writer: &packets.Writer{Name: name, PID: pid}})
	}
}

// now is the time of what bears none: behind all events that stand before it.
func (r *reader) now() time.Duration { return time.Duration(r.seen.last + 1) }

// process tells of a process and its parent, as a packet does.
func (r *reader) process(pid, parent int32, name []byte) {
	r.seen.tasks++
	var process, tree []byte
	process = protowire.AppendVarint(protowire.AppendTag(process, field.TreeProcessPID, protowire.VarintType), uint64(pid))
	process = protowire.AppendVarint(protowire.AppendTag(process, field.TreeProcessPpid, protowire.VarintType), uint64(parent))
	process = protowire.AppendBytes(protowire.AppendTag(process, field.TreeProcessCmdline, protowire.BytesType), name)
	tree = protowire.AppendBytes(protowire.AppendTag(tree, field.ProcessTreeProcesses, protowire.BytesType), process)
	r.feed.Packet(field.PacketProcessTree, r.now(), tree)
}
