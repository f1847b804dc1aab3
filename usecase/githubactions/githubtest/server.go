// Package githubtest simulates GitHub's REST API for tests: comments with their pages, check runs,
// pull requests with their labels, what people may do, and the account of a token.
//
// It implements the behavior that apkgate relies on and the limits that apkgate must keep to, and
// nothing else of GitHub. It refuses what GitHub would (a wrong token, a comment of more than
// 65,536 characters, more than 50 annotations), and it can be made to fail as GitHub fails.
package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is one repository on a simulated GitHub. Its methods may be called while it serves.
type Server struct {
	owner, repo, token string

	mu          sync.Mutex
	mux         *http.ServeMux
	login       string
	person      bool // the token is a person's, so that GET /user answers
	readOnly    bool
	nextID      int64
	comments    map[int][]*Comment
	checks      []*CheckRun
	pulls       []Pull
	commits     []string
	permissions map[string]string // by login
	labels      map[int][]string  // by pull request
	messages    map[string]Commit // by id
	faults      []*Fault
	requests    []string
	hold        *hold
}

// hold is a request to delay.
type hold struct {
	method, path     string
	arrived, mayGoOn chan struct{}
}

// New returns a server with the repository owner/repo that accepts one token. Its account is
// "github-actions[bot]", as that of a workflow's own token.
func New(owner, repo, token string) *Server {
	s := &Server{
		owner: owner, repo: repo, token: token, login: "github-actions[bot]",
		nextID: 1000, comments: map[int][]*Comment{}, mux: http.NewServeMux(),
		permissions: map[string]string{}, labels: map[int][]string{}, messages: map[string]Commit{},
	}
	at := "/repos/" + owner + "/" + repo
	for pattern, handle := range map[string]func(*http.Request) answer{
		"GET /user":                                       s.user,
		"POST /graphql":                                   s.graphQL,
		"GET " + at + "/issues/{n}/{of}":                  s.getIssue,
		"POST " + at + "/issues/{n}/comments":             s.createComment,
		"PATCH " + at + "/issues/comments/{id}":           s.editComment,
		"GET " + at + "/collaborators/{login}/permission": s.permission,
		"GET " + at + "/commits/{sha}":                    s.getCommit,
		"POST " + at + "/actions/runs/{id}/rerun":         s.rerun,
		"DELETE " + at + "/issues/comments/{id}":          s.deleteComment,
		"GET " + at:                                       s.repository,
		"GET " + at + "/pulls":                            s.listPulls,
		"GET " + at + "/pulls/{n}":                        s.getPull,
		"GET " + at + "/commits":                          s.listCommits,
		"GET " + at + "/compare/{span}":                   s.compare,
		"POST " + at + "/check-runs":                      s.createCheck,
		"PATCH " + at + "/check-runs/{id}":                s.updateCheck,
		"GET " + at + "/check-runs/{id}":                  s.getCheck,
		"GET " + at + "/commits/{sha}/check-runs":         s.listChecks,
	} {
		s.mux.HandleFunc(pattern, s.wrap(handle))
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { notFound.write(w) })
	return s
}

// As makes the token a person's (or a machine user's) with this login.
func (s *Server) As(login string) { s.locked(func() { s.login, s.person = login, true }) }

// AsApp makes the token that of an app with this login, such as "gate[bot]".
func (s *Server) AsApp(login string) { s.locked(func() { s.login, s.person = login, false }) }

// ReadOnly makes the token read-only, as a fork's is.
func (s *Server) ReadOnly(on bool) { s.locked(func() { s.readOnly = on }) }

// Requests returns all received requests, as "METHOD /path?query", in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

func (s *Server) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Fault is an answer that the server gives instead of the right one.
type Fault struct {
	Method string // "" is any
	Path   string // what the path must contain; "" is any
	Times  int    // how often; 0 is always
	Status int    // 0 breaks the connection off
	Header map[string]string
	Text   string // the message
	Late   bool   // execute the request, and then answer so
}

// Fail makes matching requests fail. Faults are tried in the order in which they were added.
func (s *Server) Fail(f Fault) { s.locked(func() { s.faults = append(s.faults, &f) }) }

// Hold delays the next matching request until release is called; arrived is closed when it has
// come.
func (s *Server) Hold(method, path string) (arrived <-chan struct{}, release func()) {
	h := &hold{method, path, make(chan struct{}), make(chan struct{})}
	s.locked(func() { s.hold = h })
	return h.arrived, func() { close(h.mayGoOn) }
}

