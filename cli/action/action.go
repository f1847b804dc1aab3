// Package action implements the commands of the GitHub action: it reads the workflow's inputs and
// event, runs a mode as the command of that name would, and shows the result on the pull request.
//
// Only the verdict decides the exit status, and GitHub's refusals are warnings. The communication
// with GitHub belongs to package githubactions.
package action

import (
	"cmp"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/restapi"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// flags are the flags of all commands of the action. Each flag is also an input of the action,
// under the same name; the token is only an input, since other processes can see a command line.
type flags struct {
	settings.ConfigFlags
	name, leg, artifact, workingDirectory string
	comment, reportURL, accept, legs      string
}

func (f *flags) register(cmd *cobra.Command) {
	flagset.Config(cmd, &f.ConfigFlags)
	cmd.Flags().StringVar(&f.name, "name", "", "the configuration's name on GitHub (default: the path of its file)")
	cmd.Flags().StringVar(&f.leg, "leg", "", "which leg of a job matrix this is: a name, or the matrix as JSON")
	cmd.Flags().StringVar(&f.legs, "legs", "", "all legs of the job matrix: their number, their names, one a line, or a JSON list; one that never came keeps the comment from being a pass")
	cmd.Flags().StringVar(&f.comment, "comment", string(githubactions.Always), "when a pull request gets a comment: always, change (any verdict but a pass), inconclusive, regression or never; all but never keep an existing comment up to date")
	cmd.Flags().StringVar(&f.reportURL, "report-url", "", "the address at which the report's page is published, to link to instead of the artifact; the comment shows picture.svg next to it if already public over https")
	cmd.Flags().StringVar(&f.accept, "accept-with", "", "the comment that accepts an intended change, where a workflow answers it: /apkgate accept REASON")
	cmd.Flags().StringVar(&f.artifact, "artifact", "apkgate-report", "the folder of the report's files, for the workflow to upload or downloaded by it")
	cmd.Flags().StringVar(&f.workingDirectory, "working-directory", "", "where to work, from the workspace's root")
}

// Command returns apkgate action.
func Command(c terminal.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "action",
		Short:  "What the GitHub action calls",
		Hidden: true,
		Args:   arguments.OnlyCommands,
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Long: `What the GitHub action calls inside of a workflow; docs/github.md describes the
action. Every flag is also an input: INPUT_FAIL_ON is --fail-on. The token comes
from INPUT_GITHUB_TOKEN or GITHUB_TOKEN.`,
	}
	cmd.AddCommand(runCommand(c), commentCommand(c), commandCommand(c), publishCommand(c), endCommand(c))
	return cmd
}

// call is one call of the action.
type call struct {
	githubactions.Reporter
	// first shows a result that will be explained later.
	first func(result)
}

// enter reads the inputs into the flags and determines what the job is about.
func enter(c terminal.Console, cmd *cobra.Command, f *flags) (*call, error) {
	runner := githubactions.NewRunner(c.Stdout, c.Getenv)
	if err := inputsToFlags(cmd, runner); err != nil {
		return nil, err
	}
	token := token(c, runner)
	runner.Mask(token)
	job, err := githubactions.ReadJob(c.Getenv)
	if err != nil {
		return nil, exit.Usage(err, "apkgate action works inside of a GitHub workflow; elsewhere, apkgate run does the same")
	}
	if f.name == "" {
		f.name = defaultName(*f)
	}
	if err := githubactions.CheckName(f.name); err != nil {
		return nil, exit.Usage(err, "the input name sets it")
	}
	leg, err := matrixcomment.LegName(f.leg)
	if err != nil {
		return nil, exit.Usage(err, "the input leg sets it")
	}
	legs, err := matrixcomment.ReadLegs(f.legs)
	if err != nil {
		return nil, exit.Usage(err, "the input legs sets it")
	}
	on, err := commentOn(f.comment)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(f.reportURL); err != nil {
		return nil, err
	}
	a := &call{Reporter: githubactions.Reporter{
		Runner: runner, Job: job, Name: f.name, Leg: leg, Legs: legs, FailOn: gate.FailRegression,
		Comment: on != githubactions.Never, CommentOn: on, ReportURL: f.reportURL, Accept: f.accept,
	}}
	if token != "" {
		clock := restapi.RealClock()
		if c.Pause != nil {
			clock.Sleep = c.Pause
		}
		a.Client, err = githubactions.NewClient(job, githubactions.ClientOptions{
			API: c.Getenv("GITHUB_API_URL"), GraphQL: c.Getenv("GITHUB_GRAPHQL_URL"), Token: token, Clock: clock, Log: runner.Log,
		})
		if err != nil {
			return nil, exit.Usage(err, "")
		}
	}
	return a, nil
}

