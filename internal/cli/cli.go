// Package cli is apkgate's command line: one file a verb, with its flags, its
// wiring, its progress and its exit status.
//
// It owns no decision about runs: verdicts come from package gate, and the exit
// status follows from the verdict or from the kind of the error (exit.go). It
// takes a stand: a command line is a value with its streams, environment and
// clock injected, so that a test can drive every verb as a user would.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/apkgate/apkgate/device"
)

// Command is apkgate with everything it touches of the process around it.
type Command struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	// Clock is the time by which devices are measured that have no clock of
	// their own, as simulated ones have; nil is this computer's.
	Clock device.Clock
	// Terminal and Width say what Stdout can show: whether a person is looking,
	// and how many columns there are (0: unknown).
	Terminal bool
	Width    int
	// ProgressTerminal says that a person is looking at Stderr.
	ProgressTerminal bool
	process          bool   // it is this process's own
	dir              string // where it works; "" is this process's folder
}

// Process is the command of this process.
func Process() Command {
	limitMemory(os.Getenv, os.DirFS("/"))
	c := Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, process: true}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		c.Terminal = true
		c.Width, _, _ = term.GetSize(fd)
	}
	c.ProgressTerminal = term.IsTerminal(int(os.Stderr.Fd()))
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		c.Width = n
	}
	return c
}

// Main runs one command line, without the program's name, and returns the exit
// status. An interrupt, or the SIGTERM by which a build server ends a job, cancels
// what is under way: devices are left as they were found.
func (c Command) Main(args []string) int {
	if err := c.takeSecrets(args); err != nil {
		fmt.Fprintf(c.Stderr, "warning: a workload on this computer could read the workflow's secrets: %s\n", plain(err.Error()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := &noted{w: c.Stdout}
	c.Stdout = out
	root := c.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil { // whatever was printed is not all there
		err = infrastructure(fmt.Errorf("print the result: %w", out.err))
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = infrastructure(errors.New("interrupted: what was measured and stored before is kept"))
	}
	return finish(c.Stderr, err)
}

// noted is a stream that remembers the first error of writing to it.
type noted struct {
	w   io.Writer
	err error
}

func (n *noted) Write(p []byte) (int, error) {
	k, err := n.w.Write(p)
	n.err = cmp.Or(n.err, err)
	return k, err
}

func (c Command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "apkgate",
		Short: "A gate for pull requests on Android apps: smoothness and energy measured, compared, explained",
		Long: `apkgate runs an Android app's workloads on devices, measures how smooth it is and
how much energy it takes, compares every run with the history of accepted ones, and
says pass or fail with the evidence.

Try it without a device:   apkgate demo
Set it up for your app:    apkgate init, then apkgate doctor, then apkgate run

Exit status: 0 pass, improvement or inconclusive (--fail-on moves that line),
1 regression and nothing else, 2 wrong usage, configuration or input, 3 no verdict
on the app's speed: it crashed or a test failed (invalid), or a device, adb or the
store was lost.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          onlyVerbs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		DisableFlagsInUseLine: true,
	}
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		c.demoVerb(), c.initVerb(), c.doctorVerb(), c.devicesVerb(), c.runVerb(), c.collectVerb(),
		c.checkVerb(), c.baselineVerb(), c.compareVerb(), c.noiseVerb(), c.energyVerb(), c.inspectVerb(), c.reportVerb(), c.actionVerb(),
	)
	return root
}

// release is the version that scripts/release builds, "v1.2.3"; "" otherwise.
var release string

// version is the release's, or the module's version as the build knows it.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version
}

// oneOf checks a flag's value against what it may be.
func oneOf[T ~string](flag string, value T, allowed []T) error {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if a == value {
			return nil
		}
		names[i] = string(a)
	}
	return badValue(flag, string(value), names)
}
