package show

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// ReportCommand returns apkgate report.
func ReportCommand(c terminal.Console) *cobra.Command {
	var f output.OutputFlags
	var configuration settings.ConfigFlags
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
		RunE: func(_ *cobra.Command, args []string) error { return showSaved(c, args[0], runs, configuration, f) },
	}
	f.Register(cmd)
	cmd.Flags().StringVar(&configuration.Config, "config", "", "the configuration, which knows the metrics and the scenarios' places (default "+config.FileName+" where there is one)")
	cmd.Flags().StringArrayVar(&runs, "run", nil, "a file of the runs that were checked; may be repeated")
	return cmd
}

func showSaved(c terminal.Console, path string, runFiles []string, cf settings.ConfigFlags, f output.OutputFlags) error {
	if err := atomicfile.KeepsInput(f.Files(), runFiles, []string{path, cf.File()}); err != nil {
		return err
	}
	src, err := inputfiles.Open(c, path)
	if err != nil {
		return exit.Usage(err, "")
	}
	defer src.Close()
	buffered := bufio.NewReader(src)
	head, _ := buffered.Peek(buffered.Size())
	found, err := saved.Read(buffered)
	if err != nil {
		hint := "--json FILE of check, run, compare and baseline refresh saves what report shows"
		if importer.Detect(head) == importer.Record {
			hint = "these are runs: apkgate check " + device.Quote(terminal.Plain(path)) + " judges them"
		}
		return exit.Usage(fmt.Errorf("%s: %w", terminal.Plain(path), err), hint)
	}
	runs, err := inputfiles.Runs(c, runFiles, inputfiles.ImportFlags{})
	if err != nil {
		return err
	}
	cfg, err := settings.LoadConfig(cf.Config, true)
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
	f.Places = sourcelocation.Of(c, cfg, cf.File())
	answer, err := again(found, runs, runevidence.LinkFrom(f.Path(output.FormatHTML), keptWith(runs, runFiles)), catalogue, f)
	if err != nil {
		return err
	}
	return output.Write(c, answer, f)
}

// again returns the saved answer, with what is not saved of it.
func again(found saved.Report, runs []run.Run, kept map[string]layout.KeptFile, catalogue *metric.Catalogue, f output.OutputFlags) (document.Document, error) {
	switch {
	case found.Comparison != nil:
		in := layout.OfComparison(*found.Comparison)
		return layout.Comparison(judging.CompletedComparison(in, catalogue, judging.OnSimulatedDevices(in.Verdict))), nil
	case found.Refresh != nil:
		answer := layout.Refresh(judging.CompletedRefresh(layout.RefreshInput{Refresh: *found.Refresh}, catalogue))
		if answer.Unlisted != "" && f.Asks(output.FormatSARIF) {
			return document.Document{}, exit.Usage(errors.New(answer.Unlisted), "apkgate baseline refresh --sarif FILE writes them")
		}
		return answer, nil
	}
	in := layout.OfVerdict(*found.Verdict)
	in.Notes = judging.NotesOn(in.Verdict)
	in.Why = toExplain(in)
	in.Runs, in.Kept, in.Catalogue, in.Meta = runs, kept, catalogue, layout.Meta{Version: version.Tool()}
	return layout.Verdict(in), nil
}
