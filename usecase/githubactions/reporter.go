package githubactions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// Reporter shows one configuration's verdict on GitHub: job summary, comment, check run,
// annotations and outputs. GitHub's refusals are collected in one warning, and are never an error.
type Reporter struct {
	Runner *Runner
	Client *Client // nil without a token
	Job    Job
	// Name is the configuration's; each has its own comment and check run.
	Name string
	// Leg distinguishes the jobs of a matrix, see board.LegName: each has its own row of the
	// comment and its own check run.
	Leg     string
	Legs    matrixcomment.Legs // all of the matrix, if known
	FailOn  gate.FailOn        // see Conclude
	Comment bool               // on the pull request, if there is one
	// CommentOn is when a pull request gets a comment, "" for always. An existing one is always
	// updated.
	CommentOn When
	Check     bool // a check run on the head commit
	// Accept is the comment that accepts an intended change of a pull request, such as
	// "/apkgate accept REASON"; "" where nothing answers one.
	Accept string
	// ReportURL is the address at which the report's page is published, "" where it is only in the
	// run's artifacts.
	ReportURL string
	// Web is asked whether the picture next to that page is published; nil is http.DefaultTransport.
	Web http.RoundTripper

	mu      sync.Mutex // held while the check run is ended
	check   *Check
	ended   bool   // the check run, without a verdict
	shown   bool   // by PublishFirst: that there is a verdict stays true afterwards
	pending string // the file that saves it
	mark    string // see jobMark
	// accepted is who decided that the regression is intended; nil for nobody.
	accepted *acceptance.Accepted
	refused  []string
	picture  string // see published
}

// posting is the time limit for everything that is posted.
const posting = 10 * time.Minute

