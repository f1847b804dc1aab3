package diagnosecmd

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/archive"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/perfetto/overview"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
	text "github.com/apkgate/apkgate/trace/systrace"
	"github.com/apkgate/apkgate/trace/tasks/tasksources"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// recordings are the entries of ZIP archives that can be diagnosed.
var recordings = archive.Want{Names: []string{".perfetto-trace", ".pftrace", "systrace.txt", "traces.txt", ".trace"}}

// reports are archives with the text of a bug report, which contains its dumps.
var reports = archive.Want{Report: true}

// read reads a recording and explains it.
func read(c terminal.Console, path string, f flags) (saved.Diagnosis, error) {
	content, file, err := inputfiles.Recording(c, path, recordings)
	if err != nil && path != "-" {
		if report, again, none := inputfiles.Recording(c, path, reports); none == nil {
			content, file, err = report, again, nil
		}
	}
	if err != nil {
		return saved.Diagnosis{}, err
	}
	defer file.Close()
	src, drop, err := inputfiles.Seekable(content.Reader)
	if err != nil {
		return saved.Diagnosis{}, exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	defer drop()
	head := make([]byte, headSize)
	n, err := io.ReadFull(src, head)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		_, err = src.Seek(0, io.SeekStart)
	}
	if err != nil {
		return saved.Diagnosis{}, exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	if is := foreignKind(head[:n]); is != "" {
		return saved.Diagnosis{}, exit.Usage(fmt.Errorf("diagnose %s: it is %s", terminal.Plain(path), is), "docs/why-slow.md says what can be diagnosed")
	}
	of := kindOf(head[:n])
	if of == systrace {
		if of, err = further(src, head[:n]); err != nil {
			return saved.Diagnosis{}, exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
		}
	}
	out := saved.Diagnosis{File: nameOf(path), Kind: string(of), Package: f.pkg}
	src, done := watched(c, nameOf(path), src)
	defer done()
	switch kind(out.Kind) {
	case perfetto:
		err = framesAndTasks(c, packets.Packets(src), src, path, f.mapping, &out)
	case systrace:
		err = framesAndTasks(c, text.Source(src), src, path, f.mapping, &out)
	case tasks:
		err = tasksAlone(c, src, path, f.mapping, &out)
	case threads:
		err = stacks(c, src, path, f.mapping, &out)
	case methods:
		err = calls(c, src, path, f.mapping, &out)
	}
	return out, err
}

// further detects the kind of a text by all of it, if its beginning doesn't show it.
func further(src io.ReadSeeker, head []byte) (kind, error) {
	has, err := hasDump(src, head)
	if err == nil {
		_, err = src.Seek(0, io.SeekStart)
	}
	if has {
		return threads, err
	}
	return systrace, err
}

// framesAndTasks reads the frames of a trace, what the app's threads did, and its tasks. One of these
// is enough.
func framesAndTasks(c terminal.Console, in packets.Source, src io.ReadSeeker, path, mapping string, out *saved.Diagnosis) error {
	along, processes := overview.Along(in)
	none := activity(processes, path, frames(along, path, out), out)
	if none == nil {
		if _, err := src.Seek(0, io.SeekStart); err != nil || !tasksources.Likely(src) {
			return none
		}
	}
	names, err := namesOf(c, mapping)
	if err != nil {
		return err
	}
	if err := late(in, src, path, names, out); err != nil {
		return err
	}
	if out.Tasks != nil {
		return nil
	}
	return none
}

// frames reads the frames of a trace. Without a package they are those of the only app that has any.
func frames(in packets.Source, path string, out *saved.Diagnosis) error {
	failed := func(err error) error {
		return exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	var seen rendering.Trace
	var err error
	if out.Package != "" {
		if seen, err = rendering.Read(in, rendering.App{Package: out.Package}); err != nil {
			return failed(err)
		}
	}
	note := ""
	if len(seen.Frames) == 0 {
		there, warnings, err := drawn(in)
		if err != nil {
			return failed(err)
		}
		app, others, only := onlyApp(there)
		if out.Package != "" || !only {
			out.Warnings = warnings // of what its threads did, if anything
			return without(path, out.Package, there)
		}
		if seen, err = rendering.Read(in, app); err != nil {
			return failed(err)
		}
		if out.Package = app.Package; others != "" {
			note = "the trace has frames of " + others + ", too: --package names one of these"
		}
	}
	if out.Warnings = seen.Warnings; note != "" {
		out.Warnings = append(out.Warnings, run.Warning{Text: note})
	}
	var all section.Collector
	all.Add(section.Repetition{Number: 1, Trace: seen})
	out.Frames = all.Frames()
	out.Causes = jankcause.Explain(run.Run{App: run.App{Package: out.Package}, Frames: out.Frames}, nil, nil)
	return nil
}

// calls reads a method trace.
func calls(c terminal.Console, in io.ReadSeeker, path, mapping string, out *saved.Diagnosis) error {
	names, err := namesOf(c, mapping)
	if err != nil {
		return err
	}
	seen, traces, err := art.Record(in, names)
	if err != nil {
		return exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	if traces == nil {
		why := "it has no calls of methods"
		if seen.Clock == art.NoClock {
			why = "it has the order of calls and no times"
		}
		if len(seen.Warnings) > 0 {
			why += " (" + seen.Warnings[0].Text + ")"
		}
		return exit.Usage(fmt.Errorf("diagnose %s: %s", terminal.Plain(path), why), "apkgate inspect art shows what is in it")
	}
	out.Methods, out.Cut, out.Warnings = traces, seen.Cut || seen.Full, seen.Warnings
	if out.Chart, err = chart(seen, in, traces, out.Package); err != nil {
		return exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	return late(nil, in, path, names, out)
}

// chart reads the longest of the main thread's pieces of work, nil where there is none.
func chart(seen *art.Trace, in io.ReadSeeker, traces *run.MethodTraces, pkg string) (*saved.CallChart, error) {
	i := slices.IndexFunc(traces.Chains, func(c run.CallChain) bool { return diagnose.IsMain(c.Thread, pkg) && len(c.MS) > 0 })
	if i < 0 {
		return nil, nil
	}
	of := traces.Chains[i]
	read, err := seen.Chart(in, of)
	if err != nil || len(read.Calls) == 0 {
		return nil, err
	}
	out := saved.CallChart{Thread: of.Thread, AtMS: of.AtMS, TookMS: of.MS[0], LeftOut: read.Left}
	for _, c := range read.Calls {
		out.Calls = append(out.Calls, saved.ChartedCall{Name: c.Name, Depth: c.Depth, FromMS: ms(c.From), TookMS: ms(c.Took)})
	}
	return &out, nil
}
