package action

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// builtFrom sets the commit that the head of a comparison was built from, on which the check run is
// shown. A workflow that is started manually or by schedule runs on the tip of a branch, and
// compares what it checked out, which its event does not contain.
func (a *call) builtFrom(f *runFlags) error {
	for flag, commit := range map[string]string{"commit": f.Commit, "base-commit": f.baseCommit} {
		if commit != "" && !githubactions.IsCommit(commit) {
			return exit.Usage(fmt.Errorf("--%s is %q, want the full hexadecimal id of a commit", flag, prose.Short(commit)), "git rev-parse HEAD says it, and so does the output commit of actions/checkout")
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

// compare measures two APKs alternately, as `apkgate compare` does. It neither reads nor writes a
// history.
func compare(c terminal.Console, cmd *cobra.Command, f *runFlags, a *call) (result, error) {
	builds := measure.Builds{
		Base: f.base, Head: f.head, Rounds: f.rounds, Scenarios: f.Scenarios, Parallel: f.Parallel, Profiles: f.artifact,
		BaseCommit: f.baseCommit, HeadCommit: a.Job.HeadSHA, HeadRef: f.Ref,
	}
	if err := builds.Check(); err != nil {
		return result{}, err
	}
	builds.Session = measure.CompareSession(c)
	builds.Pool = labs.NewPool(c, builds.Session)
	defer builds.Pool.Close()
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return result{}, err
	}
	a.FailOn = set.FailOn
	within, err := f.why.Within(set.Config)
	if err != nil {
		return result{}, err
	}
	if f.choosesFarm(cmd, set.Config); f.OnFarm {
		return compareOnFarm(c, cmd, f, builds, set, within)
	}
	pair, err := measure.Both(cmd.Context(), c, f.Config, builds)
	if err != nil {
		return result{}, err
	}
	in, err := judging.Compare(pair.Base, pair.Head, set)
	if err != nil {
		return result{}, err
	}
	known := sourcelocation.Of(c, set.Config, f.ConfigFlags.File())
	found := func(answer document.Document, v sidebyside.Verdict) result {
		return result{content: comparisonContent(v, answer, known()), failOn: set.FailOn, folder: folderOf(c, answer, known)}
	}
	in = builds.Explain(cmd.Context(), c, pair, in, within, func(in layout.ComparisonInput) bool {
		a.first(found(layout.Comparison(in), in.Verdict))
		return true
	})
	in.Why = explanation.Next(judging.RegressedBuild(in, pair.Head), fmt.Sprintf("why: %s of the action records both builds for longer", prose.Duration(max(2*within, config.DefaultWhy))))
	answer := layout.Comparison(in)
	if err := output.Write(c, answer, output.Text()); err != nil {
		return result{}, err
	}
	return found(answer, in.Verdict), nil
}

// compareOnFarm measures both in rounds on a farm.
func compareOnFarm(c terminal.Console, cmd *cobra.Command, f *runFlags, builds measure.Builds, set settings.Settings, within time.Duration) (result, error) {
	pair, err := builds.OnFarm(cmd.Context(), c, f.Config)
	if err != nil {
		return result{}, err
	}
	in, err := judging.Compare(pair.Base, pair.Head, set)
	if err != nil {
		return result{}, err
	}
	in = pair.Explained(cmd.Context(), pair.WithNotes(in), within)
	answer := layout.Comparison(in)
	if err := output.Write(c, answer, output.Text()); err != nil {
		return result{}, err
	}
	known := sourcelocation.Of(c, set.Config, f.ConfigFlags.File())
	return result{content: comparisonContent(in.Verdict, answer, known()), failOn: set.FailOn, folder: folderOf(c, answer, known), loss: pair.Loss}, nil
}

// comparisonContent returns a comparison as GitHub shows it.
func comparisonContent(v sidebyside.Verdict, answer document.Document, places document.Places) githubactions.Content {
	content := githubactions.Content{
		Outcome: v.Verdict, Headline: answer.Headline(),
		Document: answer, Counts: map[gate.Outcome]int{}, Notes: githubactions.NotesOf(answer.Problems, places),
	}
	for _, s := range v.Scenarios {
		content.Counts[s.Verdict]++
	}
	return content
}

// folderOf returns a function that writes an answer's files into a report folder.
func folderOf(c terminal.Console, answer document.Document, known func() document.Places) func(dir string) (artifact.Folder, error) {
	return func(dir string) (artifact.Folder, error) {
		folder, err := artifact.FolderAt(dir)
		if err != nil {
			return artifact.Folder{}, err
		}
		if err := atomicfile.MakeFolder(folder.Dir); err != nil {
			return artifact.Folder{}, atomicfile.Error("make the report folder", folder.Dir, err)
		}
		return folder, output.WriteFiles(c, answer, output.InFolder(folder.Dir, known))
	}
}
