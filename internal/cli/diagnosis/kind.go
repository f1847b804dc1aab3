package diagnosis

import (
	"bytes"
	"regexp"
)

// kind is what a recording is read as, named after the readers of inspect.
type kind string

const (
	perfetto kind = "perfetto"
	systrace kind = "systrace"
	threads  kind = "anr"
)

// headSize is how much of a recording is looked at to tell its kind.
const headSize = 64 << 10

// dump matches what a dump of threads has near its beginning: the line of a process, the
// head that ART and Dalvik write, or the first line of a thread, also as debuggerd,
// Google Play and Firebase have it.
var dump = regexp.MustCompile(`(?m)^(----- pid \d+ at |DALVIK THREADS|Cmd ?line: |Subject: |".*"( daemon)? (prio|sysTid|tid)=|\*\*\* \*\*\* \*\*\* |pid: \d+, tid: \d+, name: |.* \([a-z ]+\):tid=\d+ systid=\d+ )`)

// kindOf tells the kind of a recording by how it begins. A trace of packets begins with
// the tag of its first packet (field 1, length-delimited: perfetto_trace.proto) and holds
// bytes that no text has; of texts, what is no dump of threads is a trace.
func kindOf(head []byte) kind {
	control := bytes.ContainsFunc(head, func(r rune) bool { return r < '\t' })
	switch {
	case len(head) > 0 && head[0] == 0x0a && control:
		return perfetto
	case dump.Match(head):
		return threads
	}
	return systrace
}
