package diagnosecmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	history "github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/signature"
	"github.com/apkgate/apkgate/trace/anr/waits"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// stacks reads a thread dump.
func stacks(c terminal.Console, src io.Reader, path, mapping string, out *saved.Diagnosis) error {
	names, err := namesOf(c, mapping)
	if err != nil {
		return err
	}
	dump, err := anr.Read(src)
	if err != nil {
		return exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	out.Form, out.Cut = string(dump.Form), dump.Cut
	if dump.Crash != nil {
		return crashed(path, *dump.Crash)
	}
	chain := waits.Of(dump, waits.Subject{Process: out.Package})
	switch {
	case len(chain.Steps) > 0:
		out.ByPlace = chain.ByOrder
		out.ANRs = []run.ANR{stoodStill(dump, chain, names)}
	case chain.Unidentified:
		out.ProcessUnknown, chain.Warnings = true, nil // which is the answer
		out.MainThreads = mainThreads(dump)
	default:
		return noThread(path, out.Package, chain.Missing, dump)
	}
	if out.Package == "" {
		out.ANRs = append(out.ANRs, deadlocks(dump, chain, names)...)
	}
	if !out.ProcessUnknown {
		out.Package = cmp.Or(out.Package, out.ANRs[0].Process)
	}
	out.Causes = doubted(history.Over(nil).Explain(run.Run{App: run.App{Package: out.Package}, ANRs: out.ANRs}, nil), dump, chain)
	out.Warnings = append(dump.Warnings, chain.Warnings...)
	return nil
}

// stoodStill returns the record of what did not respond.
func stoodStill(d anr.Dump, chain waits.Chain, names *r8map.Map) run.ANR {
	reason := d.Subject
	if chain.ByOrder { // the reason is of another process, which the file lacks
		reason = ""
	}
	found := run.ANR{Kind: kindOfANR(reason), Reason: prose.Fit(reason, run.MaxText), Repetition: 1, WaitedMS: float64(logcat.Waited(reason).Milliseconds())}
	chain.Fill(&found)
	signature.Fill(&found, d, names)
	return found
}

// deadlocks returns the records of threads that wait for each other, in any process, except those
// of the chain.
func deadlocks(d anr.Dump, but waits.Chain, names *r8map.Map) (out []run.ANR) {
	for _, cycle := range waits.Cycles(d) {
		if slices.ContainsFunc(but.Steps, func(s waits.Step) bool { return s.Thread.Line == cycle.Steps[0].Thread.Line }) {
			continue
		}
		found := run.ANR{Kind: history.Untold, Repetition: 1}
		cycle.Fill(&found)
		signature.Fill(&found, anr.Dump{}, names)
		out = append(out, found)
	}
	return out
}

// mainThreads returns the chains that begin at the main threads of a dump that were not idle.
func mainThreads(d anr.Dump) (out []run.ANR) {
	for _, chain := range waits.Mains(d) {
		found := run.ANR{Kind: history.Untold, Repetition: 1}
		chain.Fill(&found)
		for i := range found.Threads {
			found.Threads[i].Stack, found.Threads[i].Tells = found.Threads[i].Stack[:min(len(found.Threads[i].Stack), 1)], 0
		}
		out = append(out, found)
	}
	return out
}

// doubted returns causes with the doubts about the whole file.
func doubted(causes []diagnose.Cause, d anr.Dump, chain waits.Chain) []diagnose.Cause {
	var doubts []diagnose.Phrase
	if chain.ByOrder {
		doubts = append(doubts, diagnose.Say("The file does not say which process did not respond: this one is where Android writes it."))
	}
	if d.Cut {
		doubts = append(doubts, diagnose.Say("The file is cut off: threads, processes or locks that matter may be missing."))
	}
	for i := range causes {
		if len(doubts) > 0 && causes[i].Explains.Sure == diagnose.Seen {
			causes[i].Explains.Sure = diagnose.Likely
		}
		causes[i].Doubts = append(causes[i].Doubts, doubts...)
	}
	return causes
}

// crashed returns the error that a file is of a crash.
func crashed(path string, c anr.Crash) error {
	by := "an exception of Java"
	if c.Signal != "" {
		by = "signal " + c.Signal
	}
	text := fmt.Sprintf("diagnose %s: it is the record of a crash, and not of something that did not respond: %s ended %s", terminal.Plain(path), terminal.Plain(by), terminal.Plain(cmp.Or(c.Process, "a process")))
	if c.Thread != "" {
		text += " in its thread " + terminal.Plain(prose.Short(c.Thread))
	}
	hint := "apkgate inspect anr shows the stacks of its threads"
	if c.Message != "" {
		hint = "it said: " + terminal.Plain(prose.Short(c.Message))
	}
	return exit.Usage(errors.New(text), hint)
}

// kindOfANR returns what was waited for, by Android's own text; its watchdog reports threads of its
// own as blocked (Watchdog.java).
func kindOfANR(reason string) string {
	if strings.HasPrefix(reason, "Blocked in ") {
		return run.SNR
	}
	return logcat.ANRKind(reason)
}

// namesOf reads the mapping of R8, nil for none.
func namesOf(c terminal.Console, path string) (*r8map.Map, error) {
	if path == "" {
		return nil, nil
	}
	content, file, err := inputfiles.Recording(c, path, inputfiles.Mappings)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	names, err := r8map.Read(content.Reader)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read the mapping %s: %w", terminal.Plain(path), err), "")
	}
	return names, nil
}

// noThread returns the error that lists whose threads there are if the requested process has none.
func noThread(path, pkg, missing string, dump anr.Dump) error {
	if len(dump.Processes) == 0 && dump.Cut {
		return exit.Usage(fmt.Errorf("diagnose %s: the dump of threads in it is cut off before its first thread", terminal.Plain(path)), "")
	}
	if len(dump.Processes) == 0 {
		return exit.Usage(fmt.Errorf("diagnose %s: nothing in it can be read as a dump of threads", terminal.Plain(path)), "")
	}
	var list []string
	for _, p := range dump.Processes[:min(len(dump.Processes), maxNamed)] {
		list = append(list, prose.Short(cmp.Or(p.Name, fmt.Sprintf("process %d", p.PID))))
	}
	if n := len(dump.Processes) - maxNamed; n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	cut := ""
	if dump.Cut {
		cut = ": it is cut off"
	}
	has := "it has the threads of " + terminal.Plain(prose.List(list))
	if pkg == "" && missing != "" {
		return exit.Usage(fmt.Errorf("diagnose %s: it does not show what did not respond: %s%s", terminal.Plain(path), terminal.Plain(prose.Short(missing)), cut), has)
	}
	return exit.Usage(fmt.Errorf("diagnose %s: it has no main thread of %s%s", terminal.Plain(path), terminal.Plain(cmp.Or(pkg, "any app")), cut), has)
}
