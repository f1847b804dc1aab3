package waits

import (
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr"
)

// Subject is what is known of an ANR beside its dump; what is empty is taken from the
// dump.
type Subject struct {
	Process string
	PID     int
	// Reason is Android's own text.
	Reason string
}

// watched is what Android's watchdog says of a thread that is stuck
// (services/core/java/com/android/server/Watchdog.java, describeBlockedStateLocked):
//
//	Blocked in handler on foreground thread (android.fg) for 62s
//	Blocked in monitor com.android.server.am.ActivityManagerService on foreground thread (android.fg)
var watched = regexp.MustCompile(`Blocked in (?:handler|monitor \S+) on [^()]* \(([^()]+)\)`)

// blocked is the thread that did not respond: the one that Android's watchdog names, or
// the main thread of the process. Android writes that process first.
func blocked(d *anr.Dump, about Subject, w *trace.Warnings) (*anr.Process, *anr.Thread) {
	if about.Reason == "" {
		about.Reason = d.Subject
	}
	if about.Process == "" && about.PID == 0 {
		about.Process, about.PID = d.Process, d.PID
	}
	name := ""
	if m := watched.FindAllStringSubmatch(about.Reason, 2); m != nil {
		name = m[0][1]
		if len(m) > 1 {
			w.Addf(0, "the watchdog names several threads: the chain begins with the first, %s", trace.Quote(name))
		}
		if about.Process == "" {
			about.Process = "system_server"
		}
	}
	p := processOf(d, about)
	if p == nil {
		w.Addf(0, "the dump does not show the process that did not respond")
		return nil, nil
	}
	if about == (Subject{}) && len(d.Processes) > 1 {
		w.Addf(p.Line, "the dump does not say which process did not respond: taken for it is the first, %s, as Android writes them", trace.Quote(nameOf(p)))
	}
	t := mainOf(p)
	if name != "" && name != "main" {
		t = threadNamed(p, name)
	}
	if t == nil {
		w.Addf(p.Line, "the dump does not show the thread of process %d that did not respond", p.PID)
	}
	return p, t
}

// processOf is the process that did not respond. Where a number or a name is known, no
// other one is taken for it.
func processOf(d *anr.Dump, about Subject) *anr.Process {
	for i := range d.Processes {
		if p := &d.Processes[i]; about.PID != 0 && p.PID == about.PID {
			return p
		}
	}
	for i := range d.Processes {
		if p := &d.Processes[i]; about.Process != "" && p.Name == about.Process {
			return p
		}
	}
	unknown := about.Process == "" && about.PID == 0
	for i := range d.Processes {
		// A part of a dump may have lost the process's number and name.
		if p := &d.Processes[i]; unknown || len(d.Processes) == 1 && p.Name == "" {
			return p
		}
	}
	return nil
}

// mainOf is the main thread: the runtime's first one, or the one that has the
// process's number.
func mainOf(p *anr.Process) *anr.Thread {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.VMTID == 1 || t.TID != 0 && t.TID == p.PID {
			return t
		}
	}
	return threadNamed(p, "main")
}

// threadNamed is the thread of a name; the kernel keeps 15 bytes of one, and native
// dumps have no more.
func threadNamed(p *anr.Process, name string) *anr.Thread {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.Name == name {
			return t
		}
	}
	const kernels = 15
	for i := range p.Threads {
		if t := &p.Threads[i]; len(t.Name) == kernels && (strings.HasPrefix(name, t.Name) || strings.HasSuffix(name, t.Name)) {
			return t
		}
	}
	return nil
}
