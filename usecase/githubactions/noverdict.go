package githubactions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// Cancel ends the check run as soon as the job is cancelled, even while other cleaning up
// continues: a check run that stays in progress blocks a pull request for ever. A verdict that is
// shown stays.
func (r *Reporter) Cancel() {
	r.mu.Lock()
	shown := r.shown
	r.mu.Unlock()
	if shown {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	r.end(ctx, "The job was cancelled.")
	if r.Comment && r.Job.Pull != nil && r.Client != nil {
		if now, err := r.Client.Pull(ctx, r.Job.Pull.Number); err == nil && now.HeadSHA == r.Job.HeadSHA {
			r.noVerdict(ctx, "the job was cancelled") // else the next commit's run is on its way
		}
	}
}

// end ends the check run as cancelled, once.
func (r *Reporter) end(ctx context.Context, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.check == nil || r.ended {
		return
	}
	r.ended = true
	r.conclude(ctx, CheckResult{Conclusion: conclusionCanceled, Title: "Ended before there was a verdict", Summary: why})
}

func (r *Reporter) conclude(ctx context.Context, result CheckResult) {
	if err := r.Client.CompleteCheck(ctx, r.check, result); err != nil {
		r.refuse("complete the check run", err)
		return
	}
	r.forget()
}

// Abandon reports that there is no verdict, and why: in the check run, in the job summary, and in
// the comment, which must not continue to show the verdict on another commit as if it were of this
// one. A verdict on this very commit stays.
func (r *Reporter) Abandon(ctx context.Context, cause error) {
	defer r.warn("")
	r.mu.Lock()
	ended := r.ended || r.shown
	r.mu.Unlock()
	if ended || ctx.Err() != nil || errors.Is(cause, context.Canceled) {
		if !ended {
			r.Cancel()
		}
		return
	}
	text := "```text\n" + fenced(r.Runner.redact(cause.Error())) + "\n```\n"
	if err := r.Runner.Summary(func(int) (string, error) { return r.noVerdictText(text), nil }); err != nil {
		r.Runner.Log(err.Error())
	}
	ctx, cancel := outliving(ctx)
	defer cancel()
	r.mu.Lock()
	if r.check == nil {
		r.forget()
	} else {
		r.conclude(ctx, CheckResult{Conclusion: Conclude(gate.Invalid, r.FailOn), Title: "No verdict", Summary: text})
	}
	r.mu.Unlock()
	if r.Comment && r.Job.Pull != nil && r.Client != nil {
		r.noVerdict(ctx, cause.Error())
	}
}

// noVerdict posts to the comment that the commit has no verdict. One leg among others always does
// so, since otherwise the others' verdicts would look like all; a single leg only replaces an older
// commit's verdict.
func (r *Reporter) noVerdict(ctx context.Context, why string) {
	why = r.Runner.redact(why)
	text := r.noVerdictText("```text\n" + fenced(why) + "\n```\n")
	r.postRow(ctx, matrixcomment.Row{Headline: why, Text: text}, r.Leg != "")
}

func (r *Reporter) noVerdictText(why string) string {
	return fmt.Sprintf("### %s No verdict for commit %.10s\n\n%s%s", matrixcomment.Symbol(""), r.Job.HeadSHA, why, r.links())
}

// fenced makes text safe between two fences of Markdown, in a comment whose rows begin with hidden
// lines.
func fenced(s string) string {
	s = strings.NewReplacer("```", "'''", "<!--", "<!- -").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return prose.Clip(s, 8000)
}
