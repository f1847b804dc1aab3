package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// settle extends a start-up by Settles after the first frame: what the app still does then belongs
// to it, and the log is a moment late.
const settle = "sleep 1"

// Settles is for how long, at least, a start-up continues after am start has ended.
const Settles = time.Second

// newAndCleared are FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_CLEAR_TASK: the activity is created
// again in a live process, as Macrobenchmark's StartupMode.WARM does. The back key does not remove
// a first activity since Android 12.
const newAndCleared = "0x10008000"

// amStart starts the app as the launcher does: another intent would add an activity to an existing
// task, which the launcher brings to the front.
func (p Plan) amStart(mode config.StartMode) string {
	words := []string{"am", "start", "-W", "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER"}
	if mode == config.StartWarm {
		words = append(words, "-f", newAndCleared)
	}
	return device.Quote(append(words, "-n", p.activity)...)
}

// componentLine matches a component as the package manager prints it.
var componentLine = regexp.MustCompile(`^[\w.]{1,200}/[\w.$]{1,400}$`)

// systemsChoice is what the package manager names if there are several activities.
const systemsChoice = "com.android.internal.app.ResolverActivity"

// FindActivity finds the activity that a start-up opens, now that the app is on the device: the
// configured one, or the launcher's. Other workloads need none.
func (p *Plan) FindActivity(ctx context.Context) error {
	t, s := p.Target, p.Scenario.Workload.Startup
	if s == nil {
		return nil
	}
	if class := s.Activity; class != "" {
		p.activity = p.App + "/" + class
		return nil
	}
	const advice = "name it: workload.startup.activity in apkgate.yml"
	if t.Facts.API < 24 {
		return t.Advise(loss.Configuration, errors.New("find the launcher's activity: Android reports it since version 7"), advice)
	}
	text, err := t.Output(ctx, "cmd", "package", "resolve-activity", "--brief", p.App)
	if err != nil {
		return fmt.Errorf("find the launcher's activity: %w", err)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); componentLine.MatchString(line) {
			p.activity = line
		}
	}
	switch pkg, class, _ := strings.Cut(p.activity, "/"); {
	case class == systemsChoice:
		err = fmt.Errorf("find the launcher's activity: the launcher shows several of %s (a tool such as LeakCanary may have added one)", p.App)
	case pkg != p.App:
		err = fmt.Errorf("find the launcher's activity: the launcher shows none of %s", p.App)
	default:
		return nil
	}
	return t.Advise(loss.Configuration, err, advice)
}

// Start is the output of am start -W.
type Start struct {
	Total    time.Duration // until the first frame; -1: not reported
	activity string        // the component that was displayed
	status   string        // "ok" or "timeout"; "": not reported
	state    string        // LaunchState, "" before Android 10
	toFront  bool          // no activity was created
	problem  string        // why nothing was started
}

// longestStart limits the duration of a start.
const longestStart = 24 * time.Hour

var errorLine = regexp.MustCompile(`^(Error: |Security exception: |[\w.]+Exception: )`)

// readStart parses the output of am start.
func readStart(texts ...[]byte) *Start {
	s := &Start{Total: -1}
	for line := range bytes.Lines(bytes.Join(texts, []byte("\n"))) {
		line := strings.TrimSpace(string(line))
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "Status":
			s.status = value
		case "LaunchState":
			s.state = value
		case "Activity":
			s.activity = value
		case "TotalTime":
			if d, err := time.ParseDuration(value + "ms"); err == nil && d >= 0 && d < longestStart {
				s.Total = d
			}
		}
		s.toFront = s.toFront || strings.HasPrefix(line, "Warning: Activity not started")
		if s.problem == "" && errorLine.MatchString(line) {
			s.problem = target.FirstLine([]byte(line))
		}
	}
	return s
}

// states are the values of LaunchState of each mode (WaitResult.launchStateToString).
var states = map[config.StartMode]string{config.StartCold: "COLD", config.StartWarm: "WARM", config.StartHot: "HOT"}

// judge returns why it is no start of this mode of the app, nil if it is one.
func (s *Start) judge(mode config.StartMode, app string) error {
	pkg, _, _ := strings.Cut(s.activity, "/")
	switch {
	case s.status == "" && s.problem != "":
		return &loss.Error{Cause: loss.Configuration, Phase: journal.Measure, Err: fmt.Errorf("start the app: %s", s.problem), Final: true,
			Advice: "workload.startup.activity must name an activity of the app that other apps may start (android:exported)"}
	case s.status != "ok" && s.status != "timeout":
		return advised("am start -W did not say how it went", "")
	case s.status == "timeout" || s.Total < 0:
		return advised("nothing was displayed", "does the screen show the app, or a lock screen or a dialog?")
	case pkg != app && pkg != "":
		return advised("it showed "+target.FirstLine([]byte(s.activity))+", which is another app's", "see what the app shows first on a device where it was just installed")
	case s.Total == 0:
		return advised("nothing was drawn, since the activity showed already", "")
	case s.state != "" && s.state != states[mode]:
		return advised(fmt.Sprintf("a %s start was asked for, and the device says %s", mode, target.FirstLine([]byte(s.state))), whyOther(mode, s.state))
	case s.state == "" && s.toFront != (mode == config.StartHot):
		other := map[bool]string{true: "brought its activity to the front", false: "recreated its activity"}[s.toFront]
		return advised(fmt.Sprintf("a %s start was asked for, and the device %s", mode, other), whyOther(mode, ""))
	}
	return nil
}

