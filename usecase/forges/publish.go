package forges

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/thread"
)

// Publisher shows one configuration's verdict.
type Publisher struct {
	Forge Forge
	Name  string // the configuration's; each has its own comment and status
	// Config is the path of the configuration for a command, "" for the usual one.
	Config    string
	CommentOn githubactions.When
	ReportURL string            // the address at which the report's page is published, "" for none
	Catalogue *metric.Catalogue // nil is the built-in one
	Log       func(string)
	Sleep     func(context.Context, time.Duration) error
}

// ErrReport marks a report that can't be published as it is.
var ErrReport = errors.New("the report of the job that measured can't be read")

const (
	stampRoom      = 2048   // bytes; a stamp with the longest names needs fewer
	rowRoom        = 24_000 // bytes of the report of one leg
	maxDescription = 140    // characters of a status's description: the servers cut longer ones
)

// Publish shows the reports in a folder: one, or one in a folder of its own for each leg of a matrix.
// Without a report it shows that there is no verdict. It returns what went wrong, and shows the rest.
func (p *Publisher) Publish(ctx context.Context, dir string) []error {
	change, err := p.change(ctx)
	if err != nil {
		return []error{err}
	}
	folders, err := artifact.ReportFolders(dir)
	if err != nil {
		return append(p.missing(ctx, change, "", ErrReport.Error()), fmt.Errorf("%w: %w", ErrReport, err))
	}
	if len(folders) == 0 {
		return p.missing(ctx, change, "", "the job that measures left no report; its log says why")
	}
	var errs []error
	legs := map[string]bool{}
	for _, folder := range folders {
		report, err := artifact.ReadFolder(folder)
		leg := report.Leg
		if leg == "" && len(folders) > 1 {
			leg, _ = matrixcomment.LegName(filepath.Base(folder))
		}
		if err == nil && legs[leg] { // which would replace the other one's verdict
			err = fmt.Errorf("read the report folder %s: another one is of the leg %q too", folder, leg)
		}
		legs[leg] = true
		if err != nil {
			errs = append(append(errs, p.missing(ctx, change, leg, ErrReport.Error())...), fmt.Errorf("%w: %w", ErrReport, err))
			continue
		}
		errs = append(errs, p.show(ctx, change, leg, p.content(ctx, change, folder, report))...)
	}
	return errs
}

// change reads the current state of the pull request, if the job is about one.
func (p *Publisher) change(ctx context.Context) (Change, error) {
	j := p.Forge.Job()
	if j.Number == 0 {
		return Change{}, nil
	}
	change, err := p.Forge.Change(ctx)
	if err != nil {
		return change, fmt.Errorf("read %s: %w", j.Subject(), err)
	}
	return change, nil
}

// content returns what is shown of a report that a stranger may have written.
func (p *Publisher) content(ctx context.Context, change Change, folder string, report artifact.Report) githubactions.Content {
	in, j := report.Input, p.Forge.Job()
	in.Catalogue = p.Catalogue
	in.Meta.Repository, in.Meta.HeadCommit = j.Repository, j.Head
	if report.Builds != nil {
		in.Next = report.Builds.Stranger(in.Verdict, p.Config)
	}
	if commit := artifact.BaseOf(in.Verdict); commit != "" && change.Base != "" {
		at, err := p.Forge.CommittedBefore(ctx, commit, change.Base)
		if err != nil {
			p.Log("The day of the base build's commit is unknown: " + err.Error())
		}
		in.Meta.Base = layout.Origin{Commit: commit, At: at}
	}
	var err error
	if in.Runs, err = artifact.ReadRuns(folder, in.Verdict); err != nil {
		p.Log("The comment shows no frames and no kept files: " + err.Error())
	}
	in.Kept = runevidence.ForArtifact(folder, Link(j.RunURL), in.Runs)
	return githubactions.ContentOf(in, nil)
}

// show posts a verdict as the leg's row of the comment, and as the status, which links to it.
func (p *Publisher) show(ctx context.Context, change Change, leg string, c githubactions.Content) []error {
	room := markdown.MaxComment - stampRoom
	if leg != "" {
		room = rowRoom
	}
	text, err := p.text(change, c, room)
	if err != nil {
		return []error{err}
	}
	row := matrixcomment.Row{Leg: leg, Outcome: c.Outcome, Headline: c.Headline, Text: text}
	address, err := p.comment(ctx, change, row, p.CommentOn.Begins(c.Outcome))
	passes, description := true, c.Headline
	switch githubactions.Conclude(c.Outcome, cmp.Or(c.FailOn, gate.FailRegression)) {
	case "failure":
		passes = false
	case "neutral":
		description = "blocks nothing: " + description
	}
	return some(err, p.status(ctx, leg, passes, description, address))
}

