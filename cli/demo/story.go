package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/cli/baselinecmd"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// demo is a running demo in its folder.
type demo struct {
	terminal.Console
	dir   string
	store runstore.Store
}

// The main branch is measured on so many nights, as many as a verdict needs.
const (
	nights           = 5
	nightRepetitions = 2
)

// firstSession is the session of the simulated phones in the first night. Others that were tried end
// in the same verdicts, with wider intervals.
const firstSession = 21

func (d demo) say(format string, args ...any) { fmt.Fprintf(d.Stdout, format, args...) }

// play does what a team would do in a week.
func (d demo) play(ctx context.Context) error {
	for _, step := range []func(context.Context) error{d.history, d.worse, d.intended, d.green} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// history measures the main branch and accepts its runs.
func (d demo) history(ctx context.Context) error {
	d.say("\n1. The main branch, build 1.4.0, is measured on %d nights:\n", nights)
	lab, err := devices()
	if err != nil {
		return exit.Infrastructure(err)
	}
	for _, p := range lab {
		title := p.Manufacturer + " " + p.Model
		if p.Sensors.Emulator {
			title += " (emulator)"
		}
		d.say("     %-34s Android %s, %3d Hz\n", title, p.SDK, p.Hz)
	}
	accepted := 0
	for night := range nights {
		b, err := d.build(mainBuild, fmt.Sprintf("night-%d", night+1), firstSession+night, nights-night)
		if err != nil {
			return err
		}
		b.config.Scenarios[0].Repetitions = nightRepetitions
		measured, err := b.measure(ctx, d.store)
		if err != nil {
			return err
		}
		var ids []string
		for _, r := range measured.Runs {
			ids = append(ids, r.ID)
		}
		if err := d.store.Mark(ctx, ids, runstore.Mark{State: runstore.Accepted}); err != nil {
			return openstore.Error(err)
		}
		accepted += len(ids)
	}
	d.say("   %d runs are accepted: pull requests are compared with them.\n", accepted)
	return nil
}

// worse gates a pull request that is worse in one tap.
func (d demo) worse(ctx context.Context) error {
	d.say("\n2. Pull request 41, build 1.5.0: an opened message shows its pictures at once\n\n")
	in, err := d.gate(ctx, worseBuild, "", "pull-41")
	if err != nil {
		return err
	}
	answer := layout.Verdict(in)
	if err := d.print(answer, "", document.Why); err != nil {
		return err
	}
	d.draw(answer)
	return nil
}

// reason is why the team accepts a slower build.
const reason = "two lines of each message, agreed with design"

// intended gates a pull request that is slower on purpose, and accepts it with the reason.
func (d demo) intended(ctx context.Context) error {
	d.say("\n3. Pull request 42, build 1.6.0: the list shows two lines of each message\n\n")
	in, err := d.gate(ctx, slowerBuild, "", "pull-42")
	if err != nil {
		return err
	}
	if err := d.print(layout.Verdict(in), document.Why); err != nil {
		return err
	}
	d.say("\n   It is intended, and accepted with the reason, as /apkgate accept does in a comment:\n")
	d.say("     apkgate baseline accept --session pull-42 --note %s\n", device.Quote(reason))
	var said strings.Builder
	c := d.Console
	c.Stdout = &said
	accept := baselinecmd.Command(c)
	accept.SilenceErrors, accept.SilenceUsage = true, true // the caller prints it
	accept.SetArgs([]string{"accept", "--session", "pull-42", "--note", reason, "--store", d.path(historyFile)})
	if err := accept.ExecuteContext(ctx); err != nil {
		return err
	}
	done, _, _ := strings.Cut(said.String(), " (") // the names of all devices
	d.say("     %s\n", done)
	return nil
}

// green gates a pull request that starts from the accepted one.
func (d demo) green(ctx context.Context) error {
	d.say("\n4. Pull request 43, build 1.6.1, starts from the accepted build. One run on each\n   device is no history yet: what it leaves undecided is measured alternately with\n   build 1.6.0\n\n")
	in, err := d.gate(ctx, lastBuild, slowerBuild, "pull-43")
	if err != nil {
		return err
	}
	return d.print(layout.Verdict(in), "")
}

// print prints an answer, those of its facts that answer one of the questions, and its checks.
func (d demo) print(answer document.Document, about ...document.Question) error {
	short := document.Document{Answer: answer.Answer, Checks: answer.Checks}
	for _, f := range answer.Facts {
		if !f.Detail && slices.Contains(about, f.Answers) {
			short.Facts = append(short.Facts, f)
		}
	}
	return output.Write(d.Console, short, output.Text())
}

const (
	textWidth = 100
	indent    = "   "
)

// draw prints the first frame of the first picture of a cause.
func (d demo) draw(answer document.Document) {
	for _, s := range answer.Sections {
		groups, _ := s.Body.(*document.Groups)
		if groups == nil {
			continue
		}
		for _, f := range groups.Groups[0].Figures {
			if worded, ok := f.Picture.(document.Worded); ok {
				d.say("\n%s%s\n", indent, f.Caption)
				for _, line := range worded.Text(cmp.Or(d.Width, textWidth) - len(indent)) {
					if line == "" {
						return
					}
					d.say("%s%s\n", indent, strings.ReplaceAll(line, wording.NBSP, " "))
				}
				return
			}
		}
	}
}

// build is a build that is measured.
type build struct {
	console terminal.Console
	config  *config.Config
	flags   measurement.CollectFlags
}

// build reads the configuration as any user's, for another build. phones is the session of the
// simulated phones, which was so many days ago.
func (d demo) build(name, session string, phones, ago int) (build, error) {
	cfg, err := settings.LoadConfig(d.path(config.FileName), false)
	if err != nil {
		return build{}, err
	}
	cfg.App.Install(d.path(name + ".apk"))
	b := build{console: d.Console, config: cfg, flags: measurement.CollectFlags{
		Session: session, Evidence: measurement.Evidence{Folder: openstore.Kept(d.path(historyFile))},
	}}
	b.console.Now = func() time.Time { return d.Now().AddDate(0, 0, -ago) }
	b.console.Getenv = func(name string) string {
		if name == simulated.Session {
			return strconv.Itoa(phones)
		}
		return d.Getenv(name)
	}
	if !d.ProgressTerminal {
		b.console.Stderr = io.Discard // a line for each run
	}
	return b, nil
}

// measure makes the runs of a build, and stores them.
func (b build) measure(ctx context.Context, store runstore.Store) (measurement.Measured, error) {
	m, err := measurement.MeasureInto(ctx, b.console, b.config, b.flags, store)
	if err == nil {
		err = m.Lost
	}
	return m, err
}

// gate measures a pull request's build, judges it by the history, measures what is undecided
// alternately with a base build ("" for none), and leaves a page, the verdict and the runs.
func (d demo) gate(ctx context.Context, name, base, pull string) (in layout.Input, err error) {
	b, err := d.build(name, pull, firstSession+nights, 0)
	if err != nil {
		return in, err
	}
	m, err := b.measure(ctx, d.store)
	if err != nil {
		return in, err
	}
	s := interleaved.Settler{Console: b.console, Config: b.config, Flags: b.flags, Store: d.store}
	if base != "" {
		if s.Base, err = interleaved.Named(b.console, b.config, d.path(base+".apk"), ""); err != nil {
			return in, err
		}
	}
	policy, _ := gate.PolicyOf(gate.PresetDefault)
	policy.Budget = interleaved.BudgetOf(b.config, s.Base, m, nil)
	s.Set = settings.Settings{Policy: policy, Catalogue: metric.Default(), Config: b.config}
	sound := runstore.SoundOf(d.store)
	s.Judge = func(runs []run.Run) (layout.Input, error) {
		return judging.Judge(runs, judging.OfStore(ctx, sound, s.Set, judging.Lineage{}), s.Set)
	}
	if in, err = s.Judge(m.Runs); err != nil {
		return in, err
	}
	if base != "" {
		if in, err = s.Settle(ctx, in, m); err != nil {
			return in, err
		}
	}
	if err := openstore.Judged(ctx, d.store, in.Verdict); err != nil {
		return in, err
	}
	if in.Verdict.Verdict == gate.Regression {
		in.Next = []document.Fact{{
			Label: "If intended", Text: "accept it with the reason:",
			Command: "apkgate baseline accept --session " + pull + " --note REASON --store " + device.Quote(d.path(historyFile)),
		}}
	}
	return in, d.leave(in, pull, base != "")
}

// leave writes a pull request's page and verdict, and its runs unless rounds have settled the verdict:
// to check the runs by themselves would repeat a question that is answered.
func (d demo) leave(in layout.Input, pull string, settled bool) error {
	page := d.path(pull + ".html")
	in.Kept = runevidence.LinkFrom(page, runevidence.ForReport(in.Runs, openstore.Kept(d.path(historyFile))))
	files := output.Text().To(output.FormatHTML, page).To(output.FormatJSON, d.path(pull+".json"))
	if err := output.WriteFiles(d.Console, layout.Verdict(in), files); err != nil || settled {
		return err
	}
	return exit.InfrastructureIf(atomicfile.Write(d.path(pull+".jsonl"), func(w io.Writer) error {
		_, err := runstore.WriteJSONL(w, func(yield func(run.Run, error) bool) {
			for _, r := range in.Runs {
				if !yield(r, nil) {
					return
				}
			}
		})
		return err
	}))
}
