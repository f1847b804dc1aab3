// Package why implements the command apkgate why: it records both builds of a session with a
// regression once more, and shows what explains it.
//
// It judges nothing. The printed verdict is the session's, and the exit status is 0 whatever it
// was, as that of apkgate report.
package why

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

type flags struct {
	settings.ConfigFlags
	output.OutputFlags
	explanation.Flags
	base, head, keep string
	parallel         int
}

// Command returns apkgate why.
func Command(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "why SESSION",
		Short: "Explain a regression later: record both builds once more",
		Long: `Records a few rounds of both builds of a session in which apkgate run or apkgate
compare found a regression, on the device where it is largest, and says what explains
it: what the frames waited for, which methods took the energy. The builds and the
verdict are those that the session kept. The verdict is printed with what explains it,
and the session's reports are rewritten.

These rounds judge nothing: the exit status is 0 whatever the verdict was, 2 where
something is missing, 3 where nothing could be recorded.`,
		Example: `  apkgate why run-20260102T030405.000Z
  apkgate why run-20260102T030405.000Z --base old.apk --why 20m`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage(fmt.Errorf("why takes the name of one session, got %d arguments", len(args)), "the report on a regression names it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.explain(cmd.Context(), c, args[0]) },
	}
	cmd.Flags().StringVar(&f.Config, "config", "", "the configuration (default "+config.FileName+")")
	cmd.Flags().StringVar(&f.base, "base", "", "the build before the change, instead of the session's")
	cmd.Flags().StringVar(&f.head, "head", "", "the build that is worse, instead of the session's")
	cmd.Flags().StringVar(&f.keep, "keep", "", "leave the rounds in this folder, as why-base.jsonl and why-head.jsonl")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "how many devices work at the same time (0: all, but one of those that are booted on this computer)")
	flagset.Why(cmd, &f.Flags)
	f.OutputFlags.Register(cmd)
	return cmd
}

// explain runs the command.
func (f flags) explain(ctx context.Context, c terminal.Console, name string) error {
	if err := f.OutputFlags.Check(); err != nil {
		return err
	}
	cfg, err := settings.LoadConfig(f.Config, false)
	if err != nil {
		return err
	}
	s, err := explanation.Find(explanation.Root(f.ConfigFlags.File()), name)
	if err != nil {
		return err
	}
	r, err := f.recorder(c, cfg, s)
	if err != nil {
		return err
	}
	for format, path := range s.Reports {
		if f.Path(output.Format(format)) == "" {
			f.OutputFlags = f.To(output.Format(format), path)
		}
	}
	f.Places = sourcelocation.Of(c, cfg, f.ConfigFlags.File())
	if err := atomicfile.KeepsInput(f.Files(), []string{r.Base, r.Head, f.ConfigFlags.File(), s.RunsFile()}); err != nil {
		return err
	}
	answer, err := f.answer(ctx, c, cfg, s, r)
	if err != nil {
		return err
	}
	if err := errors.Join(output.Write(c, answer, f.OutputFlags), exit.InfrastructureIf(s.Save(answer))); err != nil {
		return err
	}
	if written := f.Files(); len(written) > 0 {
		fmt.Fprintf(c.Stderr, "report: %s\n", terminal.Plain(strings.Join(written, ", ")))
	}
	return nil
}

// recorder returns what records the session's builds: those that it kept, or that flags name.
func (f flags) recorder(c terminal.Console, cfg *config.Config, s explanation.Session) (explanation.Recorder, error) {
	r := explanation.Recorder{Console: c, Config: cfg, Session: s.Session, BaseFrom: s.Base.Source, From: s.Head.Source, Parallel: f.parallel, Keep: f.keep, Again: true}
	var err error
	if r.Within, err = f.Within(cfg); err != nil {
		return r, err
	}
	r.Within = cmp.Or(r.Within, config.DefaultWhy) // 0 is only for commands that explain by themselves
	if f.parallel < 0 {
		return r, exit.Usage(fmt.Errorf("--parallel is %d, want 0 or more", f.parallel), "")
	}
	for _, b := range []struct {
		build      explanation.Build
		side, flag string
		to         *string
	}{{s.Base, "base", f.base, &r.Base}, {s.Head, "head", f.head, &r.Head}} {
		if *b.to = b.flag; b.flag == "" {
			if *b.to, err = s.BuildOf(b.build, b.side); err != nil {
				return r, exit.Usage(err, "name it: apkgate why "+prose.Short(s.Session)+" --"+b.side+" FILE.apk")
			}
		}
		own := *cfg
		own.App.Install(*b.to)
		if err := validate.Files(&own); err != nil {
			return r, fmt.Errorf("the %s build: %w", b.side, err)
		}
	}
	return r, nil
}

