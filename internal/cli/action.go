package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/baseline/branch"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/internal/words"
)

// actionFlags are what both verbs of the action take. Each flag is also an input
// of the action, under the same name; the token is an input alone, as a command
// line is seen by other processes.
type actionFlags struct {
	configFlags
	name, leg, artifact, workingDirectory string
}

func (f *actionFlags) register(cmd *cobra.Command) {
	f.configFlags.register(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "the configuration's name on GitHub (default: the path of its file)")
	cmd.Flags().StringVar(&f.leg, "leg", "", "which leg of a job matrix this is: a name, or the matrix as JSON")
	cmd.Flags().StringVar(&f.artifact, "artifact", "apkgate-report", "the folder of the report's files, for the workflow to upload or downloaded by it")
	cmd.Flags().StringVar(&f.workingDirectory, "working-directory", "", "where to work, from the workspace's root")
}

func (c Command) actionVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:    "action",
		Short:  "What the GitHub action calls",
		Hidden: true,
		Args:   onlyVerbs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Long: `What the GitHub action calls inside of a workflow; docs/github.md describes the
action. Every flag is also an input: INPUT_FAIL_ON is --fail-on. The token comes
from INPUT_GITHUB_TOKEN or GITHUB_TOKEN.`,
	}
	cmd.AddCommand(c.actionRunVerb(), c.actionCommentVerb(), c.actionEndVerb())
	return cmd
}

// action is one call of the action.
type action struct{ actions.Reporter }

// enterAction reads the inputs into the flags and what the job is about.
func (c Command) enterAction(cmd *cobra.Command, f *actionFlags) (*action, error) {
	runner := actions.NewRunner(c.Stdout, c.Getenv)
	if err := inputsToFlags(cmd, runner); err != nil {
		return nil, err
	}
	token := c.token(runner)
	runner.Mask(token)
	job, err := actions.ReadJob(c.Getenv)
	if err != nil {
		return nil, usage(err, "apkgate action works inside of a GitHub workflow; elsewhere, apkgate run does the same")
	}
	if f.name == "" {
		f.name = defaultActionName(*f)
	}
	if err := actions.CheckName(f.name); err != nil {
		return nil, usage(err, "the input name sets it")
	}
	leg, err := actions.LegName(f.leg)
	if err != nil {
		return nil, usage(err, "the input leg sets it")
	}
	a := &action{Reporter: actions.Reporter{Runner: runner, Job: job, Name: f.name, Leg: leg, FailOn: string(FailRegression)}}
	if token != "" {
		a.Client, err = actions.NewClient(job, actions.ClientOptions{
			API: c.Getenv("GITHUB_API_URL"), GraphQL: c.Getenv("GITHUB_GRAPHQL_URL"), Token: token, Log: runner.Log,
		})
		if err != nil {
			return nil, usage(err, "")
		}
	}
	return a, nil
}

// defaultActionName is the path of the configuration from the workspace's root,
// so that two configurations are told apart without a word from the user.
func defaultActionName(f actionFlags) string {
	path := f.config
	if path == "" {
		path = config.FileName
	}
	if filepath.IsAbs(path) {
		return filepath.Base(path)
	}
	return filepath.ToSlash(filepath.Join(f.workingDirectory, path))
}

// inputsToFlags sets each flag that the command line leaves out from the action's
// input of the same name. Of a list, each line is an entry.
func inputsToFlags(cmd *cobra.Command, runner *actions.Runner) (err error) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		value := runner.Input(flag.Name)
		if err != nil || flag.Changed || value == "" || flag.Name == "help" {
			return
		}
		values := []string{value}
		if flag.Value.Type() == "stringArray" {
			values = strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
		}
		for _, v := range values {
			if cmd.Flags().Set(flag.Name, strings.TrimSpace(v)) != nil {
				err = usage(fmt.Errorf("the input %s is %q, want %s", flag.Name, words.Short(v), kindOf(flag)), "")
			}
		}
	})
	return err
}

// token is what GitHub is written to with. A workload that is started on this
// computer does not have it, see takeSecrets.
func (c Command) token(runner *actions.Runner) string {
	if token := runner.Input("github-token"); token != "" {
		return token
	}
	return strings.TrimSpace(c.Getenv("GITHUB_TOKEN"))
}

// in is the command as if it were called in a folder given from the workspace's
// root, and the flags as if they were given there.
func (c Command) in(dir string, f *actionRunFlags) (Command, error) {
	if dir == "" {
		return c, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.workspace("."), dir)
	}
	if info, err := os.Stat(dir); err != nil {
		return c, usage(fileError("go to the working directory", dir, err), "")
	} else if !info.IsDir() {
		return c, usage(fmt.Errorf("go to the working directory %s: it is no folder", plain(dir)), "")
	}
	c.dir = dir
	f.config = cmp.Or(f.config, config.FileName)
	paths := []*string{&f.config, &f.artifact, &f.apk, &f.base, &f.head}
	if !strings.HasPrefix(f.store, branch.Scheme) && !strings.Contains(f.store, "://") {
		paths = append(paths, &f.store)
	}
	for _, path := range paths {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	return c, nil
}

// workspace is the repository's root.
func (c Command) workspace(otherwise string) string {
	if w := c.Getenv("GITHUB_WORKSPACE"); w != "" {
		return w
	}
	return otherwise
}

// actionMode is what a workflow wants of `action run`.
type actionMode string

// The modes.
const (
	modePullRequest actionMode = "pull-request"
	modeRefresh     actionMode = "refresh"
	modeCompare     actionMode = "compare"
)

// actionModes are the modes that there are.
var actionModes = map[actionMode]func(Command, *cobra.Command, *actionRunFlags, *action) (actionResult, error){
	modePullRequest: actionPullRequest,
	modeRefresh:     actionRefresh,
	modeCompare:     actionCompare,
}

func modeNamed(name string) (func(Command, *cobra.Command, *actionRunFlags, *action) (actionResult, error), error) {
	if mode, ok := actionModes[actionMode(name)]; ok {
		return mode, nil
	}
	var names []string
	for m := range actionModes {
		names = append(names, string(m))
	}
	slices.Sort(names)
	return nil, badValue("mode", name, names)
}
