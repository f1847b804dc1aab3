package githubactions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-github/v57/github"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/restapi"
)

// GitHub's limits on a check run.
const (
	maxCheckSummary    = 65_535 // bytes
	maxCheckTitle      = 250    // characters
	maxBatch           = 50     // annotations in one request
	maxCheckNotes      = 4 * maxBatch
	uncertainPause     = 2 * time.Second // before checking whether a request took effect
	checkTries         = 3
	conclusionCanceled = "cancelled"
)

// Check is a check run that was started.
type Check struct {
	URL  string
	id   int64
	name string
	done bool // it has a conclusion
}

// CheckResult is the final content of a check run.
type CheckResult struct {
	Conclusion     string // see Conclude
	Title, Summary string // plain text; Markdown
	Text           string // what the record keeps for programs, hidden; "" leaves it as it is
	Notes          []Note
}

// Conclude returns a verdict's conclusion for a check run: "success", "failure" or "neutral". A
// verdict that only failOn keeps from failing is neutral: it satisfies a required check, but does
// not look like a pass.
func Conclude(o gate.Outcome, failOn gate.FailOn) string {
	switch {
	case o == gate.Pass || o == gate.Improvement:
		return "success"
	case o.Fails(failOn):
		return "failure"
	}
	return "neutral"
}

// StartCheck starts a check run on the commit, in progress. external distinguishes runs of the same
// name.
func (c *Client) StartCheck(ctx context.Context, name, head, external, details string) (*Check, error) {
	opts := github.CreateCheckRunOptions{
		Name: name, HeadSHA: head, Status: new("in_progress"), ExternalID: &external,
		StartedAt: &github.Timestamp{Time: c.clock.Now().UTC()},
	}
	if details != "" {
		opts.DetailsURL = &details
	}
	for try := 1; ; try++ {
		made, _, err := c.rest.Checks.CreateCheckRun(ctx, c.owner, c.repo, opts)
		if err == nil {
			return &Check{URL: made.GetHTMLURL(), id: made.GetID(), name: name}, nil
		}
		if !uncertain(ctx, err) || try == checkTries {
			return nil, fmt.Errorf("begin the check run %s: %w", name, err)
		}
		if err := c.clock.Sleep(ctx, uncertainPause<<(try-1)); err != nil {
			return nil, err
		}
		if found := c.findCheck(ctx, name, head, external); found != nil {
			return found, nil
		}
	}
}

// findCheck finds a check run that was started by a request without an answer.
func (c *Client) findCheck(ctx context.Context, name, head, external string) *Check {
	list, _, err := c.rest.Checks.ListCheckRunsForRef(ctx, c.owner, c.repo, head,
		&github.ListCheckRunsOptions{CheckName: &name, Filter: new("all"), ListOptions: github.ListOptions{PerPage: 100}})
	if err != nil {
		return nil
	}
	for _, run := range list.CheckRuns {
		if run.GetExternalID() == external {
			return &Check{run.GetHTMLURL(), run.GetID(), name, run.GetStatus() == "completed"}
		}
	}
	return nil
}

// CompleteCheck ends the check run. Annotations go first, in batches; the conclusion comes with the
// last, so that it is never shown without its evidence.
func (c *Client) CompleteCheck(ctx context.Context, k *Check, result CheckResult) error {
	notes := result.Notes[:min(len(result.Notes), maxCheckNotes)]
	title, summary := prose.Clip(prose.OneLine(result.Title), maxCheckTitle), result.Summary
	sent := 0
	for {
		batch := notes[sent:min(len(notes), sent+maxBatch)]
		sent += len(batch)
		opts := github.UpdateCheckRunOptions{
			Name:   k.name,
			Output: &github.CheckRunOutput{Title: &title, Summary: &summary, Annotations: checkNotes(batch)},
		}
		if result.Text != "" {
			opts.Output.Text = &result.Text
		}
		if sent == len(notes) {
			opts.Status, opts.Conclusion = new("completed"), &result.Conclusion
			opts.CompletedAt = &github.Timestamp{Time: c.clock.Now().UTC()}
		}
		if err := c.updateCheck(ctx, k, opts, sent); err != nil {
			return fmt.Errorf("complete the check run %s: %w", k.name, err)
		}
		if sent == len(notes) {
			return nil
		}
	}
}

// updateCheck sends one update. GitHub adds its annotations to the existing ones. So after a fault
// it first checks whether the update took effect, in which case there are `annotations` of them,
// before sending it again.
func (c *Client) updateCheck(ctx context.Context, k *Check, opts github.UpdateCheckRunOptions, annotations int) error {
	for try := 1; ; try++ {
		_, _, err := c.rest.Checks.UpdateCheckRun(restapi.LookingAgain(ctx), c.owner, c.repo, k.id, opts)
		if !errors.Is(err, restapi.ErrWaited) || try == restapi.MaxTries {
			return err
		}
		now, _, err := c.rest.Checks.GetCheckRun(ctx, c.owner, c.repo, k.id)
		if err == nil && now.GetOutput().GetAnnotationsCount() >= annotations && (opts.Conclusion == nil || now.GetConclusion() == *opts.Conclusion) {
			return nil
		}
	}
}

func checkNotes(notes []Note) []*github.CheckRunAnnotation {
	var out []*github.CheckRunAnnotation
	for _, n := range notes {
		level := "warning"
		if n.Worse {
			level = "failure"
		}
		line := max(n.Line, 1)
		out = append(out, &github.CheckRunAnnotation{
			Path: &n.Path, StartLine: &line, EndLine: &line, AnnotationLevel: &level, Title: &n.Title, Message: &n.Text,
		})
	}
	return out
}