// configName matches valid names of configurations, which appear in comments, in the names of
// checks and in hidden markers.
var configName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._/-]{0,99}$`)

// CheckName checks that a configuration may have the name.
func CheckName(name string) error {
	if !configName.MatchString(name) {
		return fmt.Errorf("the configuration's name is %.120q, want up to 100 letters, digits, spaces and . _ / -", name)
	}
	return nil
}

// DefaultName is the name of the default configuration; its check run is called just "apkgate".
const DefaultName = "apkgate.yml"

func (r *Reporter) checkName() string { return StatusName(r.Name, r.Leg) }

// StatusName returns the name of the check run, or of the status, of a configuration's leg.
func StatusName(config, leg string) string {
	var of []string
	if config != DefaultName {
		of = append(of, config)
	}
	if leg != "" {
		of = append(of, leg)
	}
	if len(of) == 0 {
		return "apkgate"
	}
	return "apkgate (" + strings.Join(of, ", ") + ")"
}

// Begin shows on the head commit that the measurement is under way.
func (r *Reporter) Begin(ctx context.Context) {
	if !r.Check || r.Client == nil || r.Job.HeadSHA == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, posting)
	defer cancel()
	// The random suffix distinguishes this leg from another of the same name.
	external := externalID(r.Name, r.Leg, r.Job.Run, randomWord()[:8])
	r.remember(pending{Check: r.checkName(), Head: r.Job.HeadSHA, External: external, Config: r.Name, Leg: r.Leg, Comment: r.Comment})
	check, err := r.Client.StartCheck(ctx, r.checkName(), r.Job.HeadSHA, external, r.Job.RunURL)
	if err != nil {
		r.refuse("begin the check run", err)
		return
	}
	r.check = check
}

// grace is how long posting continues after the job was cancelled: the runner kills the step 10
// seconds after its first signal.
const grace = 6 * time.Second

// outliving returns a context that ends a while after ctx does.
func outliving(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), posting)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return out, func() { stop(); cancel() }
}

// PublishFirst shows a verdict that will be explained later, without its annotations: a check run's
// annotations can't be removed, and are to contain the causes. Publish then shows it again.
func (r *Reporter) PublishFirst(ctx context.Context, c Content) error {
	r.mu.Lock()
	r.shown = true
	r.mu.Unlock()
	c.Notes = nil
	return r.publish(ctx, c)
}

// Publish shows the verdict, replacing one that was shown before. It fails only if the runner's own
// files can't be written. The check run goes first, since a cancelled job must not leave it open.
func (r *Reporter) Publish(ctx context.Context, c Content) error {
	if !r.shown {
		return r.publish(ctx, c)
	}
	return errors.Join(r.Runner.TakeBackSummary(), r.publish(ctx, c))
}

func (r *Reporter) publish(ctx context.Context, c Content) error {
	r.picture = r.published(ctx, c)
	ctx, cancel := outliving(ctx)
	defer cancel()
	err := r.Runner.Summary(func(limit int) (string, error) { return r.text(c, limit) })
	checkURL, checked := r.complete(ctx, c)
	commentURL := r.comment(ctx, c)
	if checked {
		r.Runner.Annotate(without(c.Notes))
	} else {
		r.Runner.Annotate(c.Notes)
	}
	r.warn(" The verdict stands: the report is in the job summary and in the report folder.")
	return errors.Join(err, r.outputs(c, commentURL, checkURL))
}

// PublishReport shows the verdict of another job of the same run: everything but the job summary and
// the annotations without a file, which that job has.
func (r *Reporter) PublishReport(ctx context.Context, c Content) error {
	r.picture = r.published(ctx, c)
	ctx, cancel := outliving(ctx)
	defer cancel()
	checkURL, _ := r.complete(ctx, c)
	commentURL := r.comment(ctx, c)
	r.warn(" The report is in the artifact of the job that measured.")
	return r.outputs(c, commentURL, checkURL)
}

// PostComment posts only the comment, for a report of another workflow's run. It creates no check
// run from such a report, since that could be a required one.
func (r *Reporter) PostComment(ctx context.Context, c Content) error {
	r.picture = r.published(ctx, c)
	ctx, cancel := context.WithTimeout(ctx, posting)
	defer cancel()
	address := r.comment(ctx, c)
	r.warn("")
	return r.outputs(c, address, "")
}

// text returns the report as Markdown of at most limit bytes, with the links below it.
func (r *Reporter) text(c Content, limit int) (string, error) {
	above, below := "", r.links()
	if r.accepted != nil {
		above = acceptedLine(*r.accepted)
	}
	d := c.Document
	d.Facts = slices.Concat(d.Facts, layout.Steps(r.next(c.Outcome)))
	var b strings.Builder
	if err := markdown.Render(&b, d, document.Options{Limit: limit - len(above) - len(below), Picture: r.picture}); err != nil {
		return "", err
	}
	text := b.String()
	if r.accepted != nil {
		text = unblocked(text)
	}
	return r.Runner.redact(above + text + below), nil
}

// next returns what a reader can do on GitHub about an outcome: let an intended change of a pull
// request through, and open the report.
func (r *Reporter) next(o gate.Outcome) (out []document.Fact) {
	if o == gate.Regression && r.Job.Pull != nil && r.accepted == nil {
		out = append(out, r.intended()...)
	}
	if address := cmp.Or(r.ReportURL, r.Job.ArtifactsURL()); address != "" {
		out = append(out, document.Fact{Label: "Report", Text: "all numbers and pictures", Link: address})
	}
	return out
}

// intended returns how an intended change gets through. A fork has no check run to accept.
func (r *Reporter) intended() []document.Fact {
	if r.Accept != "" && !r.Job.Pull.Fork {
		return []document.Fact{{Label: "If intended", Text: "comment", Command: r.Accept}}
	}
	merge := document.Fact{Label: "If intended", Text: "merge it, and let the next refresh of the main branch accept it once:", Command: "accept-regression: true"}
	if r.Job.Pull.Fork {
		return []document.Fact{merge}
	}
	comment := document.Fact{Label: "If intended", Text: "where this repository has a workflow for it, comment", Command: "/apkgate accept REASON"}
	merge.Label = "Otherwise"
	return []document.Fact{comment, merge}
}

// links returns the links to the full report.
func (r *Reporter) links() string {
	text := "configuration `" + r.Name + "`"
	if head := r.Job.linked(r.Job.HeadSHA); head != "" {
		text += " · commit " + head
	}
	if p := r.Job.Pull; p != nil && p.MergeBase != "" {
		text += " · merge base " + r.Job.linked(p.MergeBase)
	}
	if address := r.Job.ArtifactsURL(); address != "" {
		text += " · [full report in the artifacts of this run](" + address + ")"
	}
	return "\n<sub>" + text + "</sub>\n"
}

// comment posts the verdict as the leg's row of the comment and returns its address, "" if there is
// none.
func (r *Reporter) comment(ctx context.Context, c Content) string {
	if !r.Comment || r.Job.Pull == nil {
		return ""
	}
	room := markdown.MaxComment - stampRoom
	if r.Leg != "" {
		room = rowRoom
	}
	text, err := r.text(c, room)
	if err != nil {
		r.refuse("write the comment", err)
		return ""
	}
	row := matrixcomment.Row{Outcome: c.Outcome, Headline: r.Runner.redact(c.Headline), Text: text}
	return r.postRow(ctx, row, r.CommentOn.Begins(c.Outcome))
}

const (
	stampRoom = 2048   // bytes; a stamp with the longest names needs fewer
	rowRoom   = 24_000 // bytes of the report of one leg
)

// postRow puts the row into the comment; without a comment it creates one if create is set.
func (r *Reporter) postRow(ctx context.Context, row matrixcomment.Row, create bool) string {
	if r.Client == nil {
		r.refuse("comment on the pull request", errors.New("there is no token"))
		return ""
	}
	row.Leg, row.Legs, row.Job, row.Run, row.Head = r.Leg, r.Legs, r.jobMark(), r.Job.Run, r.Job.HeadSHA
	head := ""
	if now, err := r.Client.Pull(ctx, r.Job.Pull.Number); err == nil {
		head = now.HeadSHA
	}
	posted, err := r.Client.Comment(ctx, r.Job.Pull.Number, r.Name, row, head, create)
	switch {
	case err != nil:
		r.refuse("comment on the pull request", err)
	case posted.Newer != nil && row.Outcome == "":
		r.Runner.Log("The comment is left as it is: it has a verdict on this commit, or is of a newer run.")
	case posted.Newer != nil:
		r.Runner.Log(fmt.Sprintf("The comment is left as it is: it shows run %d, attempt %d, on commit %.10s, which is newer than this one (run %d, attempt %d, on commit %.10s).",
			posted.Newer.Run.Number, posted.Newer.Run.Attempt, posted.Newer.Head, row.Run.Number, row.Run.Attempt, row.Head))
	}
	if posted.Namesakes {
		r.Runner.Warn(fmt.Sprintf("Two jobs of this run are both called %q: the comment keeps a row for each, but their check runs and artifacts can't be told apart. Give each leg of the matrix a name with the input leg, see docs/github.md.", r.checkName()))
	}
	return posted.URL
}

// complete ends the check run and reports whether it shows the annotations.
func (r *Reporter) complete(ctx context.Context, c Content) (address string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.check == nil {
		r.forget() // it was refused, and there is a verdict
		return "", false
	}
	summary, err := r.text(c, maxCheckSummary)
	result := CheckResult{Conclusion: Conclude(c.Outcome, r.FailOn), Title: c.Headline, Summary: summary, Notes: located(c.Notes)}
	if r.accepted != nil {
		result.Conclusion, result.Title = conclusionAccepted, acceptedTitle(*r.accepted)
	}
	if err == nil {
		result.Text, err = r.record(c)
	}
	if err == nil {
		err = r.Client.CompleteCheck(ctx, r.check, result)
	}
	if err != nil {
		r.refuse("complete the check run", err)
		return r.check.URL, false
	}
	r.forget()
	return r.check.URL, true
}

// record returns what the check run of a pull request keeps for commands and for the refresh.
func (r *Reporter) record(c Content) (string, error) {
	if r.Job.Pull == nil {
		return "", nil
	}
	return acceptance.Record{
		Config: r.Name, Leg: r.Leg, Head: r.Job.HeadSHA, Pull: r.Job.Pull.Number, Run: r.Job.Run.ID, Attempt: r.Job.Run.Attempt,
		Outcome: c.Outcome, Findings: c.Findings, Accepted: r.accepted,
	}.Text()
}

// outputs sets the outputs for following steps.
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

// refuse records something that GitHub refused.
func (r *Reporter) refuse(doing string, err error) {
	r.refused = append(r.refused, doing+" ("+reason(err)+")")
}

// warn reports everything that was refused in one warning, and what replaces it.
func (r *Reporter) warn(instead string) {
	if len(r.refused) == 0 {
		return
	}
	text := "apkgate was not able to " + strings.Join(r.refused, "; ") + "." + instead
	if r.Job.Pull != nil && r.Job.Pull.Fork && r.Job.Event != "workflow_run" {
		text += " On pull requests from forks the token may only read; a second workflow on workflow_run can comment, see docs/github.md."
	}
	r.Runner.Warn(text)
	r.refused = nil
}
