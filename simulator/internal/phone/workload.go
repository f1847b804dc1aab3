package phone

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// workload is a running instrumentation: am instrument.
type workload struct {
	phone   *Phone
	app     *simapp.App // the app under test
	runner  string
	cases   []simapp.TestCase
	raw     bool // -r
	process *process
	out     io.Writer
	next    int
	begun   time.Duration
	current simapp.TestCase
	over    bool
	stuck   bool // nothing more happens, without a report
	blocked bool // a dialog covers the app
	then    func(code int)
	// benchmarks are those of a Macrobenchmark; nil for another test.
	benchmarks *benchmarks
	// orchestra runs each test in a process of its own; nil without the Orchestrator.
	orchestra *orchestra
}

// start starts the test cases of a test APK in the app's process.
func (w *workload) start() {
	p := w.phone
	w.begun = p.clock.Now()
	p.kill(w.app.Package) // an instrumentation restarts the app
	w.process = p.launch(w.app, "added application")
	w.process.workload = w
	if !w.raw {
		w.printf("\n%s:", w.cases[0].Class)
	}
	w.playNext(true)
}

func (w *workload) printf(format string, args ...any) {
	if w.out != nil {
		w.out.Write(fmt.Appendf(nil, format, args...))
	}
}

// playNext plays the next test case, or finishes.
func (w *workload) playNext(cold bool) {
	if w.next == len(w.cases) {
		if err := w.benchmarks.write(w); err != nil {
			w.fail(err.Error())
			return
		}
		w.finish()
		return
	}
	w.current = w.cases[w.next]
	w.next++
	w.status(1, "\n"+w.current.Class+":")
	if w.benchmarks != nil {
		w.benchmark()
		return
	}
	sc, ok := w.app.Scenario(w.current.Scenario)
	switch name := w.phone.packages.Lacks(w.app); {
	case !ok:
		w.fail(fmt.Sprintf("java.lang.IllegalStateException: the simulated app has no scenario %s", w.current.Scenario))
	case cold && w.phone.screen.Hidden() != "":
		w.fail("androidx.test.espresso.NoActivityResumedException: No activities in stage RESUMED. Did you forget to launch the activity. (test.getActivity() or similar)? (" + w.phone.screen.Hidden() + ")")
	case cold && w.phone.system.Front() != nil:
		w.at(w.phone.clock.Now()+focusFor, func() {
			w.fail(noFocus + " (" + w.phone.focusedWindow() + ")")
		})
	case name != "":
		w.at(w.phone.clock.Now()+focusFor, func() {
			w.fail(noFocus + " (a dialog asks for " + name + ")")
		})
	default:
		w.perform(sc, cold)
	}
}

// perform plays the current test's scenario; its output follows a moment later.
func (w *workload) perform(sc simapp.Scenario, cold bool) {
	w.phone.state.played++
	start := choreo.Shows
	if cold {
		start = choreo.Cold
	}
	n := w.next
	perf := w.phone.play(w.process, sc, start)
	scenarioBegan := perf.End - sc.Duration
	for _, m := range perf.Marks {
		w.at(m.At, func() {
			switch {
			case w.process == nil || n != w.next || w.blocked:
			case w.phone.system.Front() != nil:
				w.block()
			default:
				w.phone.happen(w.process, m.Event)
			}
		})
	}
	w.at(perf.End+w.lingers(), func() {
		if n == w.next && w.process != nil && !w.blocked { // otherwise, under the Orchestrator, it crashed
			w.passed()
		}
	})
	w.scheduleFaults(scenarioBegan, perf)
}

// block handles a test whose next step finds a dialog covering its app.
func (w *workload) block() {
	w.blocked = true
	w.process.draws.Stop(w.phone.clock.Now())
	w.at(w.phone.clock.Now()+focusFor, func() {
		w.fail("androidx.test.espresso.base.RootViewPicker$RootViewWithoutFocusException: Waited for the root of the view hierarchy to have window focus and not request layout for 10 seconds.")
	})
}

// passed reports the current test as passed, and continues.
func (w *workload) passed() {
	if w.raw {
		w.status(0, ".")
	} else {
		w.printf(".")
	}
	if w.orchestra != nil {
		w.orchestra.next(w)
		return
	}
	w.playNext(false)
}

// focusFor is Espresso's timeout for a window of the app to get the focus, and noFocus its
// message.
const (
	focusFor = 10 * time.Second
	noFocus  = "androidx.test.espresso.base.RootViewPicker$RootViewWithoutFocusException: Waited for the root of the view hierarchy to have window focus and not request layout for 10 seconds."
)

// at does something at a time, if the workload still exists.
func (w *workload) at(t time.Duration, do func()) {
	step := func() {
		if !w.over && !w.stuck {
			do()
		}
	}
	w.phone.clock.At(t, func() {
		if w.phone.state.frozen { // a test's steps need the system
			w.phone.state.held = append(w.phone.state.held, step)
			return
		}
		step()
	})
}

