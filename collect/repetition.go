package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/logcat"
)

// measurement is one repetition as it was seen.
type measurement struct {
	repetition int
	frames     []placed
	events     []logcat.Event // UI events, by time
	anrs       int
	startup    time.Duration // 0: not seen
	cpu        time.Duration // 0: not seen
	pssKB      int64         // 0: not seen
	period     time.Duration // of the display, 0: 60 Hz
	energy     *spent        // nil: not measured
	unseen     bool          // nobody looked at the frames
}

// How often frames are read, on the device's clock. A window holds the last 120
// frames, two seconds at 60 Hz. The tables before Android 6 bear no times: the
// more often they are read, the closer a frame is to its time.
const (
	readEvery    = time.Second
	readOldEvery = 250 * time.Millisecond
	// readLogEvery bounds what the device's ring of log entries must hold.
	readLogEvery = 30 * time.Second
)

// repetition does the workload once and measures it, with its energy unless m is
// nil.
func (c *collector) repetition(ctx context.Context, n int, m *metering) (measurement, error) {
	fail := func(cause Cause, err error) (measurement, error) {
		return measurement{}, c.fail(cause, Measure, n, err)
	}
	if err := c.prepare(ctx); err != nil {
		return fail(Infrastructure, err)
	}
	if err := m.preTest(ctx); err != nil {
		return fail(Infrastructure, err)
	}
	log, err := c.openLog(ctx)
	if err != nil {
		return fail(Infrastructure, err)
	}
	s := &sampler{collector: c, metering: m}
	if err := s.begin(ctx, log.markUptime); err != nil {
		return fail(Infrastructure, err)
	}
	if err := m.startUp(ctx); err != nil {
		return fail(Infrastructure, err)
	}
	w, err := m.begin(ctx, c)
	if err != nil {
		return fail(Infrastructure, err)
	}
	defer c.stopWorkload(w)
	ended, err := c.watch(ctx, w, s, log)
	if err != nil {
		return fail(Infrastructure, err)
	}
	if err := m.shutDown(ctx); err != nil {
		return fail(Infrastructure, err)
	}
	if err := log.read(ctx); err != nil {
		return fail(Infrastructure, err)
	}
	m.marked(log)
	seen := c.sift(log, s)
	if err := seen.loss(ended); err != nil {
		return fail(causeOf(err), err)
	}
	unseen := m.detaches()
	if unseen {
		s.frames = nil
	} else if err := s.loss(n); err != nil {
		if unseen = c.drawsNothing(err); !unseen {
			return fail(causeOf(err), err)
		}
	}
	c.sawFrames = c.sawFrames || !unseen
	pss, err := s.memory(ctx)
	if err != nil {
		return fail(Infrastructure, err)
	}
	spent, err := m.postTest(ctx)
	if err != nil {
		return fail(Infrastructure, err)
	}
	if err := c.tellSlowness(ctx, n); err != nil {
		return fail(Infrastructure, err)
	}
	return measurement{
		repetition: n, frames: s.frames, events: seen.ui, anrs: seen.anrs,
		startup: seen.startup, cpu: s.cpu(), pssKB: pss, period: c.facts.period, energy: spent, unseen: unseen,
	}, nil
}

// drawsNothing reports whether a repetition without frames counts all the same:
// where energy is measured, and the app has never drawn anything that gfxinfo
// counts. What works with the screen off, or draws by itself, has its joules too.
func (c *collector) drawsNothing(loss error) bool {
	if c.meter == nil || c.sawFrames || !errors.Is(loss, ErrNoFrames) {
		return false
	}
	c.warnf("%s draws nothing that gfxinfo counts: its energy is measured, and no frames (see whether the workload opens the app at all, if it should)", c.job.App.Package)
	return true
}

// causeOf tells whose failure a lost repetition is that the device survived.
func causeOf(err error) Cause {
	if errors.Is(err, ErrGarbled) || errors.Is(err, ErrFrameGap) {
		return Infrastructure
	}
	return Workload
}

// prepare brings the app to the state in which every repetition begins.
func (c *collector) prepare(ctx context.Context) error {
	for _, pkg := range []string{c.job.App.Package, testPackage(c.job.Scenario.Workload)} {
		if pkg == "" {
			continue
		}
		if err := c.try(ctx, "am", "force-stop", pkg); err != nil {
			return err
		}
	}
	if !c.job.Scenario.ClearData {
		return nil
	}
	out, err := c.exec(ctx, "pm", "clear", c.job.App.Package)
	if err := answered("clear the app's data", out, err); err != nil {
		return err
	}
	if said := firstLine(out.Stdout); said != "Success" {
		return fmt.Errorf("clear the app's data: the device says %q", said)
	}
	return nil
}

