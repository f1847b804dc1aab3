package avd

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/apkgate/apkgate/internal/prose"
)

// Limits on the log that is kept: the emulator prints as long as it runs.
const (
	mostLine  = 2 << 10 // bytes of one line; the rest is dropped
	firstSeen = 200     // first lines, with the failures of the start
	lastSeen  = 100     // last lines, with the reason of the exit
)

// logLine is a line of the emulator's log.
type logLine struct {
	level string // "ERROR", "FATAL", "PANIC", "WARNING", "INFO"…, "" for none
	text  string
}

// levels matches the emulator's log levels: "emulator: ERROR: " up to 30, "ERROR   | " from 31
// and "ERROR        | " from 35.3 on; "PANIC: " always. A line of a CI log begins with a time.
var levels = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\dT[0-9:.]+Z )?(?:emulator: +)?(?:([A-Z_]{4,12}) *\| *|(ERROR|WARNING|INFO|PANIC|FATAL): +)?(.*)$`)

// colors matches the escape sequences that newer versions put around levels, even without a
// terminal.
var colors = regexp.MustCompile("\x1b\\[[0-9;]{0,10}m")

func parseLogLine(line string) logLine {
	line = strings.TrimRight(colors.ReplaceAllString(line, ""), "\r\n ")
	m := levels.FindStringSubmatch(line)
	if m == nil {
		return logLine{text: line}
	}
	return logLine{m[1] + m[2], m[3]}
}

// log receives the emulator's output. It accepts every line and keeps some.
type log struct {
	seen  func(logLine) // called with each line
	mu    sync.Mutex
	part  []byte // of an unfinished line
	first []logLine
	last  []logLine
}

// Write receives the emulator's output. It never fails.
func (g *log) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		g.add(line, ended)
		p = rest
	}
	return n, nil
}

func (g *log) add(part []byte, ended bool) {
	g.mu.Lock()
	room := max(0, mostLine-len(g.part))
	g.part = append(g.part, part[:min(len(part), room)]...)
	if !ended {
		g.mu.Unlock()
		return
	}
	line := parseLogLine(strings.ToValidUTF8(string(g.part), "�"))
	g.part = g.part[:0]
	switch {
	case len(g.first) < firstSeen:
		g.first = append(g.first, line)
	default:
		g.last = append(g.last, line)
		if len(g.last) > 2*lastSeen {
			g.last = append(g.last[:0], g.last[len(g.last)-lastSeen:]...)
		}
	}
	g.mu.Unlock()
	g.seen(line)
}

// lines returns the lines that were kept.
func (g *log) lines() []logLine {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append(append([]logLine{}, g.first...), g.last[max(0, len(g.last)-lastSeen):]...)
}

// grave reports whether a line is an error.
func (l logLine) grave() bool { return l.level == "ERROR" || l.level == "FATAL" || l.level == "PANIC" }

// lastWords returns the emulator's last error line, or else its last line.
func (g *log) lastWords() string {
	var last, grave string
	for _, l := range g.lines() {
		text := prose.OneLine(l.text)
		if text == "" {
			continue
		}
		last = text
		if l.grave() {
			grave = text
		}
	}
	const most = 300
	return prose.Clip(cmp.Or(grave, last), most)
}
