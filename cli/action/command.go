package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func commandCommand(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "command",
		Short: "Do what a comment on a pull request asks",
		Long: `Reads the event of a new comment, or of a label that was set, and does what it asks
if the sender may write to the repository:

  /apkgate accept REASON   accept what got worse on the pull request's last commit
  /apkgate why             measure again, and record both builds for longer
  /apkgate retry           measure again

The label "apkgate: accept" accepts, too. Nothing is checked out and nothing of the
pull request is run. docs/github.md describes what is refused.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return command(c, cmd, &f) },
	}
	f.register(cmd)
	return cmd
}

// request is what a comment or a label on a pull request asks for.
type request struct {
	*call
	githubactions.Asked
	verb   acceptance.Verb
	reason string
	pull   *githubactions.Pull
}

// refusal is why nothing is done, for whoever asks.
type refusal string

// Error returns the reason.
func (r refusal) Error() string { return string(r) }

// command ends with 0 if it refuses: any comment starts this workflow, and its run is no verdict.
func command(c terminal.Console, cmd *cobra.Command, f *flags) error {
	a, err := enter(c, cmd, f)
	if err != nil {
		return err
	}
	if a.Client == nil {
		return exit.Usage(errors.New("there is no token to answer with"), "the input github-token sets it")
	}
	if a.Job.Asked == nil && a.Job.Event != "issue_comment" && !strings.HasPrefix(a.Job.Event, "pull_request") {
		return exit.Usage(fmt.Errorf("action command on the event %s", prose.Short(a.Job.Event)), "run it on issue_comment (created) and pull_request (labeled); examples/commands.yml shows both")
	}
	r, problem := a.asked()
	if r == nil {
		return nil
	}
	may, err := a.Client.MayWrite(cmd.Context(), r.By)
	switch {
	case err != nil:
		return exit.Infrastructure(err)
	case !may: // no answer: strangers can't make apkgate write comments
		a.Runner.Warn(fmt.Sprintf("Nothing is done: %s has no write access to this repository.", prose.Short(r.By)))
		return nil
	case problem == "":
		err = r.do(cmd.Context())
	default:
		err = refusal(problem)
	}
	var refused refusal
	if !errors.As(err, &refused) {
		return err
	}
	a.Runner.Warn("Nothing is done: " + string(refused))
	text := fmt.Sprintf("%s, nothing is done: %s\n", markdown.Escape(r.By), string(refused))
	if err := a.Client.Answer(cmd.Context(), r.Pull, text); err != nil {
		a.Runner.Warn(err.Error())
	}
	return nil
}

// asked returns what the event asks, nil for nothing, and what is wrong with it.
func (a *call) asked() (r *request, problem string) {
	asked := a.Job.Asked
	nothing := func(why string) (*request, string) {
		a.Runner.Log("Nothing is asked: " + why + ".")
		return nil, ""
	}
	if asked == nil {
		return nothing("it is neither a new comment nor a label that was set")
	}
	r = &request{call: a, Asked: *asked}
	if asked.Label != "" {
		if asked.Label != acceptance.Label {
			return nothing("the label is another one")
		}
		r.verb, r.reason = acceptance.Accept, "by the label "+acceptance.Label
	} else {
		var ok bool
		if r.verb, r.reason, problem, ok = acceptance.Parse(asked.Body); !ok {
			return nothing("the comment does not begin with /apkgate")
		}
	}
	switch {
	case asked.Pull == 0:
		return nothing("it is on an issue, and not on a pull request")
	case asked.Bot:
		return nothing("it is not a person's own")
	}
	return r, problem
}

// do does what is asked, or returns a refusal.
func (r *request) do(ctx context.Context) error {
	var err error
	if r.pull, err = r.Client.Pull(ctx, r.Pull); err != nil {
		return exit.Infrastructure(err)
	}
	if r.pull.Closed {
		return refusal("the pull request is closed. What was merged is accepted by a refresh with `accept-regression: true`.")
	}
	why, err := r.Client.Stands(ctx, r.Asked, r.pull.HeadSHA)
	switch {
	case err != nil:
		return exit.Infrastructure(err)
	case why != "" && r.Label == "":
		r.Runner.Log("Nothing is done: " + why + ".")
		return nil
	case why != "":
		return refusal(why + ". Set it again.")
	}
	all, err := r.Client.Judgements(ctx, r.pull.HeadSHA, r.Name)
	if err != nil {
		return exit.Infrastructure(err)
	}
	all = slices.DeleteFunc(all, func(j githubactions.Judged) bool { return j.Record.Outcome != "" && j.Record.Pull != r.Pull })
	if len(all) == 0 {
		return refusal(r.noVerdict())
	}
	for _, j := range all {
		if j.Completed.IsZero() {
			return refusal(fmt.Sprintf("the check %s of commit %.10s is still in progress. Comment again when it has a verdict.", named(j), r.pull.HeadSHA))
		}
	}
	if r.verb == acceptance.Accept {
		return r.accept(ctx, all)
	}
	return r.again(ctx, all)
}

func (r *request) noVerdict() string {
	if r.pull.Fork {
		return "the gate has no check run on a pull request from a fork, since its token may only read. Merge it, and let the next refresh accept it with `accept-regression: true`."
	}
	return fmt.Sprintf("the commit %.10s has no verdict of the configuration %s. Wait for it, or start its workflow, and comment again.", r.pull.HeadSHA, markdown.Escape(r.Name))
}

func named(j githubactions.Judged) string { return markdown.Escape(prose.Short(j.Name)) }

// accept accepts the regressions among the verdicts on the pull request's head. A verdict that came
// after the comment was not what the comment is about.
func (r *request) accept(ctx context.Context, all []githubactions.Judged) error {
	var worse []githubactions.Judged
	outcomes := map[gate.Outcome]bool{}
	for _, j := range all {
		outcomes[j.Record.Outcome] = true
		switch {
		case j.Record.Outcome != gate.Regression:
		case j.Record.Accepted != nil:
			r.Runner.Log(fmt.Sprintf("%s is accepted already, by %s.", j.Name, j.Record.Accepted.By))
		case r.At.IsZero() || j.Completed.After(r.At):
			return refusal(fmt.Sprintf("the verdict on commit %.10s came after that. Look at it, and %s.", r.pull.HeadSHA, r.repeat()))
		default:
			worse = append(worse, j)
		}
	}
	if !outcomes[gate.Regression] {
		return refusal(nothingToAccept(outcomes))
	}
	if len(worse) == 0 {
		return nil
	}
	by := acceptance.Accepted{By: r.By, Reason: r.reason, At: r.At, URL: r.URL, How: acceptance.ByComment}
	if r.Label != "" {
		by.How = acceptance.ByLabel
	}
	if now, err := r.Client.Pull(ctx, r.Pull); err != nil || now.HeadSHA != r.pull.HeadSHA {
		return refusal(fmt.Sprintf("the pull request has a newer commit than %.10s. Wait for its verdict, and %s.", r.pull.HeadSHA, r.repeat()))
	}
	for i := range worse {
		worse[i].Record.Accepted = &by
		if err := r.Client.Accept(ctx, worse[i]); err != nil {
			return exit.Infrastructure(err)
		}
		r.Runner.Log(fmt.Sprintf("%s is accepted: %s", worse[i].Name, worse[i].Record.Note()))
	}
	if err := r.Client.AmendComment(ctx, r.Pull, worse); err != nil {
		r.Runner.Warn(err.Error())
	}
	return nil
}

func (r *request) repeat() string {
	if r.Label != "" {
		return "set the label again"
	}
	return "comment again"
}

// nothingToAccept says what to do about other verdicts.
func nothingToAccept(outcomes map[gate.Outcome]bool) string {
	switch {
	case outcomes[""], outcomes[gate.Invalid]:
		return "there is no valid verdict to accept: see the check for what was missing, and comment `/apkgate retry`."
	case outcomes[gate.Inconclusive]:
		return "the verdict is inconclusive, which is no regression to accept. `/apkgate retry` measures again and goes on with what was kept."
	}
	return "nothing got worse, so there is nothing to accept."
}

// again starts the runs of the workflow again that the verdicts are from, on the same commit and with
// the same token. For why, the check runs keep who asked, for the next attempt to find.
func (r *request) again(ctx context.Context, all []githubactions.Judged) error {
	var runs []int64
	for _, j := range all {
		if !slices.Contains(runs, j.Record.Run) && j.Record.Run > 0 {
			runs = append(runs, j.Record.Run)
		}
		if r.verb != acceptance.Why || j.Record.Outcome == "" {
			continue
		}
		j.Record.Why = r.By
		if err := r.Client.Note(ctx, j); err != nil {
			return exit.Infrastructure(err)
		}
	}
	for _, run := range runs {
		if err := r.Client.Rerun(ctx, run); err != nil {
			return exit.Infrastructure(err)
		}
		r.Runner.Log(fmt.Sprintf("Run %d of the workflow is run again.", run))
	}
	return nil
}