// watch reads frames until the workload ends, by itself or because its time is
// over. ended tells how, nil where all went well; err is that the device could
// not be asked.
func (c *collector) watch(ctx context.Context, w *running, s *sampler, log *logReader) (ended, err error) {
	interval := readEvery
	if !c.facts.hasFramestats() {
		interval = readOldEvery
	}
	timeout := c.job.Scenario.Timeout
	deadline := c.clock.Now() + timeout
	nextLog := c.clock.Now() + readLogEvery
	for !w.ended() {
		if timeout > 0 && c.clock.Now() >= deadline && !w.settled() {
			c.stopWorkload(w)
			return fmt.Errorf("%w: %v", ErrTimeout, timeout), c.try(ctx, "am", "force-stop", c.job.App.Package)
		}
		if err := s.metering.await(ctx, c, w, interval); err != nil {
			return nil, err
		}
		if s.metering != nil && w.ended() {
			break // what comes after it is not its energy
		}
		if err := s.read(ctx, !w.ended()); err != nil {
			return nil, err
		}
		if c.clock.Now() >= nextLog {
			if err := log.read(ctx); err != nil {
				return nil, err
			}
			nextLog = c.clock.Now() + readLogEvery
		}
	}
	ended = w.judge(c.job.Scenario.Workload)
	if isGone(ended) {
		return nil, ended
	}
	return ended, s.read(ctx, false)
}

// sifted is what the log says of one repetition.
type sifted struct {
	ui      []logcat.Event
	anrs    int
	startup time.Duration
	crash   *logcat.Event
	died    *logcat.Event
	anr     *logcat.Event
}

// sift picks from the log what is about the app.
func (c *collector) sift(log *logReader, s *sampler) sifted {
	var out sifted
	var input []logcat.Event
	for _, e := range log.events() {
		own := e.Process == c.job.App.Package || strings.HasPrefix(e.Process, c.job.App.Package+":") ||
			e.Process == "" && s.pids[e.PID]
		switch {
		case e.Kind == logcat.UIEvent:
			out.ui = append(out.ui, e)
		case !own:
		case e.Kind == logcat.Input:
			e.Name = "input " + e.Name[strings.LastIndexAny(e.Name, "/.")+1:]
			input = append(input, e)
		case e.Kind == logcat.ANR:
			out.anrs++
			out.anr = &e
		case e.Kind == logcat.Crash && out.crash == nil:
			out.crash = &e
		case e.Kind == logcat.Died && e.Process == c.job.App.Package && e.Time < s.alive && out.died == nil:
			out.died = &e
		case e.Kind == logcat.Displayed && out.startup == 0:
			out.startup = e.Duration
		}
	}
	if !log.aligned && len(out.ui)+len(input) > 0 {
		c.warnf("the log's clock could not be lined up with the frames' clock: the frames are in one bucket")
		out.ui = nil
		return out
	}
	c.sawUI = c.sawUI || len(out.ui) > 0
	if !c.sawUI && len(input) > 0 {
		c.warnf("the test writes no UI events (log tag %q): taken from the input events that the system logs, which tell touches of one window apart from another's only", logcat.Tag)
		out.ui = input
	}
	return out
}

// loss tells why the repetition is lost by what the workload and the log say,
// nil where it is not. An ANR that the app survived is a measurement.
func (s sifted) loss(ended error) error {
	switch {
	case s.crash != nil && errors.Is(ended, ErrCrashed):
		return fmt.Errorf("%w (%s)", ended, clip(s.crash.Detail))
	case s.crash != nil:
		return fmt.Errorf("%w: %s", ErrCrashed, clip(s.crash.Detail))
	case errors.Is(ended, ErrTimeout) && s.anr != nil:
		return fmt.Errorf("%w; the app does not respond: %s", ended, clip(s.anr.Detail))
	case ended != nil:
		return ended
	case s.died != nil && s.anr != nil:
		return fmt.Errorf("%w after an ANR: %s", ErrDied, clip(s.anr.Detail))
	case s.died != nil:
		return fmt.Errorf("%w while the workload ran", ErrDied)
	}
	return nil
}
