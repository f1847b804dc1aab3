package phone

import (
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/anr"
	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/gfxinfo"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/pipeline"
	"github.com/apkgate/apkgate/simulator/internal/stacks"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// process is the process of an app, with its frames.
type process struct {
	gfxinfo.Process
	app        *simapp.App
	dead       bool
	busy       []choreo.Block
	told       []choreo.Block   // when it dumped its frames
	toldFrames time.Duration    // up to which long frames were logged
	workload   *workload        // the workload that drives it, or nil
	usage      *account.Process // its energy account
	draws      *pipeline.App    // its frames
	task       task
	stands     *stacks.Standing // its UI thread's standstill from the app's file; or nil
	traces     string           // the file of its stacks, after it stopped responding
	stood      []stoodStill     // when its UI thread stood still as its file says
	profiles   *profiling       // what records its calls, or nil
}

// newProcess returns a process that starts now.
func (p *Phone) newProcess(app *simapp.App, pid int) *process {
	return &process{app: app, draws: p.newPipeline(), Process: gfxinfo.Process{Package: app.Package, PID: pid, Since: p.clock.Now()}}
}

// component returns the full name of the activity.
func (pr *process) component() string { return pr.app.Package + "/" + pr.app.ActivityClass() }

// launch starts the process of an app to show its activity.
func (p *Phone) launch(app *simapp.App, why string) *process {
	pr := p.startProcess(app, why)
	p.toFront(pr)
	return pr
}

// startProcess starts the process of an app.
func (p *Phone) startProcess(app *simapp.App, why string) *process {
	p.state.nextPID += 17
	p.state.processes++
	pr := p.newProcess(app, p.state.nextPID)
	if v := p.state.props["debug.hwui.profile"]; v == "true" || v == "visual_bars" && p.profile.API >= 17 {
		pr.Profiled = true
	}
	p.state.running[app.Package] = pr
	p.forgetFrames()
	p.openWindow(pr, pr.component())
	p.openAccount(pr)
	p.log.System("system", 'I', "ActivityManager", "Start proc %d:%s/u0a120 for %s %s", pr.PID, app.Package, why, app.Component())
	p.log.Event("am_proc_start", 0, pr.PID, 10120, app.Package, why, app.Component())
	p.log.Event("am_proc_bound", 0, pr.PID, app.Package)
	return pr
}

// wake starts the process of an app for a broadcast if it is not running, in the background.
func (p *Phone) wake(app *simapp.App) {
	if p.state.running[app.Package] != nil {
		return
	}
	front := p.state.foreground
	p.launch(app, "broadcast")
	p.state.foreground = front
}

// kill stops a package, like am force-stop, and notifies its workload.
func (p *Phone) kill(pkg string) {
	pr := p.state.running[pkg]
	if pr == nil {
		return
	}
	p.exited(pr, anr.Stopped, "stop "+pkg+" due to from pid 2000")
	p.die(pr)
	p.log.Event("am_kill", 0, pr.PID, pkg, 0, "stop "+pkg)
	if w := pr.workload; w != nil {
		w.appDied("Process crashed.")
	}
}

// die ends a process without logging.
func (p *Phone) die(pr *process) {
	p.dropProfiling(pr, false)
	p.closeAccount(pr)
	p.closeWindows(pr)
	p.keepGraphics(pr)
	pr.dead = true
	delete(p.state.running, pr.app.Package)
	if p.state.foreground == pr.app.Package {
		p.state.foreground = ""
		p.home.Show()
	}
}

// displayed logs that an activity is displayed.
func (p *Phone) displayed(pr *process, after time.Duration) {
	if pr.dead {
		return
	}
	p.log.System("system", 'I', p.activityTag(), "Displayed %s: +%s", pr.app.Component(), spell(after))
	hash := p.random("activity", pr.app.Package).Uint32() >> 5
	prefix := "am"
	if p.profile.API >= 29 {
		prefix = "wm"
	}
	p.log.Event(prefix+"_on_resume_called", 0, pr.app.ActivityClass(), "RESUME_ACTIVITY")
	p.log.Event(prefix+"_activity_launch_time", 0, hash, pr.app.Component(), after.Milliseconds(), after.Milliseconds())
}

// fullyDrawn logs that the app reported its activity as fully drawn:
// ActivityRecord.reportFullyDrawnLocked, since Android 10 ActivityMetricsLogger.
func (p *Phone) fullyDrawn(pr *process, after time.Duration) {
	if pr.dead {
		return
	}
	if p.profile.API < 29 {
		hash := p.random("activity", pr.app.Package).Uint32() >> 5
		p.log.Event("am_activity_fully_drawn_time", 0, hash, pr.app.Component(), after.Milliseconds(), after.Milliseconds())
	}
	p.log.System("system", 'I', p.activityTag(), "Fully drawn %s: +%s", pr.app.Component(), spell(after))
}

// activityTag returns the log tag of the component that starts activities.
func (p *Phone) activityTag() string {
	if p.profile.API >= 29 {
		return "ActivityTaskManager"
	}
	return "ActivityManager"
}

// spell formats a duration like Android's TimeUtils: 1s23ms.
func spell(d time.Duration) string {
	if s := d / time.Second; s > 0 {
		return fmt.Sprintf("%ds%dms", s, (d % time.Second).Milliseconds())
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// happen logs a UI event, by the test and by the system.
func (p *Phone) happen(pr *process, e simapp.Event) {
	if !pr.app.Silent {
		p.log.Add(logcat.Entry{Buffer: "main", PID: pr.PID, TID: pr.PID + 9, Priority: 'I', Tag: "apkgate", Text: e.Name})
	}
	p.touched(pr)
	p.answer(pr, e)
	p.spend(pr, e)
	if e.Opens {
		p.openFor(pr, e)
		tag := "am_on_resume_called"
		if p.profile.API >= 29 {
			tag = "wm_on_resume_called"
		}
		p.log.Event(tag, 0, pr.app.ActivityClass(), "RESUME_ACTIVITY")
	}
}

// touched logs a touch as the system does: on Android 11 and later the windows that receive
// it, before that nothing.
func (p *Phone) touched(pr *process) {
	p.screen.UserActivity()
	pr.draws.Touch(p.clock.Now())
	if p.profile.API < 30 {
		return
	}
	if l := pr.front(); l != nil {
		p.log.Event("input_interaction", fmt.Sprintf("Interaction with: %x %s (server), PointerEventDispatcher0 (server), ", l.Hash, l.Title))
	}
}

// play computes a scenario for a process, for the n-th time on this phone.
func (p *Phone) play(pr *process, sc simapp.Scenario, start choreo.Start) choreo.Performance {
	key := strings.Join([]string{pr.app.Package, sc.Name, p.state.network}, " ")
	p.state.repetitions[key]++
	n := p.state.repetitions[key]
	if p.options.Even {
		n = 1
	}
	r := p.random("repetition", pr.app.Plain, key, n)
	in := p.conditions(pr.app, start)
	in.Tasks = p.random("tasks", pr.app.Plain, key, n)
	return p.perform(pr, choreo.Play(pr.app, sc, in, r))
}

// interact responds with an animation to a touch that is no named event.
func (p *Phone) interact(pr *process, frames int) {
	p.touched(pr)
	sc := simapp.Scenario{Name: "touch", Start: frames}
	p.play(pr, sc, choreo.Shows)
}
