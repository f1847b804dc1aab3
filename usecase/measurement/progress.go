package measurement

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Progress shows the progress of a collection: on a terminal one changing line, in a log a line for
// each run. It receives one event at a time.
type Progress struct {
	w         io.Writer
	terminal  bool
	width     int
	runs      int
	done      int
	failed    int
	repsDone  int
	repsTotal int
	drawn     bool
	now       func() time.Time
	began     time.Time
	said      time.Time       // when the last line was written
	warned    map[string]bool // each warning is shown once, of the first device
	networks  []string        // of the jobs; nil if they have the same
}

// NewProgress shows the progress of jobs.
func NewProgress(c terminal.Console, jobs []collect.Job) *Progress {
	p := &Progress{warned: map[string]bool{}, now: c.Now, began: c.Now(), said: c.Now(), w: c.Stderr, terminal: c.ProgressTerminal, width: c.Width, runs: len(jobs)}
	if p.width == 0 {
		p.width = 80
	}
	several := false
	for _, j := range jobs {
		p.repsTotal += j.Scenario.Repetitions
		p.networks = append(p.networks, j.Network)
		several = several || j.Network != jobs[0].Network
	}
	if !several {
		p.networks = nil
	}
	return p
}

// Report receives an event of a device.
func (p *Progress) Report(e journal.Event) {
	switch e.Phase {
	case journal.Warned:
		if !p.warned[e.Message] {
			p.warned[e.Message] = true
			p.line(fmt.Sprintf("warning: %s: %s", terminal.Plain(e.Device), terminal.Plain(e.Message)))
		}
	case journal.Waiting:
		p.line(fmt.Sprintf("%s %s", terminal.Plain(e.Device), terminal.Plain(e.Message)))
	case journal.Measure:
		p.repsDone++
		p.draw(fmt.Sprintf("%s: repetition %d of %d", terminal.Plain(e.Device), e.Repetition, e.Repetitions))
	case journal.Settle:
		p.draw(fmt.Sprintf("%s: resting, %s", terminal.Plain(e.Device), terminal.Plain(e.Message)))
	case journal.Done:
	default:
		what := string(e.Phase)
		if e.Message != "" {
			what = e.Message
		}
		p.draw(fmt.Sprintf("%s: %s", terminal.Plain(e.Device), terminal.Plain(what)))
	}
}

// Finished receives each finished run, and the index of its job.
func (p *Progress) Finished(job int, r collect.Result) {
	p.done++
	scenario := terminal.Plain(r.Run.Scenario)
	if p.networks != nil && p.networks[job] != "" {
		scenario += " over " + terminal.Plain(p.networks[job])
	}
	if r.Err != nil {
		p.failed++
		why := terminal.Plain(r.Err.Error())
		if errors.Is(r.Err, context.Canceled) {
			why = "interrupted"
		}
		p.line(fmt.Sprintf("%s: the run of %s is %s: %s", terminal.Plain(r.Device), scenario, r.Run.Status, why))
		return
	}
	if p.terminal {
		p.draw(terminal.Plain(r.Device) + ": done")
		return
	}
	p.line(fmt.Sprintf("run %d of %d: %s, %s, %s", p.done, p.runs, terminal.Plain(r.Device), scenario, prose.Count(len(r.Run.Iterations), "repetition", "repetitions")))
}

// longestSilence is how long a log may be silent: some CI systems end a job that is silent for ten
// minutes.
const longestSilence = time.Minute

// roomForBar is the minimum width of a terminal for a bar next to words.
const roomForBar = 72

// draw shows the changing line; a log gets a line now and then.
func (p *Progress) draw(what string) {
	if !p.terminal {
		if p.now().Sub(p.said) >= longestSilence {
			p.line(fmt.Sprintf("%s (%s)", what, p.times()))
		}
		return
	}
	line := fmt.Sprintf("%d of %d runs, %s, %s", p.done, p.runs, p.times(), what)
	if p.width >= roomForBar { // words come first
		if cells := min(mostCells, p.width-len([]rune(line))-len("[] ")-1); cells >= leastCells {
			line = bar(p.repsDone, p.repsTotal, cells) + " " + line
		}
	}
	if runes := []rune(line); len(runes) >= p.width {
		line = string(runes[:p.width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	p.drawn = true
}

// times returns how long the measurement has taken, and about how long it will: "2m10s, about 4m
// left". The rest is estimated once a repetition is over, by what each has taken so far with all that
// belongs to it.
func (p *Progress) times() string {
	passed := p.now().Sub(p.began)
	over := p.repsDone - 1 // the last one is under way
	if over < 1 || over >= p.repsTotal {
		return rough(passed)
	}
	left := passed * time.Duration(p.repsTotal-over) / time.Duration(over)
	return rough(passed) + ", about " + rough(left) + " left"
}

// rough returns a duration in seconds, from ten minutes on in minutes.
func rough(d time.Duration) string {
	unit := time.Second
	if d >= 10*time.Minute {
		unit = time.Minute
	}
	return prose.Duration(d.Round(unit))
}

// line writes a permanent line.
func (p *Progress) line(text string) {
	p.Clear()
	p.said = p.now()
	fmt.Fprintln(p.w, text)
}

// Clear removes the changing line.
func (p *Progress) Clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// A bar has so many cells.
const (
	leastCells = 5
	mostCells  = 20
)

func bar(done, total, width int) string {
	filled := width
	if total > 0 {
		filled = min(width, width*done/total)
	}
	return "[" + strings.Repeat("█", filled) + strings.Repeat("·", width-filled) + "]"
}
