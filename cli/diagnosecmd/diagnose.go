// Package diagnosecmd implements the command apkgate diagnose: why an app was slow in a given
// trace, or did not respond in a given thread dump.
//
// It owns the detection of a file's kind, and the command. A recording becomes the same sections of
// a record that a run on a device has, and they are explained by the same packages, so that there
// is one answer to why something was slow.
package diagnosecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/cli/viewer"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/report/diagnosis"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

type flags struct {
	pkg, mapping string
	open         bool
	output.OutputFlags
}

// Command returns apkgate diagnose.
func Command(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "diagnose FILE",
		Short: "Say why an app was slow in a trace, or did not respond in a dump of threads",
		Long: `Reads a recording and says what late frames waited for, or who kept whom waiting:

  a Perfetto trace (also those of Macrobenchmark and of Android Studio), or a trace
  in text of atrace or systrace: the frames of the app --package, what each stage
  took, the critical path of the worst one compared with a usual one, and the causes

  a dump of threads (/data/anr, traces.txt, the trace of an ApplicationExitInfo, a
  bug report, a log of xCrash, an export of Google Play or Firebase): the chain of
  waiting from the thread that did not respond to the critical one, and deadlocks

  a method trace of ART (am profile, Android Studio, Debug.startMethodTracing): the
  longest times in which the main thread was busy, with the calls that took them

  lines of asynchronous tasks, as examples/tasks/frida.js writes them; traces may
  have tasks, too (docs/tasks.md): those that were late, and what they waited for

FILE may be packed with gzip or in a ZIP archive, and - is standard input. What makes
a trace tell more is in docs/why-slow.md. Nothing is compared: that something got
worse is what apkgate check says, of runs that kept traces.`,
		Example: `  apkgate diagnose scroll.perfetto-trace --package com.example.mail
  apkgate diagnose scroll.perfetto-trace --package com.example.mail --html why.html
  apkgate diagnose scroll.trace --package com.example.mail
  apkgate diagnose anr_2026-11-20-22-00-01-123 --mapping mapping.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage(fmt.Errorf("diagnose takes one FILE, got %d arguments", len(args)), "apkgate diagnose scroll.perfetto-trace --package com.example.mail")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return explain(cmd.Context(), c, args[0], f) },
	}
	cmd.Flags().StringVar(&f.pkg, "package", "", "the application id, where a trace has frames of several apps, or a dump of threads doesn't say which process did not respond")
	cmd.Flags().StringVar(&f.mapping, "mapping", "", "the mapping.txt by which R8 renamed the app's code (dumps of threads, method traces, tasks)")
	cmd.Flags().BoolVar(&f.open, "open", false, "print the link that opens the trace in Perfetto's user interface at the worst frame")
	f.OutputFlags.Register(cmd)
	return cmd
}

// freshPercent is how much garbage a large trace may leave before memory is collected, in per cent
// of the live heap. A trace of 1 GB takes 215 MB this way and no more time, compared with 296 MB
// for Go's default of 100.
const freshPercent = 40

func explain(ctx context.Context, c terminal.Console, path string, f flags) error {
	if err := f.Check(); err != nil {
		return err
	}
	if output.Format(f.Format) == output.FormatSARIF || f.Path(output.FormatSARIF) != "" {
		return exit.Usage(errors.New("a diagnosis has no findings for SARIF"), "apkgate check makes a verdict, which has")
	}
	if err := atomicfile.KeepsInput(f.Files(), []string{path, f.mapping}); err != nil {
		return err
	}
	if c.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(freshPercent))
	}
	found, err := read(c, path, f)
	if err != nil {
		return err
	}
	in := diagnosis.Input{Diagnosis: found, Version: version.Tool()}
	if found.Kind == string(perfetto) && path != "-" {
		in.Open = func(fromMS, toMS float64) string { return openCommand(path, fromMS, toMS) }
	}
	if !f.open {
		return output.Write(c, diagnosis.Document(in), f.OutputFlags)
	}
	if err := output.WriteFiles(c, diagnosis.Document(in), f.OutputFlags); err != nil {
		return err
	}
	return open(ctx, c, path, found)
}

// openCommand returns the command that opens a part of a trace in Perfetto's user interface.
func openCommand(path string, fromMS, toMS float64) string {
	command := "apkgate inspect perfetto " + device.Quote(path) + " --open"
	if toMS > fromMS {
		command += fmt.Sprintf(" --from-ms %.0f --to-ms %.0f", math.Floor(fromMS), math.Ceil(toMS))
	}
	return command
}

// open opens a trace at its worst frame.
func open(ctx context.Context, c terminal.Console, path string, found saved.Diagnosis) error {
	var part viewer.Span
	if found.Frames != nil && len(found.Frames.Worst) > 0 && found.Kind == string(perfetto) {
		worst := found.Frames.Worst[0]
		part = viewer.Span{FromMS: max(worst.AtMS, 0), ToMS: max(worst.AtMS+worst.DurationMS, 0)}
	}
	return viewer.Open(ctx, c, found.Kind, path, part)
}

// nameOf returns a recording's name in the output.
func nameOf(path string) string {
	if path == "-" {
		return "standard input"
	}
	return filepath.Base(path)
}

// maxNamed limits the packages that an error lists.
const maxNamed = 12

// without returns the error that lists the packages with frames if the requested one has none.
func without(path, pkg string, there map[string]int) error {
	doing := fmt.Errorf("diagnose %s: it has no frame of %s", terminal.Plain(path), terminal.Plain(pkg))
	if pkg == "" {
		doing = fmt.Errorf("diagnose %s: --package names no app, and the trace has several", terminal.Plain(path))
	}
	if len(there) == 0 {
		return exit.Usage(fmt.Errorf("diagnose %s: it has no frame of any app, and is no dump of threads", terminal.Plain(path)), record(pkg))
	}
	return exit.Usage(doing, "it has frames of "+listed(byFrames(there), there))
}

// record returns the command that records a trace with frames.
func record(pkg string) string {
	return "record one with frames: adb shell perfetto -o /data/misc/perfetto-traces/app -t 10s -b 64mb -a " + terminal.Plain(cmp.Or(pkg, "PACKAGE")) +
		" sched freq gfx view input am dalvik binder_driver; docs/why-slow.md says what each tells"
}
