package phone

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// runTasks makes the threads of a process run the asynchronous tasks of a performance that began
// at a time. Those on the UI thread are among its blocks.
func (p *Phone) runTasks(pr *process, tasks []timeline.Task, began time.Duration) {
	for _, t := range tasks {
		t.PID = int32(pr.PID)
		for _, at := range []*time.Duration{&t.Scheduled, &t.Started, &t.Worked, &t.Done, &t.Removed, &t.Gone} {
			if *at > 0 || at == &t.Scheduled {
				*at += began
			}
		}
		switch {
		case t.Unit.Kind == simapp.MainThread:
			t.TID = t.PID
		case t.Thread != "" && pr.usage != nil:
			t.TID = p.power.RunTask(pr.usage, t)
		}
		p.timeline.Tasks = append(p.timeline.Tasks, t)
	}
}
