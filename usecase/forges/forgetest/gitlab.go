package forgetest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"
)

// Pipeline is the one whose jobs publish.
const Pipeline = 900

// GitLab starts a GitLab with the project Repository.
func GitLab(t *testing.T) *Server {
	t.Helper()
	s := &Server{jobs: []string{"gate", "publish"}}
	s.allows = func(r *http.Request) (int, string) {
		switch {
		case r.Header.Get("Private-Token") != Token:
			return http.StatusUnauthorized, `{"message":"401 Unauthorized"}`
		case r.Method != http.MethodGet && len(s.scopes) > 0 && !slices.Contains(s.scopes, "api"):
			return http.StatusForbidden, `{"error":"insufficient_scope","error_description":"The request requires higher privileges than provided by the access token.","scope":"api"}`
		case r.PathValue("project") != "" && r.PathValue("project") != Repository:
			return http.StatusNotFound, `{"message":"404 Project Not Found"}`
		}
		return 0, ""
	}
	const at = "/api/v4/projects/{project}"
	return start(t, s, map[string]func(*http.Request) answer{
		"GET /api/v4/user":                              s.gitlabUser,
		"GET " + at + "/merge_requests/7":               s.mergeRequest,
		"GET " + at + "/merge_requests/7/notes":         s.notes,
		"POST " + at + "/merge_requests/7/notes":        s.createNote,
		"PUT " + at + "/merge_requests/7/notes/{id}":    s.editNote,
		"DELETE " + at + "/merge_requests/7/notes/{id}": s.deleteNote,
		"POST " + at + "/statuses/{commit}":             s.gitlabStatus,
		"GET " + at + "/repository/merge_base":          s.mergeBase,
	})
}

func (s *Server) gitlabUser(*http.Request) answer {
	return answer{status: http.StatusOK, body: map[string]any{"id": Me, "username": "project_1_bot_0af"}}
}

func (s *Server) mergeRequest(*http.Request) answer {
	return answer{status: http.StatusOK, body: map[string]any{
		"iid": 7, "sha": s.head, "target_branch": "main", "state": "opened",
		"web_url": s.URL + "/" + Repository + "/-/merge_requests/7", "diff_refs": map[string]any{"base_sha": Base, "head_sha": s.head},
	}}
}

func note(c Comment) map[string]any {
	return map[string]any{"id": c.ID, "body": c.Body, "system": c.System, "author": map[string]any{"id": c.Author}}
}

// notes returns a page, of at most 100.
func (s *Server) notes(r *http.Request) answer {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	each, _ := strconv.Atoi(q.Get("per_page"))
	page, each = max(page, 1), min(max(each, 1), 100)
	if q.Get("sort") != "asc" || q.Get("order_by") != "created_at" {
		return answer{status: http.StatusBadRequest, body: map[string]any{"message": "the test wants the oldest first"}}
	}
	from := min((page-1)*each, len(s.comments))
	to := min(from+each, len(s.comments))
	out, next := []map[string]any{}, ""
	for _, c := range s.comments[from:to] {
		out = append(out, note(c))
	}
	if to < len(s.comments) {
		next = strconv.Itoa(page + 1)
	}
	return answer{http.StatusOK, out, map[string]string{"X-Next-Page": next}}
}

// quickAction matches lines that GitLab executes (lib/gitlab/quick_actions/extractor.rb); not even
// those in code are left out here.
var quickAction = regexp.MustCompile(`(?mi)^[\r]*/(merge|close|approve|assign|label|reopen|unapprove)\b`)

// written checks a note's text and executes its commands.
func (s *Server) written(body string) (answer, bool) {
	if body == "" || utf8.RuneCountInString(body) > 1_000_000 {
		return answer{status: http.StatusBadRequest, body: map[string]any{"message": map[string]any{"note": []string{"is too long (maximum is 1000000 characters)"}}}}, false
	}
	s.commands = append(s.commands, quickAction.FindAllString(body, -1)...)
	return answer{}, true
}

func (s *Server) createNote(r *http.Request) answer {
	body := decode[struct{ Body string }](r).Body
	if refused, ok := s.written(body); !ok {
		return refused
	}
	id := s.add(Comment{Author: Me, Body: body})
	return answer{status: http.StatusCreated, body: map[string]any{"id": id}}
}

func (s *Server) editNote(r *http.Request) answer {
	body, i := decode[struct{ Body string }](r).Body, s.at(r)
	switch {
	case i < 0:
		return notFound
	case s.comments[i].Author != Me:
		return answer{status: http.StatusForbidden, body: map[string]any{"message": "403 Forbidden"}}
	}
	if refused, ok := s.written(body); !ok {
		return refused
	}
	s.comments[i].Body, s.comments[i].Edits = body, s.comments[i].Edits+1
	return answer{status: http.StatusOK, body: note(s.comments[i])}
}

func (s *Server) deleteNote(r *http.Request) answer {
	i := s.at(r)
	if i < 0 {
		return notFound
	}
	s.comments = slices.Delete(s.comments, i, i+1)
	return answer{status: http.StatusNoContent}
}

// gitlabStatus refuses what Ci::CreateCommitStatusService and GenericCommitStatus do.
func (s *Server) gitlabStatus(r *http.Request) answer {
	in := decode[struct {
		State, Name, Description string
		TargetURL                string `json:"target_url"`
		Pipeline                 int64  `json:"pipeline_id"`
	}](r)
	refuse := func(status int, message any) answer {
		return answer{status: status, body: map[string]any{"message": message}}
	}
	switch {
	case in.State != "success" && in.State != "failed":
		return refuse(http.StatusBadRequest, fmt.Sprintf("state %q does not have a valid value", in.State))
	case len(in.TargetURL) > 255:
		return refuse(http.StatusBadRequest, map[string]any{"target_url": []string{"is too long (maximum is 255 characters)"}})
	case utf8.RuneCountInString(in.Description) > 255:
		return refuse(http.StatusBadRequest, map[string]any{"description": []string{"is too long (maximum is 255 characters)"}})
	case in.Pipeline != 0 && in.Pipeline != Pipeline:
		return refuse(http.StatusNotFound, "404 Pipeline for pipeline_id, sha and ref Not Found")
	case slices.Contains(s.jobs, in.Name):
		return refuse(http.StatusBadRequest, map[string]any{"name": []string{"has already been taken"}})
	}
	s.statuses = append(s.statuses, Status{r.PathValue("commit"), in.Name, in.State, in.Description, in.TargetURL, in.Pipeline})
	return answer{status: http.StatusCreated, body: map[string]any{"id": len(s.statuses)}}
}

func (s *Server) mergeBase(r *http.Request) answer {
	refs := r.URL.Query()["refs[]"]
	known := []string{Base, Fork, s.head}
	if len(refs) != 2 || refs[1] != "main" || !slices.Contains(known, refs[0]) {
		return notFound
	}
	return answer{status: http.StatusOK, body: map[string]any{"id": Base, "committed_date": Committed}}
}
