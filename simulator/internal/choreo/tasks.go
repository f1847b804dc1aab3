package choreo

import (
	"cmp"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/dispatch"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// dispatch plays the app's asynchronous tasks: those on the UI thread hold up frames, and what a
// task shows is drawn once the UI thread has its message.
func (s *stage) dispatch(begin time.Duration, sc simapp.Scenario) {
	if len(s.app.Tasks) == 0 {
		return
	}
	play := dispatch.Play{App: s.app, Speed: s.factor / cmp.Or(s.c.Loads.CPU, 1), Loads: s.c.Loads, Random: s.c.Tasks}
	switch {
	case s.c.Start != Shows:
		play.Marks = append(play.Marks, dispatch.Mark{At: begin, Event: simapp.StartEvent})
	case len(sc.Events) == 0:
		play.Marks = append(play.Marks, dispatch.Mark{Event: simapp.TouchEvent})
	}
	for _, m := range s.perf.Marks {
		play.Marks = append(play.Marks, dispatch.Mark{At: m.At, Event: m.Event.Name})
	}
	for _, b := range s.perf.Blocks {
		play.Holds = append(play.Holds, timeline.Interval{From: b.At, To: b.At + b.For})
	}
	s.perf.Tasks = dispatch.Tasks(play)
	for _, t := range s.perf.Tasks {
		if t.Unit.Kind != simapp.MainThread || t.Thread == "" {
			continue
		}
		s.perf.Blocks = append(s.perf.Blocks, Block{At: t.Started, For: t.Done - t.Started, Task: t.What})
		if t.Shows {
			s.animate(t.Done, t.What.Shows)
		}
	}
}
