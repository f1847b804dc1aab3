package baselinecmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func anrsCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	var pkg, format string
	cmd := &cobra.Command{
		Use: "anrs", Short: "What did not respond in the history: which faults, since when, how often", Args: arguments.None,
		Long: `Groups the ANRs of all runs, accepted or not, by the stack of the blocking thread,
with the cause, the count, and the first and last run of each group.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			how := output.Format(format)
			if err := exit.OneOf("format", how, []output.Format{output.FormatText, output.FormatJSON}); err != nil {
				return err
			}
			return reading(cmd.Context(), c, *f, func(s runstore.Store) error {
				found, err := anrsOf(cmd.Context(), s, pkg)
				if err != nil {
					return err
				}
				if how == output.FormatJSON {
					enc := json.NewEncoder(c.Stdout)
					enc.SetEscapeHTML(false)
					enc.SetIndent("", "  ")
					return exit.InfrastructureIf(enc.Encode(found))
				}
				return exit.InfrastructureIf(printANRs(c, found, pkg))
			})
		},
	}
	cmd.Flags().StringVar(&pkg, "package", "", "only runs of this app")
	cmd.Flags().StringVar(&format, "format", string(output.FormatText), "what to print: text or json")
	return cmd
}

// ANRs is the output of the command anrs (docs/format/anrs.md).
type ANRs struct {
	Format string    `json:"format"`
	Apps   []AppANRs `json:"apps"`
}

// AppANRs are the faults of an app.
type AppANRs struct {
	Package string  `json:"package"`
	Faults  []Fault `json:"faults"`
	// LeftOut counts older ANRs, which were not compared.
	LeftOut int `json:"left_out,omitempty"`
}

// Fault is what did not respond for one reason.
type Fault struct {
	Kind       string   `json:"kind"`
	Subject    string   `json:"subject"`
	Sure       string   `json:"sure"`
	Sentence   string   `json:"sentence"`
	Times      int      `json:"times"`
	Runs       int      `json:"runs"`
	Accepted   bool     `json:"accepted,omitempty"`
	First      Seen     `json:"first"`
	Last       Seen     `json:"last"`
	Signatures []string `json:"signatures"`
}

// Seen is a run that shows a fault.
type Seen struct {
	Run      string    `json:"run"`
	Started  time.Time `json:"started"`
	Scenario string    `json:"scenario"`
	Version  string    `json:"version,omitempty"`
	Commit   string    `json:"commit,omitempty"`
	State    string    `json:"state"`
}

// anrsOf looks at one app, or at each app of the history.
func anrsOf(ctx context.Context, s runstore.Store, pkg string) (ANRs, error) {
	out := ANRs{Format: "apkgate.anrs/1", Apps: []AppANRs{}}
	packages := map[string]bool{pkg: true}
	if pkg == "" {
		packages = map[string]bool{}
		for e, err := range s.List(ctx, runstore.Filter{}) {
			if err != nil {
				return out, openstore.Error(err)
			}
			packages[e.Run.App.Package] = true
		}
	}
	for _, pkg := range sortedKeys(packages) {
		runs, err := s.ANRs(ctx, runstore.ANRQuery{Package: pkg})
		if err != nil {
			return out, openstore.Error(err)
		}
		if len(runs) == 0 {
			continue
		}
		app := AppANRs{Package: pkg}
		var past []anrcause.Past
		for _, r := range runs {
			past = append(past, judging.PastOf(r))
		}
		clusters, leftOut := anrcause.Over(past).Clusters()
		app.LeftOut = leftOut
		for _, one := range clusters {
			app.Faults = append(app.Faults, Fault{
				Kind: one.Kind, Subject: one.Subject, Sure: string(one.Sure), Sentence: inWords(one.Sentence), Times: one.Times, Runs: one.Runs,
				Accepted: one.Accepted, First: seen(one.First), Last: seen(one.Last), Signatures: append([]string{}, one.Signatures...),
			})
		}
		out.Apps = append(out.Apps, app)
	}
	return out, nil
}

func sortedKeys(of map[string]bool) (out []string) {
	for key := range of {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

func seen(p anrcause.Past) Seen {
	state := p.State
	if state == "" {
		state = "unmarked"
	}
	return Seen{Run: p.Run, Started: p.Started, Scenario: p.Scenario, Version: p.Version, Commit: p.Commit, State: state}
}

// inWords returns a phrase with its numbers as counts.
func inWords(p diagnose.Phrase) string {
	var out strings.Builder
	for _, part := range p {
		out.WriteString(part.Text + part.Name)
		if part.Amount != nil {
			fmt.Fprintf(&out, "%g", part.Amount.Value)
		}
	}
	return out.String()
}

// printANRs prints the faults of an app, "" for all.
func printANRs(c terminal.Console, found ANRs, pkg string) error {
	if len(found.Apps) == 0 {
		said := "the history has no ANR"
		if pkg != "" {
			said += " of " + terminal.Plain(pkg)
		}
		_, err := fmt.Fprintln(c.Stdout, said)
		return err
	}
	for i, app := range found.Apps {
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		fmt.Fprintf(c.Stdout, "%s: %s\n", terminal.Plain(app.Package), prose.Count(len(app.Faults), "fault", "faults"))
		table := terminal.NewTable(c, "cause", "what", "times", "runs", "first", "last")
		for _, f := range app.Faults {
			_, kind, _ := strings.Cut(f.Kind, ".")
			if err := table.Append(kind, terminal.Plain(f.Subject), fmt.Sprint(f.Times), fmt.Sprint(f.Runs), f.First.inWords(), f.Last.inWords()); err != nil {
				return err
			}
		}
		if err := table.Render(); err != nil {
			return err
		}
		if app.LeftOut > 0 {
			fmt.Fprintf(c.Stdout, "%s left out\n", prose.Count(app.LeftOut, "older ANR is", "older ANRs are"))
		}
	}
	return nil
}

// inWords returns the day of the run, and its id.
func (s Seen) inWords() string {
	text := s.Started.UTC().Format(time.DateOnly)
	if s.Commit != "" {
		text += " " + prose.Clip(s.Commit, 12)
	}
	return terminal.Plain(text + " " + s.State)
}
