package phone

import (
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/clock"
	"github.com/apkgate/apkgate/internal/simlab/logcat"
	"github.com/apkgate/apkgate/internal/simlab/shell"
	"github.com/apkgate/apkgate/internal/simlab/storage"
)

// stacksTake is how long it takes to write them.
const stacksTake = 150 * time.Millisecond

// runAs is run-as PACKAGE COMMAND [ARG...]: a command with the rights of a debug build.
func runAs(c *call, then func(code int)) {
	a := c.state.apps[c.Arg(0)]
	switch {
	case len(c.Args) < 2:
		c.Errorf("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]\n")
		then(1)
	case a == nil:
		c.Errorf("run-as: unknown package: %s\n", c.Arg(0))
		then(1)
	case !a.app.Power.Debuggable:
		c.Errorf("run-as: package not debuggable: %s\n", c.Arg(0))
		then(1)
	case c.Args[1] == "kill":
		own := *c.Call
		own.Args, own.As = c.Args[2:], c.Args[0]
		then(shell.Kill(&own))
	default:
		c.Run(c.Args[1:], c.Streams, then)
	}
}

// dumpThreads writes a process's stacks, a moment later.
func (p *Phone) dumpThreads(pr *process) {
	main := "\tat android.os.MessageQueue.nativePollOnce(Native method)\n\tat android.os.Looper.loop(Looper.java:193)\n"
	if pr.isBusy(p.clock.Now()) {
		main = fmt.Sprintf("\tat %s.onClick(Simulated.java:42)\n\tat android.os.Looper.loop(Looper.java:193)\n", pr.app.ActivityClass())
	}
	begun := clock.Wall(p.clock.Now()).Format("2006-01-02 15:04:05")
	text := fmt.Sprintf("----- pid %d at %s -----\nCmd line: %s\nDALVIK THREADS (2):\n\"main\" prio=5 tid=1 Runnable\n  | sysTid=%d\n%s\n\"Signal Catcher\" daemon prio=10 tid=2 Runnable\n  (no managed stack frames)\n\n----- end %d -----\n",
		pr.PID, begun, pr.app.Package, pr.PID, strings.ReplaceAll(main, "\t", "  "), pr.PID)
	p.clock.At(p.clock.Now()+stacksTake, func() {
		if pr.dead {
			return
		}
		path := fmt.Sprintf("%s/trace_%02d", storage.Threads, len(p.files.List(storage.Threads)))
		if p.files.Write(path, []byte(text), 0o640) == nil {
			p.log.Add(logcat.Entry{Buffer: "main", PID: logcat.TombstonedPID, Priority: 'E', Tag: "tombstoned", Text: fmt.Sprintf("Traces for pid %d written to: %s", pr.PID, path)})
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
