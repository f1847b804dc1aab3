package phone

import "time"

// The packages of androidx.test's Orchestrator.
const (
	orchestratorPackage = "androidx.test.orchestrator"
	servicesPackage     = "androidx.test.services"
)

// secretVariable stands for the binder through which ShellMain lets the Orchestrator run
// commands as the shell.
const secretVariable = "APKGATE_SHELL_EXECUTOR"

// appProcess is app_process DIR CLASS WORD…: a Java program. The phone has only one, which
// runs a command for the Orchestrator.
func appProcess(c *call, then func(code int)) {
	const main = "androidx.test.services.shellexecutor.ShellMain"
	services := c.packages.Apps[servicesPackage]
	class := c.Arg(1)
	if class != main || services == nil || c.Variable("CLASSPATH") != "package:"+services.Path || len(c.Args) < 3 {
		c.Errorf("Error: Could not find class %q\njava.lang.ClassNotFoundException: %s\n", class, class)
		then(1)
		return
	}
	c.Shell.Assign(secretVariable, "1")
	c.Run(c.Args[2:], c.Streams, then)
}

// orchestra is an instrumentation under the Orchestrator (AndroidTestOrchestrator): each test
// is a separate am instrument in a process of its own.
type orchestra struct {
	host   *process // the Orchestrator's
	clears bool     // clearPackageData
	seen   bool     // the tests' process can connect to it
	bad    int
}

// How long the Orchestrator takes to find the tests, and between two of them.
const (
	collectingTakes = 2500 * time.Millisecond
	betweenTests    = 1200 * time.Millisecond
)

// orchestrate runs the test cases, one after the other.
func (w *workload) orchestrate(arguments map[string]string, byShell bool) {
	p := w.phone
	w.begun = p.clock.Now()
	if !byShell {
		w.printf("INSTRUMENTATION_RESULT: shortMsg=java.lang.IllegalArgumentException\nINSTRUMENTATION_RESULT: longMsg=java.lang.IllegalArgumentException: Cannot find secret for ShellExecutor binder published at shellExecKey\nINSTRUMENTATION_CODE: 0\n")
		w.then(0)
		return
	}
	own := p.packages.Apps[orchestratorPackage]
	w.orchestra = &orchestra{host: p.startProcess(own.App, "added application"), clears: arguments["clearPackageData"] == "true", seen: own.Queryable || p.profile.API < 30}
	w.orchestra.host.workload = w
	w.at(p.clock.Now()+collectingTakes, func() { w.orchestra.play(w) })
}

func (o *orchestra) lives() bool { return !o.host.dead }

// play runs the next test in a process of its own, or finishes.
func (o *orchestra) play(w *workload) {
	p := w.phone
	if w.next == len(w.cases) {
		o.finish(w)
		return
	}
	p.kill(w.app.Package)
	if a := p.packages.Apps[w.app.Package]; o.clears && a != nil {
		a.ResetPermissions() // pm clear
	}
	w.process = p.launch(w.app, "added application")
	if !o.seen {
		w.current = w.cases[w.next]
		w.next++
		w.status(1, "\n"+w.current.Class+":")
		o.failed(w, "java.lang.Throwable: Test instrumentation process crashed. Check "+w.current.Class+"#"+w.current.Method+".txt for details")
		return
	}
	w.process.workload = w
	w.playNext(true)
}

// next ends the process of a test, with the usual log, and continues.
func (o *orchestra) next(w *workload) {
	p := w.phone
	w.process.workload = nil
	if pr := w.process; !pr.dead {
		p.die(pr)
		p.log.System("system", 'I', "ActivityManager", "Process %s (pid %d) has died: fg TOP", pr.app.Package, pr.PID)
		p.log.Event("am_proc_died", 0, pr.PID, pr.app.Package)
	}
	w.process = nil
	w.at(p.clock.Now()+betweenTests, func() { o.play(w) })
}

// failed records a failed test, and continues.
func (o *orchestra) failed(w *workload, trace string) {
	o.bad++
	w.printf("INSTRUMENTATION_STATUS: stack=%s\n", trace)
	w.status(-2, "\nError in "+w.current.Method+"("+w.current.Class+"):\n"+trace)
	o.next(w)
}

// finish prints the result of all tests.
func (o *orchestra) finish(w *workload) {
	if o.bad == 0 {
		w.finish()
		return
	}
	w.printf("INSTRUMENTATION_RESULT: stream=\n\nTime: 0.01\nThere was 1 failure:\n\nFAILURES!!!\nTests run: %d,  Failures: %d\n\n\nINSTRUMENTATION_CODE: -1\n", len(w.cases), o.bad)
	w.end(0)
}

func (o *orchestra) end(w *workload) {
	o.host.workload = nil
	if o.lives() {
		w.phone.kill(orchestratorPackage)
	}
}
