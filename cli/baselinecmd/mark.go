package baselinecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// markFlags choose the runs to mark, if none is named.
type markFlags struct {
	filterFlags
	session, note string
	all, yes      bool
}

func acceptCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	return markCommand(c, f, runstore.Accepted, &cobra.Command{
		Use: "accept {RUN … | --session S | --commit C | --all}", Short: "Make runs part of what later ones are compared with",
		Long: `Accepts the named runs, or those of a session or a commit, or all of them: only
complete runs that are still undecided. Rounds of two builds are never references, and
runs that the gate called a regression or invalid are accepted only with a --note, and
never by --all.`,
		Example: `  apkgate baseline accept 4f2a
  apkgate baseline accept --session run-20260131T220000.000Z
  apkgate baseline accept --all --scenario read-mail --where network=wifi`,
	})
}

func rejectCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	return markCommand(c, f, runstore.Rejected, &cobra.Command{
		SuggestFor: removing,
		Use:        "reject {RUN … | --session S | --commit C | --all}", Short: "Keep runs out of what later ones are compared with",
		Long: `Rejects the named runs, or those of a session or a commit, even if they were
accepted before. --all rejects every run that is still undecided.`,
	})
}

func rebaselineCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	return markCommand(c, f, runstore.Rebaselined, &cobra.Command{
		Use: "rebaseline {RUN … | --session S | --commit C}", Short: "Accept runs as a new level: older ones no longer count",
		Long: `Accepts the named runs, or those of a session or a commit that were not rejected,
as a new level: runs of the same app and scenario that started before them
are kept, but no longer compared with, on whatever device they were made.

It says how many those are. Where some are of a device of which no run is named, that
device would be left without a history: then nothing is changed, and the exit status
is 2. Name a run of each device, or confirm with --yes.`,
	})
}

func markCommand(c terminal.Console, f *settings.ConfigFlags, state runstore.State, cmd *cobra.Command) *cobra.Command {
	var mf markFlags
	cmd.Args = func(_ *cobra.Command, ids []string) error { return mf.check(cmd, ids) }
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		filter, err := mf.filter()
		if err != nil {
			return err
		}
		filter.Session = mf.session
		return withStore(cmd.Context(), c, *f, func(s runstore.Store) error {
			return mark(cmd.Context(), c, s, state, ids, filter, mf)
		})
	}
	cmd.Flags().StringVar(&mf.note, "note", "", "why, in a few words")
	cmd.Flags().StringVar(&mf.session, "session", "", "the runs of this session")
	cmd.Flags().StringVar(&mf.commit, "commit", "", "the runs of this commit")
	if state == runstore.Rebaselined {
		cmd.Flags().BoolVar(&mf.yes, "yes", false, "also retire the runs of devices of which none is named")
	} else {
		cmd.Flags().BoolVar(&mf.all, "all", false, "all undecided runs")
	}
	cmd.Flags().StringVar(&mf.pkg, "package", "", "of these, only runs of this app")
	cmd.Flags().StringVar(&mf.scenario, "scenario", "", "of these, only runs of this scenario")
	cmd.Flags().StringArrayVar(&mf.where, "where", nil, "of these, only runs with this context property, NAME=VALUE; may be repeated")
	return cmd
}

// forced reports whether the user gives a reason for accepting what the gate called worse.
func (f markFlags) forced() bool { return f.note != "" && !f.all }

// check returns what makes the command choose no runs, or choose them twice.
func (f *markFlags) check(cmd *cobra.Command, ids []string) error {
	choosing := 0
	for _, named := range []bool{len(ids) > 0, f.session != "", f.commit != "", f.all} {
		if named {
			choosing++
		}
	}
	switch refined := f.pkg != "" || f.scenario != "" || len(f.where) > 0; {
	case choosing == 0:
		return exit.Usage(fmt.Errorf("%s takes the id of a run, a --session or a --commit", cmd.CommandPath()), listsRuns)
	case len(ids) > 0 && (choosing > 1 || refined):
		return exit.Usage(fmt.Errorf("%s takes the ids of runs or flags that choose them, not both", cmd.CommandPath()), "")
	case f.all && choosing > 1:
		return exit.Usage(errors.New("--all is given with --session or --commit: want one of them"), "")
	}
	return nil
}