// commentOn returns when a pull request gets a comment; true and false are always and never.
func commentOn(input string) (githubactions.When, error) {
	switch input {
	case "", "true":
		return githubactions.Always, nil
	case "false":
		return githubactions.Never, nil
	}
	on := githubactions.When(input)
	return on, exit.OneOf("comment", on, []githubactions.When{
		githubactions.Always, githubactions.OnChange, githubactions.OnInconclusive, githubactions.OnRegression, githubactions.Never,
	})
}

// checkAddress rejects what is no address of a page.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(address, " ()<>\"") {
		return exit.Usage(fmt.Errorf("--report-url is %q, want an address: https://HOST/PATH", prose.Short(address)), "")
	}
	return nil
}

// defaultName returns the path of the configuration relative to the workspace's root, so that two
// configurations have different names by default.
func defaultName(f flags) string {
	path := f.Config
	if path == "" {
		path = config.FileName
	}
	if filepath.IsAbs(path) {
		return filepath.Base(path)
	}
	return filepath.ToSlash(filepath.Join(f.workingDirectory, path))
}

// inputsToFlags sets each flag that the command line leaves out from the action's input of the same
// name. Each line of a list is an entry. An invalid one is an error, and the others are set.
func inputsToFlags(cmd *cobra.Command, runner *githubactions.Runner) (err error) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		value := runner.Input(flag.Name)
		if flag.Changed || value == "" || flag.Name == "help" {
			return
		}
		values := []string{value}
		if flag.Value.Type() == "stringArray" {
			values = strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
		}
		for _, v := range values {
			if cmd.Flags().Set(flag.Name, strings.TrimSpace(v)) != nil && err == nil {
				err = exit.Usage(fmt.Errorf("the input %s is %q, want %s", flag.Name, prose.Short(v), arguments.KindOf(flag)), "")
			}
		}
	})
	return err
}

// token returns the token for writing to GitHub. A workload that is started on this computer does
// not have it, see package secrets.
func token(c terminal.Console, runner *githubactions.Runner) string {
	if token := runner.Input("github-token"); token != "" {
		return token
	}
	return strings.TrimSpace(c.Getenv("GITHUB_TOKEN"))
}

// in returns the console as if the command were called in a folder below the workspace's root, and
// adapts the flags as if they were given there.
func in(c terminal.Console, dir string, f *runFlags) (terminal.Console, error) {
	if dir == "" {
		return c, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Workspace("."), dir)
	}
	if info, err := os.Stat(dir); err != nil {
		return c, exit.Usage(atomicfile.Error("go to the working directory", dir, err), "")
	} else if !info.IsDir() {
		return c, exit.Usage(fmt.Errorf("go to the working directory %s: it is no folder", terminal.Plain(dir)), "")
	}
	c.Dir = dir
	f.Config = cmp.Or(f.Config, config.FileName)
	paths := []*string{&f.Config, &f.artifact, &f.APK, &f.base, &f.head, &f.baseAPK}
	if !openstore.IsShared(f.Store) {
		paths = append(paths, &f.Store)
	}
	for i := range f.sessions.Merge {
		paths = append(paths, &f.sessions.Merge[i])
	}
	for _, path := range paths {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	return c, nil
}

// modeName is a mode of `action run`.
type modeName string

// The modes.
const (
	modePullRequest modeName = "pull-request"
	modeRefresh     modeName = "refresh"
	modeCompare     modeName = "compare"
)

// modes are the implementations of the modes.
var modes = map[modeName]func(terminal.Console, *cobra.Command, *runFlags, *call) (result, error){
	modePullRequest: pullRequest,
	modeRefresh:     refresh,
	modeCompare:     compare,
}

func modeNamed(name string) (func(terminal.Console, *cobra.Command, *runFlags, *call) (result, error), error) {
	if mode, ok := modes[modeName(name)]; ok {
		return mode, nil
	}
	var names []string
	for m := range modes {
		names = append(names, string(m))
	}
	slices.Sort(names)
	return nil, exit.BadValue("mode", name, names)
}
