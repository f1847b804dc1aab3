package logcat

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace"
)

// maxEntries limits one log.
const maxEntries = 5_000_000

// Read reads a log. It returns an error only for failed or oversized input; a line that is not an
// entry is a warning.
func Read(r io.Reader) (Log, error) {
	var out Log
	var warnings trace.Warnings
	lines := trace.NewLines(r)
	long := -1 // the entry of -v long whose message the lines belong to
	var place place
	for lines.Next() {
		line := lines.Text()
		if !place.inLog(line) {
			continue
		}
		if lines.Cut() {
			warnings.Addf(lines.Number(), "the line is longer than %d MiB: its rest is not read", trace.MaxLine>>20)
		}
		e, kind := parse(string(line))
		switch {
		case kind == isEntry || kind == isLongHead:
			if len(out.Entries) == maxEntries {
				warnings.Addf(lines.Number(), "more than %d entries: the rest is not read", maxEntries)
				out.Warnings = warnings.List()
				return out, nil
			}
			e.Line = lines.Number()
			out.Entries = append(out.Entries, e)
			long = -1
			if kind == isLongHead {
				long = len(out.Entries) - 1
			}
		case kind == isRuler:
			long = -1
		case long >= 0:
			addLong(&out.Entries[long], string(bytes.TrimSpace(line)))
		case kind == isOther:
			warnings.Addf(lines.Number(), "%s is no entry of a log", trace.Quote(line))
		}
	}
	out.Warnings = warnings.List()
	return out, lines.Err()
}

// place is the position in a file: within a log, or in a section of a bug report, whose other
// sections have lines that resemble a log's.
type place struct{ report, log bool }

// inLog advances to a line and reports whether it is part of a log. A bug report begins with "==
// dumpstate: …", and each of its sections with "------ NAME (COMMAND) ------"
// (frameworks/native/cmds/dumpstate).
func (p *place) inLog(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte("== dumpstate: ")):
		p.report, p.log = true, false
	case p.report && bytes.HasPrefix(line, []byte("------ ")):
		p.log = bytes.Contains(line, []byte("logcat ")) && !trace.ClosesService(line)
	}
	return !p.report || p.log
}

// maxLong limits the message of one entry of -v long, which spans lines.
const maxLong = 64 << 10

func addLong(e *Entry, line string) {
	if line == "" || len(e.Message)+len(line) > maxLong {
		return
	}
	if e.Message != "" {
		e.Message += "\n"
	}
	e.Message += line
}

type kind int

const (
	isOther kind = iota
	isEntry
	isLongHead // -v long: the message follows on its own lines
	isRuler    // "--------- beginning of main"
	isBlank
)

// parse returns the kind of a line, and the entry if it is one.
func parse(line string) (Entry, kind) {
	rest := strings.TrimLeft(line, " \t")
	switch {
	case rest == "":
		return Entry{}, isBlank
	case strings.HasPrefix(rest, "-----"), strings.HasPrefix(rest, "====="): // the latter begins a bug report
		return Entry{}, isRuler
	case strings.HasPrefix(rest, "[ "):
		return parseLong(rest)
	}
	var e Entry
	if rest[0] >= '0' && rest[0] <= '9' {
		var ok bool
		if e.Clock, e.Time, rest, ok = cutTime(rest); !ok {
			return Entry{}, isOther
		}
	}
	if parseBrief(&e, rest) || e.Clock != NoClock && parseThreadtime(&e, rest) {
		return e, isEntry
	}
	return Entry{}, isOther
}

// priorities are the letters that logcat prints.
const priorities = "VDIWEFAS"

// parseThreadtime parses "[UID] PID TID P TAG: MESSAGE".
func parseThreadtime(e *Entry, rest string) bool {
	var numbers [3]string
	for n := 0; n <= len(numbers); n++ {
		word, after := cutWord(rest)
		if len(word) == 1 && n >= 2 && strings.Contains(priorities, word) {
			e.App = n == 3 && isApp(numbers[0])
			return e.setIDs(numbers[n-2], numbers[n-1]) && e.setMessage(word[0], after)
		}
		if word == "" || n == len(numbers) {
			return false
		}
		numbers[n], rest = word, after
	}
	return false
}

// isApp reports whether a UID, such as "10120", "u0_a120" or "root", is an app's.
func isApp(uid string) bool {
	uid = strings.TrimSuffix(uid, ":")
	const perUser, firstApp = 100_000, 10_000 // android.os.UserHandle, android.os.Process
	if n, err := strconv.ParseUint(uid, 10, 31); err == nil {
		return n%perUser >= firstApp
	}
	user, _, found := strings.Cut(uid, "_")
	_, err := strconv.ParseUint(strings.TrimPrefix(user, "u"), 10, 31)
	return found && strings.HasPrefix(user, "u") && err == nil
}

