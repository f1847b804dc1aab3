package show

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/input"
	"github.com/apkgate/apkgate/internal/cli/judging"
	"github.com/apkgate/apkgate/internal/cli/output"
	"github.com/apkgate/apkgate/internal/cli/places"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/version"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

func ReportCommand(c console.Console) *cobra.Command {
	var f output.OutputFlags
	var runs []string
	cmd := &cobra.Command{
		Use:   "report VERDICT",
		Short: "Show a saved verdict again, in another format",
		Long: `Shows a verdict that check or run saved as JSON, a comparison that compare saved, or
what baseline refresh did. With --run the frames of the runs of a verdict are drawn
too. The exit status is 0 whatever the verdict was.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage(fmt.Errorf("report takes one file with a verdict, got %d arguments", len(args)), "apkgate check … --json verdict.json saves one")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return showSaved(c, args[0], runs, f) },
	}
	f.Register(cmd)
	cmd.Flags().StringArrayVar(&runs, "run", nil, "a file of the runs that were checked; may be repeated")
	return cmd
}

func showSaved(c console.Console, path string, runFiles []string, f output.OutputFlags) error {
	if err := files.KeepsInput(f.Files(), runFiles, []string{path}); err != nil {
		return err
	}
	src, err := input.Open(c, path)
	if err != nil {
		return exit.Usage(err, "")
	}
	defer src.Close()
	saved, err := layout.ReadSaved(src)
	if err != nil {
		return exit.Usage(fmt.Errorf("%s: %w", console.Plain(path), err), "--json FILE of check, run, compare and baseline refresh saves what report shows")
	}
	runs, err := input.Runs(c, runFiles, input.ImportFlags{})
	if err != nil {
		return err
	}
	cfg, err := settings.LoadConfig("", true)
	if err != nil {
		return err
	}
	catalogue, err := cfg.Catalogue()
	if err == nil {
		catalogue, err = run.Catalogue(catalogue, runs...)
	}
	if err != nil {
		return exit.Usage(err, "")
	}
	f.Places = places.Of(c, cfg, config.FileName)
	switch {
	case saved.Comparison != nil:
		return reportComparison(c, *saved.Comparison, catalogue, f)
	case saved.Refresh != nil:
		return reportRefresh(c, *saved.Refresh, catalogue, f)
	}
	in := *saved.Verdict
	in.Notes = judging.NotesOn(in.Verdict)
	in.Runs, in.Catalogue, in.Meta = runs, catalogue, layout.Meta{Version: "apkgate " + version.String()}
	return output.Write(c, in, f)
}

func reportComparison(c console.Console, in layout.ABInput, catalogue *metric.Catalogue, f output.OutputFlags) error {
	in.Catalogue, in.Version = catalogue, "apkgate "+version.String()
	if simulatedAB(in.Verdict) {
		in.Notes = []string{judging.SimulatedNote}
	}
	return output.WriteSheet(c, layout.AB(in), judging.ComparisonData(in), f)
}

// simulatedAB reports whether a comparison was made on simulated devices.
func simulatedAB(v sidebyside.Verdict) bool {
	return slices.ContainsFunc(v.Scenarios, func(s sidebyside.Scenario) bool {
		return slices.ContainsFunc(s.Contexts, func(x sidebyside.Context) bool { return x.Context[devctx.Simulated] != "" })
	})
}

// reportRefresh shows a refresh again. Which runs were worse in what is not in its
// file, so that there is no SARIF to be made of it.
func reportRefresh(c console.Console, in layout.RefreshInput, catalogue *metric.Catalogue, f output.OutputFlags) error {
	in.Catalogue, in.Version, in.Hint = catalogue, "apkgate "+version.String(), judging.RefreshHint(in.Refresh)
	if f.SARIF != "" || output.Format(f.Format) == output.FormatSARIF {
		return exit.Usage(errors.New("a saved refresh does not hold the findings that SARIF lists"), "apkgate baseline refresh --sarif FILE writes them")
	}
	if in.Refresh.Simulated {
		in.Notes = []string{judging.SimulatedNote}
	}
	return output.WriteSheet(c, layout.RefreshSheet(in), output.SheetData{JSON: func(w io.Writer) error { return layout.RefreshJSON(w, in.Refresh) }}, f)
}
