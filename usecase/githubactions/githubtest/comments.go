package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"
)

// MaxBody is the maximum of characters of a comment.
const MaxBody = 65_536

// Comment is one comment on a pull request.
type Comment struct {
	ID     int64
	Author string
	Body   string
	Edits  int // how often it was edited
}

// AddComment adds a comment as if its author had written it.
func (s *Server) AddComment(pull int, author, body string) Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Comment{ID: s.id(), Author: author, Body: body}
	s.comments[pull] = append(s.comments[pull], c)
	return *c
}

// Comments returns those of a pull request, in the order in which they were created.
func (s *Server) Comments(pull int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Comment
	for _, c := range s.comments[pull] {
		out = append(out, *c)
	}
	return out
}

func (s *Server) show(pull int, c *Comment) map[string]any {
	kind := "User"
	if len(c.Author) > 5 && c.Author[len(c.Author)-5:] == "[bot]" {
		kind = "Bot"
	}
	return map[string]any{
		"id": c.ID, "body": c.Body, "user": map[string]any{"login": c.Author, "type": kind},
		"html_url":   fmt.Sprintf("https://github.example/%s/%s/pull/%d#issuecomment-%d", s.owner, s.repo, pull, c.ID),
		"created_at": moment, "updated_at": moment,
	}
}

func (s *Server) listComments(r *http.Request) answer {
	pull := int(pathNumber(r, "n"))
	var all []map[string]any
	for _, c := range s.comments[pull] {
		all = append(all, s.show(pull, c))
	}
	some, links := page(r, all)
	return answer{http.StatusOK, slices.Concat([]map[string]any{}, some), links}
}

func (s *Server) createComment(r *http.Request) answer {
	body, refused := readBody(r)
	if refused != nil {
		return *refused
	}
	pull := int(pathNumber(r, "n"))
	c := &Comment{ID: s.id(), Author: s.login, Body: body}
	s.comments[pull] = append(s.comments[pull], c)
	return answer{status: http.StatusCreated, body: s.show(pull, c)}
}

func (s *Server) editComment(r *http.Request) answer {
	body, refused := readBody(r)
	if refused != nil {
		return *refused
	}
	pull, i := s.find(pathNumber(r, "id"))
	if i < 0 {
		return notFound
	}
	c := s.comments[pull][i]
	if c.Author != s.login {
		return notAllowed
	}
	c.Body = body
	c.Edits++
	return answer{status: http.StatusOK, body: s.show(pull, c)}
}

func (s *Server) deleteComment(r *http.Request) answer {
	pull, i := s.find(pathNumber(r, "id"))
	switch {
	case i < 0:
		return notFound
	case s.comments[pull][i].Author != s.login:
		return notAllowed
	}
	s.comments[pull] = slices.Delete(s.comments[pull], i, i+1)
	return answer{status: http.StatusNoContent}
}

func (s *Server) find(id int64) (pull, index int) {
	for pull, all := range s.comments {
		if i := slices.IndexFunc(all, func(c *Comment) bool { return c.ID == id }); i >= 0 {
			return pull, i
		}
	}
	return 0, -1
}

func readBody(r *http.Request) (string, *answer) {
	var in struct{ Body string }
	if !decode(r, &in) {
		a := problem(http.StatusBadRequest, "Problems parsing JSON")
		return "", &a
	}
	if n := utf8.RuneCountInString(in.Body); n == 0 || n > MaxBody {
		a := problem(http.StatusUnprocessableEntity, fmt.Sprintf("Validation Failed: body has %d characters (maximum is %d)", n, MaxBody))
		return "", &a
	}
	return in.Body, nil
}
