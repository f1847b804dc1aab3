package collect

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
)

// Lab makes many runs: on several devices at once, on each device one after
// another.
type Lab struct {
	Jobs []Job
	// Parallel bounds the devices that work at the same time; 0 is all of them.
	Parallel int
	Options  Options
	// Finished is given each result, with its job's place, as soon as it is there, so that a caller can
	// keep what was measured before an interrupt; nil for none. It and Progress
	// are never called at the same time, and no device waits for either; all is
	// told when the Lab's method returns.
	Finished func(job int, r Result)
}

// Collect makes all runs and returns what became of each, in the order of the
// jobs. A device that fails does not hold up the others; a device that is lost
// for good is tried anew by its next job.
func (l Lab) Collect(ctx context.Context) []Result {
	results := make([]Result, len(l.Jobs))
	l.drive(func(i int, options Options) []Result {
		results[i] = Collect(ctx, l.Jobs[i], options)
		return results[i : i+1]
	})
	return results
}

// Interleave makes each job in turns with the head job at its place (see
// Interleave), of which there are as many. more is asked as Turns.More is, with the
// job's place; nil: each scenario's repetitions. within is for all of it, 0 for ever:
// devices that work at the same time have it at the same time, and each divides its
// own among its jobs that are left, so that a later one has what an earlier one did
// not need.
func (l Lab) Interleave(ctx context.Context, heads []Job, more func(job int, base, head run.Run) int, within time.Duration) (base, head []Result) {
	base, head = make([]Result, len(l.Jobs)), make([]Result, len(l.Jobs))
	shares := l.shareOut(within)
	l.drive(func(i int, options Options) []Result {
		p := Pair{Base: l.Jobs[i], Head: heads[i]}
		if more != nil {
			p.More = func(base, head run.Run) int { return more(i, base, head) }
		}
		p.Within = shares[i].begin()
		base[i], head[i] = Interleave(ctx, p, options)
		shares[i].end()
		return []Result{base[i], head[i]}
	})
	return base, head
}

// shareOut gives each job the account of its device's time.
func (l Lab) shareOut(within time.Duration) []*timeShare {
	shares, devices := make([]*timeShare, len(l.Jobs)), l.byDevice()
	if l.Parallel > 0 && len(devices) > l.Parallel { // they work one after another
		within = within * time.Duration(l.Parallel) / time.Duration(len(devices))
	}
	for _, jobs := range devices {
		share := &timeShare{left: within, jobs: len(jobs), clock: l.Jobs[jobs[0]].Clock, endless: within <= 0}
		if share.clock == nil {
			share.clock = target.HostClock()
		}
		for _, i := range jobs {
			shares[i] = share
		}
	}
	return shares
}

// timeShare is the time that a device has for the jobs that are left on it, which are
// done one after another.
type timeShare struct {
	left    time.Duration
	jobs    int
	clock   device.Clock
	began   time.Duration
	endless bool
}

// begin is for how long the next job may go on, as Turns.Within says it.
func (s *timeShare) begin() time.Duration {
	s.began = s.clock.Now()
	switch {
	case s.endless:
		return 0
	case s.left <= 0:
		return -1
	}
	return max(s.left/time.Duration(s.jobs), 1)
}

// end takes what the job has used off the account.
func (s *timeShare) end() {
	s.left -= s.clock.Now() - s.began
	s.jobs--
}

// drive does each job, those of one device one after another, and tells Finished.
func (l Lab) drive(do func(job int, options Options) []Result) {
	teller := newTeller(l.Options.Progress, l.Finished)
	defer teller.close()
	options := l.Options
	options.Progress = teller
	group := errgroup.Group{}
	if l.Parallel > 0 {
		group.SetLimit(l.Parallel)
	}
	for _, indexes := range l.byDevice() {
		group.Go(func() error {
			for _, i := range indexes {
				for _, r := range do(i, options) {
					teller.finish(i, r)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // its functions return no error: each is in its result
}

// byDevice groups the indexes of the jobs by device, each in order.
func (l Lab) byDevice() [][]int {
	var groups [][]int
	place := map[string]int{}
	for i, job := range l.Jobs {
		at, known := place[job.Device]
		if !known {
			at = len(groups)
			place[job.Device] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}