func (e *Entry) setIDs(pid, tid string) bool {
	var errPID, errTID error
	e.PID, errPID = strconv.Atoi(strings.TrimSuffix(pid, ":"))
	e.TID, errTID = strconv.Atoi(tid)
	return errPID == nil && errTID == nil
}

// setMessage parses "TAG: MESSAGE"; the tag may be padded with spaces.
func (e *Entry) setMessage(priority byte, text string) bool {
	tag, message, found := strings.Cut(text, ": ")
	if !found {
		if tag, found = strings.CutSuffix(text, ":"); !found {
			return false
		}
	}
	e.Priority, e.Tag, e.Message = priority, strings.TrimSpace(tag), message
	return true
}

// parseBrief parses "P/TAG( PID): MESSAGE", or without a PID "P/TAG: MESSAGE".
func parseBrief(e *Entry, rest string) bool {
	if len(rest) < 3 || rest[1] != '/' || !strings.Contains(priorities, rest[:1]) {
		return false
	}
	priority, text := rest[0], rest[2:]
	if end := strings.Index(text, "): "); end >= 0 {
		if open := strings.LastIndexByte(text[:end], '('); open >= 0 {
			if pid, err := strconv.Atoi(strings.TrimSpace(text[open+1 : end])); err == nil {
				e.PID, e.Priority = pid, priority
				e.Tag, e.Message = strings.TrimSpace(text[:open]), text[end+3:]
				return true
			}
		}
	}
	return e.setMessage(priority, text)
}

// parseLong parses "[ 03-17 16:13:38.811  1702: 2395 D/TAG ]".
func parseLong(line string) (Entry, kind) {
	var e Entry
	rest, closed := strings.CutSuffix(strings.TrimRight(line, " "), "]")
	rest = strings.TrimSpace(strings.TrimPrefix(rest, "["))
	var ok bool
	if e.Clock, e.Time, rest, ok = cutTime(rest); !closed || !ok {
		return Entry{}, isOther
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 1 || !strings.Contains(priorities, rest[slash-1:slash]) {
		return Entry{}, isOther
	}
	e.Priority, e.Tag = rest[slash-1], strings.TrimSpace(rest[slash+1:])
	words := strings.Fields(strings.ReplaceAll(rest[:slash-1], ":", " "))
	if n := len(words); n < 2 || !e.setIDs(words[n-2], words[n-1]) {
		return Entry{}, isOther
	}
	return e, isLongHead
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " ")
	if i := strings.IndexByte(s, ' '); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// cutTime parses the time at the beginning of a line: "03-17 16:13:38.811", "2026-03-17
// 16:13:38.811 +0100", or seconds with a fraction.
func cutTime(s string) (Clock, time.Duration, string, bool) {
	word, rest := cutWord(s)
	if whole, fraction, found := strings.Cut(word, "."); found {
		t, ok := seconds(whole, fraction)
		clock := Monotonic
		if t >= 1e9*time.Second { // 31 years after boot, or 2001
			clock = Epoch
		}
		return clock, t, rest, ok
	}
	year, day, withYear := "2000", word, false
	if strings.Count(word, "-") == 2 {
		year, day, withYear = word[:strings.IndexByte(word, '-')], word[strings.IndexByte(word, '-')+1:], true
	}
	hour, rest := cutWord(rest)
	at, err := time.Parse("2006-01-02 15:04:05", year+"-"+day+" "+hour) // accepts a fraction too
	if err != nil {
		return NoClock, 0, s, false
	}
	if zone, after := cutWord(rest); len(zone) == 5 && (zone[0] == '+' || zone[0] == '-') {
		rest = after
	}
	if withYear {
		return Wall, at.Sub(time.Unix(0, 0)), rest, true
	}
	return Wall, at.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), rest, true
}

// seconds parses a number of seconds and its decimal fraction.
func seconds(whole, fraction string) (time.Duration, bool) {
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || s < 0 || s > 9_000_000_000 || len(fraction) == 0 || len(fraction) > 9 {
		return 0, false
	}
	n, err := strconv.ParseUint(fraction, 10, 32)
	if err != nil {
		return 0, false
	}
	for range 9 - len(fraction) {
		n *= 10
	}
	return time.Duration(s)*time.Second + time.Duration(n), true
}