// mark marks the runs of the ids, or those that the filter chooses.
func mark(ctx context.Context, c terminal.Console, s runstore.Store, state runstore.State, ids []string, filter runstore.Filter, f markFlags) error {
	chosen, left, err := chooseRuns(ctx, s, state, ids, filter, f)
	if err != nil {
		return err
	}
	var retired []runstore.Entry
	if state == runstore.Rebaselined {
		if retired, err = retiredBy(ctx, s, chosen); err != nil {
			return err
		}
		if alone := withoutDevices(retired, chosen); len(alone) > 0 && !f.yes {
			return exit.Usage(fmt.Errorf("rebaseline would retire %s, of which the named runs have none: nothing is changed", ofDevices(alone, "accepted run")),
				"name a run of each device, or those of a whole --session or --commit, or confirm with --yes")
		}
	}
	if len(chosen) > 0 {
		marked := make([]string, len(chosen))
		for i, e := range chosen {
			marked[i] = e.Run.ID
		}
		if err := s.Mark(ctx, marked, runstore.Mark{State: state, Note: f.note}); err != nil {
			return openstore.Error(err)
		}
	}
	fmt.Fprintf(c.Stdout, "%s: %s\n", state, ofDevices(chosen, "run"))
	if state == runstore.Rebaselined {
		fmt.Fprintf(c.Stdout, "no longer compared with: %s\n", ofDevices(retired, "accepted run"))
	} else if n := leveled(chosen); n > 0 {
		fmt.Fprintf(c.Stdout, "%d of them %s rebaselined: what started before counts again, unless another run holds the level\n", n, prose.Plural(n, "was", "were"))
	}
	if left.decided > 0 {
		fmt.Fprintf(c.Stdout, "%d %s as decided\n", left.decided, prose.Plural(left.decided, "was decided on before and stays", "were decided on before and stay"))
	}
	if left.broken > 0 {
		fmt.Fprintf(c.Stdout, "%d %s incomplete and can't be accepted\n", left.broken, prose.Plural(left.broken, "is", "are"))
	}
	if left.byGate > 0 {
		fmt.Fprintf(c.Stdout, "%d %s accepted: the gate refused %s as a regression, as invalid, or together with such a run; a --note that says why accepts what is named by its session, commit or id all the same, and apkgate baseline rebaseline makes an intended change the new level\n",
			left.byGate, prose.Plural(left.byGate, "is not", "are not"), prose.Plural(left.byGate, "it", "them"))
	}
	if left.inRounds > 0 {
		fmt.Fprintf(c.Stdout, "%d %s measured alternately with another build and can't be accepted\n", left.inRounds, prose.Plural(left.inRounds, "was", "were"))
	}
	return nil
}

// leveled counts the runs that have begun a level.
func leveled(entries []runstore.Entry) int {
	n := 0
	for _, e := range entries {
		if e.Mark.State == runstore.Rebaselined {
			n++
		}
	}
	return n
}

// leftOut counts runs that were chosen and can't be marked, or need not be.
type leftOut struct{ decided, broken, inRounds, byGate int }

// chooseRuns returns the runs of the ids, or else those of the filter that the mark applies to.
func chooseRuns(ctx context.Context, s runstore.Store, state runstore.State, ids []string, filter runstore.Filter, f markFlags) (chosen []runstore.Entry, left leftOut, err error) {
	for _, id := range ids {
		e, err := runNamed(ctx, s, id)
		if err != nil {
			return nil, left, err
		}
		if state.Reference() && interleaved.MeasuredInTurns(e.Run) {
			return nil, left, exit.Usage(fmt.Errorf("run %s was measured alternately with another build, and can't be %s", e.Run.ID, state),
				"apkgate baseline list --by run shows the runs that were measured by themselves")
		}
		if state == runstore.Accepted && e.Run.Status == run.Complete && openstore.Refused(e) && !f.forced() {
			return nil, left, exit.Usage(fmt.Errorf("run %s can't be accepted without a reason: %s", e.Run.ID, openstore.WhyRefused(e)),
				"--note says why it is accepted all the same; apkgate baseline rebaseline makes it the new level")
		}
		e.Run.Iterations, e.Run.Energy = nil, nil // there may be many runs
		chosen = append(chosen, e)
	}
	if len(ids) > 0 {
		return chosen, left, nil
	}
	for e, err := range s.List(ctx, filter) {
		switch {
		case err != nil:
			return nil, left, openstore.Error(err)
		case e.Run.Status != run.Complete && state.Reference() && (e.Mark.State == runstore.Unmarked || openstore.Refused(e)):
			left.broken++
		case state == runstore.Accepted && openstore.Refused(e) && !f.forced():
			left.byGate++
		case !open(e, state, f):
			left.decided++
		case interleaved.MeasuredInTurns(e.Run) && state.Reference():
			left.inRounds++
		default:
			chosen = append(chosen, e)
		}
	}
	if len(chosen) == 0 && left == (leftOut{}) {
		return nil, left, exit.Usage(errors.New("no run matches: nothing is marked"),
			"apkgate baseline list --format json shows sessions and commits, which have to be given whole")
	}
	return chosen, left, nil
}

// open reports whether a run in that state is to be marked if it is not named itself. A person's
// decision is not undone inadvertently.
func open(e runstore.Entry, wanted runstore.State, f markFlags) bool {
	switch {
	case e.Mark.State == runstore.Unmarked:
		return true
	case wanted == runstore.Rejected:
		return !f.all && e.Mark.State != runstore.Rejected
	case wanted == runstore.Accepted:
		return f.forced() && openstore.Refused(e)
	case wanted == runstore.Rebaselined:
		return e.Mark.State == runstore.Accepted || openstore.Refused(e)
	}
	return false
}