// status prints a block of INSTRUMENTATION_STATUS lines.
func (w *workload) status(code int, stream string) {
	if !w.raw {
		return
	}
	id := "AndroidJUnitRunner"
	if strings.HasSuffix(w.runner, ".InstrumentationTestRunner") {
		id = "InstrumentationTestRunner"
	}
	w.printf("INSTRUMENTATION_STATUS: class=%s\n", w.current.Class)
	w.printf("INSTRUMENTATION_STATUS: current=%d\n", w.next)
	w.printf("INSTRUMENTATION_STATUS: id=%s\n", id)
	w.printf("INSTRUMENTATION_STATUS: numtests=%d\n", len(w.cases))
	w.printf("INSTRUMENTATION_STATUS: stream=%s\n", stream)
	w.printf("INSTRUMENTATION_STATUS: test=%s\n", w.current.Method)
	w.printf("INSTRUMENTATION_STATUS_CODE: %d\n", code)
}

// finish prints the result of a completed run.
func (w *workload) finish() {
	took := (w.phone.clock.Now() - w.begun).Seconds()
	plural := "s"
	if len(w.cases) == 1 {
		plural = ""
	}
	result := fmt.Sprintf("\n\nTime: %.3f\n\nOK (%d test%s)\n\n", took, len(w.cases), plural)
	if w.raw {
		w.printf("INSTRUMENTATION_RESULT: stream=%s\nINSTRUMENTATION_CODE: -1\n", result)
	} else {
		w.printf("%s\n", result)
	}
	w.end(0)
}

// fail prints a failed test, and ends the run.
func (w *workload) fail(trace string) {
	if w.orchestra != nil {
		w.orchestra.failed(w, trace)
		return
	}
	if w.raw {
		w.printf("INSTRUMENTATION_STATUS: stack=%s\n", trace)
		w.status(-2, "\nError in "+w.current.Method+"("+w.current.Class+"):\n"+trace)
		w.printf("INSTRUMENTATION_RESULT: stream=\n\nTime: 0.01\nThere was 1 failure:\n1) %s(%s)\n%s\n\nFAILURES!!!\nTests run: %d,  Failures: 1\n\n\nINSTRUMENTATION_CODE: -1\n",
			w.current.Method, w.current.Class, trace, len(w.cases))
	} else {
		w.printf("\nThere was 1 failure:\n1) %s(%s)\n%s\n\nFAILURES!!!\nTests run: %d,  Failures: 1\n\n",
			w.current.Method, w.current.Class, trace, len(w.cases))
	}
	w.end(0)
}

// appDied ends the run because the app's process has died.
func (w *workload) appDied(message string) {
	if w.over {
		return
	}
	if w.orchestra != nil && w.orchestra.lives() {
		w.orchestra.failed(w, "java.lang.Throwable: Test instrumentation process crashed. Check "+w.current.Class+"#"+w.current.Method+".txt for details")
		return
	}
	if w.raw {
		w.printf("INSTRUMENTATION_RESULT: shortMsg=%s\nINSTRUMENTATION_CODE: 0\n", message)
	} else {
		w.printf("\nINSTRUMENTATION_RESULT: shortMsg=%s\nINSTRUMENTATION_CODE: 0\n", message)
	}
	w.end(0)
}

// end ends the workload. The system stops the app when its instrumentation ends, and its
// frames can't be read any more: a test has to wait until the app is idle before it ends.
func (w *workload) end(code int) {
	if w.over {
		return
	}
	w.over = true
	if w.process != nil { // nil if the first test has not begun
		w.process.workload = nil
		if !w.process.dead {
			w.phone.kill(w.app.Package)
		}
	}
	if w.orchestra != nil {
		w.orchestra.end(w)
	}
	w.then(code)
}

// scheduleFaults schedules the faults of this repetition. A fault of the app counts the
// repetitions of its scenario, one of the phone all scenarios that it plays.
func (w *workload) scheduleFaults(began time.Duration, perf choreo.Performance) {
	p := w.phone
	here := p.context()
	faults := func(list []simapp.Fault, repetition int) {
		for _, f := range list {
			if f.Repetition != 0 && f.Repetition != repetition || !f.When.Holds(here) {
				continue
			}
			at, ok := began, f.After == ""
			for _, m := range perf.Marks {
				if m.Event.Name == f.After && !ok {
					at, ok = m.At, true
				}
			}
			if ok {
				w.at(at+f.At, func() {
					if w.process != nil {
						p.strike(f, w.process)
					}
				})
			}
		}
	}
	key := strings.Join([]string{w.app.Package, w.current.Scenario, p.state.network}, " ")
	faults(w.app.Faults, p.state.repetitions[key])
	faults(p.options.Faults, p.state.played)
}

// testCases returns the tests of a test APK that -e class selects: "C", "C#m", or a list.
func testCases(test, target *simapp.App, class string) []simapp.TestCase {
	all := test.TestCases
	if len(all) == 0 {
		all = target.TestCases
	}
	if class == "" {
		return all
	}
	var out []simapp.TestCase
	for _, want := range strings.Split(class, ",") {
		c, m, _ := strings.Cut(want, "#")
		for _, t := range all {
			if t.Class == c && (m == "" || t.Method == m) {
				out = append(out, t)
			}
		}
	}
	return out
}