// missing posts that there is no verdict. Without legs it only replaces an older commit's verdict.
func (p *Publisher) missing(ctx context.Context, change Change, leg, why string) []error {
	text := fmt.Sprintf("### %s No verdict for commit %.10s\n\n%s\n%s", matrixcomment.Symbol(""), p.Forge.Job().Head, markdown.Escape(why), p.links(change))
	address, err := p.comment(ctx, change, matrixcomment.Row{Leg: leg, Headline: why, Text: text}, leg != "")
	return some(err, p.status(ctx, leg, false, "no verdict: "+why, address))
}

// some returns the errors that are not nil.
func some(errs ...error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// comment puts a row into the comment and returns its address, "" if there is none.
func (p *Publisher) comment(ctx context.Context, change Change, row matrixcomment.Row, create bool) (string, error) {
	j := p.Forge.Job()
	if j.Number == 0 || p.CommentOn == githubactions.Never {
		return "", nil
	}
	row.Run, row.Head = j.Run, j.Head
	posted, err := thread.Post(ctx, p.Forge, row, thread.Options{Subject: j.Subject(), Config: p.Name, Head: change.Head, Create: create, Sleep: p.Sleep})
	if err != nil {
		return "", err
	}
	if n := posted.Newer; n != nil {
		p.Log(fmt.Sprintf("The comment is left as it is: it shows a newer run, %d, on commit %.10s.", n.Run.ID, n.Head))
	} else if posted.URL != "" {
		p.Log("comment: " + posted.URL)
	}
	return posted.URL, nil
}

func (p *Publisher) status(ctx context.Context, leg string, passes bool, description, address string) error {
	s := Status{
		Name: githubactions.StatusName(p.Name, leg), Passes: passes, URL: cmp.Or(address, p.Forge.Job().RunURL),
		Description: prose.Clip(prose.OneLine(strings.ReplaceAll(description, "\u00a0", " ")), maxDescription),
	}
	if err := p.Forge.SetStatus(ctx, s); err != nil {
		return fmt.Errorf("set the status of commit %.10s: %w", p.Forge.Job().Built, err)
	}
	p.Log("status " + s.Name + ": " + s.Description)
	return nil
}

// text returns the report as Markdown of at most limit bytes, with the links below it.
func (p *Publisher) text(change Change, c githubactions.Content, limit int) (string, error) {
	d, below := c.Document, p.links(change)
	d.Facts = slices.Concat(d.Facts, layout.Steps(p.next(c.Outcome)))
	var b strings.Builder
	if err := markdown.Render(&b, d, document.Options{Limit: limit - len(below)}); err != nil {
		return "", err
	}
	return b.String() + below, nil
}

// next returns what a reader can do about an outcome.
func (p *Publisher) next(o gate.Outcome) (out []document.Fact) {
	if o == gate.Regression && p.Forge.Job().Number > 0 {
		out = append(out, document.Fact{
			Label: "If intended", Text: "merge it, and let the next refresh of the main branch accept it once:", Command: "apkgate baseline refresh --accept-regression",
		})
	}
	if address := cmp.Or(Link(p.ReportURL), Link(p.Forge.Job().RunURL)); address != "" {
		out = append(out, document.Fact{Label: "Report", Text: "all numbers and pictures", Link: address})
	}
	return out
}

// links returns the line below a report: what was judged, and where the rest is.
func (p *Publisher) links(change Change) string {
	j := p.Forge.Job()
	commit := func(sha string) string {
		if address := Link(p.Forge.CommitURL(sha)); address != "" {
			return fmt.Sprintf("[`%.10s`](%s)", sha, address)
		}
		return fmt.Sprintf("`%.10s`", sha)
	}
	text := "configuration `" + p.Name + "` · commit " + commit(j.Head)
	if githubactions.IsCommit(change.MergeBase) {
		text += " · merge base " + commit(change.MergeBase)
	}
	if address := Link(j.RunURL); address != "" {
		text += " · [full report in the artifacts of this run](" + address + ")"
	}
	return "\n<sub>" + text + "</sub>\n"
}
