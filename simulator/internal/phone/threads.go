package phone

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// stacksTake is how long writing them takes.
const stacksTake = 150 * time.Millisecond

// runAs is run-as PACKAGE COMMAND [ARG...]: a command with the permissions of a debuggable
// app.
func runAs(c *call, then func(code int)) {
	a := c.packages.Apps[c.Arg(0)]
	switch {
	case len(c.Args) < 2:
		c.Errorf("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]\n")
		then(1)
	case a == nil:
		c.Errorf("run-as: unknown package: %s\n", c.Arg(0))
		then(1)
	case !a.App.Power.Debuggable:
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

// The delay between the signal and the dump, and the work of the dump.
const (
	catchTakes = 2 * time.Millisecond
	catcherFor = 6 * time.Millisecond
)

// traceNamesSince is the API level from which on tombstoned logs the name of a file of stacks
// without its folder: Android 12 (CrashArtifactPaths of tombstoned.cpp).
const traceNamesSince = 31

// tracesMode returns the mode of such a file: readable for the system's group, in Android 14
// for everybody (tombstoned.cpp, world_readable).
func (p *Phone) tracesMode() fs.FileMode {
	switch p.profile.API {
	case 34:
		return 0o664
	case 31, 32, 33:
		return 0o660
	}
	return 0o640
}

// dumpThreads makes a process's runtime write its stacks, a moment later.
func (p *Phone) dumpThreads(pr *process) {
	if pr.usage == nil {
		return
	}
	p.power.CatchSignal(pr.usage, catcherFor)
	text := ""
	p.clock.At(p.clock.Now()+catchTakes, func() {
		if view := p.viewOf(pr); view != nil {
			text = view.Dump()
		}
	})
	p.clock.At(p.clock.Now()+stacksTake, func() {
		if pr.dead {
			return
		}
		if p.profile.API < 26 {
			p.appendThreads(pr, text)
			return
		}
		name := fmt.Sprintf("trace_%02d", p.tombstoned())
		path := storage.Threads + "/" + name
		if p.files.Write(path, []byte(text), p.tracesMode()) == nil {
			named := path
			if p.profile.API >= traceNamesSince {
				named = name
			}
			p.log.Add(logcat.Entry{Buffer: "main", PID: logcat.TombstonedPID, Priority: 'E', Tag: "tombstoned", Text: fmt.Sprintf("Traces for pid %d written to: %s", pr.PID, named)})
		}
	})
}

// tombstoned returns how many files of stacks it has kept.
func (p *Phone) tombstoned() (n int) {
	for _, name := range p.files.List(storage.Threads) {
		if strings.HasPrefix(name, "trace_") {
			n++
		}
	}
	return n
}

// appendThreads makes a process append its stacks to the file itself, as before Android 8
// (SignalCatcher::Output of ART, dvmSignalCatcher of Dalvik).
func (p *Phone) appendThreads(pr *process, text string) {
	const (
		path     = storage.Threads + "/traces.txt"
		artSince = 21
	)
	old, _ := p.files.ReadAsSystem(path)
	tag := "art"
	if p.profile.API < artSince {
		tag = "dalvikvm"
	}
	if p.files.Write(path, slices.Concat(old, []byte("\n"+text)), 0o666) == nil {
		p.log.Add(logcat.Entry{Buffer: "main", PID: pr.PID, TID: pr.PID + 1, Priority: 'I', Tag: tag, Text: fmt.Sprintf("Wrote stack traces to '%s'", path)})
	}
}
