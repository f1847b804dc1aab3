package phone

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/methodtrace"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// chart returns what a process called between two times.
func (p *Phone) chart(pr *process, from, until time.Duration) *methodtrace.Chart {
	c := &methodtrace.Chart{PID: pr.PID}
	work := p.power.Work(pr.usage)
	ran := map[int]*ranSoFar{}
	work.Slices(from, until, func(s power.Slice) {
		if ran[s.Thread] == nil {
			ran[s.Thread] = &ranSoFar{}
		}
		ran[s.Thread].add(s)
	})
	p.chartUI(pr, c, from, until)
	c.Threads[0].CPU = ran[account.UI].at
	p.chartTasks(pr, c, from, until)
	for place := account.Pool; place < account.Binders; place++ {
		t := pr.usage.Threads[place]
		if t == nil || ran[place] == nil {
			continue
		}
		worker := &methodtrace.Thread{TID: t.TID, Name: t.Name, CPU: ran[place].at}
		ran[place].calls(c, worker, pr.app.Power)
		c.Threads = append(c.Threads, worker)
	}
	return c
}

// chartUI adds the UI thread.
func (p *Phone) chartUI(pr *process, c *methodtrace.Chart, from, until time.Duration) {
	ui := methodtrace.UI{More: pr.app.FrameCalls}
	p.advance()
	for _, l := range pr.Layers {
		for i := range l.Frames {
			if f := &l.Frames[i]; f.Issue > from && f.Actual.From < until {
				ui.Frames = append(ui.Frames, *f)
			}
		}
	}
	if f := pr.draws.Begun(); f != nil {
		ui.Frames = append(ui.Frames, *f)
	}
	for _, s := range pr.stood {
		ui.Blocks = append(ui.Blocks, methodtrace.Block{From: s.At, To: s.At + s.For, Chain: standsIn(pr.app, s.why)})
	}
	for _, b := range pr.busy {
		if b.Task != nil {
			ui.Blocks = append(ui.Blocks, methodtrace.Block{From: b.At, To: b.At + b.For, Chain: []methodtrace.Named{methodtrace.Runs(b.Task)}})
			continue
		}
		ui.Blocks = append(ui.Blocks, methodtrace.Block{From: b.At, To: b.At + b.For, Tree: pr.app.CallsAfter(b.Event, p.context()), Chain: p.heavy(pr, b.Event)})
	}
	for _, t := range p.tasksOf(pr, from, until) {
		if t.Sender == simapp.MainUnit.Name {
			ui.Blocks = append(ui.Blocks, methodtrace.Block{From: t.Scheduled, To: t.Scheduled + methodtrace.Enqueues, Chain: methodtrace.Scheduling(t, p.startOf(t)), Within: true})
		}
	}
	main := &methodtrace.Thread{TID: int32(pr.PID), Name: "main"}
	ui.Lay(c, main, from, until)
	c.Threads = append(c.Threads, main)
}

// tasksOf returns the tasks of a process that are scheduled or executed between two times, without
// the messages by which the UI thread shows what they did. That schedules one after the other.
func (p *Phone) tasksOf(pr *process, from, until time.Duration) (out []*timeline.Task) {
	free := time.Duration(0) // the UI thread
	for _, t := range p.timeline.Tasks {
		if int(t.PID) != pr.PID || t.Shows || t.Scheduled >= until || max(t.Scheduled, t.Done) < from {
			continue
		}
		if t.Sender == simapp.MainUnit.Name {
			t.Scheduled = max(t.Scheduled, free)
			free = t.Scheduled + methodtrace.Enqueues
		}
		if t.Started > 0 {
			t.Started = max(t.Started, t.Scheduled)
			t.Done = max(t.Done, t.Started)
		}
		out = append(out, &t)
	}
	return out
}

