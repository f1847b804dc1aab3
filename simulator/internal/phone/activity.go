package phone

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// am is the activity manager.
func am(c *call, then func(code int)) {
	verb := c.Arg(0)
	if len(c.Args) > 0 {
		c.Args = c.Args[1:]
	}
	switch verb {
	case "start", "start-activity":
		amStart(c, then)
	case "instrument":
		amInstrument(c, then)
	case "profile":
		amProfile(c, then)
	case "force-stop", "kill":
		pkg := c.Arg(len(c.Args) - 1)
		c.kill(pkg)
		c.comeBack(pkg)
		then(0)
	case "kill-all":
		for _, pkg := range sortedKeys(c.state.running) {
			c.kill(pkg)
		}
		then(0)
	case "broadcast":
		result := 0
		if i := slices.Index(c.Args, "-a"); i >= 0 && c.Arg(i+1) == "androidx.profileinstaller.action.INSTALL_PROFILE" {
			result = c.packages.InstallProfile(c.Arg(len(c.Args)-1), c.wake)
		}
		c.Printf("Broadcasting: Intent { %s }\nBroadcast completed: result=%d\n", strings.Join(c.Args, " "), result)
		then(0)
	default:
		c.Errorf("Error: unknown command '%s'\n", verb)
		then(1)
	}
}

// amInstrument is am instrument [-w] [-r] [-e KEY VALUE] PKG/RUNNER.
func amInstrument(c *call, then func(code int)) {
	var wait, raw bool
	var component string
	arguments := map[string]string{}
	for i := 0; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case a == "-w":
			wait = true
		case a == "-r":
			raw = true
		case a == "-e":
			arguments[c.Arg(i+1)] = c.Arg(i + 2)
			i += 2
		case a == "--user" || a == "--abi":
			i++
		case !strings.HasPrefix(a, "-"):
			component = a
		}
	}
	orchestrated := ""
	if pkg, _, _ := strings.Cut(component, "/"); pkg == orchestratorPackage && c.packages.Apps[pkg] != nil {
		orchestrated, component = component, arguments["targetInstrumentation"]
	}
	pkg, runner, _ := strings.Cut(component, "/")
	test, target := c.underTest(pkg)
	if test == nil || target == nil || runner != test.Runner {
		c.Printf("INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{%s}\nINSTRUMENTATION_STATUS_CODE: -1\n", component)
		c.Errorf("android.util.AndroidException: INSTRUMENTATION_FAILED: %s\n", component)
		then(1)
		return
	}
	class := arguments["class"]
	w := &workload{phone: c.Phone, app: target, runner: runner, raw: raw, out: c.Out, then: then}
	if w.cases = testCases(test, target, class); len(w.cases) == 0 {
		w.cases = []simapp.TestCase{{Class: class, Method: "initializationError", Scenario: "?"}}
	}
	if w.cases[0].Iterations > 0 { // a benchmark runs in a process of its own
		w.app, w.benchmarks = test, &benchmarks{app: target, arguments: arguments}
	}
	if !wait { // no output
		w.out, w.then = nil, func(int) {}
		then(0)
	}
	if orchestrated != "" {
		w.orchestrate(arguments, c.Variable(secretVariable) != "")
		return
	}
	w.start()
}

// underTest returns a test APK and its target; an app may contain its own tests.
func (p *Phone) underTest(pkg string) (test, target *simapp.App) {
	t := p.packages.Apps[pkg]
	if t == nil {
		return nil, nil
	}
	if t.App.Tests == "" {
		return t.App, t.App
	}
	if a := p.packages.Apps[t.App.Tests]; a != nil {
		return t.App, a.App
	}
	return t.App, nil
}

// input is input tap|swipe|text|keyevent: a touch of the app in the foreground.
func input(c *call, then func(code int)) {
	verb := c.Arg(0)
	switch verb {
	case "tap", "swipe", "text", "keyevent", "press", "roll":
	default:
		c.Errorf("Error: Unknown command: %s\n", verb)
		then(1)
		return
	}
	// The injector is a process of its own, and takes a while to start.
	c.clock.Spend(120*time.Millisecond, func() {
		if verb == "keyevent" && (c.screen.PowerKey(c.Arg(1)) || c.leavingKey(c.Arg(1))) {
			then(0)
			return
		}
		if c.system.Front() != nil {
			if verb == "tap" {
				x, _ := strconv.Atoi(c.Arg(1))
				y, _ := strconv.Atoi(c.Arg(2))
				c.system.Tap(x, y)
			}
			then(0)
			return
		}
		if pr := c.state.running[c.state.foreground]; pr != nil {
			frames := pr.app.Touch
			if verb == "swipe" {
				frames *= 2
			}
			c.interact(pr, frames)
		}
		then(0)
	})
}

