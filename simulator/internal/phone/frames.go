package phone

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/pipeline"
	"github.com/apkgate/apkgate/simulator/internal/recorders"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// openWindow opens a window of a process, in front of its others.
func (p *Phone) openWindow(pr *process, title string) *timeline.Layer {
	p.state.windows++
	l := &timeline.Layer{
		PID: int32(pr.PID), Title: title, Opened: p.clock.Now(),
		Hash: int(p.random("window", pr.app.Package, p.state.windows).Uint32() >> 4),
	}
	if pr.app.Surface {
		l.Surface = &timeline.Layer{PID: l.PID, Title: p.surfaceTitle(title), Opened: l.Opened, Own: true}
	}
	pr.Layers = append(pr.Layers, l)
	pr.draws.Open(l)
	return l
}

// surfaceTitle returns the layer name of a SurfaceView in a window
// (SurfaceView.updateSurface).
func (p *Phone) surfaceTitle(window string) string {
	if p.profile.API >= 31 {
		return "SurfaceView[" + window + "](BLAST)"
	}
	return "SurfaceView - " + window
}

// openFor opens an event's window: an activity of its own, or a dialog, which has the title of
// the activity below it and closes again.
func (p *Phone) openFor(pr *process, e simapp.Event) {
	if e.Life == 0 {
		p.openWindow(pr, pr.app.Package+"/"+pr.app.Package+"."+activityOf(e.Name))
		return
	}
	title := pr.component()
	if l := pr.front(); l != nil {
		title = l.Title
	}
	l := p.openWindow(pr, title)
	p.clock.At(p.clock.Now()+e.Life, func() {
		if !pr.dead {
			p.closeWindow(pr, l)
		}
	})
}

