package baselinecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/report/trends"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/trendsite"
)

// trendFlags choose the runs and the outputs of a trend.
type trendFlags struct {
	filterFlags
	out     output.OutputFlags
	site    string
	reports []string
}

func trendCommand(c terminal.Console, cf *settings.ConfigFlags) *cobra.Command {
	var f trendFlags
	cmd := &cobra.Command{
		Use: "trend", Short: "Show each metric over time: levels, change points, drift", Args: arguments.None,
		Long: `Shows how each metric of each UI event moved over the accepted runs: its levels, when
it changed and between which commits, on which devices, whether anyone accepted
that and why, and the drift within the quarter. A night counts as one, with each
device compared with itself.

Builds that were judged and not accepted, as of pull requests, are shown next to
them, and are no part of a level.

--site writes a folder of static pages to publish: an index, a page for each
scenario and night, and with --report those of regressions. They stay there.`,
		Example: `  apkgate baseline trend
  apkgate baseline trend --scenario read-mail --html trend.html
  apkgate baseline trend --site site --report apkgate-report/verdict.json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return showTrend(c, cmd, *cf, f) },
	}
	f.out.Register(cmd)
	cmd.Flags().StringVar(&f.pkg, "package", "", "only runs of this app")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "only runs of this scenario")
	cmd.Flags().StringArrayVar(&f.where, "where", nil, "only runs with this context property, NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&f.site, "site", "", "also write static pages into this folder")
	cmd.Flags().StringArrayVar(&f.reports, "report", nil, "a saved verdict whose page the site keeps if it is a regression; may be repeated")
	return cmd
}

// showTrend prints the trend, and writes the requested files and the site.
func showTrend(c terminal.Console, cmd *cobra.Command, cf settings.ConfigFlags, f trendFlags) error {
	filter, err := f.filter()
	if err == nil {
		err = f.out.Check()
	}
	if err != nil {
		return err
	}
	if len(f.reports) > 0 && f.site == "" {
		return exit.Usage(errors.New("--report is given without --site, which keeps the page"), "")
	}
	set, err := settings.Read(cmd.Flags().Changed, cf, settings.PolicyFlags{})
	if err != nil {
		return err
	}
	if err := atomicfile.KeepsInput(f.out.Files(), f.reports, []string{set.Store, cf.File()}); err != nil {
		return err
	}
	return reading(cmd.Context(), c, cf, func(s runstore.Store) error {
		in, err := trendsite.Read(cmd.Context(), s, set, filter)
		if err != nil {
			return err
		}
		if len(in.Scenarios) == 0 {
			return exit.Usage(errors.New("no accepted run matches: there is no trend"), "apkgate baseline list shows what was measured; apkgate baseline accept makes runs count")
		}
		d := trends.Of(in)
		if f.out.Asks(output.FormatSARIF) {
			return exit.Usage(errors.New(d.Unlisted), "")
		}
		if err := output.Write(c, d, f.out); err != nil {
			return err
		}
		if f.site == "" {
			return nil
		}
		if err := trendsite.Site(cmd.Context(), c, s, set, in, f.site, f.reports); err != nil {
			return err
		}
		fmt.Fprintf(c.Stderr, "wrote the site: %s\n", terminal.Plain(f.site))
		return nil
	})
}
