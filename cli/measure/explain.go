package measure

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// explained records what explains a regression, and saves a session to explain it later. It does
// not change the verdict.
func (f runFlags) explained(ctx context.Context, s interleaved.Settler, in layout.Input, m measurement.Measured, within time.Duration) layout.Input {
	all := judging.RegressedIn(in)
	if len(all) == 0 || s.Config.App.APK == "" {
		return in
	}
	r := explanation.Recorder{
		Console: s.Console, Config: s.Config, Base: s.Base.APK, BaseFrom: s.Base.Source, From: measurement.OriginOf(s.Console, s.Flags).Source,
		Session: f.Session, Parallel: f.Parallel, Pool: f.Pool, Within: within, Keep: f.keep,
	}
	units := explanation.UnitsOf(s.Config, m, in.Verdict)
	next := func() {
		in.Why = explanation.Next(judging.RegressedIn(in), explanation.Command(f.Session, repeated(f.ConfigFlags), s.Base.APK != ""))
	}
	next()
	answer := layout.Verdict(in)
	session, err := explanation.Leave(explanation.Root(f.ConfigFlags.File()), explanation.Session{
		Session: f.Session, Base: explanation.Build{Source: r.BaseFrom}, Head: explanation.Build{Source: r.From}, Units: explanation.Names(units),
		Reports: reportsOf(f.OutputFlags), Notes: in.Notes, Store: historyFile(s.Set.Store),
	}, s.Base.Files(), s.Config.App.APKs(), answer, in.Runs)
	left := reportUnsaved(s.Console, err)
	if !r.Todo(all, units) || ctx.Err() != nil || !before(s.Console, answer, f.OutputFlags) {
		return in
	}
	in, _ = r.Verdict(ctx, in, units) // failures are reported
	next()
	if left {
		reportUnsaved(s.Console, session.Save(layout.Verdict(in)))
	}
	return in
}

// explained is the same for a comparison of two builds.
func (f compareFlags) explained(ctx context.Context, c terminal.Console, p Pair, in layout.ComparisonInput, within time.Duration) layout.ComparisonInput {
	if len(judging.RegressedBuild(in, p.Head)) == 0 {
		return in
	}
	next := func() {
		in.Why = explanation.Next(judging.RegressedBuild(in, p.Head), explanation.Command(f.Session, repeated(f.ConfigFlags), true))
	}
	next()
	base, head := f.from(c)
	session, err := explanation.Leave(explanation.Root(f.ConfigFlags.File()), explanation.Session{
		Session: f.Session, Base: explanation.Build{Source: base}, Head: explanation.Build{Source: head}, Units: explanation.Names(p.Units),
		Reports: reportsOf(f.OutputFlags), Notes: in.Notes,
	}, []string{f.Base}, []string{f.Head}, layout.Comparison(in), p.Head)
	left := reportUnsaved(c, err)
	in = f.Explain(ctx, c, p, in, within, func(in layout.ComparisonInput) bool { return before(c, layout.Comparison(in), f.OutputFlags) })
	next()
	if left {
		reportUnsaved(c, session.Save(layout.Comparison(in)))
	}
	return in
}

// before shows the answer before anything is recorded, so that nothing is lost if the command is
// killed in between; false if that failed, which is reported when the report is written at the end.
func before(c terminal.Console, answer document.Document, f output.OutputFlags) bool {
	fmt.Fprintln(c.Stderr, terminal.Plain(answer.Headline()))
	return output.WriteFiles(c, answer, f) == nil
}

// reportUnsaved reports a session that could not be saved for later, and returns whether there was none.
func reportUnsaved(c terminal.Console, err error) bool {
	if err != nil {
		fmt.Fprintf(c.Stderr, "warning: the regression can't be explained later: %s\n", terminal.Plain(err.Error()))
	}
	return err == nil
}

// reportsOf returns the report files of a command, by format, as absolute paths.
func reportsOf(f output.OutputFlags) map[string]string {
	out := map[string]string{}
	for _, format := range report.Formats {
		path := f.Path(output.Format(format.Name))
		if at, err := filepath.Abs(path); path != "" && path != "-" && err == nil {
			out[format.Name] = at
		}
	}
	return out
}

// historyFile returns a history that is a file; "" for a shared one, whose address may contain a
// password.
func historyFile(store string) string {
	if openstore.IsShared(store) {
		return ""
	}
	return store
}
