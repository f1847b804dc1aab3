package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Pull is a pull request.
type Pull struct {
	Number     int
	Repository string // of the head, "owner/name"
	Branch     string // of the head
	SHA        string // of the head
	Base       string // the branch that it is to be merged into
	BaseSHA    string
	Closed     bool
	Merged     string // the commit by which it was merged; "" if it was not
}

// SetPull adds the pull request, or replaces the one with its number.
func (s *Server) SetPull(p Pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.pulls, func(q Pull) bool { return q.Number == p.Number }); i >= 0 {
		s.pulls[i] = p
		return
	}
	s.pulls = append(s.pulls, p)
}

func (s *Server) showPull(p Pull) map[string]any {
	state := "open"
	if p.Closed {
		state = "closed"
	}
	owner, _, _ := strings.Cut(p.Repository, "/")
	var merged any
	if p.Merged != "" {
		merged = moment
	}
	return map[string]any{
		"number": p.Number, "state": state, "merged_at": merged, "merge_commit_sha": p.Merged, "labels": s.showLabels(p.Number),
		"head": map[string]any{"sha": p.SHA, "ref": p.Branch, "label": owner + ":" + p.Branch, "repo": map[string]any{"full_name": p.Repository}},
		"base": map[string]any{"sha": p.BaseSHA, "ref": p.Base, "repo": map[string]any{"full_name": s.owner + "/" + s.repo}},
	}
}

// listPulls filters as GitHub does: head is "owner:branch", without the repository's name.
func (s *Server) listPulls(r *http.Request) answer {
	q := r.URL.Query()
	var found []map[string]any
	for _, p := range s.pulls {
		owner, _, _ := strings.Cut(p.Repository, "/")
		if (q.Get("head") == "" || q.Get("head") == owner+":"+p.Branch) && (q.Get("base") == "" || q.Get("base") == p.Base) && (q.Get("state") == "all" || p.Closed == (q.Get("state") == "closed")) {
			found = append(found, s.showPull(p))
		}
	}
	some, links := page(r, found)
	return answer{http.StatusOK, slices.Concat([]map[string]any{}, some), links}
}

func (s *Server) getPull(r *http.Request) answer {
	for _, p := range s.pulls {
		if int64(p.Number) == pathNumber(r, "n") {
			return answer{status: http.StatusOK, body: s.showPull(p)}
		}
	}
	return notFound
}

// Committed returns when the n-th newest commit of the base branch was made.
func Committed(n int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(-time.Duration(n) * time.Hour)
}

// SetCommits sets the commits of the base branch, the newest first (see Committed).
func (s *Server) SetCommits(shas ...string) { s.locked(func() { s.commits = shas }) }

// listCommits lists the commits from the requested one on.
func (s *Server) listCommits(r *http.Request) answer {
	from := slices.Index(s.commits, r.URL.Query().Get("sha"))
	if from < 0 {
		return notFound
	}
	var all []map[string]any
	for i, sha := range s.commits[from:] {
		committer := map[string]any{"date": Committed(from + i)}
		all = append(all, map[string]any{"sha": sha, "commit": map[string]any{"committer": committer}})
	}
	some, links := page(r, all)
	return answer{http.StatusOK, some, links}
}

// compare answers that every branch left its base at the base's commit. A commit that was set by
// SetCommit is on no branch: it has diverged from all others.
func (s *Server) compare(r *http.Request) answer {
	base, head, ok := strings.Cut(r.PathValue("span"), "...")
	if !ok {
		return notFound
	}
	status, at := "ahead", time.Time{}
	if base == head {
		status = "identical"
	} else if _, ok := s.messages[base]; ok {
		status = "diverged"
	}
	if i := slices.Index(s.commits, base); i >= 0 {
		at = Committed(i)
	}
	return answer{status: http.StatusOK, body: map[string]any{
		"status": status, "merge_base_commit": map[string]any{"sha": base},
		"base_commit": map[string]any{"sha": base, "commit": map[string]any{"committer": map[string]any{"date": at}}},
	}}
}

// repository answers that the default branch is main.
func (s *Server) repository(*http.Request) answer {
	return answer{status: http.StatusOK, body: map[string]any{"full_name": s.owner + "/" + s.repo, "default_branch": "main"}}
}