// startOf returns how a task came to be executed. A worker that is idle is woken; its first task
// has it begin.
func (p *Phone) startOf(t *timeline.Task) methodtrace.Start {
	const soon = 2 * time.Millisecond
	if t.Started-t.Scheduled-t.Delay > soon || t.Removed > 0 {
		return methodtrace.Queued
	}
	return p.workerOf(t)
}

// workerOf returns whether the worker of a task begins with it, or waited.
func (p *Phone) workerOf(t *timeline.Task) methodtrace.Start {
	for i := range p.timeline.Tasks {
		if o := &p.timeline.Tasks[i]; o.PID == t.PID && o.Thread == t.Thread && o.Started < t.Started && o.Done > o.Started {
			return methodtrace.Wakes
		}
	}
	return methodtrace.Grows
}

// chartTasks adds the threads that execute asynchronous tasks.
func (p *Phone) chartTasks(pr *process, c *methodtrace.Chart, from, until time.Duration) {
	list := p.tasksOf(pr, from, until)
	slices.SortStableFunc(list, func(a, b *timeline.Task) int { return cmp.Compare(a.Started, b.Started) })
	workers := map[string]*methodtrace.Thread{}
	idle := map[string]time.Duration{}
	for i, t := range list {
		if t.Thread == "" || t.Unit.Kind == simapp.MainThread || t.Started >= until || t.Done <= t.Started {
			continue
		}
		w := workers[t.Thread]
		if w == nil {
			w = &methodtrace.Thread{TID: t.TID, Name: t.Thread, CPU: (*ranSoFar)(nil).at}
			workers[t.Thread], idle[t.Thread] = w, from-1
			c.Threads = append(c.Threads, w)
			if p.workerOf(t) == methodtrace.Grows {
				idle[t.Thread] = t.Started
			}
			w.Begin(c, t.Unit.Kind, idle[t.Thread])
		}
		w.Waits(c, t.Unit.Kind, idle[t.Thread], t.Started)
		var then *methodtrace.Start
		if n := slices.IndexFunc(list[i+1:], func(o *timeline.Task) bool { return o.Unit == t.Unit && o.Scheduled < t.Done }); n >= 0 {
			how := p.workerOf(list[i+1+n])
			then = &how
		}
		idle[t.Thread] = w.Execute(c, t, then)
	}
	for _, t := range list {
		if w := workers[t.Sender]; w != nil {
			w.Add(c, methodtrace.Scheduling(t, p.startOf(t)), t.Scheduled-methodtrace.Enqueues, t.Scheduled)
		}
	}
	for _, t := range list {
		if w := workers[t.Thread]; w != nil && idle[t.Thread] < until {
			w.Waits(c, t.Unit.Kind, idle[t.Thread], until)
			idle[t.Thread] = until
		}
	}
	for _, w := range workers {
		w.Sort()
	}
}

// heavy returns the methods of a heavy computation, the outermost first.
func (p *Phone) heavy(pr *process, event string) (out []methodtrace.Named) {
	if event != "" {
		return nil
	}
	jank := pr.app.Power.JankMethod()
	if jank < 0 {
		return []methodtrace.Named{{Name: pr.app.ActivityClass() + ".onClick", Kind: simapp.Java}}
	}
	for _, m := range slices.Backward(pr.app.Power.Chain(jank)) {
		out = append(out, named(pr.app.Power.Methods[m]))
	}
	return out
}

func named(m simapp.Method) methodtrace.Named { return methodtrace.Named{Name: m.Name, Kind: m.Kind} }

