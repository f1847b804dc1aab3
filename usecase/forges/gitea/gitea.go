// Package gitea knows the REST API of Gitea and Forgejo (version 1) as far as a report is published
// with it: comments on a pull request, the status of a commit, and the days of commits. The sources
// are their API's description (swagger) and Gitea 1.26, with which it was tried.
//
// It owns their environment and paths; in Gitea Actions and Forgejo Actions the environment is
// GitHub's. What is posted belongs to package forges.
package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/usecase/forges"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/restapi"
	"github.com/apkgate/apkgate/usecase/thread"
)

// Gitea is one job on one server.
type Gitea struct {
	*forges.Comments
	job         forges.Job
	api         *restapi.Client
	owner, repo string
	page        string // the repository's
}

// New returns the job that the environment describes.
func New(o forges.Options) (*Gitea, error) {
	address, err := o.API("/api/v1", "GITHUB_API_URL")
	if err != nil {
		return nil, err
	}
	api, err := restapi.Address(address)
	if err != nil {
		return nil, fmt.Errorf("the address of Gitea's API %w", err)
	}
	found, err := workflow(o)
	if err != nil {
		return nil, err
	}
	path := cmp.Or(o.Repository, found.Repository)
	if err := forges.CheckRepository(path); err != nil {
		return nil, err
	}
	if found.Number, err = forges.ReadNumber(o.Number, number(found.Number)); err != nil {
		return nil, err
	}
	owner, repo, _ := strings.Cut(path, "/")
	commit := cmp.Or(o.Commit, found.Head)
	if err := forges.CheckCommit(commit); err != nil {
		return nil, err
	}
	found.Repository, found.Head, found.Built = path, commit, commit
	page := strings.TrimSuffix(strings.TrimSuffix(api.String(), "/"), "/api/v1") + "/" + path
	if found.Run.ID > 0 {
		run := found.Run.ID
		if o.Getenv("FORGEJO_ACTIONS") != "" { // its pages go by the run's number in the repository
			run = found.Run.Number
		}
		found.RunURL = fmt.Sprintf("%s/actions/runs/%d", page, run)
	}
	over := restapi.Transport{Server: "Gitea", API: api, Clock: o.Clock, Log: o.Log, Authorize: func(h http.Header) { h.Set("Authorization", "token "+o.Token) }}
	g := &Gitea{job: found, api: restapi.NewClient(over, o.Token), owner: owner, repo: repo, page: page}
	g.Comments = &forges.Comments{
		API: g.api, Noun: "comment", Subject: found.Subject(), All: g.in("issues", number(found.Number), "comments"),
		One: func(id string) []string { return g.in("issues", "comments", id) }, Method: http.MethodPatch,
	}
	return g, nil
}

// events are those whose own run has measured: on others, the report is of a run that anybody may
// have started. "" is another CI system.
var events = map[string]bool{"": true, "pull_request": true, "push": true, "schedule": true, "workflow_dispatch": true}

