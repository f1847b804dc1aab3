// Package gitlab knows GitLab's REST API (version 4) as far as a report is published with it: notes
// on a merge request, the status of a commit, and the days of commits. The sources are GitLab's
// documentation of the Notes, Commits, Repositories and Merge requests API, and the predefined
// variables of its CI/CD.
//
// It owns GitLab's environment and paths. What is posted belongs to package forges.
package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/usecase/forges"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/restapi"
	"github.com/apkgate/apkgate/usecase/thread"
)

// GitLab is one job on one GitLab server.
type GitLab struct {
	*forges.Comments
	job      forges.Job
	api      *restapi.Client
	project  string // its path or id
	pipeline int64  // 0 outside of one
	page     string // the project's, "" if unknown
	request  string // the merge request's page
}

// New returns the job that the environment describes.
func New(o forges.Options) (*GitLab, error) {
	env := o.Getenv
	address, err := o.API("/api/v4", "CI_API_V4_URL")
	if err != nil {
		return nil, err
	}
	api, err := restapi.Address(address)
	if err != nil {
		return nil, fmt.Errorf("the address of GitLab's API %w", err)
	}
	number, err := forges.ReadNumber(o.Number, env("CI_MERGE_REQUEST_IID"))
	if err != nil {
		return nil, err
	}
	if of, own := env("CI_MERGE_REQUEST_PROJECT_ID"), env("CI_PROJECT_ID"); o.Repository == "" && number > 0 && of != "" && of != own {
		return nil, fmt.Errorf("the pipeline is of the project %.40q and the merge request of %.40q: a fork's pipeline publishes nothing", own, of)
	}
	path := cmp.Or(o.Repository, env("CI_PROJECT_PATH"))
	if err := forges.CheckRepository(path); err != nil {
		return nil, err
	}
	built := cmp.Or(o.Commit, env("CI_COMMIT_SHA"))
	// In a pipeline for merged results, CI_COMMIT_SHA is the merge, and this the branch's commit.
	head := cmp.Or(o.Commit, env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"), built)
	for _, commit := range []string{built, head} {
		if err := forges.CheckCommit(commit); err != nil {
			return nil, err
		}
	}
	over := restapi.Transport{Server: "GitLab", API: api, Clock: o.Clock, Log: o.Log, Authorize: func(h http.Header) { h.Set("Private-Token", o.Token) }}
	g := &GitLab{
		api: restapi.NewClient(over, o.Token), project: path, page: strings.TrimRight(env("CI_PROJECT_URL"), "/"),
		job: forges.Job{
			Server: "GitLab", Noun: "merge request", Number: number, Head: head, Built: built, Repository: path, RunURL: env("CI_PIPELINE_URL"),
			Run: matrixcomment.RunRef{
				ID: matrixcomment.Number(env("CI_PIPELINE_ID")), Number: matrixcomment.Number(env("CI_PIPELINE_IID")), Attempt: matrixcomment.Number(env("CI_JOB_ID")),
			},
		},
	}
	notes := g.in("merge_requests", strconv.FormatInt(number, 10), "notes")
	g.Comments = &forges.Comments{
		API: g.api, Noun: "note", Subject: g.job.Subject(), All: notes, One: func(id string) []string { return slices.Concat(notes, []string{id}) }, Method: http.MethodPut,
	}
	if o.Commit == "" { // else it may be another pipeline's
		g.pipeline = g.job.Run.ID
	}
	if o.Repository != "" {
		g.page = "" // the variables are another project's
	}
	return g, nil
}

// Job implements forges.Forge.
func (g *GitLab) Job() forges.Job { return g.job }

// in returns a path of the project.
func (g *GitLab) in(elements ...string) []string {
	return append([]string{"projects", g.project}, elements...)
}

// Change implements forges.Forge.
func (g *GitLab) Change(ctx context.Context) (forges.Change, error) {
	var answer struct {
		SHA          string `json:"sha"`
		TargetBranch string `json:"target_branch"`
		WebURL       string `json:"web_url"`
		DiffRefs     struct {
			BaseSHA string `json:"base_sha"`
		} `json:"diff_refs"`
	}
	if _, err := g.api.Call(ctx, http.MethodGet, g.in("merge_requests", strconv.FormatInt(g.job.Number, 10)), nil, nil, &answer); err != nil {
		return forges.Change{}, err
	}
	g.request = answer.WebURL
	if page, _, ok := strings.Cut(answer.WebURL, "/-/merge_requests/"); ok && g.page == "" {
		g.page = page
	}
	return forges.Change{Head: answer.SHA, Base: answer.TargetBranch, MergeBase: answer.DiffRefs.BaseSHA}, nil
}

// CommittedBefore implements forges.Forge: a commit is on the branch if it is the newest that both
// have in common. GitLab finds a fork's commits by their ids too.
func (g *GitLab) CommittedBefore(ctx context.Context, commit, branch string) (time.Time, error) {
	var common struct {
		ID        string    `json:"id"`
		Committed time.Time `json:"committed_date"`
	}
	query := url.Values{"refs[]": {commit, branch}}
	if _, err := g.api.Call(ctx, http.MethodGet, g.in("repository", "merge_base"), query, nil, &common); err != nil {
		return time.Time{}, fmt.Errorf("read the commit %.10s: %w", commit, err)
	}
	if common.ID != commit {
		return time.Time{}, fmt.Errorf("the commit %.10s is not on the branch that this is to be merged into", commit)
	}
	return common.Committed, nil
}

// CommitURL implements forges.Forge.
func (g *GitLab) CommitURL(commit string) string {
	if g.page == "" {
		return ""
	}
	return g.page + "/-/commit/" + commit
}

// SetStatus implements forges.Forge. It names the pipeline, in which the status is a job of the stage
// "external": without it GitLab may create a pipeline of its own.
func (g *GitLab) SetStatus(ctx context.Context, s forges.Status) error {
	state := "failed"
	if s.Passes {
		state = "success"
	}
	send := map[string]any{"state": state, "name": s.Name, "description": s.Description}
	if len(s.URL) > 0 && len(s.URL) <= maxTarget && forges.Link(s.URL) != "" {
		send["target_url"] = s.URL
	}
	if g.pipeline > 0 {
		send["pipeline_id"] = g.pipeline
	}
	return forges.SendStatus(ctx, g.api, g.in("statuses", g.job.Built), send, http.StatusConflict)
}

// maxTarget is the longest address of a status, in bytes.
const maxTarget = 255

// Hint implements forges.Forge.
func (g *GitLab) Hint(status int) string {
	const needed = "a project access token with the scope api and the role Developer; the job's own CI_JOB_TOKEN can't write notes"
	switch status {
	case http.StatusUnauthorized:
		return "APKGATE_TOKEN is not valid here, or has expired: it must be " + needed
	case http.StatusForbidden, http.StatusNotFound:
		return "APKGATE_TOKEN must be " + needed
	case http.StatusBadRequest:
		return "a job of the pipeline must not have the name of the status: rename the job, or set another --name"
	}
	return ""
}

// Ours implements thread.Thread. The account is that of a project access token's bot, whose name
// anybody may see and nobody can have: notes are told apart by its id.
func (g *GitLab) Ours(ctx context.Context, config string) ([]thread.Comment, error) {
	me, err := g.Me(ctx)
	if err != nil {
		return nil, err
	}
	var ours []thread.Comment
	query := url.Values{"sort": {"asc"}, "order_by": {"created_at"}, "per_page": {"100"}}
	for page := 1; page <= thread.MaxPages; {
		query.Set("page", strconv.Itoa(page))
		var notes []struct {
			ID     int64  `json:"id"`
			Body   string `json:"body"`
			System bool   `json:"system"`
			Author struct {
				ID int64 `json:"id"`
			} `json:"author"`
		}
		header, err := g.api.Call(ctx, http.MethodGet, g.All, query, nil, &notes)
		if err != nil {
			return nil, fmt.Errorf("list the notes of %s: %w", g.job.Subject(), err)
		}
		for _, n := range notes {
			board, ok := matrixcomment.Read(n.Body)
			if ok && board.Config == config && n.Author.ID == me && !n.System {
				ours = append(ours, thread.Comment{ID: n.ID, URL: g.noteURL(n.ID), Board: board})
			}
		}
		next, err := strconv.Atoi(header.Get("X-Next-Page"))
		if err != nil || next <= page {
			return ours, nil
		}
		page = next
	}
	return ours, nil
}

func (g *GitLab) noteURL(id int64) string {
	if forges.Link(g.request) == "" {
		return ""
	}
	return g.request + "#note_" + strconv.FormatInt(id, 10)
}
