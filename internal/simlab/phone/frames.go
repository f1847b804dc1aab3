package phone

import (
	"time"

	"github.com/apkgate/apkgate/internal/simlab/choreo"
	"github.com/apkgate/apkgate/internal/simlab/recorders"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

// openWindow opens the window of a process.
func (p *Phone) openWindow(pr *process) {
	pr.layer = p.timeline.Open(&timeline.Layer{PID: int32(pr.PID), Title: pr.Component, Hash: pr.Window, Opened: p.clock.Now()})
}

// closeWindow closes it: what has not reached the screen by then never does.
func (p *Phone) closeWindow(pr *process) {
	if pr.layer == nil {
		return
	}
	p.record(pr)
	p.flinger.Compose(p.clock.Now())
	p.flinger.Drop(pr.layer, p.clock.Now())
	pr.layer.Closed = p.clock.Now()
	p.flinger.Refresh(p.clock.Now(), p.period())
	pr.layer = nil
}

// record puts the frames of a process that are drawn by now into the timeline.
func (p *Phone) record(pr *process) {
	if pr.layer == nil {
		return
	}
	done := pr.Rendered(p.clock.Now())
	for ; pr.recorded < done; pr.recorded++ {
		pr.Frames[pr.recorded].Token = p.timeline.AppToken()
		pr.layer.Frames = append(pr.layer.Frames, p.frame(pr.Frames[pr.recorded]))
		p.flinger.Take(pr.layer)
	}
}

// frame is what the timeline holds of a frame. It is due a vsync after its deadline.
func (p *Phone) frame(f choreo.Frame) timeline.Frame {
	period := p.period()
	deadline := f.Intended + period
	if period < 16*time.Millisecond {
		deadline += period
	}
	out := timeline.Frame{
		Token: f.Token, Flags: f.Flags, Period: period,
		Expected: timeline.Interval{From: f.Intended, To: deadline}, Due: deadline + period,
		Actual: timeline.Interval{From: f.Input, To: f.Completed},
		Vsync:  f.Vsync, Input: f.Input, Animation: f.Animation, Traversals: f.Traversals, Draw: f.Draw,
		SyncQueued: f.SyncQueued, Sync: f.Sync, Issue: f.Issue, Swap: f.Swap,
		Queued: min(f.Swap+f.Queue, f.Completed), GPUDone: f.Completed, Dequeue: f.Dequeue, Queue: f.Queue,
	}
	if f.Flags&choreo.RTAnimation != 0 {
		out.Kind = timeline.RenderThread
	}
	return out
}

// Timeline is what happened on the phone up to now.
func (p *Phone) Timeline() *timeline.Timeline {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.power.Advance()
	return p.recorded()
}

// recorded is the timeline with all that is drawn by now.
func (p *Phone) recorded() *timeline.Timeline {
	for _, pkg := range sortedKeys(p.state.running) {
		p.record(p.state.running[pkg])
	}
	p.flinger.Compose(p.clock.Now())
	return p.timeline
}

// forgetFrames drops what no trace can tell of any more: what was over a minute before
// now, and before any perfetto that still records began.
func (p *Phone) forgetFrames() {
	before := min(p.clock.Now()-time.Minute, recorders.Since(p.host))
	p.recorded()
	p.power.Advance()
	p.timeline.Forget(before)
}
