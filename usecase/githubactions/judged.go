package githubactions

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v57/github"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// Judged is a check run of one leg on a commit, with the record of its verdict.
type Judged struct {
	// Record is the verdict's; its Outcome is "" while there is none.
	Record         acceptance.Record
	Name, URL      string    // of the check run
	Completed      time.Time // zero while it is in progress
	title, summary string
	id             int64
}

// maxCheckPages limits how many pages of 100 check runs of a commit are read.
const maxCheckPages = 10

// Judgements returns the newest check run of each leg of a configuration on a commit, in the order
// of their legs. It only counts those that this token's own app has written: any other app, too, can
// create a check run of that name.
func (c *Client) Judgements(ctx context.Context, head, config string) ([]Judged, error) {
	all, err := c.judged(ctx, head, config)
	newest := map[string]Judged{}
	for _, j := range all {
		newest[j.Record.Leg] = j
	}
	var out []Judged
	for _, j := range newest {
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b Judged) int { return strings.Compare(a.Record.Leg, b.Record.Leg) })
	return out, err
}

// judged returns all of them, the oldest first.
func (c *Client) judged(ctx context.Context, head, config string) ([]Judged, error) {
	app := strings.TrimSuffix(c.Login(ctx), "[bot]")
	opts := &github.ListCheckRunsOptions{Filter: new("all"), ListOptions: github.ListOptions{PerPage: 100}}
	var out []Judged
	for range maxCheckPages {
		list, resp, err := c.rest.Checks.ListCheckRunsForRef(ctx, c.owner, c.repo, head, opts)
		if err != nil {
			return nil, fmt.Errorf("list the check runs of %.10s: %s", head, reason(err))
		}
		for _, run := range list.CheckRuns {
			if j, ok := judgedOf(run, config, head); ok && run.GetApp().GetSlug() == app {
				out = append(out, j)
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	slices.SortFunc(out, func(a, b Judged) int {
		return cmp.Or(cmp.Compare(a.Record.Run, b.Record.Run), cmp.Compare(a.Record.Attempt, b.Record.Attempt), cmp.Compare(a.id, b.id))
	})
	return out, nil
}

// externalID identifies a check run of ours; word distinguishes two legs of one name.
func externalID(config, leg string, run matrixcomment.RunRef, word string) string {
	return fmt.Sprintf("apkgate:%s:%s:%d:%d:%s", config, leg, run.ID, run.Attempt, word)
}

// judgedOf reads a check run of a configuration. Names of legs may have colons, others have none.
func judgedOf(run *github.CheckRun, config, head string) (Judged, bool) {
	rest, ours := strings.CutPrefix(run.GetExternalID(), "apkgate:"+config+":")
	parts := strings.Split(rest, ":")
	if !ours || len(parts) < 4 || run.GetHeadSHA() != head {
		return Judged{}, false
	}
	of := acceptance.Record{
		Config: config, Leg: strings.Join(parts[:len(parts)-3], ":"), Head: head,
		Run: matrixcomment.Number(parts[len(parts)-3]), Attempt: matrixcomment.Number(parts[len(parts)-2]),
	}
	j := Judged{Record: of, Name: run.GetName(), URL: run.GetHTMLURL(), title: run.GetOutput().GetTitle(), summary: run.GetOutput().GetSummary(), id: run.GetID()}
	if run.GetStatus() != "completed" {
		return j, true
	}
	j.Completed = run.GetCompletedAt().Time
	if r, ok := acceptance.Read(run.GetOutput().GetText()); ok && r.Config == of.Config && r.Leg == of.Leg && r.Head == head {
		r.Run, r.Attempt = of.Run, of.Attempt
		j.Record = r
	}
	return j, true
}

// conclusionAccepted is of a regression that a person has accepted.
const conclusionAccepted = "success"

// Accept turns the check run of a regression green, with who accepted it and why.
func (c *Client) Accept(ctx context.Context, j Judged) error {
	text, err := j.Record.Text()
	if err != nil {
		return err
	}
	line := acceptedLine(*j.Record.Accepted)
	return c.CompleteCheck(ctx, &Check{id: j.id, name: j.Name}, CheckResult{
		Conclusion: conclusionAccepted, Title: acceptedTitle(*j.Record.Accepted), Text: text,
		Summary: line + unblocked(prose.Fit(j.summary, maxCheckSummary-len(line))),
	})
}

// Note updates the record of a check run, and nothing else of it.
func (c *Client) Note(ctx context.Context, j Judged) error {
	text, err := j.Record.Text()
	if err != nil {
		return err
	}
	opts := github.UpdateCheckRunOptions{Name: j.Name, Output: &github.CheckRunOutput{Title: &j.title, Summary: &j.summary, Text: &text}}
	if _, _, err := c.rest.Checks.UpdateCheckRun(ctx, c.owner, c.repo, j.id, opts); err != nil {
		return fmt.Errorf("update the check run %s: %s", j.Name, reason(err))
	}
	return nil
}

func acceptedTitle(a acceptance.Accepted) string { return "Accepted by " + a.By + ": " + a.Reason }

// acceptedOpens begins the line of a report that says who accepted it.
const acceptedOpens = "> **Accepted** by "

// acceptedLine returns the line above a report that says who accepted it, and why. The reason is
// anybody's text.
func acceptedLine(a acceptance.Accepted) string {
	by := markdown.Escape(a.By)
	if strings.HasPrefix(a.URL, "https://") && !strings.ContainsAny(a.URL, " ()<>\n") {
		by = "[" + by + "](" + a.URL + ")"
	}
	return acceptedOpens + by + ": " + markdown.Escape(acceptance.Reason(a.Reason)) + "\n\n"
}

// blocksLine matches the line of a report that says whether it fails the build.
var blocksLine = regexp.MustCompile(`(?m)^- \*\*Blocks:\*\* .*$`)

// unblocked returns a report that says that it blocks nothing, since it was accepted. It is not longer
// than before.
func unblocked(report string) string {
	at := blocksLine.FindStringIndex(report)
	if at == nil {
		return report
	}
	return report[:at[0]] + "- **Blocks:** nothing: accepted" + report[at[1]:]
}

// AmendComment adds who accepted it to the report of each accepted leg, if there is a comment.
func (c *Client) AmendComment(ctx context.Context, pull int, accepted []Judged) error {
	for _, j := range accepted {
		ours, err := conversation{c, pull}.Ours(ctx, j.Record.Config)
		if err != nil {
			return err
		}
		for _, one := range ours {
			for _, row := range one.Board.Rows {
				if row.Leg != j.Record.Leg || row.Head != j.Record.Head || row.Run.ID != j.Record.Run {
					continue
				}
				if strings.HasPrefix(row.Text, acceptedOpens) {
					_, row.Text, _ = strings.Cut(row.Text, "\n\n")
				}
				row.Text = acceptedLine(*j.Record.Accepted) + unblocked(row.Text)
				if _, err := c.Comment(ctx, pull, j.Record.Config, row, j.Record.Head, false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// AcceptedIn returns the decisions about the pull requests that were merged into a branch by the
// given commits.
func (c *Client) AcceptedIn(ctx context.Context, branch, config string, commits []string) ([]acceptance.Record, error) {
	opts := &github.PullRequestListOptions{State: "closed", Base: branch, Sort: "updated", Direction: "desc", ListOptions: github.ListOptions{PerPage: 100}}
	var out []acceptance.Record
	for range maxMergedPages {
		pulls, resp, err := c.rest.PullRequests.List(ctx, c.owner, c.repo, opts)
		if err != nil {
			return nil, fmt.Errorf("list what was merged into %s: %s", branch, reason(err))
		}
		for _, p := range pulls {
			if p.MergedAt == nil || !slices.Contains(commits, p.GetMergeCommitSHA()) {
				continue
			}
			all, err := c.Judgements(ctx, p.GetHead().GetSHA(), config)
			if err != nil {
				return nil, err
			}
			for _, j := range all {
				if j.Record.Accepted != nil && j.Record.Pull == p.GetNumber() {
					out = append(out, j.Record)
				}
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return out, nil
}

// maxMergedPages limits how many pages of 100 closed pull requests are read.
const maxMergedPages = 3
