// Package evaluate implements the command evaluate: the error rates of the gate on given series, as
// shares with their intervals.
//
// It reads series and shows answers. Drawing and judging belong to package evaluation.
package evaluate

import (
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/research/evaluation"
	"github.com/apkgate/apkgate/research/evaluation/series"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

type flags struct {
	settings.ConfigFlags
	settings.PolicyFlags
	designs, worlds, rules []string
	across, widen          bool
	metrics, draws, rounds int
	shifts                 []string
	seed                   uint64
	limit                  int
	format                 string
}

// Command returns apkgate evaluate.
func Command(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "evaluate [SERIES.json]",
		Short: "What is this gate worth on my series? How often it is wrong, and what it costs",
		Long:  long(),
		Example: `  apkgate evaluate series.json --design 9x3-3 --across-sessions
  apkgate evaluate series.json --design 18x10-1 --design 18x10-10 --shift 0,0.1 --rule apkgate,bencher
  apkgate evaluate --store .apkgate/history.db --format markdown`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return evaluate(c, cmd, f, args) },
	}
	cmd.Flags().StringArrayVar(&f.designs, "design", []string{"9x3-3"}, "HxR-N: a history of H runs of R repetitions and a new run of N; may be repeated")
	cmd.Flags().BoolVar(&f.across, "across-sessions", false, "draw whole sessions, the new run of one that the history has nothing of")
	cmd.Flags().IntVar(&f.metrics, "metrics", 1, "so many series at once as the metrics of one run, the first of them worse")
	cmd.Flags().StringSliceVar(&f.worlds, "world", []string{string(evaluation.Plain)}, "what else is simulated besides the design; may be repeated (see above)")
	cmd.Flags().StringSliceVar(&f.shifts, "shift", []string{"0", "0.05", "0.1", "0.2"}, "by what shares the new build is worse; 0 is one that changed nothing")
	cmd.Flags().IntVar(&f.draws, "draws", 1000, "draws for each row")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "draw others: the same seed gives the same draws")
	cmd.Flags().StringSliceVar(&f.rules, "rule", []string{string(evaluation.Apkgate)}, "who judges: "+strings.Join(ruleNames(), ", ")+"; may be repeated")
	cmd.Flags().IntVar(&f.rounds, "rounds", 0, fmt.Sprintf("maximum number of rounds with the base build; 0: there is no base build (default: the configuration's, else %d)", config.Default().Rounds.Max))
	cmd.Flags().BoolVar(&f.widen, "widen-rounds", false, "draw a session's repetitions apart by √(n/(n-1)) for rounds: a few vary less than their noise")
	cmd.Flags().IntVar(&f.limit, "limit", 500, "take the series from at most so many of the newest accepted runs")
	cmd.Flags().StringVar(&f.format, "format", string(output.FormatText), "what to print: text, json or markdown")
	flagset.Config(cmd, &f.ConfigFlags)
	flagset.Judging(cmd, &f.PolicyFlags)
	return cmd
}

func long() string {
	var worlds strings.Builder
	for _, d := range evaluation.Worlds() {
		fmt.Fprintf(&worlds, "  %-19s %s\n", d.World, d.Is)
	}
	return `Draws histories and new runs from series of measurements of builds that did not change,
makes some of the new runs worse, and checks each draw as a pull request: the
check against the history, then rounds of the base and the new build, alternately, for what
is undecided. Prints how often that fails a build, with the 95 % interval, how often
it can't tell, and how many repetitions it takes. It needs no device and fails nothing.

SERIES.json ("-" reads standard input) is a list of
  {"name":"…", "device":"…", "values":[…], "session":["…",…]}
with the values in the order of time; "session" names the session of each, and may be
left out. Without a file the series are those of the accepted runs of the history.

Rounds are simulated from the repetitions of the new run's own session, so that their
order in time is lost.

--world is one of
` + strings.TrimRight(worlds.String(), "\n")
}

func ruleNames() []string {
	var out []string
	for _, r := range evaluation.Rules() {
		out = append(out, string(r))
	}
	return out
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return exit.Usage(fmt.Errorf("%s takes one file of series, but got %d", cmd.CommandPath(), len(args)), "put all series into one list")
	}
	return nil
}

