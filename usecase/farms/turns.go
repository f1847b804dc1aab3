package farms

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Interleave measures base and head side by side: in each round a matrix of either build on all
// devices of a scenario that are not settled yet. As many rounds as may run at once are started
// before it asks whether more are needed.
func (l *Lab) Interleave(ctx context.Context, bases, heads []collect.Job, more func(job int, so collect.Progress) int, ended func(job int, r collect.Result)) (base, head []collect.Result) {
	l.begin(bases)
	base, head = make([]collect.Result, len(bases)), make([]collect.Result, len(bases))
	for _, g := range l.groups(bases) {
		p := &paired{Lab: l, group: g, builds: [2]string{g.jobs[0].App.APK, heads[g.places[0]].App.APK}, more: more}
		for i, place := range g.places {
			p.at = append(p.at, &turn{place: place, device: g.devices[i], jobs: [2]collect.Job{g.jobs[i], heads[place]}})
		}
		err := errors.Join(hasApp(p.builds[0]), hasApp(p.builds[1]))
		if err == nil {
			err = p.all(ctx)
		}
		for _, t := range p.at {
			base[t.place], head[t.place] = p.results(t, err)
			ended(t.place, base[t.place])
			ended(t.place, head[t.place])
		}
	}
	return base, head
}

// paired is one scenario of two builds in progress.
type paired struct {
	*Lab
	group
	builds [2]string // base, head
	more   func(job int, so collect.Progress) int
	at     []*turn
	begun  int // rounds
}

// turn are the rounds of one device.
type turn struct {
	place  int
	device farm.Device
	jobs   [2]collect.Job
	whole  [][2]run.Run // the measurements of the rounds
	lost   []string     // why rounds are incomplete
	asked  int          // the number of rounds requested so far
	over   bool
}

// all measures rounds until no more are requested. It returns the reason if no more can be started.
func (p *paired) all(ctx context.Context) error {
	for {
		open, wanted := p.open()
		if len(open) == 0 {
			return nil
		}
		outcomes := make([]*[2][]farm.Outcome, min(wanted, p.config.Farm.Parallel))
		errs := make([]error, len(outcomes))
		var devices []farm.Device
		for _, t := range open {
			devices = append(devices, t.device)
		}
		var under sync.WaitGroup
		for i := range outcomes {
			under.Go(func() {
				if errs[i] = p.over(ctx); errs[i] != nil {
					return
				}
				found, err := p.both(ctx, p.jobs[0].Scenario, p.begun+i, p.builds, devices)
				if err != nil {
					errs[i] = p.end(err)
					return
				}
				outcomes[i] = &found
			})
		}
		under.Wait()
		for i, o := range outcomes {
			for device, t := range open {
				if o != nil {
					p.take(t, p.begun+i, [2]farm.Outcome{o[0][device], o[1][device]})
				}
			}
		}
		p.begun += len(outcomes)
		if err := errors.Join(errs...); err != nil {
			return p.over(ctx)
		}
	}
}

// open returns the devices that request rounds, and the most that one of them requests.
func (p *paired) open() (out []*turn, wanted int) {
	for _, t := range p.at {
		if !t.over && len(t.whole) >= t.asked {
			base, head := p.side(t, 0), p.side(t, 1)
			t.asked = p.more(t.place, collect.Progress{Base: base, Head: head, Left: -1})
		}
		lostTooMany := len(t.lost) >= vain+len(t.whole)
		if t.over = t.over || len(t.whole) >= t.asked || lostTooMany; !t.over {
			out, wanted = append(out, t), max(wanted, t.asked-len(t.whole))
		}
	}
	return out, wanted
}

// take adds a round that both builds have on one device.
func (p *paired) take(t *turn, number int, outcomes [2]farm.Outcome) {
	var found [2]run.Run
	var err error
	for side, o := range outcomes {
		r, problem := p.read(p.jobs[0].Scenario.Name, o)
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("the %s build: %w", sides[side], problem))
		}
		found[side] = r
	}
	if err == nil && devctx.Key(found[0].Context) != devctx.Key(found[1].Context) {
		err = errors.New("the builds were measured on different phones")
	}
	if err == nil && len(t.whole) > 0 && devctx.Key(found[0].Context) != devctx.Key(t.whole[0][0].Context) {
		err = errors.New("it was measured on other phones than the rounds before")
	}
	if err != nil {
		reason := lostRound(number, err)
		t.lost = append(t.lost, reason)
		p.say("warning: %s on %v is incomplete: %s", p.jobs[0].Scenario.Name, t.device, reason)
		return
	}
	t.whole = append(t.whole, found)
	for side, o := range outcomes {
		p.lies(where{p.jobs[0].Scenario.Name, t.device}, side, firsts(o.Traces))
	}
}

// side returns a build's run of all rounds: each is one observation, however many iterations the
// benchmark has.
func (p *paired) side(t *turn, side int) run.Run {
	r := p.blank(t.jobs[side])
	for _, round := range t.whole {
		_ = takeUp(&r, round[side], []run.Iteration{record.Median(round[side].Iterations)}) // the phones were already compared
	}
	for _, reason := range t.lost {
		r.Warnings = append(r.Warnings, run.Warning{Text: "left out of both builds: " + reason})
	}
	r.Status = run.Complete
	return r
}

// results returns both builds' results on one device. err is the reason that no more rounds could
// be started.
func (p *paired) results(t *turn, err error) (base, head collect.Result) {
	switch {
	case errors.Is(err, errSpent):
		err = nil // as at the time limit: the measured rounds count
		p.say("%s on %v: %v", p.jobs[0].Scenario.Name, t.device, errSpent)
	case err == nil && len(t.whole) == 0 && len(t.lost) > 0:
		err = errors.New(prose.Few(t.lost, 2))
	}
	if err == nil && len(t.whole) == 0 {
		err = collect.ErrNoTime
	}
	if err != nil {
		err = loss.Final(t.jobs[0].Device, loss.Infrastructure, err, "")
	}
	return resultOf(t.jobs[0], p.side(t, 0), err), resultOf(t.jobs[1], p.side(t, 1), err)
}
