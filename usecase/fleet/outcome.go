package fleet

import (
	"errors"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/fleet/queue"
)

// MissingError is why a run is missing: every device that could have made it was lost.
type MissingError struct {
	Profile string
	// Losses are what happened, in the order of time: "pixel #2: …".
	Losses []string
	of     int // so many devices
	last   error
	advice string
}

// Error tells all reasons.
func (e *MissingError) Error() string {
	if len(e.Losses) == 0 {
		return "there is no device of the profile " + e.Profile
	}
	return "no device is left to make it: " + strings.Join(e.Losses, "; ")
}

// Unwrap returns the last loss.
func (e *MissingError) Unwrap() error { return e.last }

// Hint is that of the first loss that has one.
func (e *MissingError) Hint() string { return e.advice }

// missing is why the job at the place is.
func (d *driver) missing(place int) *MissingError {
	e, stations := &MissingError{Profile: d.Jobs[place].Device}, map[int]bool{}
	for _, lost := range d.queue.Losses(place) {
		stations[lost.Station] = true
		if text := d.inWords(lost); !slices.Contains(e.Losses, text) {
			e.Losses = append(e.Losses, text)
		}
		e.last = lost.Why
		var hinted interface{ Hint() string }
		if e.advice == "" && errors.As(lost.Why, &hinted) {
			e.advice = hinted.Hint()
		}
	}
	e.of = len(stations)
	return e
}

func (d *driver) inWords(lost queue.Loss) string {
	return d.Stations[lost.Station].Name + ": " + journal.Line(lost.Why.Error())
}

// tellMissing ends the jobs that no station is left for. What a lost one measured is
// then all that there is, and stays: a run that is not whole.
func (d *driver) tellMissing() {
	for _, place := range d.queue.Missing() {
		if d.results[place] != nil {
			continue
		}
		missing := d.missing(place)
		why := &loss.Error{Cause: loss.Infrastructure, Device: d.Jobs[place].Device, Phase: journal.SetUp, Err: missing}
		its := d.bestTry(place)
		switch {
		case its == nil:
			its = d.work.unmade(place, d.Options, why)
		case missing.of > 1: // else its own error says all, and in which repetition
			its = slices.Clone(its)
			for i := range its {
				if _, told := d.tellAt(place, i); told {
					continue
				}
				its[i].Err = why
				its[i].Run.Warnings = append(its[i].Run.Warnings, run.Warning{Text: loss.Why(why)}) // the last is what run.Why tells
			}
		}
		d.settle(place, its)
	}
}

// finish ends a job that a station has made, or that was interrupted. What a lost one
// measured is named, and counts only where nothing else is there.
func (d *driver) finish(place int, its []collect.Result) {
	if best := d.bestTry(place); measured(its) == 0 && measured(best) > 0 {
		its = best
	} else {
		its = slices.Clone(its)
		for i := range its {
			if _, told := d.tellAt(place, i); told {
				continue
			}
			its[i].Run.Warnings = slices.Concat(d.lossWarnings(place), its[i].Run.Warnings)
		}
	}
	d.settle(place, its)
}

// lossWarnings name the losses of a job in its run.
func (d *driver) lossWarnings(place int) (out []run.Warning) {
	for _, lost := range d.queue.Losses(place) {
		out = append(out, run.Warning{Text: journal.Line("begun anew, and what was measured before is not counted: " + d.inWords(lost))})
	}
	return out
}

// settle notes and tells what a job came to.
func (d *driver) settle(place int, its []collect.Result) {
	d.results[place] = its
	for k, r := range its {
		if at, told := d.tellAt(place, k); !told {
			d.teller.finish(at, r)
		}
	}
}

// tellAt is the place under which a job's k-th result is reported, and whether it was already:
// then nothing that becomes of the others changes it.
func (d *driver) tellAt(place, k int) (at int, told bool) {
	if d.work.tell == nil {
		return place, false
	}
	return d.work.tell(place, k)
}

// bestTry is what a lost station has left of the job, of several the one that measured
// most; nil for nothing.
func (d *driver) bestTry(place int) (best []collect.Result) {
	for _, try := range d.tries[place] {
		if best == nil || measured(try) > measured(best) {
			best = try
		}
	}
	return best
}

func measured(its []collect.Result) (iterations int) {
	for _, r := range its {
		iterations += len(r.Run.Iterations)
	}
	return iterations
}
