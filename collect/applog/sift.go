package applog

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Sifted is the content of the log about one repetition.
type Sifted struct {
	UI []logcat.Event // sorted by time
	// Began is when the app's first activity was started, or the test's first event, whichever came
	// first, on CLOCK_MONOTONIC; 0: neither was seen.
	Began     time.Duration
	Anomalies []Anomaly
	Startup   time.Duration // until the first activity was drawn; 0: not seen
	FullStart time.Duration // until the app reported itself as fully drawn; 0: not seen
	PIDs      []int         // of the app's processes that were started
	crash     *logcat.Event
	died      *logcat.Event
	anr       *logcat.Event
}

// App selects the app's events.
type App struct {
	Package string
	PIDs    map[int]bool  // of its processes that were seen
	Alive   time.Duration // until when the app had to live, on CLOCK_MONOTONIC
	// WritesUI reports that the test has written UI events: the system's log of touches replaces
	// them only until then.
	WritesUI *bool
}

// Sift extracts what the log has about the app.
func (l *Log) Sift(app App) Sifted {
	var out Sifted
	var input []logcat.Event
	began := time.Duration(0)
	begins := func(at time.Duration) {
		if began == 0 || at < began {
			began = at
		}
	}
	events := l.Events()
	out.Anomalies = systemEnded(events)
	for _, e := range events {
		own := isOf(e.Process, app.Package) || e.Process == "" && app.PIDs[e.PID]
		if a, ok := ofEvent(e); ok && own {
			out.Anomalies = append(out.Anomalies, a)
		}
		switch {
		case e.Kind == logcat.UIEvent:
			out.UI = append(out.UI, e)
			begins(e.Time)
		case !own:
		case e.Kind == logcat.Input:
			e.Name = "input " + e.Name[strings.LastIndexAny(e.Name, "/.")+1:]
			input = append(input, e)
		case e.Kind == logcat.Begun:
			out.PIDs = append(out.PIDs, e.PID)
		case e.Kind == logcat.ANR:
			out.anr = &e
		case e.Kind == logcat.Crash && out.crash == nil:
			out.crash = &e
		case e.Kind == logcat.Died && e.Process == app.Package && e.Time < app.Alive && out.died == nil:
			out.died = &e
		case e.Kind == logcat.Displayed && out.Startup == 0:
			out.Startup = e.Duration
			begins(e.Time - e.Duration)
		case e.Kind == logcat.FullyDrawn && out.FullStart == 0:
			out.FullStart = e.Duration
		}
	}
	if !l.Aligned && len(out.UI)+len(input) > 0 {
		l.target.Journal.Warnf("the log's clock could not be lined up with the frames' clock: the frames are in one bucket")
		out.UI = nil
		return out
	}
	if l.Aligned {
		out.Began = began
	}
	*app.WritesUI = *app.WritesUI || len(out.UI) > 0
	if !*app.WritesUI && len(input) > 0 {
		l.target.Journal.Warnf("the test writes no UI events (log tag %q): taken from the input events that the system logs, which only distinguish touches of one window from another's", logcat.Tag)
		out.UI = input
	}
	return out
}

// Loss returns why the repetition is lost by the workload's end and the log, nil if it is not. An
// ANR that the app survived is a measurement.
func (s Sifted) Loss(ended error) error {
	switch {
	case s.crash != nil && errors.Is(ended, loss.ErrCrashed):
		return fmt.Errorf("%w (%s)", ended, journal.Line(s.crash.Detail))
	case s.crash != nil:
		return fmt.Errorf("%w: %s", loss.ErrCrashed, journal.Line(s.crash.Detail))
	case errors.Is(ended, loss.ErrTimeout) && s.anr != nil:
		return fmt.Errorf("%w; the app does not respond: %s", ended, journal.Line(s.anr.Detail))
	case ended != nil:
		return ended
	case s.died != nil && s.anr != nil:
		return fmt.Errorf("%w after an ANR: %s", loss.ErrDied, journal.Line(s.anr.Detail))
	case s.died != nil:
		return fmt.Errorf("%w while the workload ran", loss.ErrDied)
	}
	return nil
}
