package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

// filterFlags choose runs of the history.
type filterFlags struct {
	pkg, scenario, state, commit string
	where                        []string
	limit                        int
}

func (f *filterFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pkg, "package", "", "only runs of this app")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "only runs of this scenario")
	cmd.Flags().StringVar(&f.commit, "commit", "", "only runs of this commit")
	cmd.Flags().StringVar(&f.state, "state", "", "only runs that are accepted, rejected, rebaselined or unmarked")
	cmd.Flags().StringArrayVar(&f.where, "where", nil, "only runs with this context property, NAME=VALUE; may be repeated")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "at most so many (0: all)")
}

func (f filterFlags) filter() (baseline.Filter, error) {
	out := baseline.Filter{Package: f.pkg, Scenario: f.scenario, Commit: f.commit, Limit: f.limit}
	switch f.state {
	case "":
	case "unmarked":
		out.States = []baseline.State{baseline.Unmarked}
	default:
		if err := oneOf("state", baseline.State(f.state), append(baseline.States(), "unmarked")); err != nil {
			return out, err
		}
		out.States = []baseline.State{baseline.State(f.state)}
	}
	for _, w := range f.where {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return out, usage(fmt.Errorf("--where is %q, want NAME=VALUE", clip(w)), "")
		}
		if out.Where == nil {
			out.Where = map[string]string{}
		}
		out.Where[name] = value
	}
	if f.limit < 0 {
		return out, usage(fmt.Errorf("--limit is %d, want 0 or more", f.limit), "")
	}
	return out, nil
}

func (c Command) baselineList(f *configFlags) *cobra.Command {
	var ff filterFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := ff.filter()
			if err != nil {
				return err
			}
			return c.withStore(cmd.Context(), *f, func(s baseline.Store) error { return c.list(cmd.Context(), s, filter) })
		},
	}
	ff.register(cmd)
	return cmd
}

func (c Command) list(ctx context.Context, s baseline.Store, filter baseline.Filter) error {
	table := newTable(c.Stdout, "run", "started", "app", "scenario", "context", "state")
	n := 0
	for e, err := range s.List(ctx, filter) {
		if err != nil {
			return storeError(err)
		}
		state := string(e.Mark.State)
		if state == "" {
			state = "unmarked"
		}
		if e.Run.Status != run.Complete {
			state += ", " + string(e.Run.Status)
		}
		started := ""
		if !e.Run.Started.IsZero() {
			started = e.Run.Started.UTC().Format("2006-01-02 15:04")
		}
		app := strings.TrimSpace(e.Run.App.Package + " " + e.Run.App.Version)
		if err := table.Append(plain(e.Run.ID), started, plain(app), plain(e.Run.Scenario), plain(brief(e.Run.Context)), state); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		fmt.Fprintln(c.Stdout, "no run matches")
		return nil
	}
	return table.Render()
}

// brief names a context in a few words.
func brief(context map[string]string) string {
	var parts []string
	for _, name := range []string{"manufacturer", "model", "sdk", "network"} {
		if v := context[name]; v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, " ")
}

func (c Command) baselineShow(f *configFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Print one run as JSON", Args: atLeastOneRun,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return c.withStore(cmd.Context(), *f, func(s baseline.Store) error {
				for _, id := range ids {
					e, err := s.Get(cmd.Context(), id)
					if err != nil {
						return storeError(err)
					}
					data, err := run.Encode(e.Run)
					if err != nil {
						return infrastructure(err)
					}
					if _, err := c.Stdout.Write(data); err != nil {
						return infrastructure(err)
					}
				}
				return nil
			})
		},
	}
}
