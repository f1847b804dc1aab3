package baselinecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate/history/contexts"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

type contextsFlags struct {
	*settings.ConfigFlags
	settings.PolicyFlags
	pkg, scenario, format string
}

func contextsCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	cf := contextsFlags{ConfigFlags: f}
	cmd := &cobra.Command{
		Use: "contexts", Short: "Which properties of contexts make a difference, and how much", Args: arguments.None,
		Long: `Shows how much each context property (network, device, ...) affects each metric. The
gate weights runs by the same numbers: where a context has few runs of its own, runs
of contexts that differ only in properties without effect count nearly in full, and
those that differ in properties with an effect hardly count.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return showContexts(c, cmd, cf) },
	}
	flagset.Judging(cmd, &cf.PolicyFlags)
	cmd.Flags().StringVar(&cf.pkg, "package", "", "only runs of this app")
	cmd.Flags().StringVar(&cf.scenario, "scenario", "", "only runs of this scenario")
	cmd.Flags().StringVar(&cf.format, "format", string(output.FormatText), "what to print: text or json")
	return cmd
}

// Contexts is the output of the command contexts (docs/format/contexts.md).
type Contexts struct {
	Format    string     `json:"format"`
	Scenarios []Scenario `json:"scenarios"`
}

// Scenario is the effect of contexts on an app's scenario, for runs that can be compared.
type Scenario struct {
	Package  string            `json:"package"`
	Scenario string            `json:"scenario"`
	Only     map[string]string `json:"only,omitempty"` // the properties by which runs are never compared
	Runs     int               `json:"runs"`
	Contexts int               `json:"contexts"`
	Shares   []Share           `json:"shares"`
}

// Share is the effect of properties on a metric.
type Share struct {
	Properties []string `json:"properties"`
	Along      []string `json:"along,omitempty"`
	Metric     string   `json:"metric"`
	Pairs      int      `json:"pairs"`
	Values     int      `json:"values"`
	// Share is nil if too few contexts show it, and so are its bounds.
	Share *float64 `json:"share"`
	Low   *float64 `json:"share_low"`
	High  *float64 `json:"share_high"`
	// Worth is nil if it is unlimited.
	Worth *float64 `json:"worth,omitempty"`
}

func showContexts(c terminal.Console, cmd *cobra.Command, f contextsFlags) error {
	format := output.Format(f.format)
	if err := exit.OneOf("format", format, []output.Format{output.FormatText, output.FormatJSON}); err != nil {
		return err
	}
	set, err := settings.Read(cmd.Flags().Changed, *f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	return reading(cmd.Context(), c, *f.ConfigFlags, func(s runstore.Store) error {
		found, err := contextsOf(cmd.Context(), s, f, set)
		if err != nil {
			return err
		}
		if format == output.FormatJSON {
			enc := json.NewEncoder(c.Stdout)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return exit.InfrastructureIf(enc.Encode(found))
		}
		return exit.InfrastructureIf(printContexts(c, found, set))
	})
}

// contextsOf looks at each scenario of the accepted runs.
func contextsOf(ctx context.Context, s runstore.Store, f contextsFlags, set settings.Settings) (Contexts, error) {
	out, seen := Contexts{Format: "apkgate.contexts/1", Scenarios: []Scenario{}}, map[string]bool{}
	var asked []Scenario
	filter := runstore.Filter{Package: f.pkg, Scenario: f.scenario, States: []runstore.State{runstore.Accepted, runstore.Rebaselined}}
	for e, err := range s.List(ctx, filter) {
		if err != nil {
			return out, openstore.Error(err)
		}
		one := Scenario{Package: e.Run.App.Package, Scenario: e.Run.Scenario, Only: devctx.Only(e.Run.Context, devctx.Hard)}
		if key := one.key(); !seen[key] {
			seen[key] = true
			asked = append(asked, one)
		}
	}
	slices.SortFunc(asked, func(a, b Scenario) int { return strings.Compare(a.key(), b.key()) })
	for _, one := range asked {
		refs, err := s.References(ctx, runstore.Query{
			Package: one.Package, Scenario: one.Scenario, Context: one.Only, Use: set.Policy.Use, Centre: set.Policy.Centre,
		})
		if err != nil {
			return out, errors.Join(openstore.Error(err))
		}
		var metrics []contexts.OfMetric
		one.Runs, one.Shares = len(refs), []Share{}
		one.Contexts, metrics = contexts.ByMetric(set.Policy, set.Catalogue, refs)
		for _, m := range metrics {
			for _, share := range m.Shares {
				one.Shares = append(one.Shares, shareOf(m.Metric, share))
			}
		}
		slices.SortStableFunc(one.Shares, func(a, b Share) int {
			return strings.Compare(strings.Join(a.Properties, "\x00"), strings.Join(b.Properties, "\x00"))
		})
		out.Scenarios = append(out.Scenarios, one)
	}
	return out, nil
}

func (s Scenario) key() string {
	return fmt.Sprintf("%s\x00%s\x00%s", s.Package, s.Scenario, devctx.Key(s.Only))
}

func shareOf(metric string, s contexts.Share) Share {
	out := Share{Properties: s.Unlike, Along: s.Along, Metric: metric, Pairs: s.Pairs, Values: s.Values}
	if s.Known {
		out.Share, out.Low, out.High = &s.Part, &s.Low, &s.High
		if !math.IsInf(s.Worth, 1) {
			out.Worth = &s.Worth
		}
	}
	return out
}

func printContexts(c terminal.Console, found Contexts, set settings.Settings) error {
	if len(found.Scenarios) == 0 {
		fmt.Fprintln(c.Stdout, "there is no accepted run")
		return nil
	}
	for i, s := range found.Scenarios {
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		fmt.Fprintf(c.Stdout, "%s, %s: %s of %s\n", terminal.Plain(s.Package), terminal.Plain(s.Scenario),
			prose.Count(s.Runs, "accepted run", "accepted runs"), prose.Count(s.Contexts, "context", "contexts"))
		if len(s.Shares) == 0 {
			fmt.Fprintln(c.Stdout, "No two contexts with enough runs differ in anything.")
			continue
		}
		table := terminal.NewTable(c, "unlike in", "metric", "share of what runs differ by", "runs of such contexts")
		for _, share := range s.Shares {
			m, _ := set.Catalogue.Lookup(share.Metric)
			if err := table.Append(terminal.Plain(share.names()), terminal.Plain(m.Title), share.part(), share.follows()); err != nil {
				return err
			}
		}
		if err := table.Render(); err != nil {
			return err
		}
	}
	return nil
}

// names returns the properties, and those that can't be distinguished from them.
func (s Share) names() string {
	text := strings.Join(s.Properties, ", ")
	if len(s.Along) > 0 {
		text += " (with " + strings.Join(s.Along, ", ") + ")"
	}
	return text
}

func (s Share) part() string {
	if s.Share == nil {
		return fmt.Sprintf("unknown: %s, %s", prose.Count(s.Pairs, "pair", "pairs"), prose.Count(s.Values, "value", "values"))
	}
	return fmt.Sprintf("%.0f %% (%.0f to %.0f %%)", 100**s.Share, 100**s.Low, 100**s.High)
}

// follows says how much runs of one context count for another that differs in these properties.
func (s Share) follows() string {
	const inFull = 5 // runs of its own with which a context needs no others
	switch {
	case s.Share == nil:
		return "don't count: too few show what it makes"
	case s.Worth == nil || *s.Worth >= inFull:
		return "count nearly in full"
	case *s.Worth >= 1:
		return fmt.Sprintf("count as %.1f runs of its own at most", *s.Worth)
	}
	return "hardly count"
}
