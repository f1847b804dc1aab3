package diagnosecmd

import (
	"bytes"
	"io"
	"regexp"

	"github.com/apkgate/apkgate/trace/tasks/fridatasks"
)

// kind is a kind of recording, named after the readers of inspect.
type kind string

const (
	perfetto kind = "perfetto"
	systrace kind = "systrace"
	threads  kind = "anr"
	methods  kind = "art"
	tasks    kind = "tasks"
)

// headSize is how much of a recording is read to detect its kind.
const headSize = 64 << 10

// dump matches what a thread dump has near its beginning: the line of a process, the head that ART
// and Dalvik write, or the first line of a thread, also in the forms of debuggerd, Google Play and
// Firebase.
var dump = regexp.MustCompile(`(?m)^[ \t]*(----- pid \d+ at |DALVIK THREADS|Cmd ?line: |# Crashlytics - |Subject: |== dumpstate: |".*"( daemon)? (prio|sysTid|tid)=|\*\*\* \*\*\* \*\*\* |pid: \d+(, tid: \d+, name: |  >>> )|.* \([a-z ]+\):tid=\d+ systid=\d+ )`)

// kindOf detects the kind of a recording by its beginning. A trace of packets begins with the tag
// of its first packet (field 1, length-delimited: perfetto_trace.proto) and contains bytes that no
// text has; a method trace begins with its version, SLOW or a block of entries; a text that is no
// thread dump is a trace.
func kindOf(head []byte) kind {
	control := bytes.ContainsFunc(head, func(r rune) bool { return r < '\t' })
	switch {
	case fridatasks.Reads(head):
		return tasks
	case bytes.HasPrefix(head, []byte("*version\n")) || bytes.HasPrefix(head, []byte("SLOW")) || len(head) > 0 && head[0] == 2:
		return methods
	case len(head) > 0 && head[0] == 0x0a && control:
		return perfetto
	case dump.Match(head):
		return threads
	}
	return systrace
}

// traced matches the beginning of a definite text trace: ftrace's and atrace's first line, and the
// page that systrace writes.
var traced = regexp.MustCompile(`(?i)^\s*(# tracer:|<!doctype html|<html|TRACE:)`)

// hasDump reports whether a text that begins otherwise contains a thread dump further on, as all
// bug reports do.
func hasDump(in io.Reader, head []byte) (bool, error) {
	if traced.Match(head) {
		return false, nil
	}
	const longest = 64 // bytes of the longest pattern, and more
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

// foreign are recordings without a trace or a text dump, by their beginnings, with what they are.
var foreign = []struct{ begins, is string }{
	{"MDMP", "a minidump, as Crashpad and Breakpad write it where a process crashes: it contains memory, and no stacks in text (minidump_stackwalk makes them)"},
	{"PMDM", "a minidump, as Crashpad and Breakpad write it where a process crashes: it contains memory, and no stacks in text (minidump_stackwalk makes them)"},
	{"JAVA PROFILE ", "a dump of the Java heap (hprof), which has no stacks of blocked threads"},
	{"arch: ", "the record of a crash, a tombstone in the text of its protocol buffer, and not of something that did not respond"},
	{"\x7fELF", "a program or a core dump in ELF, and no text"},
}

// foreignKind returns what a recording that can't be diagnosed is, "" for none of these.
func foreignKind(head []byte) string {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.begins)) {
			return f.is
		}
	}
	return ""
}
