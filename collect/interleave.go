package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
)

// Pair are two builds of one app to be compared on one device: the same job but for the app. Base's
// device, scenario, network, energy and evidence are used for both, except for the compilation,
// which the head's scenario may set.
type Pair struct {
	Base, Head Job
	Turns
}

// Turns limits for how long two builds take turns. The zero value means as many rounds as the
// base's scenario has repetitions.
type Turns struct {
	// Repetitions is the number of successive repetitions of each build in a round, which share the
	// cost of installing the build: 0 is 1.
	Repetitions int
	// More returns how many rounds are to be measured in all, given the measurements so far. It is
	// called before the device is touched, with runs without iterations, and again whenever that
	// many rounds were measured. A number that has been reached ends the measurement. nil: the
	// repetitions of the base's scenario.
	More func(Progress) (rounds int)
	// Within is how long it may take, set-up included. A round is not started if it would exceed
	// that by taking as long as the longest one before. 0: no limit; below 0: there is no time for
	// any.
	Within time.Duration
}

// Interleave measures both builds alternately, in rounds of one or more repetitions of each, so that
// heat and drift are the same for both. Which build is first is drawn for each round, by the
// session (see headFirst). A build is installed anew when its turn comes, without the data of the
// one before (an older build can't replace a newer one, nor one with another key), and runs the
// scenario's warm-up before it is measured.
//
// The n-th iteration of each run is of round n, or with k repetitions a round (run.Run.Turn) the
// first k are of round 1. A lost repetition is repeated within its build's retries. If they are
// used up both runs end, since a round of one build alone can't be compared: earlier rounds are
// kept, and the error of the other build is then ErrOtherBuild as well. If there was time for no
// round, both are ErrNoTime.
func Interleave(ctx context.Context, p Pair, options Options) (base, head Result) {
	p.Head.Device, p.Head.Station, p.Head.Open, p.Head.Clock = p.Base.Device, p.Base.Station, p.Base.Open, p.Base.Clock
	p.Head.Wall, p.Head.Died, p.Head.Why = p.Base.Wall, p.Base.Died, p.Base.Why
	p.Head.Owner, p.Head.OwnFor, p.Head.Claim = p.Base.Owner, p.Base.OwnFor, p.Base.Claim
	compile := cmp.Or(p.Head.Scenario.Compile, p.Base.Scenario.Compile)
	p.Head.Scenario, p.Head.Network, p.Head.Energy, p.Head.Evidence = p.Base.Scenario, p.Base.Network, p.Base.Energy, p.Base.Evidence
	p.Head.Scenario.Compile = compile
	s := newStation(p.Base, options)
	s.clean = true
	a, b := newCollector(p.Base, options, s), newCollector(p.Head, options, s)
	if p.Repetitions > 1 {
		a.run.Turn, b.run.Turn = p.Repetitions, p.Repetitions
	}
	at, err := interleave(ctx, a, b, p.Turns)
	result := func(c *collector) Result {
		own := err
		if err != nil && at != nil && at != c {
			own = fmt.Errorf("%w: %w", ErrOtherBuild, err)
		}
		return c.result(context.WithoutCancel(ctx), own)
	}
	return result(a), result(b)
}

// interleave measures the rounds. If it ends early by the fault of one build, it returns that build
// as at.
func interleave(ctx context.Context, a, b *collector, turns Turns) (at *collector, err error) {
	defer a.tearDown(ctx)
	if a.job.App.APK == "" || b.job.App.APK == "" {
		return a, a.target.Final(loss.Infrastructure, errors.New("compare two builds: each needs an APK file"))
	}
	noTime := func() error { return a.target.Final(loss.Infrastructure, ErrNoTime) }
	if turns.Within < 0 {
		return nil, noTime()
	}
	watch := &turnsWatch{Turns: turns, clock: a.target.Clock, began: a.target.Clock.Now()}
	if !watch.wanted(a, b) {
		return nil, noTime()
	}
	first, _ := inRound(1, a, b)
	if err := first.setUp(ctx); err != nil {
		return first, err
	}
	if err := first.warmUp(ctx); err != nil {
		return first, err
	}
	for n := 1; watch.more(a, b); n++ {
		first, second := inRound(n, a, b)
		for _, c := range []*collector{first, second} {
			for k := range watch.repetitions() {
				if err := c.measure(ctx, (n-1)*watch.repetitions()+k+1); err != nil {
					return c, err
				}
			}
		}
	}
	if len(a.measured) == 0 {
		return nil, noTime()
	}
	return nil, nil
}

// inRound returns both in the order of a round.
func inRound(n int, base, head *collector) (first, second *collector) {
	if headFirst(base.job, n) {
		return head, base
	}
	return base, head
}

// headFirst draws whether the head is measured before the base in a round. A phone may be slower at
// every other repetition, or every fourth; in a fixed order, such as A B B A, all of these may be
// of one build. If the order is drawn for each round, either sign of a round's difference is
// equally likely whatever the noise does over time, and the rank test of the differences is exact
// (Fisher 1935, The Design of Experiments, section 21). The draw depends only on the session,
// device and scenario, so that it can be reproduced.
func headFirst(job Job, round int) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %q %q %d", job.Session, job.Device, job.Scenario.Name, job.Network, round)
	x := h.Sum64() // its lowest bits are next to those of the last round: mix them (Steele and others 2014, SplitMix)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x^x>>31)&1 == 1
}

// turnsWatch decides whether another round is measured.
type turnsWatch struct {
	Turns
	clock   device.Clock
	began   time.Duration // of set-up
	last    time.Duration // of the last round
	longest time.Duration // duration of a round
	asked   int           // up to how many rounds
}

// repetitions returns the number of repetitions of each build in a round.
func (w *turnsWatch) repetitions() int { return max(w.Repetitions, 1) }

// left returns the remaining time.
func (w *turnsWatch) left(now time.Duration) time.Duration {
	if w.Within <= 0 {
		return -1
	}
	return max(0, w.Within-(now-w.began))
}

// wanted reports whether any round is to be measured, before the device is touched.
func (w *turnsWatch) wanted(a, b *collector) bool {
	if w.More == nil {
		return true
	}
	w.asked = w.More(Progress{Base: a.soFar(), Head: b.soFar(), Left: w.left(w.began)})
	return w.asked > 0
}

// more reports whether another round is wanted and fits into the remaining time.
func (w *turnsWatch) more(a, b *collector) bool {
	now, rounds := w.clock.Now(), len(a.measured)/w.repetitions()
	if rounds > 0 {
		w.longest = max(w.longest, now-w.last)
	}
	w.last = now
	if rounds == w.asked && (w.More == nil || rounds > 0) {
		w.asked = a.job.Scenario.Repetitions
		if w.More != nil {
			w.asked = w.More(Progress{Base: a.soFar(), Head: b.soFar(), Left: w.left(now), Round: w.longest})
		}
	}
	return rounds < w.asked && (w.Within <= 0 || now-w.began+w.longest <= w.Within)
}