func advised(what, advice string) error {
	return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: fmt.Errorf("%w: %s", loss.ErrStart, what), Advice: advice}
}

// whyOther returns why a start may have another state.
func whyOther(mode config.StartMode, state string) string {
	switch {
	case mode == config.StartCold:
		return "something starts the app's process again after am force-stop: a widget, a service, another app"
	case state == states[config.StartCold]:
		return "the process ends in the background: the device is short of memory, or the app ends itself"
	case mode == config.StartHot:
		return `the activity does not outlive the home key: it finishes itself, its configuration changes, or "Don't keep activities" is on`
	}
	return ""
}

// How long the phases before a start may take, on the device's clock.
const (
	dyingTakes = 3 * time.Second
	calmFor    = time.Second     // after the last app has gone
	leaveTakes = 2 * time.Second // the home key's animation, and what the app does as it leaves
	dropTakes  = 2500 * time.Millisecond
)

// StartBefore starts the stopped app, so that a warm or a hot start has something to start from.
func (p Plan) StartBefore(ctx context.Context) error {
	out, err := p.Target.Ask(ctx, p.amStart(config.StartCold))
	if err != nil {
		return fmt.Errorf("start the app before it is measured: %w", err)
	}
	s := readStart(out.Stderr, out.Stdout)
	s.state, s.toFront = "", false // its process may have come back by itself
	return s.judge(config.StartCold, p.App)
}

// Leave sends the app to the background. Its process must outlive that.
func (p Plan) Leave(ctx context.Context) error {
	if err := p.Target.Clock.Sleep(ctx, calmFor); err != nil {
		return err
	}
	if err := p.Target.Try(ctx, "input", "keyevent", "3"); err != nil { // home
		return err
	}
	if err := p.Target.Clock.Sleep(ctx, leaveTakes); err != nil {
		return err
	}
	if alive, err := p.alive(ctx); err != nil || alive {
		return err
	}
	mode := p.Scenario.Workload.Startup.Mode
	return advised(fmt.Sprintf("a %s start was asked for, and the app's process is gone", mode), whyOther(mode, states[config.StartCold]))
}

// ReadyCold waits until the app's process is gone, and makes the kernel drop its file caches, as
// Macrobenchmark does.
func (p Plan) ReadyCold(ctx context.Context) error {
	_, err := p.Target.Poll(ctx, calmFor/4, dyingTakes, func() (bool, error) {
		alive, err := p.alive(ctx)
		return !alive, err
	})
	if err != nil {
		return err
	}
	if err := p.Target.Clock.Sleep(ctx, calmFor); err != nil {
		return err
	}
	if err := p.dropCaches(ctx); err != nil {
		return err
	}
	if alive, err := p.alive(ctx); err != nil || !alive {
		return err
	}
	return advised("a cold start was asked for, and the app's process is there", whyOther(config.StartCold, ""))
}

// alive reports whether the app's process exists.
func (p Plan) alive(ctx context.Context) (bool, error) {
	question, sign := target.PIDs(p.App), ""
	if p.Target.Facts.API < 24 { // some have no pidof
		question, sign = device.Quote("dumpsys", "gfxinfo", p.App), "** Graphics info for pid "
	}
	out, err := p.Target.Ask(ctx, question)
	if err != nil {
		return false, fmt.Errorf("check whether the app's process is there: %w", err)
	}
	return len(bytes.TrimSpace(out.Stdout)) > 0 && bytes.Contains(out.Stdout, []byte(sign)), nil
}

// dropped is the property by which adb makes the kernel drop its caches, since Android 12; it is 0
// again when that is done.
const dropped = "perf.drop_caches"

// dropCaches makes a cold start read its files from storage.
func (p Plan) dropCaches(ctx context.Context) error {
	const kept = "cold starts find the app's files in memory: %s, so that they are shorter than the first one after a restart"
	if p.Target.Facts.API < 31 {
		p.Target.Journal.Warnf(kept, "Android lets adb drop its caches since version 12")
		return nil
	}
	out, err := p.Target.Exec(ctx, "setprop", dropped, "3")
	if err != nil {
		return fmt.Errorf("drop the caches: %w", err)
	}
	done := out.ExitCode == 0
	if done {
		done, err = p.Target.Poll(ctx, dropTakes/50, dropTakes, func() (bool, error) {
			value, err := p.Target.Output(ctx, "getprop", dropped)
			return slices.Contains([]string{"0", ""}, strings.TrimSpace(value)), err
		})
	}
	if err == nil && !done {
		p.Target.Journal.Warnf(kept, "the device did not drop its caches")
	}
	return err
}
