package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

func (c Command) reportVerb() *cobra.Command {
	var f outputFlags
	var runs []string
	cmd := &cobra.Command{
		Use:   "report VERDICT",
		Short: "Show a saved verdict again, in another format",
		Long: `Shows a verdict that check or run saved as JSON, a comparison that compare saved, or
what baseline refresh did. With --run the frames of the runs of a verdict are drawn
too. The exit status is 0 whatever the verdict was.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("report takes one file with a verdict, got %d arguments", len(args)), "apkgate check … --json verdict.json saves one")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.report(args[0], runs, f) },
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&runs, "run", nil, "a file of the runs that were checked; may be repeated")
	return cmd
}

func (c Command) report(path string, runFiles []string, f outputFlags) error {
	if err := keepsInput(f.files(), runFiles, []string{path}); err != nil {
		return err
	}
	src, err := c.open(path)
	if err != nil {
		return usage(err, "")
	}
	defer src.Close()
	saved, err := layout.ReadSaved(src)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", plain(path), err), "--json FILE of check, run, compare and baseline refresh saves what report shows")
	}
	runs, err := c.readRuns(runFiles, importFlags{})
	if err != nil {
		return err
	}
	cfg, err := loadConfig("", true)
	if err != nil {
		return err
	}
	catalogue, err := cfg.Catalogue()
	if err == nil {
		catalogue, err = run.Catalogue(catalogue, runs...)
	}
	if err != nil {
		return usage(err, "")
	}
	f.places = c.placesOf(cfg, config.FileName)
	switch {
	case saved.Comparison != nil:
		return c.reportComparison(*saved.Comparison, catalogue, f)
	case saved.Refresh != nil:
		return c.reportRefresh(*saved.Refresh, catalogue, f)
	}
	in := *saved.Verdict
	in.Notes = notesOn(in.Verdict)
	in.Runs, in.Catalogue, in.Meta = runs, catalogue, layout.Meta{Version: "apkgate " + version()}
	return c.write(in, f)
}

func (c Command) reportComparison(in layout.ABInput, catalogue *metric.Catalogue, f outputFlags) error {
	in.Catalogue, in.Version = catalogue, "apkgate "+version()
	if simulatedAB(in.Verdict) {
		in.Notes = []string{simulatedNote}
	}
	return c.writeSheet(layout.AB(in), abData(in), f)
}

// simulatedAB reports whether a comparison was made on simulated devices.
func simulatedAB(v sidebyside.Verdict) bool {
	return slices.ContainsFunc(v.Scenarios, func(s sidebyside.Scenario) bool {
		return slices.ContainsFunc(s.Contexts, func(x sidebyside.Context) bool { return x.Context[devctx.Simulated] != "" })
	})
}

// reportRefresh shows a refresh again. Which runs were worse in what is not in its
// file, so that there is no SARIF to be made of it.
func (c Command) reportRefresh(in layout.RefreshInput, catalogue *metric.Catalogue, f outputFlags) error {
	in.Catalogue, in.Version, in.Hint = catalogue, "apkgate "+version(), refreshHint(in.Refresh)
	if f.sarif != "" || Format(f.format) == FormatSARIF {
		return usage(errors.New("a saved refresh does not hold the findings that SARIF lists"), "apkgate baseline refresh --sarif FILE writes them")
	}
	if in.Refresh.Simulated {
		in.Notes = []string{simulatedNote}
	}
	return c.writeSheet(layout.RefreshSheet(in), sheetData{json: func(w io.Writer) error { return layout.RefreshJSON(w, in.Refresh) }}, f)
}
