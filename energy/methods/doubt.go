package methods

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

const (
	// The part of the counted CPU time that samples may miss without a warning, and the minimum
	// that causes one: a thread's last period is never sampled.
	missing        = 0.2
	missingAtLeast = 100 * time.Millisecond
	// missingOfUser is that part if kernel code is not sampled: an app may spend half of its time
	// there.
	missingOfUser = 0.5
	// lostAllowed and dark are parts of all samples.
	lostAllowed = 0.01
	dark        = 0.01
	// fewReadings of a sensor leave the mean power uncertain.
	fewReadings = 2 * minBlocks
	manyLonely  = 10 // threads
)

// doubts returns the warnings about traces and their counts.
func (a *attribution) doubts(traces []Trace, o Options) []run.Warning {
	var w trace.Warnings
	a.repeat(&w, traces)
	if a.total.samples == 0 {
		w.Addf(0, "the app was never sampled: no method has a time")
		return w.List()
	}
	a.doubtRate(&w, traces, o.CountedCPU)
	a.doubtLoss(&w, traces)
	a.doubtPower(&w, o)
	if a.plan.basis == Neither {
		w.Addf(0, "the methods have no intervals: the samples span too little time, intervals take %d iterations or %v of samples",
			minIterations, minBlocks*minBlock)
	}
	if a.tree.full {
		w.Addf(0, "the tree of calls has more than %d nodes: the others' energy is left with their callers", maxNodes)
	}
	return w.List()
}

// repeat adds the traces' own warnings, each once.
func (a *attribution) repeat(w *trace.Warnings, traces []Trace) {
	seen := map[string]bool{}
	for _, t := range traces {
		for _, warning := range t.Warnings {
			if !seen[warning.Text] {
				seen[warning.Text] = true
				w.Addf(warning.Line, "%s", warning.Text)
			}
		}
	}
}

// doubtRate compares the samples with the CPU time that the kernel counted: threads that end within
// a period are never sampled (EDATA, section 6.3.1), and neither is the kernel's work for the app
// in a recording of user code alone.
func (a *attribution) doubtRate(w *trace.Warnings, traces []Trace, counted []time.Duration) {
	var sampled, known time.Duration
	for i, c := range counted {
		if c > 0 {
			known += c
			for _, s := range traces[i].Samples {
				sampled += s.Period
			}
		}
	}
	event, hz := eventOf(traces)
	allowed, also := missing, ""
	if strings.HasSuffix(event, ":u") {
		allowed, also = missingOfUser, event+" leaves out what the kernel does for the app, and "
	}
	if sampled.Seconds() < (1-allowed)*known.Seconds() && known-sampled > missingAtLeast {
		w.Addf(0, "the samples stand for %v of CPU time, the kernel counted %v: %sthreads that run for less than a period are never sampled; raise sample-hz, which was %.4g",
			sampled.Round(time.Millisecond), known.Round(time.Millisecond), also, hz)
	}
	if a.lonely >= manyLonely && 2*a.lonely > a.threads {
		w.Addf(0, "%d of %d threads were sampled only once: others like them may never have been; raise sample-hz, which was %.4g", a.lonely, a.threads, hz)
	}
}

func (a *attribution) doubtLoss(w *trace.Warnings, traces []Trace) {
	lost := 0.0
	for _, t := range traces {
		lost += float64(t.Lost)
	}
	if all := lost + float64(a.total.samples); lost > lostAllowed*all {
		w.Addf(0, "%.0f samples were lost (%.1f %% of all): times and joules are too low; lower sample-hz", lost, 100*lost/all)
	}
}

func (a *attribution) doubtPower(w *trace.Warnings, o Options) {
	if a.total.known == 0 {
		w.Addf(0, "no power is known at the time of any sample: methods have CPU time but no joules")
		return
	}
	if part := 1 - a.total.known/a.total.seconds; part > dark {
		w.Addf(0, "for %.1f %% of the CPU time the power is unknown: the mean of each method's other samples is assumed, or that of all samples if it has none", 100*part)
	}
	if o.Measured && a.readings < fewReadings {
		w.Addf(0, "the power sensor gave %d readings while the app ran, fewer than %d: the methods' power is hardly more than the mean of the run; measure for longer", a.readings, fewReadings)
	}
}
