// Package cli is apkgate's command line: it assembles the commands and runs one. Each group of
// commands is a package below it: measure (run, collect, compare), show (check, noise, report,
// inspect), baselinecmd (baseline), why, setup (init, config, doctor, devices, version), evaluate, energycmd
// (energy), diagnosecmd (diagnose), recorddevice, publish, demo, manual (man), and action for the workflow on
// GitHub. What several of them need is in packages of its own: arguments, completion, flagset, output
// and viewer.
//
// It decides nothing about runs: verdicts come from package gate, and the exit status follows from
// the verdict or from the kind of the error (package exit). A command line is a value with its
// streams, environment and clock injected, so that a test can drive every command as a user would.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/apkgate/apkgate/cli/action"
	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/baselinecmd"
	"github.com/apkgate/apkgate/cli/completion"
	"github.com/apkgate/apkgate/cli/demo"
	"github.com/apkgate/apkgate/cli/diagnosecmd"
	"github.com/apkgate/apkgate/cli/energycmd"
	"github.com/apkgate/apkgate/cli/evaluate"
	"github.com/apkgate/apkgate/cli/flagset"
	"github.com/apkgate/apkgate/cli/manual"
	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/cli/publish"
	"github.com/apkgate/apkgate/cli/recorddevice"
	"github.com/apkgate/apkgate/cli/setup"
	"github.com/apkgate/apkgate/cli/show"
	"github.com/apkgate/apkgate/cli/why"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/secrets"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Process returns the console of this process.
func Process() terminal.Console {
	limitMemory(os.Getenv, os.DirFS("/"))
	c := terminal.Console{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, Process: true}
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

// Main runs one command line, without the program's name, and returns the exit status. An
// interrupt, or the SIGTERM by which a build server ends a job, cancels what is under way: devices
// are left as they were found.
func Main(c terminal.Console, args []string) int {
	if err := secrets.Take(&c, args); err != nil {
		fmt.Fprintf(c.Stderr, "warning: a workload on this computer could read the workflow's secrets: %s\n", terminal.Plain(err.Error()))
	}
	ctx, stop := interruptible()
	defer stop()
	out := &noted{w: c.Stdout}
	c.Stdout = out
	told := &text{w: out}
	if !c.UTF8() {
		told.ascii, c.Stdout, c.Stderr = terminal.ASCII(out), told, terminal.ASCII(c.Stderr)
	}
	root := commands(c)
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { told.is = c.Terminal || printsText(cmd) }
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil { // some of the output is missing
		err = exit.Infrastructure(fmt.Errorf("print the result: %w", out.err))
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = exit.Infrastructure(errors.New("interrupted: what was measured and stored before is kept"))
	}
	return exit.Finish(c.Stderr, err)
}

// interruptible returns a context that the first signal cancels. A second signal of the same kind
// ends the process at once, so that pressing Ctrl-C twice does. A runner that cancels a job sends
// SIGINT, SIGTERM after 7.5 seconds and SIGKILL after 10 (GitHub, "Workflow cancellation
// reference"): its SIGTERM does not end a process that is shutting down already.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case first := <-signals:
			signal.Reset(first)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); signal.Stop(signals) }
}

// text is the standard output where the locale has no UTF-8: what a command prints for people is
// written in ASCII, and data as they are.
type text struct {
	w, ascii io.Writer
	is       bool
}

func (t *text) Write(p []byte) (int, error) {
	if t.is {
		return t.ascii.Write(p)
	}
	return t.w.Write(p)
}

// printsText reports whether a command prints text for people, by its --format. Without one it may
// print data, such as runs.
func printsText(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("format")
	return f != nil && f.Value.String() == string(output.FormatText)
}

// noted is a stream that records its first write error.
type noted struct {
	w   io.Writer
	err error
}

func (n *noted) Write(p []byte) (int, error) {
	k, err := n.w.Write(p)
	n.err = cmp.Or(n.err, err)
	return k, err
}

// commands returns the command apkgate with its subcommands.
func commands(c terminal.Console) *cobra.Command {
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
		Version:       version.String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          arguments.OnlyCommands,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		DisableFlagsInUseLine: true,
	}
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	root.SetFlagErrorFunc(arguments.FlagError)
	flagset.GroupHelp(root)
	root.AddCommand(
		demo.Command(c), setup.InitCommand(c), setup.DoctorCommand(c), setup.DevicesCommand(c), setup.ConfigCommand(c), setup.VersionCommand(c),
		measure.RunCommand(c), measure.CollectCommand(c), show.CheckCommand(c), baselinecmd.Command(c),
		measure.CompareCommand(c), show.NoiseCommand(c), evaluate.Command(c), energycmd.Command(c), diagnosecmd.Command(c), show.InspectCommand(c),
		recorddevice.Command(c), why.Command(c), show.ReportCommand(c), publish.Command(c), action.Command(c), manual.Command(c),
	)
	completion.Register(c, root)
	return root
}
