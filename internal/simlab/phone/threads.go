package phone

import (
	"fmt"
	"strings"
	"time"
)

// sigQuit has the runtime of an app write the stacks of its threads.
const sigQuit = 3

// dumps is how long it takes to write them.
const dumps = 150 * time.Millisecond

// tombstonedPID is the process that keeps what runtimes write since Android 8
// (tombstoned.cpp).
const tombstonedPID = 720

// anrFolder is where the stacks are. Their files are for root alone: they have the
// mode 0640 and the group system.
const anrFolder = "/data/anr"

// runAs is run-as PACKAGE COMMAND [ARG...]: a command with the rights of a debug build.
func runAs(c *call, then func(code int)) {
	a := c.state.apps[c.arg(0)]
	switch {
	case len(c.args) < 2:
		c.errorf("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]\n")
		then(1)
	case a == nil:
		c.errorf("run-as: unknown package: %s\n", c.arg(0))
		then(1)
	case !a.app.Power.Debuggable:
		c.errorf("run-as: package not debuggable: %s\n", c.arg(0))
		then(1)
	case c.args[1] == "kill":
		own := *c
		own.args, own.as = c.args[2:], c.args[0]
		then(killCommand(&own))
	default:
		c.shell.command(c.args[1:], c.streams, then)
	}
}

// quits has an app's process write its stacks; refused says that the caller may not.
func (c *call) quits(pid int) (done, refused bool) {
	for _, pkg := range sortedKeys(c.state.running) {
		if pr := c.state.running[pkg]; pr.pid == pid {
			if c.as != pkg && !c.options.Root {
				return false, true
			}
			c.dumpThreads(pr)
			return true, false
		}
	}
	return false, false
}

// dumpThreads writes a process's stacks, a moment later.
func (p *Phone) dumpThreads(pr *process) {
	main := "\tat android.os.MessageQueue.nativePollOnce(Native method)\n\tat android.os.Looper.loop(Looper.java:193)\n"
	if pr.isBusy(p.clock.now) {
		main = fmt.Sprintf("\tat %s.onClick(Simulated.java:42)\n\tat android.os.Looper.loop(Looper.java:193)\n", pr.app.ActivityClass())
	}
	begun := p.wall(p.clock.now).Format("2006-01-02 15:04:05")
	text := fmt.Sprintf("----- pid %d at %s -----\nCmd line: %s\nDALVIK THREADS (2):\n\"main\" prio=5 tid=1 Runnable\n  | sysTid=%d\n%s\n\"Signal Catcher\" daemon prio=10 tid=2 Runnable\n  (no managed stack frames)\n\n----- end %d -----\n",
		pr.pid, begun, pr.app.Package, pr.pid, strings.ReplaceAll(main, "\t", "  "), pr.pid)
	p.at(p.clock.now+dumps, func() {
		if pr.dead {
			return
		}
		path := fmt.Sprintf("%s/trace_%02d", anrFolder, len(p.list(anrFolder)))
		if p.writeFile(path, []byte(text), 0o640) == nil {
			p.log(entry{buffer: "main", pid: tombstonedPID, priority: 'E', tag: "tombstoned", text: fmt.Sprintf("Traces for pid %d written to: %s", pr.pid, path)})
		}
	})
}

// isBusy reports whether the UI thread is held up.
func (pr *process) isBusy(now time.Duration) bool {
	for _, b := range pr.busy {
		if now >= b.At && now < b.At+b.For {
			return true
		}
	}
	return false
}
