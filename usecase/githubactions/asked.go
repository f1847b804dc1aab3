package githubactions

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v57/github"

	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
)

// Asked is a comment or a label by which someone may ask for something.
type Asked struct {
	Pull    int    // 0 if it is about an issue
	By      string // the login of the event's sender
	Bot     bool   // the sender is no person, or an app wrote in their name
	Label   string // "" if it is a comment
	Body    string
	URL     string
	At      time.Time
	comment int64  // its id
	head    string // the pull request's when the label was set
}

type account struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// asking is the part of an event that is a comment or a label.
type asking struct {
	Action string  `json:"action"`
	Sender account `json:"sender"`
	Label  struct {
		Name string `json:"name"`
	} `json:"label"`
	Issue struct {
		Number      int       `json:"number"`
		PullRequest *struct{} `json:"pull_request"`
	} `json:"issue"`
	Comment *struct {
		ID   int64     `json:"id"`
		Body string    `json:"body"`
		URL  string    `json:"html_url"`
		At   time.Time `json:"created_at"`
		User account   `json:"user"`
		App  *struct{} `json:"performed_via_github_app"`
	} `json:"comment"`
	PullRequest struct {
		At time.Time `json:"updated_at"`
	} `json:"pull_request"`
}

// askedBy returns what an event asks; nil for an event that is neither a new comment nor a label
// that was set. A comment that is edited asks nothing: what it said before was answered, or refused.
func (j Job) askedBy(e asking) *Asked {
	a := Asked{By: e.Sender.Login, Bot: e.Sender.Type != "User"}
	switch {
	case j.Event == "issue_comment" && e.Action == "created" && e.Comment != nil:
		a.Body, a.URL, a.At, a.comment = e.Comment.Body, e.Comment.URL, e.Comment.At, e.Comment.ID
		a.Bot = a.Bot || e.Comment.App != nil || !strings.EqualFold(e.Comment.User.Login, a.By)
		if e.Issue.PullRequest != nil {
			a.Pull = e.Issue.Number
		}
	case (j.Event == "pull_request" || j.Event == "pull_request_target") && e.Action == "labeled" && j.Pull != nil:
		a.Label, a.Pull, a.At, a.head = e.Label.Name, j.Pull.Number, e.PullRequest.At, j.Pull.HeadSHA
	default:
		return nil
	}
	return &a
}

// MayWrite reports whether someone may write to the repository. GitHub's API decides: what an event
// says about an author's association is less exact.
func (c *Client) MayWrite(ctx context.Context, login string) (bool, error) {
	if !slug.MatchString(login) {
		return false, nil
	}
	level, _, err := c.rest.Repositories.GetPermissionLevel(ctx, c.owner, c.repo, login)
	if statusOf(err) == http.StatusNotFound {
		return false, nil // no collaborator
	}
	if err != nil {
		return false, fmt.Errorf("read what %s may do: %s", login, reason(err))
	}
	switch level.GetPermission() {
	case "admin", "maintain", "write":
		return true, nil
	}
	return false, nil
}

// Stands reports whether what was asked is still there and unchanged: the comment's text, or the
// label, on the same commit. Otherwise why says what has changed.
func (c *Client) Stands(ctx context.Context, a Asked, head string) (why string, err error) {
	if a.Label != "" {
		if a.head != head {
			return fmt.Sprintf("the label was set on %.10s, and the pull request is at %.10s", a.head, head), nil
		}
		pull, _, err := c.rest.PullRequests.Get(ctx, c.owner, c.repo, a.Pull)
		if err != nil {
			return "", fmt.Errorf("read the labels of pull request %d: %s", a.Pull, reason(err))
		}
		for _, l := range pull.Labels {
			if l.GetName() == a.Label {
				return "", nil
			}
		}
		return "the label was removed", nil
	}
	now, _, err := c.rest.Issues.GetComment(ctx, c.owner, c.repo, a.comment)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return "the comment was deleted", nil
	case err != nil:
		return "", fmt.Errorf("read the comment: %s", reason(err))
	case now.GetBody() != a.Body || !strings.EqualFold(now.GetUser().GetLogin(), a.By):
		return "the comment was edited", nil
	}
	return "", nil
}

