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
	// tell gives the place under which the k-th result of a job is reported, and whether it
	// was reported already. nil: under the job's own, and it was not.
	tell func(place, k int) (at int, told bool)
	// once says that a job of which something was measured is not begun anew.
	once bool
}

// turn is a job whose turn it is on a station, bound to its device.
type turn struct {
	job            collect.Job
	place, station int
	ahead          int // how many jobs the station has before it, with this one
	options        collect.Options
	// finish tells a result before the others of its job, by its place in it.
	finish func(k int, r collect.Result)
}

// driver carries out the orders of a queue. It is for one goroutine; what it begins runs
// in others, and ends with a function that it is to call.
type driver struct {
	Lab
	ctx     context.Context
	queue   *queue.Queue
	work    work
	teller  *teller
	ended   chan func()
	over    chan struct{}        // closed when nobody takes what ends
	started []*Started           // by station; nil: not started
	results [][]collect.Result   // by job; nil: not known yet
	tries   [][][]collect.Result // of jobs that stations have lost
}

// drive makes every job, and returns what each came to.
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

// run goes on until nothing is under way and nothing can be begun. After an interrupt
// nothing is begun any more.
func (d *driver) run() {
	underWay := 0
	for {
		d.tellMissing()
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

// begin is what has to be done for an order, which returns what is to be noted of its
// end.
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
			at, _ := d.tellAt(o.Unit, k)
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

// tell passes on how far a station is.
func (d *driver) tell(s Station) func(string) {
	return func(message string) {
		d.teller.Report(journal.Event{Device: s.Name, Phase: journal.SetUp, Message: journal.Line(message)})
	}
}

// warn tells what went wrong with a station.
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

// watch notes that a device has died that nothing is made on. Where something is, it
// ends by itself.
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

// make makes a job on a station, which is started now where it has to be fresh.
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

// made notes the end of a job, or that the station was lost with it.
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
		d.warn(station, "the run of "+d.Jobs[o.Unit].Scenario.Name+" is begun anew: "+lost.Error())
	}
}

// stop lets a station go. What it can't stop is a warning: the runs are whole.
func (d *driver) stop(s Station, started *Started) {
	if started == nil || started.Stop == nil {
		return
	}
	if err := started.Stop(context.WithoutCancel(d.ctx), d.tell(s)); err != nil {
		d.warn(s, "it could not be stopped: "+err.Error())
	}
}
