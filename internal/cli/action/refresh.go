package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/history"
	"github.com/apkgate/apkgate/internal/cli/output"
	"github.com/apkgate/apkgate/internal/cli/places"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/words"
)

// mayRefresh refuses to accept what is not a build of one of the branches; where
// none is named, of the repository's default branch. Anybody who may start a
// workflow by hand can start it on a branch of their own.
func (a *call) mayRefresh(ctx context.Context, branches []string) error {
	switch a.Job.Event {
	case "pull_request", "pull_request_target", "workflow_run", "merge_group":
		return exit.Usage(fmt.Errorf("mode refresh on the event %s: what others are compared with comes from the main branch alone", a.Job.Event),
			"run it on schedule, push or workflow_dispatch")
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
		return exit.Usage(fmt.Errorf("mode refresh on %s: what others are compared with comes from %s alone", words.Short(cmp.Or(a.Job.Ref, "no branch")), words.Short(strings.Join(branches, ", "))),
			"the input branches names those whose builds may be accepted")
	}
	return nil
}

// defaultBranch is the repository's; on a schedule, which runs on no other branch,
// the one that it runs on.
func (a *call) defaultBranch(ctx context.Context) (string, error) {
	switch {
	case a.Job.DefaultBranch != "":
		return a.Job.DefaultBranch, nil
	case a.Job.Event == "schedule":
		return strings.TrimPrefix(a.Job.Ref, "refs/heads/"), nil
	case a.Client == nil:
		return "", errors.New("the event does not tell, and there is no token to ask GitHub with")
	}
	return a.Client.DefaultBranch(ctx)
}

// refresh measures the main branch and accepts its runs, as `apkgate
// baseline refresh` does. What a pull request's event measures is never accepted.
func refresh(c console.Console, cmd *cobra.Command, f *runFlags, a *call) (result, error) {
	if err := a.mayRefresh(cmd.Context(), f.branches); err != nil {
		return result{}, err
	}
	set, err := settings.Read(c, cmd, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return result{}, err
	}
	a.FailOn = string(set.FailOn)
	var found *history.RefreshResult
	ended := history.Refresh(c, cmd, f.ConfigFlags, history.RefreshFlags{
		PolicyFlags: f.PolicyFlags, CollectFlags: f.CollectFlags, OutputFlags: output.OutputFlags{Format: string(output.FormatText)},
		AcceptRegression: f.acceptRegression, Found: func(r history.RefreshResult) { found = &r },
	})
	if found == nil { // it did not come so far
		return result{}, ended
	}
	content := refreshContent(*found)
	loss := exit.WithoutVerdict(ended)
	content.Lost = loss != nil
	failOn := set.FailOn
	if f.acceptRegression && content.Outcome == gate.Regression {
		failOn = exit.FailNever
		a.FailOn = string(failOn)
	}
	return result{
		content: content, failOn: failOn, loss: loss,
		folder: func(dir string) (actions.Folder, error) {
			return sheetFolder(c, dir, func(o output.OutputFlags) error {
				o.Places = places.Of(c, set.Config, f.ConfigFlags.File())
				return output.WriteSheet(quiet(c), found.Sheet, found.Data, o)
			})
		},
	}, nil
}

// refreshContent is a refresh as GitHub shows it.
func refreshContent(r history.RefreshResult) actions.Content {
	content := actions.Content{
		Outcome:  r.Verdict,
		Headline: fmt.Sprintf("%s: %d %s accepted, %d refused", r.Verdict, len(r.Accepted), words.Plural(len(r.Accepted), "run", "runs"), len(r.Refused)),
		Counts:   map[gate.Outcome]int{}, Markdown: r.Sheet.Markdown,
	}
	for _, x := range r.Refused {
		content.Counts[x.Verdict]++
	}
	return content
}
