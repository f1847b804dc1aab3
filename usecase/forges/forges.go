// Package forges shows a report that an untrusted job left, on servers other than GitHub: as one
// comment on a pull request, which is updated in place, and as the status of a commit. Packages
// gitlab and gitea below it know the servers.
//
// It owns what is posted where. The report is hostile: the pull request and the commit come from the
// environment of the job that publishes, and commands, days and links are made here. How a report is
// worded belongs to report/layout, how a comment is kept to package thread.
package forges

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/thread"
)

// Job is what is published, and about what, by the environment of the job that publishes.
type Job struct {
	Server     string // "GitLab", for messages
	Noun       string // "merge request"
	Number     int64  // of the merge or pull request; 0 if the job is about none
	Head       string // the commit in the pull request's branch that was judged
	Built      string // the commit that was built and gets the status: Head, or a merge of it
	Repository string // "group/app"
	Run        matrixcomment.RunRef
	RunURL     string // the page of the run that measured, "" if unknown
}

// Subject returns "merge request 7".
func (j Job) Subject() string { return fmt.Sprintf("%s %d", j.Noun, j.Number) }

// Change is the current state of a pull request, by the server.
type Change struct {
	Head      string // the head commit of its branch
	Base      string // the branch that it is to be merged into
	MergeBase string // "" if unknown
}

// Status is the status of a commit.
type Status struct {
	Name        string // "apkgate"
	Passes      bool   // success, or failure
	Description string // one line, plain
	URL         string // "" for none
}

// Forge is one job on one server. The thread is that of its pull request.
type Forge interface {
	thread.Thread
	Job() Job
	Change(ctx context.Context) (Change, error)
	// CommittedBefore returns when a commit was made, if it is on the branch.
	CommittedBefore(ctx context.Context, commit, branch string) (time.Time, error)
	SetStatus(ctx context.Context, s Status) error
	// CommitURL returns the page of a commit, "" if unknown.
	CommitURL(commit string) string
	// Hint returns what a refusal with an HTTP status may lack, "" if nothing is known.
	Hint(status int) string
}

// slug matches an element of a repository's path.
var slug = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,254}$`)

// CheckRepository checks a repository's path, which has at least two elements.
func CheckRepository(path string) error {
	parts := strings.Split(path, "/")
	ok := len(parts) > 1 && len(parts) <= 21 // GitLab allows 20 groups
	for _, p := range parts {
		ok = ok && slug.MatchString(p) && p != "." && p != ".."
	}
	if !ok {
		return fmt.Errorf("the repository is %.100q, want owner/name", path)
	}
	return nil
}

// Link returns an address that may be a link in Markdown, "" for any other text.
func Link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(address, " ()<>[]\"'`\\\n") {
		return ""
	}
	return address
}

// Safe adapts the Markdown of a comment for GitHub to the other servers. GitLab executes a line that
// begins with a slash as a command of the token's account ("/merge"): no line may. A dollar sign is
// escaped as they know it.
func Safe(body string) string {
	return lineCommand.ReplaceAllString(strings.ReplaceAll(body, "<span>$</span>", `\$`), "${1}\u200b/")
}

// lineCommand matches a slash that begins a line, with what GitLab removes before it looks.
var lineCommand = regexp.MustCompile(`(?m)^([\r\t ]*)/`)