// Answer replies on the pull request.
func (c *Client) Answer(ctx context.Context, pull int, body string) error {
	if _, _, err := c.rest.Issues.CreateComment(ctx, c.owner, c.repo, pull, &github.IssueComment{Body: &body}); err != nil {
		return fmt.Errorf("comment on pull request %d: %s", pull, reason(err))
	}
	return nil
}

// Rerun runs all jobs of a workflow's run again, on the same commit.
func (c *Client) Rerun(ctx context.Context, run int64) error {
	if _, err := c.rest.Actions.RerunWorkflowByID(ctx, c.owner, c.repo, run); err != nil {
		return fmt.Errorf("run the workflow's run %d again: %s", run, reason(err))
	}
	return nil
}

// trailer returns the decision in the message of the pull request's head commit. It counts if the
// commit is in this repository, where only those with write access push, if the person whose push
// started the workflow has it, and if GitHub knows that person as its author: a fork's author can
// write anything into a message, and someone else may push the commit.
func (r *Reporter) trailer(ctx context.Context) (*acceptance.Accepted, error) {
	p, by := r.Job.Pull, r.Job.sender
	if p.Fork || r.Job.Event != "pull_request" || by.Type != "User" {
		return nil, nil
	}
	commit, _, err := r.Client.rest.Repositories.GetCommit(ctx, r.Client.owner, r.Client.repo, p.HeadSHA, nil)
	if err != nil {
		return nil, fmt.Errorf("read the commit %.10s: %s", p.HeadSHA, reason(err))
	}
	why, ok := acceptance.Trailer(commit.GetCommit().GetMessage())
	if !ok {
		return nil, nil
	}
	if !strings.EqualFold(commit.GetAuthor().GetLogin(), by.Login) {
		r.Runner.Log("The line of the commit's message that accepts is ignored: its author is not who pushed it.")
		return nil, nil
	}
	if may, err := r.Client.MayWrite(ctx, by.Login); err != nil || !may {
		r.Runner.Log("The line of the commit's message that accepts is ignored: who pushed it has no write access.")
		return nil, err
	}
	return &acceptance.Accepted{By: by.Login, Reason: why, At: commit.GetCommit().GetCommitter().GetDate().Time, How: acceptance.ByCommit}, nil
}

// Decide finds out whether a regression was accepted: in an earlier attempt on the same commit, if
// that covers all that is worse now, or by the commit's message. The verdict stays.
func (r *Reporter) Decide(ctx context.Context, c Content) bool {
	if c.Uncovered == nil || r.Client == nil || r.Job.Pull == nil || r.Job.Event != "pull_request" {
		return false
	}
	before, err := r.Client.judged(ctx, r.Job.HeadSHA, r.Name)
	if err != nil {
		r.Runner.Log("Whether it was accepted before is unknown: " + err.Error())
	}
	for _, j := range before {
		if j.Record.Leg != r.Leg || j.Record.Pull != r.Job.Pull.Number || j.Record.Accepted == nil || j.Record.Accepted.How == acceptance.ByCommit {
			continue
		}
		if left := c.Uncovered([]acceptance.Record{j.Record}); len(left) > 0 {
			r.Runner.Log("What was accepted on this commit does not cover " + left[0] + ".")
			continue
		}
		r.accepted = j.Record.Accepted
	}
	if r.accepted == nil {
		if r.accepted, err = r.trailer(ctx); err != nil {
			r.Runner.Log("Whether the commit accepts it is unknown: " + err.Error())
		}
	}
	return r.accepted != nil
}

// AskedWhy returns who asked for a longer recording since the last attempt, "" if no one did.
func (r *Reporter) AskedWhy(ctx context.Context) string {
	if r.Client == nil || r.Job.Pull == nil || r.Job.Run.Attempt < 2 {
		return ""
	}
	before, err := r.Client.judged(ctx, r.Job.HeadSHA, r.Name)
	if err != nil {
		r.Runner.Log("Whether anyone asked why is unknown: " + err.Error())
	}
	who := ""
	for _, j := range before {
		if j.Record.Leg == r.Leg && j.Record.Outcome != "" {
			who = j.Record.Why
		}
	}
	return who
}
