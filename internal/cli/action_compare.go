package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// builtFrom notes the commit that the head of a comparison was built from, which
// the check run is shown on. A workflow that is started by hand or by the clock
// runs on the tip of a branch, and compares what it checked out: its event does
// not tell.
func (a *action) builtFrom(f *actionRunFlags) error {
	for flag, commit := range map[string]string{"commit": f.commit, "base-commit": f.baseCommit} {
		if commit != "" && !actions.IsCommit(commit) {
			return usage(fmt.Errorf("--%s is %q, want the full hexadecimal id of a commit", flag, words.Short(commit)), "git rev-parse HEAD says it, and so does the output commit of actions/checkout")
		}
	}
	switch {
	case f.commit != "":
		a.Job.HeadSHA = f.commit
	case slices.Contains([]string{"workflow_dispatch", "schedule", "repository_dispatch"}, a.Job.Event):
		a.Job.HeadSHA = ""
		a.Runner.Log("No check run: nothing says which commit the head was built from; the input commit does.")
	}
	return nil
}

// actionCompare measures two APKs in turns, as `apkgate compare` does. No history
// is read, and none is written.
func actionCompare(c Command, cmd *cobra.Command, f *actionRunFlags, a *action) (actionResult, error) {
	cf := compareFlags{
		configFlags: f.configFlags, policyFlags: f.policyFlags, base: f.base, head: f.head, rounds: f.rounds,
		scenarios: f.scenarios, parallel: f.parallel, profiles: f.artifact,
		baseCommit: f.baseCommit, headCommit: a.Job.HeadSHA, headRef: f.ref,
	}
	if _, err := cf.offline(); err != nil {
		return actionResult{}, err
	}
	set, err := c.settings(cmd, cf.configFlags, cf.policyFlags)
	if err != nil {
		return actionResult{}, err
	}
	a.FailOn = string(set.failOn)
	base, head, err := c.measureBoth(cmd.Context(), cf)
	if err != nil {
		return actionResult{}, err
	}
	if set.catalogue, err = run.Catalogue(set.catalogue, append(append([]run.Run{}, base...), head...)...); err != nil {
		return actionResult{}, usage(err, "")
	}
	verdict := sidebyside.Compare(set.policy, set.catalogue, base, head)
	in := layout.ABInput{Verdict: verdict, Energy: besideBase(base, head), Catalogue: set.catalogue, Version: "apkgate " + version()}
	if simulated(base) || simulated(head) {
		in.Notes = []string{simulatedNote}
	}
	sheet := layout.AB(in)
	if err := c.writeSheet(sheet, abData(in), outputFlags{format: string(FormatText)}); err != nil {
		return actionResult{}, err
	}
	content := actions.Content{
		Outcome: verdict.Verdict, Headline: fmt.Sprintf("%s: %s", verdict.Verdict, verdict.Reason),
		Markdown: sheet.Markdown, Counts: map[gate.Outcome]int{},
	}
	for _, s := range verdict.Scenarios {
		content.Counts[s.Verdict]++
	}
	return actionResult{
		content: content, failOn: set.failOn,
		folder: func(dir string) (actions.Folder, error) {
			return c.sheetFolder(dir, func(f outputFlags) error {
				f.places = c.placesOf(set.config, cf.file())
				return quiet(c).writeSheet(sheet, abData(in), f)
			})
		},
	}, nil
}

// quiet is the command with nothing to say on its standard output.
func quiet(c Command) Command {
	c.Stdout = io.Discard
	return c
}

// sheetFiles are where a sheet's files go in a report folder.
func sheetFiles(dir string) outputFlags {
	return outputFlags{
		format: string(FormatText), html: filepath.Join(dir, "report.html"),
		markdown: filepath.Join(dir, "report.md"), json: filepath.Join(dir, "verdict.json"),
		sarif: filepath.Join(dir, "apkgate.sarif"),
	}
}

// sheetFolder leaves a sheet's files in a report folder.
func (c Command) sheetFolder(dir string, write func(outputFlags) error) (actions.Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return actions.Folder{}, fmt.Errorf("find the report folder: %w", err)
	}
	names := sheetFiles(dir)
	if err := makeFolder(dir); err != nil {
		return actions.Folder{}, fileError("make the report folder", dir, err)
	}
	return actions.Folder{Dir: dir, Report: names.html, Verdict: names.json, SARIF: names.sarif}, write(names)
}