func evaluate(c terminal.Console, cmd *cobra.Command, f flags, args []string) error {
	format := output.Format(f.format)
	if err := exit.OneOf("format", format, []output.Format{output.FormatText, output.FormatJSON, output.FormatMarkdown}); err != nil {
		return err
	}
	questions, err := f.questions()
	if err != nil {
		return err
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	s := evaluation.Setup{Policy: set.Policy, Draws: f.draws, Seed: f.seed, Rounds: f.rounds, Widen: f.widen}
	if !cmd.Flags().Changed("rounds") {
		s.Rounds = set.Config.Rounds.Max
	}
	if err := f.allows(s); err != nil {
		return err
	}
	var lost error
	if len(args) == 1 {
		s.Series, err = fromFile(c, args[0])
	} else {
		s.Series, lost, err = fromStore(cmd.Context(), c, f.limit, set)
	}
	if err != nil {
		return err
	}
	if err := s.Check(questions); err != nil {
		return exit.Usage(fmt.Errorf("evaluate: %w", err), "")
	}
	shown := newProgress(c)
	report, err := evaluation.Evaluate(cmd.Context(), s, questions, shown.update)
	shown.clear()
	if err != nil {
		return err
	}
	return errors.Join(write(c, report, format), lost)
}

// allows rejects numbers that are out of range.
func (f flags) allows(s evaluation.Setup) error {
	for _, n := range []struct {
		flag         string
		value, least int
		most         int
	}{
		{"draws", f.draws, 1, evaluation.MaxDraws}, {"metrics", f.metrics, 1, evaluation.MaxMetrics},
		{"rounds", s.Rounds, 0, evaluation.MaxRounds}, {"limit", f.limit, 1, evaluation.MaxDraws},
	} {
		if n.value < n.least || n.value > n.most {
			return exit.Usage(fmt.Errorf("--%s is %d, want %d to %d", n.flag, n.value, n.least, n.most), "")
		}
	}
	if s.Rounds == 0 {
		return nil
	}
	if _, err := rounds.PlanOf(s.Policy, s.Rounds, 1); err != nil {
		return exit.Usage(fmt.Errorf("--rounds %d: %w", s.Rounds, err), "0 judges by the history alone")
	}
	return nil
}

// questions returns the rows that the flags request: for each design, world and rule one for each
// shift.
func (f flags) questions() ([]evaluation.Question, error) {
	designs, shifts, err := f.check()
	if err != nil {
		return nil, err
	}
	var out []evaluation.Question
	for _, design := range designs {
		for _, world := range f.worlds {
			for _, rule := range f.rules {
				for _, shift := range shifts {
					out = append(out, evaluation.Question{
						Design: design, AcrossSessions: f.across, Metrics: f.metrics, Shift: shift,
						World: evaluation.World(world), Rule: evaluation.Rule(rule),
					})
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, exit.Usage(errors.New("nothing to evaluate: --design, --world, --rule or --shift names nothing"), "apkgate evaluate series.json --design 9x3-3 --shift 0,0.1")
	}
	return out, nil
}

// check rejects unknown names in the flags, and parses designs and shifts.
func (f flags) check() (designs []evaluation.Design, shifts []float64, err error) {
	for _, text := range f.designs {
		design, err := evaluation.ParseDesign(text)
		if err != nil {
			return nil, nil, exit.Usage(fmt.Errorf("--design: %w", err), "")
		}
		designs = append(designs, design)
	}
	for _, world := range f.worlds {
		if err := exit.OneOf("world", evaluation.World(world), worlds()); err != nil {
			return nil, nil, err
		}
	}
	for _, rule := range f.rules {
		if err := exit.OneOf("rule", evaluation.Rule(rule), evaluation.Rules()); err != nil {
			return nil, nil, err
		}
	}
	for _, text := range f.shifts {
		shift, err := strconv.ParseFloat(text, 64)
		if err != nil || !(shift >= 0 && shift <= evaluation.MaxShift) {
			return nil, nil, exit.Usage(fmt.Errorf("--shift has %q, want numbers from 0 to %g such as 0,0.1: 0.1 is a worsening by 10 %%", prose.Short(text), evaluation.MaxShift), "")
		}
		shifts = append(shifts, shift)
	}
	return designs, shifts, nil
}

func worlds() []evaluation.World {
	var out []evaluation.World
	for _, d := range evaluation.Worlds() {
		out = append(out, d.World)
	}
	return out
}

func fromFile(c terminal.Console, path string) ([]series.Series, error) {
	src, err := inputfiles.Open(c, path)
	if err != nil {
		return nil, exit.Usage(err, "")
	}
	defer src.Close()
	all, err := series.Read(src)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read the series of %s: %w", terminal.Plain(path), err), "")
	}
	return all, nil
}
