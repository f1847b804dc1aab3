package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/words"
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
			return out, usage(fmt.Errorf("--where is %q, want NAME=VALUE", words.Short(w)), "")
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
	var format string
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: noArguments,
		Long: `Lists runs, newest first. An accepted run "before the new level" started before
what apkgate baseline rebaseline has accepted, and no longer counts.

With --format json each run is a JSON object on a line of its own.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := ff.filter()
			if err == nil {
				err = oneOf("format", Format(format), []Format{FormatText, FormatJSON})
			}
			if err != nil {
				return err
			}
			return c.reading(cmd.Context(), *f, func(s baseline.Store) error {
				return c.list(cmd.Context(), s, filter, Format(format))
			})
		},
	}
	ff.register(cmd)
	cmd.Flags().StringVar(&format, "format", string(FormatText), "what to print: text or json")
	return cmd
}

// list prints each run as it is read: a history may have more than memory holds.
func (c Command) list(ctx context.Context, s baseline.Store, filter baseline.Filter, format Format) error {
	out := bufio.NewWriter(c.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	table := columns{out: out, rows: [][]string{{"run", "started", "app", "scenario", "context", "state"}}}
	n := 0
	for e, err := range s.List(ctx, filter) {
		if err != nil {
			return errors.Join(storeError(err), infrastructureIf(table.flush()))
		}
		n++
		if format == FormatJSON {
			err = enc.Encode(listedOf(e))
		} else {
			err = table.add(cellsOf(e)...)
		}
		if err != nil {
			return infrastructure(fmt.Errorf("print the list: %w", err))
		}
	}
	if n == 0 && format == FormatText {
		fmt.Fprintln(c.Stdout, "no run matches")
		return nil
	}
	if format == FormatJSON {
		return infrastructureIf(out.Flush())
	}
	return infrastructureIf(table.flush())
}

// cellsOf are what the list shows of a run.
func cellsOf(e baseline.Entry) []string {
	started := ""
	if !e.Run.Started.IsZero() {
		started = e.Run.Started.UTC().Format("2006-01-02 15:04")
	}
	app := strings.TrimSpace(e.Run.App.Package + " " + e.Run.App.Version)
	return []string{plain(e.Run.ID), started, plain(app), plain(e.Run.Scenario), plain(brief(e.Run.Context)), stateOf(e)}
}

// stateOf says what was decided about a run, and why it may not count all the same.
func stateOf(e baseline.Entry) string {
	state := cmp.Or(string(e.Mark.State), "unmarked")
	if e.Retired && e.Mark.State.Reference() {
		state += ", before the new level"
	}
	if e.Run.Status != run.Complete {
		state += ", " + string(e.Run.Status)
	}
	return state
}

// listed is a run as list prints it in JSON (docs/format/history.md).
type listed struct {
	ID       string            `json:"id"`
	Started  time.Time         `json:"started,omitzero"`
	App      run.App           `json:"app"`
	Source   run.Source        `json:"source"`
	Scenario string            `json:"scenario"`
	Session  string            `json:"session,omitempty"`
	Context  map[string]string `json:"context"`
	Status   run.Status        `json:"status"`
	State    string            `json:"state"`
	Retired  bool              `json:"retired"`
	Note     string            `json:"note,omitempty"`
}

func listedOf(e baseline.Entry) listed {
	return listed{
		ID: e.Run.ID, Started: e.Run.Started.UTC(), App: e.Run.App, Source: e.Run.Source, Scenario: e.Run.Scenario,
		Session: e.Run.Session, Context: e.Run.Context, Status: e.Run.Status,
		State: cmp.Or(string(e.Mark.State), "unmarked"), Retired: e.Retired, Note: e.Mark.Note,
	}
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
			return c.reading(cmd.Context(), *f, func(s baseline.Store) error {
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
