// Package forgetest simulates the REST APIs of GitLab (version 4) and of Gitea (version 1) for tests:
// the comments of pull request 7, statuses of commits, and which commits are on the main branch.
//
// It implements the behavior that apkgate relies on and the limits that apkgate must keep to, after
// the servers' documentation and sources, and nothing else of them. It refuses what they would, and
// can be made to fail as they, or a proxy before them, fail.
package forgetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The repository, its main branch, and the commits of pull request 7.
const (
	Repository = "group/sub.group/app" // Gitea's is Flat
	Flat       = "octo/app"
	Token      = "glpat-0123456789SECRET"
	Me         = 41 // the token's account
	Mallory    = 66
)

// Base is on the main branch, Head is the pull request's, and Fork is in a fork alone.
var Base, Head, Fork = strings.Repeat("b", 40), strings.Repeat("a", 40), strings.Repeat("f", 40)

// Committed is when Base was made.
var Committed = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Comment is one on pull request 7.
type Comment struct {
	ID, Author int64
	Body       string
	Edits      int
	System     bool
}

// Status is one of a commit.
type Status struct {
	Commit, Name, State, Description, URL string
	Pipeline                              int64
}

// Fault is an answer that the server gives instead of the right one.
type Fault struct {
	Method, Path string // "" is any; Path is a part of it
	Times        int    // how often; 0 is always
	Status       int
	Header       map[string]string
	Body         string // JSON, unless a header says otherwise
	Late         bool   // execute the request, and then answer so
}

// Server is one of the servers.
type Server struct {
	URL string // of its pages; the API is below it

	mu       sync.Mutex
	mux      *http.ServeMux
	allows   func(*http.Request) (status int, body string) // 0 is yes
	head     string
	scopes   []string
	comments []Comment
	statuses []Status
	commands []string // of GitLab, that a note has executed
	jobs     []string // names of the pipeline's jobs
	faults   []*Fault
	requests []string
	nextID   int64
}

// answer is a status and what is sent as JSON; nil for nothing.
type answer struct {
	status int
	body   any
	header map[string]string
}

var notFound = answer{status: http.StatusNotFound, body: map[string]any{"message": "404 Not found"}}

func start(t *testing.T, s *Server, routes map[string]func(*http.Request) answer) *Server {
	t.Helper()
	s.mux, s.head, s.nextID = http.NewServeMux(), Head, 1000
	for pattern, handle := range routes {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, handle) })
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, func(*http.Request) answer { return notFound })
	})
	web := httptest.NewServer(s.mux)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, handle func(*http.Request) answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	got := answer{}
	fault := s.fault(r)
	if fault == nil || fault.Late {
		if status, body := s.allows(r); status != 0 {
			got = answer{status: status, body: json.RawMessage(body)}
		} else {
			got = handle(r)
		}
	}
	if fault != nil {
		w.Header().Set("Content-Type", "application/json")
		for name, value := range fault.Header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(fault.Status)
		io.WriteString(w, fault.Body)
		return
	}
	for name, value := range got.header {
		w.Header().Set(name, value)
	}
	if got.body == nil {
		w.WriteHeader(got.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(got.status)
	json.NewEncoder(w).Encode(got.body)
}

// fault returns the one that a request meets, if any.
func (s *Server) fault(r *http.Request) *Fault {
	for i, f := range s.faults {
		if f.Method != "" && f.Method != r.Method || !strings.Contains(r.URL.Path, f.Path) {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.faults = slices.Delete(s.faults, i, i+1)
			}
		}
		return f
	}
	return nil
}

func (s *Server) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Fail makes matching requests fail.
func (s *Server) Fail(f Fault) { s.locked(func() { s.faults = append(s.faults, &f) }) }

// Push moves the pull request to a commit.
func (s *Server) Push(commit string) { s.locked(func() { s.head = commit }) }

// Scopes limits the token; none is everything.
func (s *Server) Scopes(scopes ...string) { s.locked(func() { s.scopes = scopes }) }

// Jobs sets the names of the pipeline's jobs.
func (s *Server) Jobs(names ...string) { s.locked(func() { s.jobs = names }) }

// Write writes a comment as someone, and returns its id.
func (s *Server) Write(author int64, body string, system bool) (id int64) {
	s.locked(func() { id = s.add(Comment{Author: author, Body: body, System: system}) })
	return id
}

func (s *Server) add(c Comment) int64 {
	s.nextID++
	c.ID = s.nextID
	s.comments = append(s.comments, c)
	return c.ID
}

// Comments returns all.
func (s *Server) Comments() (out []Comment) {
	s.locked(func() { out = slices.Clone(s.comments) })
	return out
}

// Ours returns those of the token's account.
func (s *Server) Ours() []Comment {
	return slices.DeleteFunc(s.Comments(), func(c Comment) bool { return c.Author != Me })
}

// Statuses returns all, the oldest first.
func (s *Server) Statuses() (out []Status) {
	s.locked(func() { out = slices.Clone(s.statuses) })
	return out
}

// Commands returns what notes have executed.
func (s *Server) Commands() (out []string) {
	s.locked(func() { out = slices.Clone(s.commands) })
	return out
}

// Requests returns all received requests, as "METHOD /path?query", in order.
func (s *Server) Requests() (out []string) {
	s.locked(func() { out = slices.Clone(s.requests) })
	return out
}

func decode[T any](r *http.Request) (v T) {
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		panic(fmt.Sprintf("a body is no JSON: %v", err))
	}
	return v
}

// at returns the comment with the id in a path, -1 for none.
func (s *Server) at(r *http.Request) int {
	return slices.IndexFunc(s.comments, func(c Comment) bool { return fmt.Sprint(c.ID) == r.PathValue("id") })
}
