package githubtest

import (
	"net/http"
	"slices"
)

// Permit sets what someone may do in the repository: admin, write, read or none. As in GitHub's
// answer, those who may maintain have "write", and those who may triage "read".
func (s *Server) Permit(login, permission string) {
	s.locked(func() { s.permissions[login] = permission })
}

func (s *Server) permission(r *http.Request) answer {
	level, ok := s.permissions[r.PathValue("login")]
	if !ok {
		return notFound
	}
	return answer{status: http.StatusOK, body: map[string]any{"permission": level, "user": map[string]any{"login": r.PathValue("login")}}}
}

// EditComment changes a comment as if its author, or a maintainer, had edited it; "" deletes it.
func (s *Server) EditComment(id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pull, i := s.find(id)
	if body == "" {
		s.comments[pull] = slices.Delete(s.comments[pull], i, i+1)
		return
	}
	s.comments[pull][i].Body = body
}

// getIssue answers what is asked about a comment, issues/comments/ID, or about an issue's comments,
// issues/N/comments.
func (s *Server) getIssue(r *http.Request) answer {
	switch {
	case r.PathValue("n") == "comments":
		r.SetPathValue("id", r.PathValue("of"))
		return s.getComment(r)
	case r.PathValue("of") == "comments":
		return s.listComments(r)
	}
	return notFound
}

func (s *Server) getComment(r *http.Request) answer {
	pull, i := s.find(pathNumber(r, "id"))
	if i < 0 {
		return notFound
	}
	return answer{status: http.StatusOK, body: s.show(pull, s.comments[pull][i])}
}

// SetLabels sets the labels of a pull request.
func (s *Server) SetLabels(pull int, labels ...string) { s.locked(func() { s.labels[pull] = labels }) }

func (s *Server) showLabels(pull int) []map[string]any {
	all := []map[string]any{}
	for _, name := range s.labels[pull] {
		all = append(all, map[string]any{"name": name})
	}
	return all
}

// Commit is a commit's message and the login that GitHub knows its author by, "" for none.
type Commit struct{ Message, Author string }

// SetCommit sets the message and the author of a commit.
func (s *Server) SetCommit(sha string, c Commit) { s.locked(func() { s.messages[sha] = c }) }

func (s *Server) getCommit(r *http.Request) answer {
	c, ok := s.messages[r.PathValue("sha")]
	if !ok {
		return answer{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "No commit found for SHA: " + r.PathValue("sha")}}
	}
	body := map[string]any{"sha": r.PathValue("sha"), "commit": map[string]any{"message": c.Message, "committer": map[string]any{"date": moment}}, "author": nil}
	if c.Author != "" {
		body["author"] = map[string]any{"login": c.Author}
	}
	return answer{status: http.StatusOK, body: body}
}

// rerun begins a workflow's run again. Only the log of requests shows it.
func (s *Server) rerun(*http.Request) answer {
	return answer{status: http.StatusCreated, body: map[string]any{}}
}
