package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/baselinecmd"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/worktree"
)

// mayRefresh refuses to accept builds of other than the named branches; if none is named, of the
// repository's default branch. Anybody who may start a workflow manually can start it on a branch
// of their own.
func (a *call) mayRefresh(ctx context.Context, dir string, branches []string) error {
	if !slices.Contains(refreshing, a.Job.Event) {
		return exit.Usage(fmt.Errorf("mode refresh on the event %s: what others are compared with comes from the main branch alone", prose.Short(cmp.Or(a.Job.Event, "none"))),
			"run it on "+prose.List(refreshing))
	}
	if len(branches) == 0 {
		main, err := a.defaultBranch(ctx)
		if err != nil {
			return exit.Usage(fmt.Errorf("mode refresh: which branch is the main one: %w", err), "the input branches names those whose builds may be accepted")
		}
		branches = []string{main}
	}
	branch, ok := strings.CutPrefix(a.Job.Ref, "refs/heads/")
	if !ok || !slices.Contains(branches, branch) {
		return exit.Usage(fmt.Errorf("mode refresh on %s: what others are compared with comes from %s alone", prose.Short(cmp.Or(a.Job.Ref, "no branch")), prose.Short(strings.Join(branches, ", "))),
			"the input branches names those whose builds may be accepted")
	}
	return a.builtFromTip(ctx, dir)
}

// refreshing are the events that run on a branch's own commits: on others, such as a comment,
// GitHub names the main branch whatever the workflow checks out.
var refreshing = []string{"schedule", "push", "workflow_dispatch", "repository_dispatch"}

// builtFromTip refuses a checkout of another commit than the event's. Without a checkout it
// accepts.
func (a *call) builtFromTip(ctx context.Context, dir string) error {
	out := first(worktree.StandsOn(ctx, dir, "").Commits)
	if out == "" || out == a.Job.HeadSHA {
		return nil
	}
	return exit.Usage(fmt.Errorf("mode refresh: %.10s is checked out, and %s is at %.10s: what others are compared with is built from the branch itself", out, a.Job.Ref, a.Job.HeadSHA),
		"check out without another ref, and start the workflow on the branch instead")
}

// defaultBranch returns the repository's default branch; on a schedule, which runs on no other
// branch, the event's.
func (a *call) defaultBranch(ctx context.Context) (string, error) {
	switch {
	case a.Job.DefaultBranch != "":
		return a.Job.DefaultBranch, nil
	case a.Job.Event == "schedule":
		return strings.TrimPrefix(a.Job.Ref, "refs/heads/"), nil
	case a.Client == nil:
		return "", errors.New("the event does not say, and there is no token to ask GitHub with")
	}
	return a.Client.DefaultBranch(ctx)
}

// refresh measures the main branch and accepts its runs, as `apkgate baseline refresh` does. What a
// pull request's event measures is never accepted.
func refresh(c terminal.Console, cmd *cobra.Command, f *runFlags, a *call) (result, error) {
	if err := a.mayRefresh(cmd.Context(), c.Dir, f.branches); err != nil {
		return result{}, err
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return result{}, err
	}
	a.FailOn = set.FailOn
	f.choosesFarm(cmd, set.Config)
	done, err := baselinecmd.Refresh(c, cmd, f.ConfigFlags, set, baselinecmd.Refreshing{
		PolicyFlags: f.PolicyFlags, CollectFlags: f.CollectFlags, Sessions: f.sessions, AcceptRegression: f.acceptRegression,
		Decided: func(v gate.Verdict, catalogue *metric.Catalogue, since string) string {
			return a.decided(cmd.Context(), v, catalogue, since)
		},
	})
	if err != nil {
		return result{}, err
	}
	a.FailOn = done.FailOn
	done.Judged.Kept = runevidence.ForArtifact(f.artifact, a.Job.ArtifactsURL(), done.Judged.Runs)
	answer := done.Answer()
	if err := output.Write(c, answer, output.Text()); err != nil {
		return result{}, errors.Join(err, done.Loss)
	}
	return result{
		content: refreshContent(done.Refresh, answer), failOn: done.FailOn, loss: done.Loss,
		folder: folderOf(c, answer, sourcelocation.Of(c, set.Config, f.ConfigFlags.File())),
	}, nil
}

// decided returns who accepted what got worse, in the pull requests that were merged since the last
// accepted commit; "" if nobody did, or if something is worse beyond that.
func (a *call) decided(ctx context.Context, v gate.Verdict, catalogue *metric.Catalogue, since string) string {
	branch, ok := strings.CutPrefix(a.Job.Ref, "refs/heads/")
	if a.Client == nil || !ok {
		return ""
	}
	commits, err := a.Client.CommitsUpTo(ctx, a.Job.HeadSHA, maxBaseCommits)
	if err != nil {
		a.Runner.Warn("Whether a pull request's regression was accepted is unknown: " + err.Error())
		return ""
	}
	merged := commits.IDs
	if at := slices.IndexFunc(merged, func(c string) bool { return since != "" && run.SameCommit(c, since) }); at >= 0 {
		merged = merged[:at]
	}
	records, err := a.Client.AcceptedIn(ctx, branch, strings.TrimPrefix(a.Name, string(modeRefresh)+" "), merged)
	if err != nil {
		a.Runner.Warn("Whether a pull request's regression was accepted is unknown: " + err.Error())
		return ""
	}
	if len(records) == 0 {
		return ""
	}
	if left := acceptance.Uncovered(v, catalogue, records); len(left) > 0 {
		a.Runner.Warn("What pull requests accepted does not cover " + prose.Few(left, 5) + ".")
		return ""
	}
	var notes []string
	for _, r := range records {
		notes = append(notes, r.Note())
	}
	return strings.Join(notes, "; ")
}

// refreshContent returns a refresh as GitHub shows it.
func refreshContent(did saved.Refresh, answer document.Document) githubactions.Content {
	content := githubactions.Content{
		Outcome: did.Outcome(), Headline: answer.Headline(),
		Counts: map[gate.Outcome]int{}, Document: answer,
	}
	for _, x := range did.Refused {
		content.Counts[x.Verdict]++
	}
	return content
}