// activityOf returns the class of the activity that an event opens: OpenMessageActivity for
// open-message.
func activityOf(event string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(event, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Activity"
}

// closeWindow closes a window: frames that are not on the screen by then are never shown.
func (p *Phone) closeWindow(pr *process, l *timeline.Layer) {
	p.advance()
	if l.Closed == 0 {
		pr.draws.Close(l, p.clock.Now())
	}
}

// closeWindows closes all windows of a process.
func (p *Phone) closeWindows(pr *process) {
	for _, l := range pr.Layers {
		p.closeWindow(pr, l)
	}
}

// front returns the front window of a process, or nil.
func (pr *process) front() *timeline.Layer {
	for i := len(pr.Layers) - 1; i >= 0; i-- {
		if pr.Layers[i].Closed == 0 {
			return pr.Layers[i]
		}
	}
	return nil
}

// newPipeline returns a pipeline for the frames of a process.
func (p *Phone) newPipeline() *pipeline.App {
	return &pipeline.App{Flinger: p.flinger, Android: pipeline.Android{API: p.profile.API, Period: p.screen.Period, Still: p.screen.Still}}
}

// timedOut makes the front app stop drawing: the screen is off.
func (p *Phone) timedOut() {
	if pr := p.state.running[p.state.foreground]; pr != nil {
		pr.draws.Stop(p.clock.Now())
	}
}

// perform plays a scenario in a process from the next vsync on, and returns it with its times
// on the phone's clock.
func (p *Phone) perform(pr *process, perf *choreo.Performance) choreo.Performance {
	begin := pr.draws.Play(perf, p.clock.Now())
	for _, b := range perf.Blocks {
		p.clock.At(begin+b.At+b.For+longFrameTold, func() { p.tellLongFrames(pr) })
		i := len(pr.busy)
		pr.busy = append(pr.busy, choreo.Block{At: b.At + begin, For: b.For, Task: b.Task, Event: b.Event})
		p.clock.At(begin+b.At, func() { p.stretchBlock(pr, i) })
	}
	p.runTasks(pr, perf.Tasks, begin)
	marks := make([]choreo.Mark, len(perf.Marks))
	for i, m := range perf.Marks {
		marks[i] = choreo.Mark{At: m.At + begin, Event: m.Event}
	}
	if perf.Displayed > 0 {
		p.home.Leave(pr.app.Package, perf.Displayed)
	}
	out := choreo.Performance{Marks: marks, Displayed: takenForDrawn(pr.app.Launch, perf.Displayed), End: perf.End + begin}
	// A start of an existing activity is not logged (ActivityMetricsLogger,
	// isInterestedToEventLog).
	if perf.Start != choreo.Hot && perf.Displayed > 0 {
		p.clock.At(begin+out.Displayed+pr.app.Launch.Logged, func() { p.displayed(pr, out.Displayed) })
		if p.saysDrawn(pr.app, perf.Start) {
			took := perf.Displayed + pr.app.Drawn
			p.clock.At(begin+took, func() { p.fullyDrawn(pr, took) })
		}
	}
	return out
}

// takenForDrawn returns when the system considers the windows of a start as drawn, if they are
// drawn at a time after its beginning.
func takenForDrawn(l simapp.Launch, drawn time.Duration) time.Duration {
	if drawn == 0 {
		return 0
	}
	return max(drawn+l.Late-l.Early, time.Millisecond)
}

// longFrameTold is the delay from the end of a long frame's cause until the process logs the
// frame, after it was counted.
const longFrameTold = 150 * time.Millisecond

// tellLongFrames logs the frames of a process that took 700 ms or more
// (JankTracker::finishFrame, since Android 8), once each.
func (p *Phone) tellLongFrames(pr *process) {
	const long = 700 * time.Millisecond
	if pr.dead || p.profile.API < 26 {
		return
	}
	p.advance()
	tag := "OpenGLRenderer"
	if p.profile.API >= 33 {
		tag = "HWUI"
	}
	for _, l := range pr.Layers {
		for _, f := range l.Frames {
			took := f.Drawn() - f.Expected.From
			if f.Counted == 0 || f.Counted <= pr.toldFrames || took < long {
				continue
			}
			p.log.Add(logcat.Entry{Buffer: "main", PID: pr.PID, TID: pr.PID + 2, Priority: 'I', Tag: tag, Text: fmt.Sprintf(
				"Davey! duration=%dms; Flags=%d, FrameTimelineVsyncId=%d, IntendedVsync=%d, Vsync=%d, FrameInterval=%d, ",
				took.Milliseconds(), f.Flags, f.Token, int64(f.Expected.From), int64(f.Vsync), int64(f.Period))})
		}
	}
	pr.toldFrames = p.clock.Now()
}

// advance computes all frames up to now.
func (p *Phone) advance() {
	for _, pkg := range sortedKeys(p.state.running) {
		p.state.running[pkg].draws.Advance(p.clock.Now())
	}
	for _, a := range p.home.Shown() {
		a.Advance(p.clock.Now())
	}
	p.flinger.Compose(p.clock.Now())
}

// drawn returns how many frames a process has drawn.
func (p *Phone) drawn(pr *process) (n int) {
	p.advance()
	for _, l := range timeline.WithSurfaces(pr.Layers) {
		for i := range l.Frames {
			if l.Frames[i].Drawn() <= p.clock.Now() {
				n++
			}
		}
	}
	return n
}

// Timeline returns the phone's timeline up to now.
func (p *Phone) Timeline() *timeline.Timeline {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.power.Advance()
	return p.recorded()
}

// recorded returns the timeline with everything up to now.
func (p *Phone) recorded() *timeline.Timeline {
	p.advance()
	return p.timeline
}

// kept returns the earliest time that a trace can still contain: a minute before now, or the
// start of the first perfetto that is still recording.
func (p *Phone) kept() time.Duration { return min(p.clock.Now()-time.Minute, recorders.Since(p.host)) }

// forgetFrames drops what no trace can contain any more.
func (p *Phone) forgetFrames() {
	p.power.Advance()
	p.timeline.Forget(p.kept())
}
