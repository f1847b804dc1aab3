package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxAnnotations is the maximum of one request.
const MaxAnnotations = 50

const maxSummary = 65_535 // characters of a check run's summary

// CheckRun is one check run.
type CheckRun struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	HeadSHA     string       `json:"head_sha"`
	Status      string       `json:"status"`
	Conclusion  string       `json:"conclusion,omitempty"`
	ExternalID  string       `json:"external_id"`
	DetailsURL  string       `json:"details_url"`
	App         string       `json:"-"` // the slug of the app that created it
	CompletedAt string       `json:"completed_at,omitempty"`
	Title       string       `json:"-"`
	Summary     string       `json:"-"`
	Text        string       `json:"-"`
	Annotations []Annotation `json:"-"`
	// History are the states it went through: "in_progress", "completed success".
	History []string `json:"-"`
	HTMLURL string   `json:"html_url"`
}

// Annotation is a check run's message on a line of a file.
type Annotation struct {
	Path    string `json:"path"`
	Line    int    `json:"start_line"`
	End     int    `json:"end_line"`
	Level   string `json:"annotation_level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// Checks returns the check runs, in the order in which they were started.
func (s *Server) Checks() []CheckRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []CheckRun
	for _, c := range s.checks {
		out = append(out, *c)
	}
	return out
}

// checkInput is the body of creating and updating.
type checkInput struct {
	Name, Status, Conclusion string
	HeadSHA                  string `json:"head_sha"`
	ExternalID               string `json:"external_id"`
	DetailsURL               string `json:"details_url"`
	CompletedAt              string `json:"completed_at"`
	Output                   *struct {
		Title, Summary string
		Text           *string
		Annotations    []Annotation
	}
}

func (in checkInput) refused() string {
	switch {
	case in.Conclusion != "" && !strings.Contains(" success failure neutral cancelled skipped timed_out action_required ", " "+in.Conclusion+" "):
		return "conclusion is not one of those that there are"
	case in.Output == nil:
		return ""
	case in.Output.Title == "" || utf8.RuneCountInString(in.Output.Title) > 255:
		return "title is empty or too long (maximum is 255 characters)"
	case in.Output.Summary == "" || utf8.RuneCountInString(in.Output.Summary) > maxSummary:
		return "summary is empty or too long (maximum is 65535 characters)"
	case in.Output.Text != nil && utf8.RuneCountInString(*in.Output.Text) > maxSummary:
		return "text is too long (maximum is 65535 characters)"
	case len(in.Output.Annotations) > MaxAnnotations:
		return fmt.Sprintf("%d annotations, at most %d are allowed", len(in.Output.Annotations), MaxAnnotations)
	}
	for _, a := range in.Output.Annotations {
		if a.Path == "" || strings.HasPrefix(a.Path, "/") || a.Line < 1 || a.End < a.Line || a.Message == "" ||
			!strings.Contains(" notice warning failure ", " "+a.Level+" ") || len(a.Message) > 64<<10 {
			return fmt.Sprintf("annotation %+v is not valid", a)
		}
	}
	return ""
}

func (c *CheckRun) apply(in checkInput) {
	if in.Status != "" {
		c.Status = in.Status
	}
	if in.Conclusion != "" {
		c.Status, c.Conclusion, c.CompletedAt = "completed", in.Conclusion, in.CompletedAt
	}
	if in.Output != nil {
		c.Title, c.Summary = in.Output.Title, in.Output.Summary
		if in.Output.Text != nil {
			c.Text = *in.Output.Text
		}
		c.Annotations = append(c.Annotations, in.Output.Annotations...) // GitHub adds them to the existing ones
	}
	c.History = append(c.History, strings.TrimSpace(c.Status+" "+c.Conclusion))
}

func (s *Server) createCheck(r *http.Request) answer {
	var in checkInput
	if !decode(r, &in) || in.Name == "" || len(in.HeadSHA) != 40 {
		return problem(http.StatusUnprocessableEntity, "Validation Failed: name and head_sha are needed")
	}
	if text := in.refused(); text != "" {
		return problem(http.StatusUnprocessableEntity, "Validation Failed: "+text)
	}
	c := &CheckRun{ID: s.id(), Name: in.Name, HeadSHA: in.HeadSHA, Status: "queued", ExternalID: in.ExternalID, DetailsURL: in.DetailsURL, App: strings.TrimSuffix(s.login, "[bot]")}
	c.HTMLURL = fmt.Sprintf("https://github.example/%s/%s/runs/%d", s.owner, s.repo, c.ID)
	c.apply(in)
	s.checks = append(s.checks, c)
	return answer{status: http.StatusCreated, body: c}
}

func (s *Server) updateCheck(r *http.Request) answer {
	var in checkInput
	if !decode(r, &in) {
		return problem(http.StatusBadRequest, "Problems parsing JSON")
	}
	if text := in.refused(); text != "" {
		return problem(http.StatusUnprocessableEntity, "Validation Failed: "+text)
	}
	for _, c := range s.checks {
		if c.ID == pathNumber(r, "id") {
			c.apply(in)
			return answer{status: http.StatusOK, body: c}
		}
	}
	return notFound
}

func (s *Server) getCheck(r *http.Request) answer {
	for _, c := range s.checks {
		if c.ID == pathNumber(r, "id") {
			return answer{status: http.StatusOK, body: c.show()}
		}
	}
	return notFound
}

func (c *CheckRun) show() map[string]any {
	body := map[string]any{
		"id": c.ID, "name": c.Name, "head_sha": c.HeadSHA, "status": c.Status, "conclusion": c.Conclusion,
		"external_id": c.ExternalID, "html_url": c.HTMLURL, "app": map[string]any{"slug": c.App},
		"output": map[string]any{"title": c.Title, "summary": c.Summary, "text": c.Text, "annotations_count": len(c.Annotations)},
	}
	if c.CompletedAt != "" {
		body["completed_at"] = c.CompletedAt
	}
	return body
}

// listChecks lists, as GitHub does, only the last of several checks of one name, unless the filter
// is "all".
func (s *Server) listChecks(r *http.Request) answer {
	found := []*CheckRun{}
	q := r.URL.Query()
	for _, c := range s.checks {
		if c.HeadSHA != r.PathValue("sha") || (q.Get("check_name") != "" && c.Name != q.Get("check_name")) {
			continue
		}
		if q.Get("filter") != "all" {
			found = slices.DeleteFunc(found, func(other *CheckRun) bool { return other.Name == c.Name })
		}
		found = append(found, c)
	}
	shown := []map[string]any{}
	for _, c := range found {
		shown = append(shown, c.show())
	}
	some, links := page(r, shown)
	return answer{http.StatusOK, map[string]any{"total_count": len(found), "check_runs": some}, links}
}
