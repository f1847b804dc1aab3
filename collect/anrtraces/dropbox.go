package anrtraces

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/run"
)

// entry is an entry of the drop box.
type entry struct {
	tag, text string
	// process, pid and subject are from its head: "" if missing.
	process, pid, subject string
	taken                 bool
}

// maxEntries limits the entries that are read: the drop box may hold a thousand.
const maxEntries = 200

// heads matches the lines that begin an entry, "2026-11-22 23:02:11 data_app_anr (compressed text,
// 4711 bytes)" below a line of "=" (DropBoxManagerService.dump).
var heads = regexp.MustCompile(`(?m)^={40}\n(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) ([\w-]{1,100}) \(.{1,100}\)\n`)

// entriesOf returns the drop box entries between two times, by the device's wall clock, sorted by
// time: the last maxEntries of them.
func entriesOf(text string, from, to time.Time) (out []entry) {
	at := heads.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		when, err := time.Parse(time.DateTime, text[m[2]:m[3]])
		if err != nil || when.Before(from) || when.After(to) {
			continue
		}
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		if end-m[1] > maxDump {
			continue
		}
		e := entry{tag: text[m[4]:m[5]], text: strings.TrimRight(text[m[1]:end], "\n") + "\n"}
		e.process, e.pid, e.subject = e.head("Process"), e.head("PID"), e.head("Subject")
		out = append(out, e)
	}
	return out[max(len(out)-maxEntries, 0):]
}

// head returns the value of a header at the beginning of an entry; an empty line ends the headers.
func (e entry) head(of string) string {
	for line := range strings.Lines(e.text) {
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, of+": "); ok {
			return value
		}
	}
	return ""
}

// assign assigns an entry to each ANR that has none yet: one of the same process, and of the same
// subject if there is one.
func assign(box []entry, anrs []run.ANR, texts [][]byte) {
	for _, alike := range []bool{true, false} {
		for i, a := range anrs {
			for k := range box {
				if e := &box[k]; texts[i] == nil && !e.taken && e.isOf(a) && (!alike || journal.Line(e.subject) == a.Reason) {
					e.taken, texts[i] = true, []byte(e.text)
				}
			}
		}
	}
}

// isOf reports whether an entry may be of an ANR. Before Android 8 it has no pid.
func (e entry) isOf(a run.ANR) bool {
	watchdog := strings.HasSuffix(e.tag, "_watchdog")
	if watchdog || a.Kind == run.SNR {
		return watchdog && a.Kind == run.SNR
	}
	return e.process == a.Process && (e.pid == "" || e.pid == fmt.Sprint(a.PID))
}
