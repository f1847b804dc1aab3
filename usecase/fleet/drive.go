package fleet

import (
	"context"
	"slices"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/usecase/fleet/queue"
)

// work is what is done with each job: make its results, or say why there are none.
type work struct {
	do     func(context.Context, turn) []collect.Result
	unmade func(place int, options collect.Options, why error) []collect.Result
	// tell returns the place under which the k-th result of a job is reported, and whether it was
	// reported already. nil: under the job's own, and it was not.
	tell func(place, k int) (at int, told bool)
	// once reports that a job with some measurements is not started again.
	once bool
}

// turn is the next job of a station, bound to its device.
type turn struct {
	job            collect.Job
	place, station int
	ahead          int // how many jobs the station has before it, including this one
	options        collect.Options
	// finish reports a result before the others of its job, by its index in it.
	finish func(k int, r collect.Result)
}

// driver carries out the orders of a queue. It is for one goroutine; what it starts runs in others,
// each of which ends with a function that the driver calls.
type driver struct {
	Lab
	ctx     context.Context
	queue   *queue.Queue
	work    work
	teller  *teller
	ended   chan func()
	over    chan struct{}        // closed when the driver takes no more ends
	started []*Started           // by station; nil: not started
	results [][]collect.Result   // by job; nil: unknown yet
	tries   [][][]collect.Result // of jobs that stations have lost
}

// drive makes every job, and returns the results of each.
func (l Lab) drive(ctx context.Context, w work) [][]collect.Result {
	d := &driver{
		Lab: l, ctx: ctx, queue: l.queue(), work: w, teller: newTeller(l.Options.Progress, l.Finished), ended: make(chan func()), over: make(chan struct{}),
		started: make([]*Started, len(l.Stations)), results: make([][]collect.Result, len(l.Jobs)), tries: make([][][]collect.Result, len(l.Jobs)),
	}
	defer d.teller.close()
	defer close(d.over)
	d.Options.Progress = d.teller
	d.run()
	return d.results
}

// run continues until nothing is under way and nothing can be started. After an interrupt it starts
// nothing.
func (d *driver) run() {
	underWay := 0
	for {
		d.reportMissing()
		if d.ctx.Err() == nil {
			for _, o := range d.queue.Orders() {
				underWay++
				carryOut := d.begin(o)
				go func() {
					end := carryOut()
					d.ended <- func() { underWay--; end() }
				}()
			}
		}
		if underWay == 0 {
			break
		}
		(<-d.ended)()
	}
	for place, its := range d.results {
		if its == nil { // interrupted
			d.finish(place, d.work.unmade(place, d.Options, d.ctx.Err()))
		}
	}
}

// begin returns what to do for an order, which returns what to record at its end.
func (d *driver) begin(o queue.Order) func() func() {
	station, started := d.Stations[o.Station], d.started[o.Station]
	switch o.Action {
	case queue.Open:
		return func() func() {
			if station.Fresh {
				return func() { d.queue.Opened(o.Station) }
			}
			started, err := station.Start(d.ctx, d.tell(station))
			return func() { d.opened(o.Station, started, err) }
		}
	case queue.Make:
		t := turn{job: d.Jobs[o.Unit], place: o.Unit, station: o.Station, ahead: d.queue.Ahead(o.Station), options: d.Options}
		t.finish = func(k int, r collect.Result) {
			at, _ := d.placeOf(o.Unit, k)
			d.teller.finish(at, r)
		}
		return func() func() {
			results, err := d.make(t, started)
			return func() { d.made(o, results, err) }
		}
	}
	return func() func() {
		d.stop(station, started)
		return func() {
			d.started[o.Station] = nil
			d.queue.Closed(o.Station)
		}
	}
}

// tell returns a function that reports a station's progress.
func (d *driver) tell(s Station) func(string) {
	return func(message string) {
		d.teller.Report(journal.Event{Device: s.Name, Phase: journal.SetUp, Message: journal.Line(message)})
	}
}

// warn reports what went wrong with a station.
func (d *driver) warn(s Station, message string) {
	d.teller.Report(journal.Event{Device: s.Name, Phase: journal.Warned, Message: journal.Line(message)})
}

func (d *driver) opened(s int, started *Started, err error) {
	if err != nil {
		d.queue.Lost(s, err, isFinal(err))
		return
	}
	d.started[s] = started
	d.queue.Opened(s)
	if started.Died != nil {
		go d.watch(s, started)
	}
}

// watch detects the death of an idle device. A job on a busy one ends by itself.
func (d *driver) watch(s int, started *Started) {
	select {
	case <-started.Died:
	case <-d.over:
		return
	}
	note := func() {
		if d.started[s] == started && d.queue.Idle(s) {
			d.queue.Lost(s, started.died(), false)
		}
	}
	select {
	case d.ended <- note:
	case <-d.over:
	}
}

// make makes a job on a station, which is started first if it has to be fresh.
func (d *driver) make(t turn, started *Started) ([]collect.Result, error) {
	station := d.Stations[t.station]
	if station.Fresh {
		var err error
		if started, err = station.Start(d.ctx, d.tell(station)); err != nil {
			return nil, err
		}
		defer d.stop(station, started)
	}
	t.job.Station = station.Name
	started.Bind(&t.job)
	results := d.work.do(d.ctx, t)
	if err := isLost(results); err != nil {
		return results, err
	}
	return results, nil
}

// made records the end of a job, or that the station was lost with it.
func (d *driver) made(o queue.Order, results []collect.Result, lost error) {
	station := d.Stations[o.Station]
	switch {
	case d.ctx.Err() != nil && results == nil:
		return
	case d.ctx.Err() != nil:
		d.finish(o.Unit, results)
		return
	case lost == nil:
		d.queue.Made(o.Station)
		d.finish(o.Unit, results)
		if started := d.started[o.Station]; started != nil && started.died() != nil {
			d.queue.Lost(o.Station, started.died(), false)
		}
		return
	}
	if d.work.once && measured(results) > 0 {
		d.queue.Made(o.Station)
		d.finish(o.Unit, results)
		d.queue.Lost(o.Station, lost, isFinal(lost))
		return
	}
	if results != nil {
		d.tries[o.Unit] = append(d.tries[o.Unit], results)
	}
	d.queue.Lost(o.Station, lost, isFinal(lost))
	if !slices.Contains(d.queue.Missing(), o.Unit) {
		d.warn(station, "the run of "+d.Jobs[o.Unit].Scenario.Name+" is started again: "+lost.Error())
	}
}

// stop stops a station. If that fails there is a warning: the runs are complete.
func (d *driver) stop(s Station, started *Started) {
	if started == nil || started.Stop == nil {
		return
	}
	if err := started.Stop(context.WithoutCancel(d.ctx), d.tell(s)); err != nil {
		d.warn(s, "it could not be stopped: "+err.Error())
	}
}
