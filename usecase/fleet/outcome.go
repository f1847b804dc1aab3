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
	// Losses are the reasons, sorted by time: "pixel #2: …".
	Losses []string
	of     int // so many devices
	last   error
	advice string
}

// Error lists all reasons.
func (e *MissingError) Error() string {
	if len(e.Losses) == 0 {
		return "there is no device of the profile " + e.Profile
	}
	return "no device is left to make it: " + strings.Join(e.Losses, "; ")
}

// Unwrap returns the last loss.
func (e *MissingError) Unwrap() error { return e.last }

// Hint returns that of the first loss that has one.
func (e *MissingError) Hint() string { return e.advice }

// missing returns why the job is.
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

// reportMissing ends the jobs that have no station left. The measurements of a lost one are then
// all there is, and are kept as an incomplete run.
func (d *driver) reportMissing() {
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
				if _, told := d.placeOf(place, i); told {
					continue
				}
				its[i].Err = why
				its[i].Run.Warnings = append(its[i].Run.Warnings, run.Warning{Text: loss.Why(why)}) // run.Why returns the last one
			}
		}
		d.settle(place, its)
	}
}

// finish ends a job that a station has made, or that was interrupted. The measurements of a lost
// station are mentioned, and count only if there are no others.
func (d *driver) finish(place int, its []collect.Result) {
	if best := d.bestTry(place); measured(its) == 0 && measured(best) > 0 {
		its = best
	} else {
		its = slices.Clone(its)
		for i := range its {
			if _, told := d.placeOf(place, i); told {
				continue
			}
			its[i].Run.Warnings = slices.Concat(d.lossWarnings(place), its[i].Run.Warnings)
		}
	}
	d.settle(place, its)
}

// lossWarnings returns warnings on the losses of a job.
func (d *driver) lossWarnings(place int) (out []run.Warning) {
	for _, lost := range d.queue.Losses(place) {
		out = append(out, run.Warning{Text: journal.Line("started again, and earlier measurements are not counted: " + d.inWords(lost))})
	}
	return out
}

// settle records and reports the results of a job.
func (d *driver) settle(place int, its []collect.Result) {
	d.results[place] = its
	for k, r := range its {
		if at, told := d.placeOf(place, k); !told {
			d.teller.finish(at, r)
		}
	}
}

// placeOf returns the index under which a job's k-th result is reported, and whether it was already:
// then nothing that happens to the others changes it.
func (d *driver) placeOf(place, k int) (at int, told bool) {
	if d.work.tell == nil {
		return place, false
	}
	return d.work.tell(place, k)
}

// bestTry returns what a lost station has left of the job, of several the one that measured the most;
// nil for nothing.
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
