package baselinecmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func listCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	var ff filterFlags
	var format, by string
	cmd := &cobra.Command{
		Use: "list", Short: "List what was measured, newest first", Args: arguments.None,
		Long: `Lists what was measured together, a session a line, newest first: when it began, of
which commit, ref and build, on which devices, the gravest outcome of its runs, and
what was decided about them. "rounds" were measured alternately with another build and
are never compared with; "old level" is from before what apkgate baseline rebaseline
has accepted, and no longer counts.

With --by run each run has a line. With --format json each run, or with --by session
each session, is a JSON object on a line of its own, with all names in full.`,
		Example: `  apkgate baseline list
  apkgate baseline list --by run --scenario read-mail --state accepted`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := ff.filter()
			if err == nil {
				err = exit.OneOf("format", output.Format(format), []output.Format{output.FormatText, output.FormatJSON})
			}
			if err == nil {
				by = cmp.Or(by, defaultBy(output.Format(format)))
				err = exit.OneOf("by", by, []string{bySession, byRun})
			}
			if err != nil {
				return err
			}
			return reading(cmd.Context(), c, *f, func(s runstore.Store) error {
				if by == bySession {
					return listSessions(cmd.Context(), c, s, filter, output.Format(format))
				}
				return list(cmd.Context(), c, s, filter, output.Format(format))
			})
		},
	}
	ff.register(cmd)
	cmd.Flags().StringVar(&format, "format", string(output.FormatText), "what to print: text or json")
	cmd.Flags().StringVar(&by, "by", "", "what has a line: session or run (default session, with --format json run)")
	return cmd
}

// What has a line in the list.
const (
	bySession = "session"
	byRun     = "run"
)

// defaultBy is what has a line by default: scripts read runs.
func defaultBy(f output.Format) string {
	if f == output.FormatJSON {
		return byRun
	}
	return bySession
}

// The text in place of an outcome: of a run that no gate has judged, and of one that was measured as
// a round of a comparison.
const (
	notJudged = "not judged"
	rounds    = "rounds"
)

// list prints each run as it is read: a history may be larger than memory.
func list(ctx context.Context, c terminal.Console, s runstore.Store, filter runstore.Filter, format output.Format) error {
	out := bufio.NewWriter(c.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	table := terminal.Columns{Out: out, Width: c.Width, Flexible: []int{0, 2, 3, 4}, Rows: [][]string{{"run", "started", "app", "scenario", "context", "outcome", "state"}}}
	n := 0
	for e, err := range s.List(ctx, filter) {
		if err != nil {
			return errors.Join(openstore.Error(err), exit.InfrastructureIf(table.Flush()))
		}
		n++
		if format == output.FormatJSON {
			err = enc.Encode(listedOf(e))
		} else {
			err = table.Add(cellsOf(e)...)
		}
		if err != nil {
			return exit.Infrastructure(fmt.Errorf("print the list: %w", err))
		}
	}
	if n == 0 && format == output.FormatText {
		fmt.Fprintln(c.Stdout, "no run matches")
		return nil
	}
	if format == output.FormatJSON {
		return exit.InfrastructureIf(out.Flush())
	}
	return exit.InfrastructureIf(table.Flush())
}

// cellsOf returns the cells of a run in the list.
func cellsOf(e runstore.Entry) []string {
	started := ""
	if !e.Run.Started.IsZero() {
		started = e.Run.Started.UTC().Format("2006-01-02 15:04")
	}
	app := strings.TrimSpace(e.Run.App.Package + " " + e.Run.App.Version)
	return []string{terminal.Plain(e.Run.ID), started, terminal.Plain(app), terminal.Plain(e.Run.Scenario), terminal.Plain(devctx.Name(e.Run.Context, devctx.Named)), outcomeOf(e.Run), stateOf(e)}
}

// outcomeOf returns the gate's outcome of a run, in a word.
func outcomeOf(r run.Run) string {
	switch {
	case interleaved.MeasuredInTurns(r):
		return rounds
	case r.Judged == nil:
		return notJudged
	}
	return r.Judged.Outcome
}

// stateOf returns what was decided about a run, and why it may still not count.
func stateOf(e runstore.Entry) string {
	state := cmp.Or(string(e.Mark.State), "unmarked")
	if openstore.RejectedByGate(e.Mark) {
		state += " by the gate"
	}
	if e.Retired && e.Mark.State.Reference() {
		state += ", before the new level"
	}
	if e.Run.Status != run.Complete {
		state += ", " + string(e.Run.Status)
	}
	return state
}

// listed is a run as list prints it in JSON (docs/format/history.md).
type listed struct {
	ID       string            `json:"id"`
	Started  time.Time         `json:"started,omitzero"`
	App      run.App           `json:"app"`
	Source   run.Source        `json:"source"`
	Scenario string            `json:"scenario"`
	Session  string            `json:"session,omitempty"`
	Context  map[string]string `json:"context"`
	Status   run.Status        `json:"status"`
	State    string            `json:"state"`
	Retired  bool              `json:"retired"`
	Note     string            `json:"note,omitempty"`
	Judged   *run.Judged       `json:"judged,omitempty"`
	InRounds bool              `json:"in_rounds"`
}

func listedOf(e runstore.Entry) listed {
	return listed{
		ID: e.Run.ID, Started: e.Run.Started.UTC(), App: e.Run.App, Source: e.Run.Source, Scenario: e.Run.Scenario,
		Session: e.Run.Session, Context: e.Run.Context, Status: e.Run.Status,
		State: cmp.Or(string(e.Mark.State), "unmarked"), Retired: e.Retired, Note: e.Mark.Note,
		Judged: e.Run.Judged, InRounds: interleaved.MeasuredInTurns(e.Run),
	}
}

// filterFlags choose runs of the history.
type filterFlags struct {
	pkg, scenario, state, commit string
	where                        []string
	limit                        int
}

func (f *filterFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pkg, "package", "", "only runs of this app")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "only runs of this scenario")
	cmd.Flags().StringVar(&f.commit, "commit", "", "only runs of this commit")
	cmd.Flags().StringVar(&f.state, "state", "", "only runs that are accepted, rejected, rebaselined or unmarked")
	cmd.Flags().StringArrayVar(&f.where, "where", nil, "only runs with this context property, NAME=VALUE; may be repeated")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "at most so many (0: all)")
}

func (f filterFlags) filter() (runstore.Filter, error) {
	out := runstore.Filter{Package: f.pkg, Scenario: f.scenario, Commit: f.commit, Limit: f.limit}
	switch f.state {
	case "":
	case "unmarked":
		out.States = []runstore.State{runstore.Unmarked}
	default:
		if err := exit.OneOf("state", runstore.State(f.state), append(runstore.States(), "unmarked")); err != nil {
			return out, err
		}
		out.States = []runstore.State{runstore.State(f.state)}
	}
	for _, w := range f.where {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return out, exit.Usage(fmt.Errorf("--where is %q, want NAME=VALUE", prose.Short(w)), "")
		}
		if out.Where == nil {
			out.Where = map[string]string{}
		}
		out.Where[name] = value
	}
	if f.limit < 0 {
		return out, exit.Usage(fmt.Errorf("--limit is %d, want 0 or more", f.limit), "")
	}
	return out, nil
}
