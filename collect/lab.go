package collect

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Lab makes many runs: on several devices at once, on each device one after
// another.
type Lab struct {
	Jobs []Job
	// Parallel bounds the devices that work at the same time; 0 is all of them.
	Parallel int
	Options  Options
	// Finished is given each result as soon as it is there, so that a caller can
	// keep what was measured before an interrupt; nil for none. It and Progress
	// are never called at the same time, and no device waits for either; all is
	// told when the Lab's method returns.
	Finished func(Result)
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
// Interleave), of which there are as many.
func (l Lab) Interleave(ctx context.Context, heads []Job) (base, head []Result) {
	base, head = make([]Result, len(l.Jobs)), make([]Result, len(l.Jobs))
	l.drive(func(i int, options Options) []Result {
		base[i], head[i] = Interleave(ctx, Pair{Base: l.Jobs[i], Head: heads[i]}, options)
		return []Result{base[i], head[i]}
	})
	return base, head
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
					teller.finish(r)
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