// wait delays the request if it is to be held.
func (s *Server) wait(r *http.Request) {
	s.mu.Lock()
	h := s.hold
	if h == nil || h.method != r.Method || !strings.Contains(r.URL.Path, h.path) {
		s.mu.Unlock()
		return
	}
	s.hold = nil
	s.mu.Unlock()
	close(h.arrived)
	<-h.mayGoOn
}

// ServeHTTP implements http.Handler. It serves at the root and, as GitHub Enterprise Server does,
// below /api/v3.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
	r.URL.RawPath = ""
	if r.URL.Path == "/api/graphql" {
		r.URL.Path = "/graphql"
	}
	s.mux.ServeHTTP(w, r)
}

// answer is a status and a body to encode.
type answer struct {
	status int
	body   any
	header map[string]string
}

func problem(status int, text string) answer {
	return answer{status: status, body: map[string]any{"message": text, "documentation_url": "https://docs.github.com/rest"}}
}

var (
	notFound   = problem(http.StatusNotFound, "Not Found")
	notAllowed = problem(http.StatusForbidden, "Resource not accessible by integration")
)

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	if a.body != nil && a.status != http.StatusNoContent {
		json.NewEncoder(w).Encode(a.body)
	}
}

// wrap handles what all requests have in common: the log, the token, the faults.
func (s *Server) wrap(handle func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.wait(r)
		s.mu.Lock()
		defer s.mu.Unlock()
		line := r.Method + " " + r.URL.Path
		if r.URL.RawQuery != "" {
			line += "?" + r.URL.RawQuery
		}
		s.requests = append(s.requests, line)
		if r.Header.Get("Authorization") != "Bearer "+s.token {
			problem(http.StatusUnauthorized, "Bad credentials").write(w)
			return
		}
		fault := s.fault(r)
		if fault != nil && !fault.Late {
			fault.answer(w)
			return
		}
		a := notAllowed
		if !s.readOnly || r.Method == http.MethodGet || r.URL.Path == "/graphql" {
			a = handle(r)
		}
		if fault != nil {
			fault.answer(w)
			return
		}
		a.write(w)
	}
}

func (s *Server) fault(r *http.Request) *Fault {
	for i, f := range s.faults {
		if (f.Method != "" && f.Method != r.Method) || !strings.Contains(r.URL.Path, f.Path) {
			continue
		}
		if f.Times == 1 {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		} else if f.Times > 1 {
			f.Times--
		}
		return f
	}
	return nil
}

func (f *Fault) answer(w http.ResponseWriter) {
	if f.Status == 0 {
		panic(http.ErrAbortHandler) // net/http breaks the connection off
	}
	a := problem(f.Status, f.Text)
	a.header = f.Header
	a.write(w)
}

// user is only for people's tokens.
func (s *Server) user(*http.Request) answer {
	if !s.person {
		return notAllowed
	}
	return answer{status: http.StatusOK, body: map[string]any{"login": s.login, "type": "User"}}
}

// graphQL supports the one query for the token's account.
func (s *Server) graphQL(r *http.Request) answer {
	var q struct{ Query string }
	if !decode(r, &q) || !strings.Contains(q.Query, "viewer") {
		return problem(http.StatusBadRequest, "Problems parsing JSON")
	}
	return answer{status: http.StatusOK, body: map[string]any{"data": map[string]any{"viewer": map[string]any{"login": s.login}}}}
}

const maxBody = 8 << 20 // bytes of one request

func decode(r *http.Request, into any) bool {
	return json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(into) == nil
}

func (s *Server) id() int64 {
	s.nextID++
	return s.nextID
}

func pathNumber(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PathValue(name), 10, 64)
	return n
}

// page cuts a list into pages as GitHub does and names the next page in the Link header.
func page[T any](r *http.Request, all []T) ([]T, map[string]string) {
	q := r.URL.Query()
	size, err := strconv.Atoi(q.Get("per_page"))
	if err != nil || size < 1 {
		size = 30
	}
	size = min(size, 100)
	n, err := strconv.Atoi(q.Get("page"))
	if err != nil || n < 1 {
		n = 1
	}
	from, to := min((n-1)*size, len(all)), min(n*size, len(all))
	header := map[string]string{}
	if to < len(all) {
		link := func(page int, rel string) string {
			next := *r.URL
			q.Set("page", strconv.Itoa(page))
			next.RawQuery = q.Encode()
			return fmt.Sprintf("<http://%s%s>; rel=%q", r.Host, next.String(), rel)
		}
		header["Link"] = link(n+1, "next") + ", " + link((len(all)+size-1)/size, "last")
	}
	return all[from:to], header
}

// moment is fixed: the server keeps no time.
var moment = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
