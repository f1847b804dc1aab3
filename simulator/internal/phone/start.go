package phone

import (
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// task is the system's state of an app's activity.
type task struct {
	there  bool   // the activity exists
	shows  bool   // it is in front
	intent string // the action and categories that it was started with
	hidAt  time.Duration
}

// intent is the argument of am start.
type intent struct {
	action, component string
	categories        []string
	flags             int64
}

// The relevant flags of an Intent.
const clearTask = 0x8000 // FLAG_ACTIVITY_CLEAR_TASK

// filter returns what identifies an intent's task (Intent.filterEquals; the component is the
// task's own).
func (in intent) filter() string { return in.action + " " + strings.Join(in.categories, ",") }

// String formats the intent like Intent.toString.
func (in intent) String() string {
	var words []string
	if in.action != "" {
		words = append(words, "act="+in.action)
	}
	if len(in.categories) > 0 {
		words = append(words, "cat=["+strings.Join(in.categories, ",")+"]")
	}
	if in.flags != 0 {
		words = append(words, "flg=0x"+strconv.FormatInt(in.flags, 16))
	}
	return strings.Join(append(words, "cmp="+in.component), " ")
}

// amStart is am start [-W] [-S] [-a ACTION] [-c CATEGORY] [-f FLAGS] [-n] PKG/ACTIVITY.
func amStart(c *call, then func(code int)) {
	var in intent
	wait, afresh := false, false
	for i := 0; i < len(c.Args); i++ {
		switch a := c.Args[i]; a {
		case "-W":
			wait = true
		case "-S":
			afresh = true
		case "-n", "-a", "-c", "-d", "-f", "--user":
			i++
			in.set(a, c.Arg(i))
		default:
			if !strings.HasPrefix(a, "-") {
				in.component = a
			}
		}
	}
	pkg, class, _ := strings.Cut(in.component, "/")
	a := c.packages.Apps[pkg]
	if afresh && a != nil {
		c.Printf("Stopping: %s\n", pkg)
		c.kill(pkg)
	}
	c.Printf("Starting: Intent { %s }\n", in)
	if a == nil || !a.App.HasActivity(class) {
		c.Errorf("Error type 3\nError: Activity class {%s} does not exist.\n", in.component)
		then(1)
		return
	}
	s := &starting{call: c, app: a.App, asked: c.clock.Now(), then: then, wait: wait}
	s.begin(in)
}

func (in *intent) set(key, value string) {
	switch key {
	case "-n":
		in.component = value
	case "-a":
		in.action = value
	case "-c":
		in.categories = append(in.categories, value)
	case "-f":
		in.flags, _ = strconv.ParseInt(value, 0, 64)
	}
}

// starting is an am start in progress.
type starting struct {
	call  *call
	app   *simapp.App
	asked time.Duration
	wait  bool
	then  func(code int)
}

// begin determines the kind of start (ActivityStarter, ActivityMetricsLogger).
func (s *starting) begin(in intent) {
	p := s.call.Phone
	pr := p.state.running[s.app.Package]
	switch {
	case pr == nil:
		s.open(in, choreo.Cold, "COLD")
	case !pr.task.there || in.flags&clearTask != 0 || pr.task.intent != in.filter():
		s.open(in, choreo.Warm, "WARM")
	case pr.task.shows:
		s.warn()
		state := "HOT"
		if p.profile.API >= 31 {
			state = "UNKNOWN (0)"
		}
		s.finish(state, 0)
	case s.app.Launch.Relaunched > 0 && p.random("relaunch", p.clock.Now()).Float64() < s.app.Launch.Relaunched:
		s.warn()
		s.open(in, choreo.Warm, "RELAUNCH")
	default:
		s.warn()
		s.open(in, choreo.Hot, "HOT")
	}
}

// warn reports that no activity was created. Without -W the warning is on standard error.
func (s *starting) warn() {
	const text = "Warning: Activity not started, its current task has been brought to the front\n"
	if s.wait {
		s.call.Printf(text)
	} else {
		s.call.Errorf(text)
	}
}

// unseen is after how long an invisible start, or that of an app that died, is given up
// (ActivityMetricsLogger.checkActivityToBeDrawn).
const unseen = 3 * time.Second

func (s *starting) open(in intent, start choreo.Start, state string) {
	p := s.call.Phone
	took := p.open(s.app, start)
	pr := p.state.running[s.app.Package]
	pr.task.intent = in.filter()
	if !s.wait {
		s.then(0)
		return
	}
	hidden := p.screen.Hidden() != ""
	if hidden {
		took = unseen
	}
	p.clock.Spend(took+callTakes, func() {
		if hidden || pr.dead { // WaitResult.INVALID_DELAY
			state, took = "UNKNOWN (-1)", -1
		}
		s.finish(state, took)
	})
}

// callTakes is the overhead of am start.
const callTakes = 20 * time.Millisecond

// finish prints the result (ActivityManagerShellCommand.runStartActivity).
func (s *starting) finish(state string, took time.Duration) {
	c := s.call
	if !s.wait {
		s.then(0)
		return
	}
	c.Printf("Status: ok\n")
	if c.profile.API >= 29 {
		c.Printf("LaunchState: %s\n", state)
	}
	c.Printf("Activity: %s\n", s.app.Component())
	if took >= 0 && c.profile.API < 29 {
		c.Printf("ThisTime: %d\n", took.Milliseconds())
	}
	if took >= 0 {
		c.Printf("TotalTime: %d\n", took.Milliseconds())
	}
	c.Printf("WaitTime: %d\nComplete\n", (c.clock.Now() - s.asked).Milliseconds())
	s.then(0)
}

// open brings an app to the front, and returns how long that takes.
func (p *Phone) open(app *simapp.App, start choreo.Start) (took time.Duration) {
	pr := p.state.running[app.Package]
	if pr == nil {
		pr = p.launch(app, "activity")
	}
	p.toFront(pr)
	return p.play(pr, simapp.Scenario{Name: "open", Start: app.Touch}, start).Displayed
}

// saysDrawn reports whether an app will report that its new activity is fully drawn.
func (p *Phone) saysDrawn(app *simapp.App, start choreo.Start) bool {
	a := p.packages.Apps[app.Package]
	if a == nil || app.Drawn == 0 {
		return app.Drawn > 0
	}
	a.Made++
	if app.Launch.DrawnOnce && start != choreo.Cold {
		return false
	}
	return app.Launch.Undrawn == 0 || a.Made < app.Launch.Undrawn
}

// toFront shows an app, in front of the others.
func (p *Phone) toFront(pr *process) {
	if p.state.foreground != pr.app.Package {
		p.leave()
	}
	p.state.foreground = pr.app.Package
	pr.task.there, pr.task.shows = true, true
}

// leave hides the front app. The system may kill an invisible app.
func (p *Phone) leave() {
	pr := p.state.running[p.state.foreground]
	p.state.foreground = ""
	if pr == nil {
		return
	}
	now := p.clock.Now()
	pr.task.shows, pr.task.hidAt = false, now
	pr.draws.Stop(now)
	p.home.Show()
	if forgotten := pr.app.Launch.Forgotten; forgotten > 0 {
		p.clock.At(now+forgotten, func() {
			if !pr.dead && !pr.task.shows && pr.task.hidAt == now {
				p.log.System("system", 'I', "ActivityManager", "Process %s (pid %d) has died: cch+5 CEM", pr.app.Package, pr.PID)
				p.log.Event("am_proc_died", 0, pr.PID, pr.app.Package)
				p.die(pr)
			}
		})
	}
}

// comeBack restarts the process of a stopped app that something else needs.
func (p *Phone) comeBack(pkg string) {
	a := p.packages.Apps[pkg]
	if a == nil || a.App.Launch.Revived == 0 {
		return
	}
	p.clock.At(p.clock.Now()+a.App.Launch.Revived, func() {
		if p.state.running[pkg] != nil {
			return
		}
		p.startProcess(a.App, "service")
	})
}

// leavingKey handles home and back; false for other keys. Since Android 12 back does not
// finish an app's first activity (Activity.onBackPressed).
func (p *Phone) leavingKey(key string) bool {
	pr := p.state.running[p.state.foreground]
	switch key {
	case "3", "KEYCODE_HOME":
		p.leave()
	case "4", "KEYCODE_BACK":
		if p.leave(); pr != nil && p.profile.API < 31 {
			pr.task.there = false
		}
	default:
		return false
	}
	return true
}

// dropCaches is the property with which any process can make the kernel drop its file caches,
// since Android 12: init sets it to 0 when that is done.
const dropCaches = "perf.drop_caches"

const dropTakes = 150 * time.Millisecond

func (p *Phone) dropsCaches() bool {
	if p.profile.API < 31 {
		return false
	}
	p.clock.At(p.clock.Now()+dropTakes, func() { p.state.props[dropCaches] = "0" })
	return true
}
