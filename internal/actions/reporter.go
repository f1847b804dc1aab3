package actions

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report"
)

// Reporter shows one configuration's verdict on GitHub: job summary, comment,
// check run, annotations and outputs. What GitHub refuses is noted, told in one
// warning, and never an error.
type Reporter struct {
	Runner *Runner
	Client *Client // nil without a token
	Job    Job
	// Name is the configuration's; each has its own comment and check run.
	Name    string
	FailOn  string // see Conclude
	Comment bool   // on the pull request, where there is one
	Check   bool   // a check run on the head commit

	check   *Check
	refused []string
}

// posting is the most time that GitHub is given for all that is posted.
const posting = 10 * time.Minute

// configName is what a configuration can be called: it stands in comments, in
// the names of checks and in hidden markers.
var configName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._/-]{0,99}$`)

// CheckName reports whether a configuration can bear the name.
func CheckName(name string) error {
	if !configName.MatchString(name) {
		return fmt.Errorf("the configuration's name is %.120q, want up to 100 letters, digits, spaces and . _ / -", name)
	}
	return nil
}

// DefaultName is the name of the usual configuration; its check run is called
// "apkgate" alone.
const DefaultName = "apkgate.yml"

func (r *Reporter) checkName() string {
	if r.Name == DefaultName {
		return "apkgate"
	}
	return "apkgate (" + r.Name + ")"
}

// Begin shows on the head commit that measuring is under way.
func (r *Reporter) Begin(ctx context.Context) {
	if !r.Check || r.Client == nil || r.Job.HeadSHA == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, posting)
	defer cancel()
	external := fmt.Sprintf("apkgate:%s:%d:%d", r.Name, r.Job.Run.ID, r.Job.Run.Attempt)
	check, err := r.Client.StartCheck(ctx, r.checkName(), r.Job.HeadSHA, external, r.Job.RunURL)
	if err != nil {
		r.refuse("begin the check run", err)
		return
	}
	r.check = check
}

// Publish shows the verdict. It returns an error only for what the runner's own
// files refuse.
func (r *Reporter) Publish(ctx context.Context, c Content) error {
	ctx, cancel := context.WithTimeout(ctx, posting)
	defer cancel()
	err := r.Runner.Summary(func(limit int) (string, error) { return r.text(c, limit) })
	commentURL := r.comment(ctx, c)
	checkURL, checked := r.complete(ctx, c)
	if checked {
		r.Runner.Annotate(without(c.Notes))
	} else {
		r.Runner.Annotate(c.Notes)
	}
	r.warn(" The verdict stands: the report is in the job summary and in the report folder.")
	return errors.Join(err, r.outputs(c, commentURL, checkURL))
}

// PostComment posts the comment alone, for a report that another workflow's run
// made. No check run rests on such a report: it could be one that is required.
func (r *Reporter) PostComment(ctx context.Context, c Content) error {
	ctx, cancel := context.WithTimeout(ctx, posting)
	defer cancel()
	address := r.comment(ctx, c)
	r.warn("")
	return r.outputs(c, address, "")
}

// text is the report as Markdown of at most limit bytes, with the links below it.
func (r *Reporter) text(c Content, limit int) (string, error) {
	links := r.links()
	var b strings.Builder
	if err := c.Markdown(&b, limit-len(links)); err != nil {
		return "", err
	}
	return r.Runner.redact(b.String() + links), nil
}

// links lead to the full report.
func (r *Reporter) links() string {
	text := "configuration `" + r.Name + "`"
	if p := r.Job.Pull; p != nil && p.MergeBase != "" {
		text += " · merge base `" + p.MergeBase[:10] + "`"
	}
	if r.Job.RunURL != "" {
		text += " · [full report in the artifacts of this run](" + r.Job.RunURL + "#artifacts)"
	}
	return "\n<sub>" + text + "</sub>\n"
}

// comment posts the comment and returns its address, "" where there is none.
func (r *Reporter) comment(ctx context.Context, c Content) string {
	if !r.Comment || r.Job.Pull == nil {
		return ""
	}
	if r.Client == nil {
		r.refuse("comment on the pull request", errors.New("there is no token"))
		return ""
	}
	stamp := Stamp{Config: r.Name, Run: r.Job.Run, Head: r.Job.HeadSHA}
	const stampRoom = 1024 // bytes; a stamp with the longest name needs fewer
	text, err := r.text(c, report.MaxComment-stampRoom)
	if err != nil {
		r.refuse("write the comment", err)
		return ""
	}
	head := ""
	if now, err := r.Client.Pull(ctx, r.Job.Pull.Number); err == nil {
		head = now.HeadSHA
	}
	posted, err := r.Client.Comment(ctx, r.Job.Pull.Number, stamp, text, head)
	switch {
	case err != nil:
		r.refuse("comment on the pull request", err)
	case posted.Newer != nil:
		r.Runner.Log(fmt.Sprintf("The comment is left as it is: it shows run %d, attempt %d, on commit %.10s, which is newer than this one (run %d, attempt %d, on commit %.10s).",
			posted.Newer.Run.Number, posted.Newer.Run.Attempt, posted.Newer.Head, stamp.Run.Number, stamp.Run.Attempt, stamp.Head))
	}
	return posted.URL
}

// complete ends the check run and reports whether it shows the annotations.
func (r *Reporter) complete(ctx context.Context, c Content) (address string, ok bool) {
	if r.check == nil {
		return "", false
	}
	summary, err := r.text(c, maxCheckSummary)
	if err == nil {
		err = r.Client.CompleteCheck(ctx, r.check, CheckResult{
			Conclusion: c.conclusion(r.FailOn), Title: c.Headline, Summary: summary, Notes: located(c.Notes),
		})
	}
	if err != nil {
		r.refuse("complete the check run", err)
		return r.check.URL, false
	}
	return r.check.URL, true
}

// Abandon ends the check run where there is no verdict. The comment stays as it
// is: it tells of a commit that was measured.
func (r *Reporter) Abandon(ctx context.Context, cause error) {
	defer r.warn("")
	if r.check == nil {
		return
	}
	result := CheckResult{Conclusion: "failure", Title: "No verdict", Summary: "```text\n" + fenced(r.Runner.redact(cause.Error())) + "\n```\n"}
	switch {
	case errors.Is(cause, context.Canceled) || ctx.Err() != nil:
		result = CheckResult{Conclusion: conclusionCanceled, Title: "Cancelled before there was a verdict", Summary: "The job was cancelled."}
	case r.FailOn == "never":
		result.Conclusion = "neutral"
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	if err := r.Client.CompleteCheck(ctx, r.check, result); err != nil {
		r.refuse("complete the check run", err)
	}
}

// fenced makes text fit to stand between two fences of Markdown.
func fenced(s string) string {
	return clip(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "```", "'''"), 8000)
}

// outputs sets what a following step can use.
func (r *Reporter) outputs(c Content, comment, check string) error {
	var errs []error
	for _, o := range []struct{ name, value string }{
		{"verdict", string(c.Outcome)},
		{"regressions", strconv.Itoa(c.Counts[gate.Regression])},
		{"improvements", strconv.Itoa(c.Counts[gate.Improvement])},
		{"inconclusive", strconv.Itoa(c.Counts[gate.Inconclusive])},
		{"comment-url", comment},
		{"check-url", check},
	} {
		errs = append(errs, r.Runner.Output(o.name, o.value))
	}
	return errors.Join(errs...)
}

// refuse notes what GitHub did not let us do.
func (r *Reporter) refuse(doing string, err error) {
	r.refused = append(r.refused, doing+" ("+reason(err)+")")
}

// warn tells once of everything that was refused, and what there is in its place.
func (r *Reporter) warn(instead string) {
	if len(r.refused) == 0 {
		return
	}
	text := "apkgate was not able to " + strings.Join(r.refused, "; ") + "." + instead
	if r.Job.Pull != nil && r.Job.Pull.Fork {
		text += " On pull requests from forks the token may only read; a second workflow on workflow_run can comment, see docs/github.md."
	}
	r.Runner.Warn(text)
	r.refused = nil
}
