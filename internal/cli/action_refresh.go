package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/report"
)

// mayRefresh refuses to accept what is not a build of one of the branches; where
// none is named, of the repository's default branch. Anybody who may start a
// workflow by hand can start it on a branch of their own.
func (a *action) mayRefresh(ctx context.Context, branches []string) error {
	switch a.Job.Event {
	case "pull_request", "pull_request_target", "workflow_run", "merge_group":
		return usage(fmt.Errorf("mode refresh on the event %s: what others are compared with comes from the main branch alone", a.Job.Event),
			"run it on schedule, push or workflow_dispatch")
	}
	if len(branches) == 0 {
		main, err := a.defaultBranch(ctx)
		if err != nil {
			return usage(fmt.Errorf("mode refresh: which branch is the main one: %w", err), "the input branches names those whose builds may be accepted")
		}
		branches = []string{main}
	}
	branch, ok := strings.CutPrefix(a.Job.Ref, "refs/heads/")
	if !ok || !slices.Contains(branches, branch) {
		return usage(fmt.Errorf("mode refresh on %s: what others are compared with comes from %s alone", clip(cmp.Or(a.Job.Ref, "no branch")), clip(strings.Join(branches, ", "))),
			"the input branches names those whose builds may be accepted")
	}
	return nil
}

// defaultBranch is the repository's; on a schedule, which runs on no other branch,
// the one that it runs on.
func (a *action) defaultBranch(ctx context.Context) (string, error) {
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

// actionRefresh measures the main branch and accepts its runs, as `apkgate
// baseline refresh` does. What a pull request's event measures is never accepted.
func (c Command) actionRefresh(cmd *cobra.Command, f *actionRunFlags, a *action) (actionResult, error) {
	if err := a.mayRefresh(cmd.Context(), f.branches); err != nil {
		return actionResult{}, err
	}
	set, err := c.settings(cmd, f.configFlags, f.policyFlags)
	if err != nil {
		return actionResult{}, err
	}
	a.FailOn = string(set.failOn)
	folder, err := c.sheetFolder(f.artifact, func(outputFlags) error { return nil })
	if err != nil {
		return actionResult{}, infrastructure(err)
	}
	files := sheetFiles(folder.Dir)
	for _, old := range []string{files.html, files.markdown, files.json} {
		os.Remove(old) // of an earlier step: what is there after is this refresh's
	}
	ended := c.refresh(cmd, f.configFlags, refreshFlags{
		policyFlags: f.policyFlags, collectFlags: f.collectFlags, outputFlags: files, acceptRegression: f.acceptRegression,
	})
	content, err := refreshContent(files)
	if err != nil { // there is no report: the refresh did not come so far
		return actionResult{}, errors.Join(ended, noVerdict(ended, err))
	}
	loss := withoutVerdict(ended)
	content.Lost = loss != nil
	failOn := set.failOn
	if f.acceptRegression && content.Outcome == gate.Regression {
		failOn = FailNever
		a.FailOn = string(failOn)
	}
	return actionResult{
		content: content, failOn: failOn, loss: loss,
		folder: func(string) (actions.Folder, error) { return folder, nil },
	}, nil
}

// noVerdict is the error where nothing else says why there is no report.
func noVerdict(ended, err error) error {
	if ended != nil {
		return nil
	}
	return infrastructure(err)
}

// refreshContent reads what a refresh left in its files.
func refreshContent(files outputFlags) (actions.Content, error) {
	data, err := os.ReadFile(files.json)
	if err != nil {
		return actions.Content{}, fmt.Errorf("read the refresh's report: %w", err)
	}
	var r report.Refresh
	if err := json.Unmarshal(data, &r); err != nil {
		return actions.Content{}, fmt.Errorf("read the refresh's report: %w", err)
	}
	text, err := os.ReadFile(files.markdown)
	if err != nil {
		return actions.Content{}, fmt.Errorf("read the refresh's report: %w", err)
	}
	content := actions.Content{
		Outcome:  r.Verdict,
		Headline: fmt.Sprintf("%s: %d %s accepted, %d refused", r.Verdict, len(r.Accepted), plural(len(r.Accepted), "run"), len(r.Refused)),
		Counts:   map[gate.Outcome]int{},
		Markdown: func(w io.Writer, limit int) error {
			_, err := io.WriteString(w, cutLines(string(text), limit))
			return err
		},
	}
	for _, x := range r.Refused {
		content.Counts[x.Verdict]++
	}
	return content, nil
}

// cutLines is Markdown in at most limit bytes, cut at a line's end, with the
// folded parts closed that it was cut in.
func cutLines(text string, limit int) string {
	const room = 200 // bytes for what closes it
	if len(text) <= limit {
		return text
	}
	text = text[:max(limit-room, 0)]
	text = text[:strings.LastIndexByte(text, '\n')+1]
	if open := strings.Count(text, "<details>") - strings.Count(text, "</details>"); open > 0 {
		text += strings.Repeat("\n</details>\n", open)
	}
	return text + "\n*The rest stands in the report folder.*\n"
}
