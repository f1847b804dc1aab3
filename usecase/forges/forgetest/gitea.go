package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Gitea starts a Gitea with the repository Flat. What it answers was compared with Gitea 1.26.
func Gitea(t *testing.T) *Server {
	t.Helper()
	s := &Server{}
	scoped := func(scope string) bool { return len(s.scopes) == 0 || slices.Contains(s.scopes, scope) }
	s.allows = func(r *http.Request) (int, string) {
		lacks := func(scope string) (int, string) {
			return http.StatusForbidden, `{"message":"token does not have at least one of required scope(s), required=[` + scope + `], token scope=` + strings.Join(s.scopes, ",") + `","url":"/api/swagger"}`
		}
		switch {
		case r.Header.Get("Authorization") != "token "+Token:
			return http.StatusUnauthorized, `{"message":"invalid username, password or token","url":"/api/swagger"}`
		case r.URL.Path == "/api/v1/user" && !scoped("read:user"):
			return lacks("read:user")
		case strings.Contains(r.URL.Path, "/statuses/") && !scoped("write:repository"):
			return lacks("write:repository")
		case strings.Contains(r.URL.Path, "/issues/") && !scoped("write:issue"):
			return lacks("write:issue")
		}
		return 0, ""
	}
	const at = "/api/v1/repos/" + Flat
	return start(t, s, map[string]func(*http.Request) answer{
		"GET /api/v1/user":                       s.giteaUser,
		"GET " + at + "/pulls/7":                 s.giteaPull,
		"GET " + at + "/issues/7/comments":       s.giteaComments,
		"POST " + at + "/issues/7/comments":      s.createComment,
		"PATCH " + at + "/issues/comments/{id}":  s.editComment,
		"DELETE " + at + "/issues/comments/{id}": s.deleteNote,
		"POST " + at + "/statuses/{commit}":      s.giteaStatus,
		"GET " + at + "/compare/{span}":          s.giteaCompare,
		"GET " + at + "/git/commits/{commit}":    s.giteaCommit,
	})
}

func (s *Server) giteaUser(*http.Request) answer {
	return answer{status: http.StatusOK, body: map[string]any{"id": Me, "login": "bot"}}
}

func (s *Server) giteaPull(*http.Request) answer {
	return answer{status: http.StatusOK, body: map[string]any{
		"number": 7, "state": "open", "merge_base": Base, "head": map[string]any{"sha": s.head, "ref": "feature"}, "base": map[string]any{"ref": "main", "sha": Base},
	}}
}

func (s *Server) giteaComment(c Comment) map[string]any {
	return map[string]any{"id": c.ID, "body": c.Body, "html_url": s.URL + "/" + Flat + "/pulls/7#issuecomment-" + fmt.Sprint(c.ID), "user": map[string]any{"id": c.Author}}
}

// giteaComments returns all: this list has no pages.
func (s *Server) giteaComments(*http.Request) answer {
	out := []map[string]any{}
	for _, c := range s.comments {
		out = append(out, s.giteaComment(c))
	}
	return answer{status: http.StatusOK, body: out}
}

func (s *Server) createComment(r *http.Request) answer {
	id := s.add(Comment{Author: Me, Body: decode[struct{ Body string }](r).Body})
	return answer{status: http.StatusCreated, body: map[string]any{"id": id}}
}

// editComment lets someone who may write to the repository edit everybody's comments, as Gitea does.
func (s *Server) editComment(r *http.Request) answer {
	i := s.at(r)
	if i < 0 {
		return notFound
	}
	s.comments[i].Body = decode[struct{ Body string }](r).Body
	s.comments[i].Edits++
	return answer{status: http.StatusOK, body: s.giteaComment(s.comments[i])}
}

func (s *Server) giteaStatus(r *http.Request) answer {
	in := decode[struct {
		State, Context, Description string
		TargetURL                   string `json:"target_url"`
	}](r)
	if !slices.Contains([]string{"pending", "success", "error", "failure", "warning"}, in.State) || utf8.RuneCountInString(in.Context) > 255 {
		return answer{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "invalid status"}}
	}
	s.statuses = append(s.statuses, Status{Commit: r.PathValue("commit"), Name: in.Context, State: in.State, Description: in.Description, URL: in.TargetURL})
	return answer{status: http.StatusCreated, body: map[string]any{"id": len(s.statuses)}}
}

// giteaCompare counts the commits that the second has and the first lacks.
func (s *Server) giteaCompare(r *http.Request) answer {
	base, commit, _ := strings.Cut(r.PathValue("span"), "...")
	if base != "main" || !slices.Contains([]string{Base, Fork, s.head}, commit) {
		return notFound
	}
	total := 1
	if commit == Base {
		total = 0
	}
	return answer{status: http.StatusOK, body: map[string]any{"total_commits": total, "commits": []any{}}}
}

func (s *Server) giteaCommit(r *http.Request) answer {
	return answer{status: http.StatusOK, body: map[string]any{
		"sha": r.PathValue("commit"), "commit": map[string]any{"committer": map[string]any{"date": Committed}},
	}}
}
