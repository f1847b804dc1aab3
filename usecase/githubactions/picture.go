package githubactions

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// looking is the time limit for finding out whether a picture is published.
const looking = 3 * time.Second

// published returns the address of a report's picture, which is next to its page; "" where a reader
// could not load it: a workflow may publish the page alone, or only after the comment.
func (r *Reporter) published(ctx context.Context, c Content) string {
	page, err := url.Parse(r.ReportURL)
	if _, ok := c.Document.First(); !ok || err != nil || page.Scheme != "https" {
		return ""
	}
	at := page.ResolveReference(&url.URL{Path: "picture.svg"})
	at.RawQuery = r.Job.HeadSHA // or GitHub would show that of an earlier commit
	if err := r.look(ctx, at); err != nil {
		r.Runner.Log("The comment does not show the report's picture: " + err.Error())
		return ""
	}
	return at.String()
}

// look returns an error unless an image is at an address. It sends no token, and follows no redirect,
// which could lead to any other server.
func (r *Reporter) look(ctx context.Context, at *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, at.String(), nil)
	if err != nil {
		return fmt.Errorf("look for %s: %w", at.Redacted(), err)
	}
	web := http.Client{Transport: r.Web, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := web.Do(req)
	if err != nil {
		return fmt.Errorf("look for it: %w", err) // which has the address
	}
	resp.Body.Close()
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || err != nil || !strings.HasPrefix(kind, "image/") {
		return fmt.Errorf("%s answered %d with the type %q, want 200 and an image", at.Redacted(), resp.StatusCode, prose.Short(kind))
	}
	return nil
}