// standsIn returns the methods in which a UI thread stands still, the outermost first.
func standsIn(app *simapp.App, s simapp.Standstill) []methodtrace.Named {
	if s.Why == simapp.OwnWork && s.Method != "" {
		return []methodtrace.Named{{Name: s.Method, Kind: simapp.Java}}
	}
	out := []methodtrace.Named{{Name: app.ActivityClass() + ".onClick", Kind: simapp.Java}}
	switch s.Why {
	case simapp.SlowPeer:
		call := s.Calls[0]
		out = append(out, methodtrace.Named{Name: call.Interface + "$Stub$Proxy." + call.Method, Kind: simapp.Java},
			methodtrace.Named{Name: "android.os.BinderProxy.transact", Kind: simapp.Java}, methodtrace.Named{Name: "android.os.BinderProxy.transactNative", Kind: simapp.Native})
	case simapp.SlowDisk:
		out = append(out, methodtrace.Named{Name: "java.io.FileDescriptor.sync", Kind: simapp.Java}, methodtrace.Named{Name: "libcore.io.Linux.fsync", Kind: simapp.Native})
	}
	return out
}

// ranSoFar is a thread's CPU time and methods.
type ranSoFar struct{ slices []power.Slice }

func (r *ranSoFar) add(s power.Slice) { r.slices = append(r.slices, s) }

// at returns the thread's CPU time up to a time; of a thread that did not run it is 0.
func (r *ranSoFar) at(t time.Duration) time.Duration {
	if r == nil || len(r.slices) == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(r.slices, t, func(s power.Slice, t time.Duration) int { return cmp.Compare(s.To, t) })
	if i == len(r.slices) {
		last := r.slices[i-1]
		return last.Ran + last.To - last.From
	}
	return r.slices[i].Ran + max(0, t-r.slices[i].From)
}

// calls adds what a thread of a pool did: a task for each time that it was busy without a pause.
func (r *ranSoFar) calls(c *methodtrace.Chart, t *methodtrace.Thread, app simapp.Power) {
	const pause = 5 * time.Millisecond
	add := func(name string, kind simapp.Code, from, to time.Duration) {
		t.Calls = append(t.Calls, methodtrace.Call{Method: c.Method(name, kind), From: from, To: to})
	}
	for i := 0; i < len(r.slices); {
		end := i + 1
		for end < len(r.slices) && r.slices[end].From-r.slices[end-1].To < pause {
			end++
		}
		from, to := r.slices[i].From, r.slices[end-1].To
		add("java.util.concurrent.ThreadPoolExecutor.runWorker", simapp.Java, from, to)
		for ; i < end; i++ {
			s, until := r.slices[i], r.slices[i].To
			for i+1 < end && r.slices[i+1].Method == s.Method { // it goes on
				i++
				until = r.slices[i].To
			}
			if s.Method >= 0 {
				for _, m := range slices.Backward(app.Chain(s.Method)) {
					add(app.Methods[m].Name, app.Methods[m].Kind, s.From, until)
				}
			}
		}
	}
}

// eachRun calls add with the parts of a block with calls, by method, and whether they wait or use a
// CPU.
func eachRun(pr *process, b choreo.Block, tree []simapp.Called, add func(method int, waits bool, from, to time.Duration)) {
	const finest = 250 * time.Microsecond
	_, total := simapp.Count(tree)
	if total == 0 {
		return
	}
	at, method, waits := b.At, 0, true
	flush := func(to time.Duration) {
		if to > at {
			add(method, waits, at, to)
		}
		at = to
	}
	methodtrace.Lay(tree, b.At, float64(b.For)/float64(total), nil, func(c *simapp.Calls, from, to time.Duration) {
		now := sampledAs(pr.app, c)
		if now == method && c.Waits == waits || to-from < finest && !waits {
			return
		}
		flush(from)
		method, waits = now, c.Waits
	})
	flush(b.At + b.For)
}

// sampledAs returns the place of the method under which a call's code is sampled: that of its
// caller's for an inlined one.
func sampledAs(app *simapp.App, c *simapp.Calls) int {
	if m := app.Power.Method(c.Method); m >= 0 {
		return m
	}
	return max(app.Power.Method(app.CompiledCaller(*c)), power.Mixed)
}

// stoodStill is a standstill of the app's file.
type stoodStill struct {
	At, For time.Duration
	why     simapp.Standstill
}
