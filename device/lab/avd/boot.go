package avd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device/console"
	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// attempt is one boot, with everything that it needs.
type attempt struct {
	lab      *Lab
	spec     boot.Spec
	held     *lease.Held
	tell     func(string)
	emulator emulator
	machine  machine
	way      way
}

// Boot creates the AVD if the spec asks for one, starts an emulator with it and returns once
// Android is up. A boot from a snapshot that fails is repeated once as a cold boot.
func (l *Lab) Boot(ctx context.Context, spec boot.Spec, held *lease.Held, tell func(string)) (*boot.Booted, error) {
	if err := held.For(spec.Name); err != nil {
		return nil, err
	}
	t := teller{tell: tell}
	defer t.end()
	tell = t.say
	a := attempt{lab: l, spec: spec, held: held, tell: tell}
	s := l.sdk()
	var err error
	if a.emulator, err = l.ask(ctx, s); err != nil {
		return nil, err
	}
	accel, err := l.accelerated(ctx, a.emulator)
	if err == nil {
		err = accel.check()
	}
	if err != nil {
		return nil, err
	}
	if a.way, err = l.way(ctx, s, tell); err != nil {
		return nil, err
	}
	if a.machine, err = l.prepare(ctx, s, a.emulator, spec, held, tell); err != nil {
		return nil, err
	}
	booted, err := a.start(ctx)
	if err != nil && spec.Snapshot != "" && ctx.Err() == nil {
		tell(fmt.Sprintf("the snapshot %s does not boot: booting cold; %v", spec.Snapshot, err))
		a.spec.Snapshot = ""
		booted, err = a.start(ctx)
	}
	if err != nil {
		return nil, err
	}
	return booted, a.charge(ctx, booted)
}

// teller reports the progress of one boot, from several goroutines, until the boot ends.
type teller struct {
	mu   sync.Mutex
	tell func(string)
	over bool
}

func (t *teller) say(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.tell(line)
	}
}

func (t *teller) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

// mostPorts is how many pairs of ports are tried if other programs take them in between.
const mostPorts = 5

// start starts the emulator on free ports and waits until Android is up.
func (a attempt) start(ctx context.Context) (*boot.Booted, error) {
	passed := map[int]bool{}
	for {
		p, err := a.lab.takePort(ctx, a.way, passed)
		if err != nil {
			return nil, err
		}
		booted, taken, err := a.startOn(ctx, p)
		if err == nil {
			return booted, nil
		}
		p.leave()
		passed[p.console] = true
		if !taken || len(passed) == mostPorts {
			return nil, err
		}
		a.tell(fmt.Sprintf("the ports %d and %d are in use: trying others", p.console, p.adb()))
	}
}

// startOn starts the emulator on the ports. After an error none of its processes is left;
// taken reports that the ports were in use.
func (a attempt) startOn(ctx context.Context, p *port) (b *boot.Booted, taken bool, err error) {
	if err := a.held.Note(notePort, strconv.Itoa(p.console)); err != nil {
		return nil, false, err
	}
	l := a.lab
	ends, end := context.WithCancelCause(ctx)
	defer end(nil)
	g := &log{seen: func(line logLine) {
		if f, ok := known(line); ok && !f.mayContinue {
			end(errRefused)
		}
		a.reportDeviations(line)
	}}
	a.tell(fmt.Sprintf("starting the emulator %s with %s as %s", a.emulator.version, a.machine.name, p.serial()))
	process, err := hostprogram.Start(hostprogram.Command{
		Path: a.emulator.path, Args: a.emulator.commandLine(a.spec, a.machine.name, a.held.ID(), p.console),
		Env: l.environment(append(a.machine.environment(), quiet...)...),
	}, g, g)
	if err != nil {
		return nil, false, failure(err.Error(), installEmulator)
	}
	err = a.held.Note(noteProcess, process.ID().String())
	if err == nil {
		err = a.up(ends, process, g, p)
	}
	if err != nil {
		var e *boot.Error
		taken = errors.As(err, &e) && e.Retry && strings.Contains(e.What, portsTaken)
		return nil, taken, errors.Join(err, process.Stop(l.patience.term))
	}
	l.mu.Lock()
	l.running[a.held.ID()] = &running{process, p}
	l.mu.Unlock()
	b = a.way.booted(p)
	b.Died = process.Done()
	b.Why = func() string { return process.Ending() + said(g) }
	return b, false, nil
}

func said(g *log) string {
	if words := g.lastWords(); words != "" {
		return "; it said: " + words
	}
	return ""
}

// quiet keeps the emulator from asking about an earlier crash in a window that nobody sees,
// and from spending time on saving its state.
var quiet = []string{"ANDROID_EMU_ENABLE_CRASH_REPORTING=0", "ANDROID_EMULATOR_WAIT_TIME_BEFORE_KILL=5"}

var (
	errRefused = errors.New("the emulator does not start")
	errEnded   = errors.New("the emulator has ended")
	errSlow    = errors.New("the time is over")
)

// up waits until Android is up, or the emulator reports that it can't start, has exited, or
// took too long. An emulator that can't start exits before adb has seen it.
func (a attempt) up(ctx context.Context, process *hostprogram.Process, g *log, p *port) error {
	begun := time.Now()
	within := a.lab.patience.boot
	ctx, cancel := context.WithTimeoutCause(ctx, within, errSlow)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-process.Done():
			end(errEnded)
		case <-stop:
		}
	}()
	err := boot.Await(ctx, a.way.reach(p), a.tell)
	switch {
	case err == nil:
		a.tell(fmt.Sprintf("%s is up after %v", p.serial(), time.Since(begun).Round(time.Second)))
		return nil
	case errors.Is(err, errRefused):
		select { // the emulator may print more
		case <-process.Done():
		case <-time.After(a.lab.patience.term):
		}
		return g.died(a.machine.name, "it did not start")
	case errors.Is(err, errEnded):
		return g.died(a.machine.name, process.Ending())
	case !errors.Is(err, errSlow):
		return context.Cause(ctx)
	}
	var last *boot.NotUpError
	errors.As(err, &last)
	return retryable(fmt.Sprintf("boot the AVD %s: Android was not up after %v: %s", a.machine.name, within, last.Last),
		"give the emulator more cores or RAM, run fewer at once, or see what it shows without -no-window")
}

// reportDeviations reports what the emulator does differently than requested.
func (a attempt) reportDeviations(l logLine) {
	about := []string{"Your GPU cannot be used for hardware rendering"}
	if a.spec.Snapshot != "" {
		about = append(about, "to load snapshot", "does not have the requested snapshot", "Cold boot: snapshot", "can not be loaded")
	}
	if slices.ContainsFunc(about, func(text string) bool { return strings.Contains(l.text, text) }) {
		a.tell("the emulator says: " + prose.OneLine(l.text))
	}
}

// charge sets the battery's level.
func (a attempt) charge(ctx context.Context, b *boot.Booted) error {
	if a.spec.BatteryPercent == 0 {
		return nil
	}
	c, err := console.Open(ctx, b.ConsolePort)
	if err == nil {
		err = errors.Join(c.SetCapacity(ctx, a.spec.BatteryPercent), c.Close())
	}
	if err != nil {
		return retryable(fmt.Sprintf("set the battery of %s to %d%%: %v", b.Serial, a.spec.BatteryPercent, err), "")
	}
	return nil
}
