package waits

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr"
)

// Subject is what is known of an ANR besides its dump; empty fields are taken from the dump.
type Subject struct {
	Process string
	PID     int
	// Reason is Android's own text.
	Reason string
}

// watched matches the watchdog's description of a stuck thread
// (services/core/java/com/android/server/Watchdog.java, describeBlockedStateLocked):
//
//	Blocked in handler on foreground thread (android.fg) for 62s
//	Blocked in monitor com.android.server.am.ActivityManagerService on foreground thread (android.fg)
var watched = regexp.MustCompile(`Blocked in (?:handler|monitor \S+) on [^()]* \(([^()]+)\)`)

// subject is the thread that a chain begins with.
type subject struct {
	process *anr.Process
	thread  *anr.Thread
	// byOrder is set if the process is inferred from its place in the file alone, unidentified if nothing
	// identifies the unresponsive process.
	byOrder, unidentified bool
	// missing is the unresponsive process or thread if it is known but not in the dump.
	missing string
}

// blocked returns the unresponsive thread: the one that Android's watchdog names, or the main
// thread of the process.
func blocked(d *anr.Dump, about Subject, w *trace.Warnings) subject {
	asked := about.Process != "" || about.PID != 0
	if about.Reason == "" {
		about.Reason = d.Subject
	}
	if !asked {
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
	var s subject
	switch {
	case about.Process != "" || about.PID != 0:
		s.process = processOf(d, about)
		if s.process == nil && !asked && d.Form == anr.BugReport { // its log may be from another time
			s = byPlace(d)
		}
	default:
		s = byPlace(d)
	}
	if s.process == nil {
		if s.unidentified {
			w.Addf(0, "nothing in the file identifies the process that did not respond")
		} else {
			w.Addf(0, "the dump does not show the process that did not respond")
			s.missing = cmp.Or(s.missing, about.Process, numberOf(about.PID))
		}
		return s
	}
	if s.byOrder {
		w.Addf(s.process.Line, "the file does not name the process that did not respond: %s is assumed, since Android writes that one first, before system_server", trace.Quote(nameOf(s.process)))
	}
	if s.thread = mainOf(s.process); name != "" && name != "main" {
		s.thread = threadNamed(s.process, name)
	}
	if s.thread == nil {
		w.Addf(s.process.Line, "the dump does not show the thread of process %d that did not respond", s.process.PID)
		who := "the thread " + name
		if name == "" || name == "main" {
			who = "the main thread"
		}
		s.missing = who + " of " + nameOf(s.process)
	}
	return s
}

// byPlace returns the unresponsive process if it is not named: the only one, the one after
// Android's reason, or the one inferred from Android's order. Android first writes the unresponsive
// process, then its parent, then system_server (ProcessErrorStateRecord.appNotResponding); tools
// that dump all processes go by their ids.
func byPlace(d *anr.Dump) subject {
	of := lastANR(d)
	switch {
	case len(of) == 0:
		return subject{unidentified: len(d.Processes) > 0}
	case d.Subject != "" && d.Form != anr.BugReport:
		return byReason(d.Subject, of)
	case sameProcess(d.Processes):
		return subject{process: of[0]}
	}
	const before = 3 // processes, of which system_server is one
	for i, p := range of[:min(len(of), before)] {
		if p.Name == systemServer && i > 0 && mainOf(of[0]) != nil && firstJava(of[0]) {
			return subject{process: of[0], byOrder: true}
		}
	}
	return subject{unidentified: true}
}

// component matches the package in Android's name for a component: a window, a service, a receiver
// ("com.example.mail/.Inbox").
var component = regexp.MustCompile(`\b([A-Za-z]\w*(?:\.\w+)+)/`)

// byReason returns the unresponsive process of a file that begins with Android's reason: the first
// one, unless its name differs from the reason's component. The dump of a process that is frozen or
// about to end may be missing, and an app may choose the names of its processes.
func byReason(reason string, of []*anr.Process) subject {
	packages := component.FindAllStringSubmatch(reason, 10)
	about := func(p *anr.Process) bool {
		return slices.ContainsFunc(packages, func(m []string) bool { return p.Name == m[1] || strings.HasPrefix(p.Name, m[1]+":") })
	}
	switch i := slices.IndexFunc(of, about); {
	case len(packages) == 0 || of[0].Name == "" || i == 0:
		return subject{process: of[0]}
	case i > 0:
		return subject{process: of[i]}
	case of[0].Name == systemServer:
		return subject{missing: packages[0][1]}
	}
	alone := !slices.ContainsFunc(of, func(p *anr.Process) bool { return p.PID != of[0].PID })
	return subject{process: of[0], byOrder: !alone}
}

const systemServer = "system_server"

// lastANR returns the processes that may have been dumped for the ANR: in a bug report those of the
// last one.
func lastANR(d *anr.Dump) (out []*anr.Process) {
	part := 0
	if d.Form == anr.BugReport {
		if part = slices.IndexFunc(d.Parts, isLastANR); part < 0 {
			part = 0
		}
	}
	for i := range d.Processes {
		if p := &d.Processes[i]; p.Part == part {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b *anr.Process) int { return cmp.Compare(a.Line, b.Line) })
	return out
}

// isLastANR reports whether a part of a bug report is about the last ANR.
func isLastANR(part string) bool { return strings.Contains(part, "LAST ANR") }

// sameProcess reports whether one process was dumped repeatedly.
func sameProcess(all []anr.Process) bool {
	return !slices.ContainsFunc(all, func(p anr.Process) bool { return p.PID != all[0].PID || p.Name != all[0].Name })
}

// firstJava reports whether a process has Java threads.
func firstJava(p *anr.Process) bool {
	return slices.ContainsFunc(p.Threads, func(t anr.Thread) bool { return t.VMTID != 0 })
}

// processOf returns the unresponsive process. If an id or a name is known, no other process is
// substituted. In a file of several parts the last ANR takes precedence.
func processOf(d *anr.Dump, about Subject) *anr.Process {
	var byPID, byName []*anr.Process
	for i := range d.Processes {
		p := &d.Processes[i]
		if about.PID != 0 && p.PID == about.PID {
			byPID = append(byPID, p)
		}
		if about.Process != "" && p.Name == about.Process {
			byName = append(byName, p)
		}
	}
	for _, found := range [][]*anr.Process{byPID, byName} {
		if len(found) == 0 {
			continue
		}
		if i := slices.IndexFunc(found, func(p *anr.Process) bool { return isLastANR(d.PartOf(p.Part)) }); i >= 0 {
			return found[i]
		}
		return found[0]
	}
	// A part of a dump may have lost the process's id and name.
	if len(d.Processes) == 1 && d.Processes[0].Name == "" {
		return &d.Processes[0]
	}
	return nil
}

// mainOf returns the main thread: the runtime's first one, or the one with the process's id.
func mainOf(p *anr.Process) *anr.Thread {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.VMTID == 1 || t.TID != 0 && t.TID == p.PID {
			return t
		}
	}
	return threadNamed(p, "main")
}

// threadNamed returns the thread with a name; the kernel keeps 15 bytes of one, and native dumps
// have no more.
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
