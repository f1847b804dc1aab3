package githubactions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-github/v57/github"
)

// maxPulls limits how many pull requests of one branch of a fork are looked at.
const maxPulls = 100

// ResolvePull finds the pull request of a run on a fork, which the event does not name: the open
// one whose head is exactly the repository, branch and commit of the run. All three come from the
// event. It fails if there is none (it was closed, or has moved on) or more than one.
func (c *Client) ResolvePull(ctx context.Context, j *Job) error {
	if j.Pull != nil {
		return nil
	}
	if j.source == nil || j.source.owner == "" || j.source.branch == "" {
		return errNoPull
	}
	pulls, _, err := c.rest.PullRequests.List(ctx, c.owner, c.repo, &github.PullRequestListOptions{
		State: "open", Head: j.source.owner + ":" + j.source.branch,
		ListOptions: github.ListOptions{PerPage: maxPulls},
	})
	if err != nil {
		return fmt.Errorf("list the pull requests from %s: %w", j.source.repository, err)
	}
	var found []*github.PullRequest
	for _, p := range pulls {
		head := p.GetHead()
		if head.GetSHA() == j.source.sha && head.GetRef() == j.source.branch &&
			strings.EqualFold(head.GetRepo().GetFullName(), j.source.repository) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return errNoPull
	case 1:
		j.Pull = pullOf(found[0], j.Repository())
		return nil
	}
	return fmt.Errorf("%d open pull requests have the head %s at %.10s, and the event does not say which was measured", len(found), j.source.branch, j.source.sha)
}

// Pull reads the current state of a pull request.
func (c *Client) Pull(ctx context.Context, number int) (*Pull, error) {
	p, _, err := c.rest.PullRequests.Get(ctx, c.owner, c.repo, number)
	if err != nil {
		return nil, fmt.Errorf("read pull request %d: %w", number, err)
	}
	return pullOf(p, c.owner+"/"+c.repo), nil
}

func pullOf(p *github.PullRequest, ours string) *Pull {
	head, base := p.GetHead(), p.GetBase()
	return &Pull{
		Number:  p.GetNumber(),
		Closed:  p.GetState() == "closed",
		HeadSHA: head.GetSHA(), HeadRef: head.GetRef(),
		BaseSHA: base.GetSHA(), BaseRef: base.GetRef(),
		Fork: !strings.EqualFold(head.GetRepo().GetFullName(), ours),
	}
}

// FindMergeBase sets the commit from which the pull request's branch left its base. The token needs
// permission to read contents.
func (c *Client) FindMergeBase(ctx context.Context, p *Pull) error {
	compared, _, err := c.rest.Repositories.CompareCommits(ctx, c.owner, c.repo, p.BaseSHA, p.HeadSHA, &github.ListOptions{PerPage: 1})
	if err != nil {
		return fmt.Errorf("find the merge base of pull request %d: %s", p.Number, reason(err))
	}
	sha := compared.GetMergeBaseCommit().GetSHA()
	if !commitID.MatchString(sha) {
		return fmt.Errorf("find the merge base of pull request %d: GitHub names none", p.Number)
	}
	p.MergeBase = sha
	return nil
}

// CommittedBefore returns when a commit was made, if the head of a branch is it or descends from it: a
// fork's commits, too, are found by their ids.
func (c *Client) CommittedBefore(ctx context.Context, commit, head string) (time.Time, error) {
	if !commitID.MatchString(commit) || !commitID.MatchString(head) {
		return time.Time{}, fmt.Errorf("read the commit %.10q: it is no full id", commit)
	}
	compared, _, err := c.rest.Repositories.CompareCommits(ctx, c.owner, c.repo, commit, head, &github.ListOptions{PerPage: 1})
	if err != nil {
		return time.Time{}, fmt.Errorf("read the commit %.10s: %s", commit, reason(err))
	}
	if s := compared.GetStatus(); s != "ahead" && s != "identical" {
		return time.Time{}, fmt.Errorf("the commit %.10s is not on the base branch", commit)
	}
	return compared.GetBaseCommit().GetCommit().GetCommitter().GetDate().Time, nil
}

// Commits are a commit and its ancestors, the newest first.
type Commits struct {
	IDs []string
	// Since is when the last of them was committed, if there are more.
	Since time.Time
	More  bool
}

// CommitsUpTo returns the commit and its ancestors, at most `most` of them.
func (c *Client) CommitsUpTo(ctx context.Context, sha string, most int) (Commits, error) {
	var out Commits
	opts := &github.CommitsListOptions{SHA: sha, ListOptions: github.ListOptions{PerPage: 100}}
	for {
		page, resp, err := c.rest.Repositories.ListCommits(ctx, c.owner, c.repo, opts)
		if err != nil {
			return Commits{}, fmt.Errorf("list the commits up to %.10s: %s", sha, reason(err))
		}
		for _, commit := range page {
			if len(out.IDs) == most {
				out.More = true
				return out, nil
			}
			if commitID.MatchString(commit.GetSHA()) {
				out.IDs, out.Since = append(out.IDs, commit.GetSHA()), commit.GetCommit().GetCommitter().GetDate().Time
			}
		}
		if resp.NextPage == 0 {
			return out, nil
		}
		if len(out.IDs) == most {
			out.More = true
			return out, nil
		}
		opts.Page = resp.NextPage
	}
}

// DefaultBranch returns the repository's default branch.
func (c *Client) DefaultBranch(ctx context.Context) (string, error) {
	repository, _, err := c.rest.Repositories.Get(ctx, c.owner, c.repo)
	if err != nil {
		return "", fmt.Errorf("read the repository: %s", reason(err))
	}
	return repository.GetDefaultBranch(), nil
}
