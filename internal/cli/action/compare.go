package action

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/judging"
	"github.com/apkgate/apkgate/internal/cli/measure"
	"github.com/apkgate/apkgate/internal/cli/output"
	"github.com/apkgate/apkgate/internal/cli/places"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/version"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// builtFrom notes the commit that the head of a comparison was built from, which
// the check run is shown on. A workflow that is started by hand or by the clock
// runs on the tip of a branch, and compares what it checked out: its event does
// not tell.
func (a *call) builtFrom(f *runFlags) error {
	for flag, commit := range map[string]string{"commit": f.Commit, "base-commit": f.baseCommit} {
		if commit != "" && !actions.IsCommit(commit) {
			return exit.Usage(fmt.Errorf("--%s is %q, want the full hexadecimal id of a commit", flag, words.Short(commit)), "git rev-parse HEAD says it, and so does the output commit of actions/checkout")
		}
	}
	switch {
	case f.Commit != "":
		a.Job.HeadSHA = f.Commit
	case slices.Contains([]string{"workflow_dispatch", "schedule", "repository_dispatch"}, a.Job.Event):
		a.Job.HeadSHA = ""
		a.Runner.Log("No check run: nothing says which commit the head was built from; the input commit does.")
	}
	return nil
}

// compare measures two APKs in turns, as `apkgate compare` does. No history
// is read, and none is written.
func compare(c console.Console, cmd *cobra.Command, f *runFlags, a *call) (result, error) {
	cf := measure.CompareFlags{
		ConfigFlags: f.ConfigFlags, PolicyFlags: f.PolicyFlags, Base: f.base, Head: f.head, Rounds: f.rounds,
		Scenarios: f.Scenarios, Parallel: f.Parallel, Profiles: f.artifact,
		BaseCommit: f.baseCommit, HeadCommit: a.Job.HeadSHA, HeadRef: f.Ref,
	}
	if _, err := cf.Offline(); err != nil {
		return result{}, err
	}
	set, err := settings.Read(c, cmd, cf.ConfigFlags, cf.PolicyFlags)
	if err != nil {
		return result{}, err
	}
	a.FailOn = string(set.FailOn)
	base, head, err := measure.Both(cmd.Context(), c, cf)
	if err != nil {
		return result{}, err
	}
	if set.Catalogue, err = run.Catalogue(set.Catalogue, append(append([]run.Run{}, base...), head...)...); err != nil {
		return result{}, exit.Usage(err, "")
	}
	verdict := sidebyside.Compare(set.Policy, set.Catalogue, base, head)
	in := layout.ABInput{Verdict: verdict, Energy: judging.BesideBase(base, head), Catalogue: set.Catalogue, Version: "apkgate " + version.String()}
	if judging.Simulated(base) || judging.Simulated(head) {
		in.Notes = []string{judging.SimulatedNote}
	}
	sheet := layout.AB(in)
	if err := output.WriteSheet(c, sheet, judging.ComparisonData(in), output.OutputFlags{Format: string(output.FormatText)}); err != nil {
		return result{}, err
	}
	content := actions.Content{
		Outcome: verdict.Verdict, Headline: fmt.Sprintf("%s: %s", verdict.Verdict, verdict.Reason),
		Markdown: sheet.Markdown, Counts: map[gate.Outcome]int{},
	}
	for _, s := range verdict.Scenarios {
		content.Counts[s.Verdict]++
	}
	return result{
		content: content, failOn: set.FailOn,
		folder: func(dir string) (actions.Folder, error) {
			return sheetFolder(c, dir, func(f output.OutputFlags) error {
				f.Places = places.Of(c, set.Config, cf.File())
				return output.WriteSheet(quiet(c), sheet, judging.ComparisonData(in), f)
			})
		},
	}, nil
}

// quiet is the command with nothing to say on its standard output.
func quiet(c console.Console) console.Console {
	c.Stdout = io.Discard
	return c
}

// sheetFiles are where a sheet's files go in a report folder.
func sheetFiles(dir string) output.OutputFlags {
	return output.OutputFlags{
		Format: string(output.FormatText), HTML: filepath.Join(dir, "report.html"),
		Markdown: filepath.Join(dir, "report.md"), JSON: filepath.Join(dir, "verdict.json"),
		SARIF: filepath.Join(dir, "apkgate.sarif"),
	}
}

// sheetFolder leaves a sheet's files in a report folder.
func sheetFolder(c console.Console, dir string, write func(output.OutputFlags) error) (actions.Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return actions.Folder{}, fmt.Errorf("find the report folder: %w", err)
	}
	names := sheetFiles(dir)
	if err := files.MakeFolder(dir); err != nil {
		return actions.Folder{}, files.Error("make the report folder", dir, err)
	}
	return actions.Folder{Dir: dir, Report: names.HTML, Verdict: names.JSON, SARIF: names.SARIF}, write(names)
}