// answer returns the session's verdict, with what was recorded now.
func (f flags) answer(ctx context.Context, c terminal.Console, cfg *config.Config, s explanation.Session, r explanation.Recorder) (document.Document, error) {
	found, err := s.Answer()
	if err != nil {
		return document.Document{}, err
	}
	runs, err := inputfiles.Runs(c, []string{s.RunsFile()}, inputfiles.ImportFlags{})
	if err != nil {
		return document.Document{}, err
	}
	catalogue, err := cfg.Catalogue()
	if err == nil {
		catalogue, err = run.Catalogue(catalogue, runs...)
	}
	if err != nil {
		return document.Document{}, exit.Usage(err, "")
	}
	switch {
	case found.Verdict != nil:
		return f.verdict(ctx, layoutOf(*found.Verdict, s, runs, f, catalogue), cfg, s, r)
	case found.Comparison != nil:
		in := judging.CompletedComparison(layout.OfComparison(*found.Comparison), catalogue, false)
		in.Notes = s.Notes
		return f.comparison(ctx, in, runs, cfg, s, r)
	}
	return document.Document{}, exit.Usage(fmt.Errorf("session %s has no verdict", prose.Short(s.Session)), "")
}

// layoutOf returns a verdict laid out as by the command that found it.
func layoutOf(v saved.Verdict, s explanation.Session, runs []run.Run, f flags, catalogue *metric.Catalogue) layout.Input {
	in := layout.OfVerdict(v)
	in.Runs, in.Catalogue, in.Meta, in.Notes = runs, catalogue, judging.MetaOf(runs), s.Notes
	if s.Store != "" {
		in.Kept = runevidence.LinkFrom(f.Path(output.FormatHTML), runevidence.InHistory(runs, openstore.Kept(s.Store), ""))
	}
	return in
}

func (f flags) verdict(ctx context.Context, in layout.Input, cfg *config.Config, s explanation.Session, r explanation.Recorder) (document.Document, error) {
	units := s.UnitsOf()
	if err := checkRecordable(judging.RegressedIn(in), units, cfg); err != nil {
		return document.Document{}, err
	}
	in, err := r.Verdict(ctx, in, units)
	if err != nil {
		return document.Document{}, exit.Infrastructure(err)
	}
	in.Why = f.next(judging.RegressedIn(in), s, r.Within)
	return layout.Verdict(in), nil
}

func (f flags) comparison(ctx context.Context, in layout.ComparisonInput, head []run.Run, cfg *config.Config, s explanation.Session, r explanation.Recorder) (document.Document, error) {
	units := s.UnitsOf()
	if err := checkRecordable(judging.RegressedBuild(in, head), units, cfg); err != nil {
		return document.Document{}, err
	}
	in, err := r.Comparison(ctx, in, head, units)
	if err != nil {
		return document.Document{}, exit.Infrastructure(err)
	}
	in.Why = f.next(judging.RegressedBuild(in, head), s, r.Within)
	return layout.Comparison(in), nil
}

// next returns how to record longer, if nothing was found.
func (f flags) next(all []judging.Regressed, s explanation.Session, within time.Duration) string {
	return explanation.Next(all, fmt.Sprintf("%s for longer than %s: --why %s", explanation.Again(s.Session, ""), prose.Duration(within), prose.Duration(2*within)))
}

// checkRecordable checks that what got worse can be recorded: on the devices and in the scenarios of the
// present configuration.
func checkRecordable(all []judging.Regressed, units map[string]measurement.Unit, cfg *config.Config) error {
	if len(all) == 0 {
		return exit.Usage(errors.New("nothing that a recording explains got worse in this session: no frames and no energy"), "")
	}
	var old []string
	for _, r := range all {
		unit, known := units[r.Run]
		same := func(u measurement.Unit) bool { return u.Key() == unit.Key() }
		switch {
		case r.Untraced():
			old = append(old, r.Scenario)
		case !known || !slices.ContainsFunc(measurement.Units(cfg), same):
			return exit.Usage(fmt.Errorf("%s got worse on what the configuration no longer has: %s", prose.Quote(r.Scenario, 80), prose.Short(unit.Key())), "put its scenario, device and network back into apkgate.yml, or name the configuration with --config")
		}
	}
	if len(old) == len(all) {
		return exit.Usage(fmt.Errorf("what frames of %s wait for can't be recorded on the devices on which they got worse: their Android is older than 10", strings.Join(old, ", ")), "measure on a device with Android 10 or later")
	}
	return nil
}