// workflow returns the job by the environment of a workflow, as far as there is one.
func workflow(o forges.Options) (forges.Job, error) {
	j := forges.Job{Server: "Gitea", Noun: "pull request"}
	if o.Getenv("GITHUB_REPOSITORY") == "" || o.Repository != "" {
		return j, nil
	}
	of, err := githubactions.ReadJob(o.Getenv)
	if err != nil {
		return j, err
	}
	if !events[of.Event] {
		return j, fmt.Errorf("the workflow runs on %.40q: only what a pull request's own run has measured is published", of.Event)
	}
	j.Repository, j.Head, j.Run = of.Repository(), of.HeadSHA, of.Run
	if of.Pull != nil {
		j.Number = int64(of.Pull.Number)
	}
	return j, nil
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// Job implements forges.Forge.
func (g *Gitea) Job() forges.Job { return g.job }

// in returns a path of the repository.
func (g *Gitea) in(elements ...string) []string {
	return append([]string{"repos", g.owner, g.repo}, elements...)
}

// Change implements forges.Forge.
func (g *Gitea) Change(ctx context.Context) (forges.Change, error) {
	var answer struct {
		MergeBase string `json:"merge_base"`
		Head      struct {
			SHA string `json:"sha"`
		} `json:"head"`
		Base struct {
			Ref string `json:"ref"`
		} `json:"base"`
	}
	if _, err := g.api.Call(ctx, http.MethodGet, g.in("pulls", number(g.job.Number)), nil, nil, &answer); err != nil {
		return forges.Change{}, err
	}
	return forges.Change{Head: answer.Head.SHA, Base: answer.Base.Ref, MergeBase: answer.MergeBase}, nil
}

// CommittedBefore implements forges.Forge: a commit is on the branch if it has no commits that the
// branch lacks. A fork's commits are found by their ids too.
func (g *Gitea) CommittedBefore(ctx context.Context, commit, branch string) (time.Time, error) {
	var lacking struct {
		Total *int `json:"total_commits"`
	}
	if _, err := g.api.Call(ctx, http.MethodGet, g.in("compare", branch+"..."+commit), nil, nil, &lacking); err != nil {
		return time.Time{}, fmt.Errorf("read the commit %.10s: %w", commit, err)
	}
	if lacking.Total == nil || *lacking.Total != 0 {
		return time.Time{}, fmt.Errorf("the commit %.10s is not on the branch that this is to be merged into", commit)
	}
	var found struct {
		SHA    string `json:"sha"`
		Commit struct {
			Committer struct {
				Date time.Time `json:"date"`
			} `json:"committer"`
		} `json:"commit"`
	}
	query := url.Values{"stat": {"false"}, "verification": {"false"}, "files": {"false"}}
	if _, err := g.api.Call(ctx, http.MethodGet, g.in("git", "commits", commit), query, nil, &found); err != nil {
		return time.Time{}, fmt.Errorf("read the commit %.10s: %w", commit, err)
	}
	if found.SHA != commit {
		return time.Time{}, fmt.Errorf("read the commit %.10s: Gitea names another one", commit)
	}
	return found.Commit.Committer.Date, nil
}

// CommitURL implements forges.Forge.
func (g *Gitea) CommitURL(commit string) string { return g.page + "/commit/" + commit }

// SetStatus implements forges.Forge.
func (g *Gitea) SetStatus(ctx context.Context, s forges.Status) error {
	state := "failure"
	if s.Passes {
		state = "success"
	}
	send := map[string]any{"state": state, "context": s.Name, "description": s.Description, "target_url": forges.Link(s.URL)}
	return forges.SendStatus(ctx, g.api, g.in("statuses", g.job.Built), send, 0)
}

// Hint implements forges.Forge.
func (g *Gitea) Hint(status int) string {
	const needed = "permissions: {contents: write, issues: write, pull-requests: write} in the job, or in APKGATE_TOKEN the scopes write:repository, write:issue and read:user"
	switch status {
	case http.StatusUnauthorized:
		return "the token is not valid here, or has expired: it needs " + needed
	case http.StatusForbidden, http.StatusNotFound:
		return "the token needs " + needed + "; a fork's token may only read"
	}
	return ""
}

// Ours implements thread.Thread. Gitea lists all comments at once.
func (g *Gitea) Ours(ctx context.Context, config string) ([]thread.Comment, error) {
	me, err := g.Me(ctx)
	if err != nil {
		return nil, err
	}
	var all []struct {
		ID   int64  `json:"id"`
		URL  string `json:"html_url"`
		Body string `json:"body"`
		User struct {
			ID int64 `json:"id"`
		} `json:"user"`
	}
	if _, err := g.api.Call(ctx, http.MethodGet, g.All, nil, nil, &all); err != nil {
		return nil, fmt.Errorf("list the comments of %s: %w", g.job.Subject(), err)
	}
	var ours []thread.Comment
	for _, c := range all {
		if board, ok := matrixcomment.Read(c.Body); ok && board.Config == config && c.User.ID == me {
			ours = append(ours, thread.Comment{ID: c.ID, URL: forges.Link(c.URL), Board: board})
		}
	}
	return ours, nil
}
