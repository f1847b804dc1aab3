package diagnosecmd

import (
	"bytes"
	"io"
	"regexp"
)

// kind is what a recording is read as, named after the readers of inspect.
type kind string

const (
	perfetto kind = "perfetto"
	systrace kind = "systrace"
	threads  kind = "anr"
	methods  kind = "art"
)

// headSize is how much of a recording is looked at to tell its kind.
const headSize = 64 << 10

// dump matches what a dump of threads has near its beginning: the line of a process, the
// head that ART and Dalvik write, or the first line of a thread, also as debuggerd,
// Google Play and Firebase have it.
var dump = regexp.MustCompile(`(?m)^[ \t]*(----- pid \d+ at |DALVIK THREADS|Cmd ?line: |# Crashlytics - |Subject: |== dumpstate: |".*"( daemon)? (prio|sysTid|tid)=|\*\*\* \*\*\* \*\*\* |pid: \d+(, tid: \d+, name: |  >>> )|.* \([a-z ]+\):tid=\d+ systid=\d+ )`)

// kindOf tells the kind of a recording by how it begins. A trace of packets begins with
// the tag of its first packet (field 1, length-delimited: perfetto_trace.proto) and holds
// bytes that no text has; a method trace begins with its version, SLOW or a block of entries; of
// texts, what is no dump of threads is a trace.
func kindOf(head []byte) kind {
	control := bytes.ContainsFunc(head, func(r rune) bool { return r < '\t' })
	switch {
	case bytes.HasPrefix(head, []byte("*version\n")) || bytes.HasPrefix(head, []byte("SLOW")) || len(head) > 0 && head[0] == 2:
		return methods
	case len(head) > 0 && head[0] == 0x0a && control:
		return perfetto
	case dump.Match(head):
		return threads
	}
	return systrace
}

// traced matches the beginning of what is a trace in text for certain: ftrace's and atrace's
// first line, and the page that systrace writes.
var traced = regexp.MustCompile(`(?i)^\s*(# tracer:|<!doctype html|<html|TRACE:)`)

// hasDump reports whether a text that begins otherwise holds a dump of threads further
// behind, as bug reports do, of whomever collected them.
func hasDump(in io.Reader, head []byte) (bool, error) {
	if traced.Match(head) {
		return false, nil
	}
	const longest = 64 // bytes of what is looked for, and more
	buffer := make([]byte, longest+headSize)
	kept := 0
	for {
		n, err := in.Read(buffer[kept:])
		text := buffer[:kept+n]
		for _, line := range []string{"\n----- pid ", "\nDALVIK THREADS", "------ VM TRACES "} {
			if bytes.Contains(text, []byte(line)) {
				return true, nil
			}
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buffer, text[max(len(text)-longest, 0):])
	}
}

// foreign are recordings that hold no trace and no dump in text, by how they begin, with
// what they are.
var foreign = []struct{ begins, is string }{
	{"MDMP", "a minidump, as Crashpad and Breakpad write it where a process crashes: it holds memory, and no stacks in text (minidump_stackwalk makes them)"},
	{"PMDM", "a minidump, as Crashpad and Breakpad write it where a process crashes: it holds memory, and no stacks in text (minidump_stackwalk makes them)"},
	{"JAVA PROFILE ", "a dump of the Java heap (hprof), which holds no stacks of threads that stood still"},
	{"arch: ", "the record of a crash, a tombstone in the text of its protocol buffer, and not of something that did not respond"},
	{"\x7fELF", "a program or a core dump in ELF, and no text"},
}

// foreignKind is what a recording is that can't be diagnosed, "" for none of these.
func foreignKind(head []byte) string {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.begins)) {
			return f.is
		}
	}
	return ""
}