// monkeyRun is a running monkey.
type monkeyRun struct {
	call     *call
	app      *simapp.App
	pid      int // the app's
	r        *rand.Rand
	throttle time.Duration
	left     int
	count    int
	seed     uint64
	verbose  bool
	begun    time.Duration
	then     func(code int)
}

// sysKeysShare is monkey's default share of system key events, in percent
// (MonkeySourceRandom.java).
const sysKeysShare = 2.0

// monkey is monkey -p PKG [-s SEED] [--throttle MS] [--pct-KIND SHARE] [-v] COUNT.
func monkey(c *call, then func(code int)) {
	m := &monkeyRun{call: c, then: then, begun: c.clock.Now()}
	seed, pkg, sysKeys := uint64(1), "", sysKeysShare
	for i := 0; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case a == "-p":
			i++
			pkg = c.Arg(i)
		case a == "-s":
			i++
			seed, _ = strconv.ParseUint(c.Arg(i), 10, 64)
		case a == "--throttle":
			i++
			ms, _ := strconv.Atoi(c.Arg(i))
			m.throttle = time.Duration(min(max(ms, 0), 60_000)) * time.Millisecond
		case a == "--pct-syskeys":
			i++
			sysKeys, _ = strconv.ParseFloat(c.Arg(i), 64)
		case a == "-c" || strings.HasPrefix(a, "--pct-"):
			i++
		case a == "-v" || a == "-v-v":
			m.verbose = true
		case !strings.HasPrefix(a, "-"):
			m.count, _ = strconv.Atoi(a)
		}
	}
	a := c.packages.Apps[pkg]
	c.Printf("  bash arg: -p\n  bash arg: %s\n", pkg)
	switch {
	case a == nil:
		c.Printf("** No activities found to run, monkey aborted.\n")
		then(252)
		return
	case m.count < 1 || m.count > 1_000_000:
		c.Errorf("** Error: Count must be specified\n")
		then(255)
		return
	case !c.profile.Keys && sysKeys >= 0.1: // MonkeySourceRandom.validateKeyCategory
		c.Errorf("** SYS_KEYS has no physical keys but with factor %.1f%%.\n", sysKeys)
		then(251)
		return
	}
	m.app, m.left, m.seed, m.r = a.App, m.count, seed, rand.New(rand.NewPCG(seed, 7))
	c.Printf(":Monkey: seed=%d count=%d\n:AllowPackage: %s\n:IncludeCategory: android.intent.category.LAUNCHER\n", seed, m.count, pkg)
	start := choreo.Cold
	if c.state.running[pkg] != nil {
		start = choreo.Hot
	}
	took := c.open(a.App, start)
	m.pid = c.state.running[pkg].PID
	c.clock.At(c.clock.Now()+took, m.step)
}

// step injects one event.
func (m *monkeyRun) step() {
	p := m.call.Phone
	pr := p.state.running[m.app.Package]
	switch {
	case m.call.Ended():
		return
	case pr == nil:
		// Monkey.java writes the crash to its standard error, and the rest to its standard
		// output.
		m.call.Errorf("// CRASH: %s (pid %d)\n// Short Msg: simulated crash\n", m.app.Package, m.pid)
		m.call.Printf("** Monkey aborted due to error.\nEvents injected: %d\n", m.count-m.left)
		m.finish(m.count - m.left)
		return
	case m.left == 0:
		m.call.Printf("Events injected: %d\n", m.count)
		m.finish(0)
		return
	}
	m.left--
	width, height := p.profile.Size()
	x, y := m.r.IntN(width), m.r.IntN(height)
	if m.verbose {
		m.call.Printf(":Sending Touch (ACTION_DOWN): 0:(%d.0,%d.0)\n", x, y)
	}
	// Every second event starts an animation on average.
	switch moves := m.r.IntN(2) == 0; {
	case p.system.Tap(x, y): // the event hits a dialog
	case moves:
		p.interact(pr, 1+m.r.IntN(2*m.app.Touch+1))
	default:
		p.touched(pr)
	}
	p.clock.At(p.clock.Now()+m.throttle+3*time.Millisecond, m.step)
}

// finish ends monkey with the number of the event at which the app crashed, 0 for none. Only
// the lowest byte of it arrives as the exit code.
func (m *monkeyRun) finish(code int) {
	ms := (m.call.clock.Now() - m.begun).Milliseconds()
	m.call.Printf(":Dropped: keys=0 pointers=0 trackballs=0 flips=0 rotations=0\n## Network stats: elapsed time=%dms (0ms mobile, %dms wifi, 0ms not connected)\n", ms, ms)
	if code == 0 {
		m.call.Printf("// Monkey finished\n")
	} else {
		m.call.Errorf("%s\n", fmt.Sprintf("** System appears to have crashed at event %d of %d using seed %d", code, m.count, m.seed))
	}
	m.then(code & 0xff)
}
