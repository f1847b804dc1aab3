package diagnosis

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	history "github.com/apkgate/apkgate/diagnose/anr"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/input"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/signature"
	"github.com/apkgate/apkgate/trace/anr/waits"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/r8map"
)

// stacks reads a dump of threads.
func stacks(c console.Console, src io.Reader, path, mapping string, out *saved.Diagnosis) error {
	names, err := namesOf(c, mapping)
	if err != nil {
		return err
	}
	dump, err := anr.Read(src)
	if err != nil {
		return exit.Usage(fmt.Errorf("diagnose %s: %w", console.Plain(path), err), "")
	}
	chain := waits.Of(dump, waits.Subject{Process: out.Package})
	if len(chain.Steps) == 0 {
		return noThread(path, out.Package, dump)
	}
	found := run.ANR{Kind: kindOfANR(dump.Subject), Reason: words.Fit(dump.Subject, run.MaxText), Repetition: 1, WaitedMS: float64(logcat.Waited(dump.Subject).Milliseconds())}
	chain.Fill(&found)
	signature.Fill(&found, dump, names)
	out.Package = cmp.Or(out.Package, found.Process)
	out.ANRs = []run.ANR{found}
	out.Causes = history.Over(nil).Explain(run.Run{App: run.App{Package: out.Package}, ANRs: out.ANRs}, nil)
	out.Warnings = append(dump.Warnings, chain.Warnings...)
	return nil
}

// kindOfANR is what was waited for, by Android's own text; its watchdog says of threads
// of its own that they are blocked (Watchdog.java).
func kindOfANR(reason string) string {
	if strings.HasPrefix(reason, "Blocked in ") {
		return run.SNR
	}
	return logcat.ANRKind(reason)
}

// namesOf reads the mapping of R8, nil for none.
func namesOf(c console.Console, path string) (*r8map.Map, error) {
	if path == "" {
		return nil, nil
	}
	content, file, err := input.Recording(c, path, input.Mappings)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	names, err := r8map.Read(content.Reader)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read the mapping %s: %w", console.Plain(path), err), "")
	}
	return names, nil
}

// noThread says whose threads there are where the one that was asked for has none.
func noThread(path, pkg string, dump anr.Dump) error {
	if len(dump.Processes) == 0 {
		return exit.Usage(fmt.Errorf("diagnose %s: nothing in it can be read as a dump of threads", console.Plain(path)), "")
	}
	var list []string
	for _, p := range dump.Processes[:min(len(dump.Processes), maxNamed)] {
		list = append(list, words.Short(cmp.Or(p.Name, fmt.Sprintf("process %d", p.PID))))
	}
	if n := len(dump.Processes) - maxNamed; n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	return exit.Usage(fmt.Errorf("diagnose %s: it has no main thread of %s", console.Plain(path), console.Plain(cmp.Or(pkg, "any app"))),
		"it has the threads of "+console.Plain(words.List(list)))
}
