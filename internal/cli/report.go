package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/run"
)

func (c Command) reportVerb() *cobra.Command {
	var f outputFlags
	var runs []string
	cmd := &cobra.Command{
		Use:   "report VERDICT",
		Short: "Show a saved verdict again, in another format",
		Long: `Shows a verdict that check or run saved as JSON. With --run the frames of the
runs are drawn too. The exit status is 0 whatever the verdict was.`,
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
	in, err := report.Read(src)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", plain(path), err), "apkgate check … --json verdict.json saves a verdict, and so does run")
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
	if slices.ContainsFunc(in.Verdict.Runs, func(r gate.RunVerdict) bool { return r.Context[devctx.Simulated] != "" }) {
		in.Notes = []string{simulatedNote}
	}
	f.places = c.placesOf(cfg, config.FileName)
	in.Runs, in.Catalogue, in.Meta = runs, catalogue, report.Meta{Version: "apkgate " + version()}
	return c.write(in, f)
}
