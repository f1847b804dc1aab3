package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

func (c Command) baselineVerb() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Look at and change the history that runs are compared with",
		Long: `The history holds every run that was measured. Only accepted ones are compared
with. Runs never change and are never lost: accept and reject only mark them.`,
		Args: onlyVerbs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.config, "config", "", "the configuration (default apkgate.yml where there is one)")
	cmd.PersistentFlags().StringVar(&f.store, "store", "", "the history, instead of the configuration's: a file, branch:REMOTE#BRANCH or postgres://…")
	cmd.AddCommand(
		c.baselineList(&f), c.baselineShow(&f),
		c.baselineMark(&f, "accept", baseline.Accepted, "Make runs part of what later ones are compared with"),
		c.baselineMark(&f, "reject", baseline.Rejected, "Keep runs out of what later ones are compared with"),
		c.baselineMark(&f, "rebaseline", baseline.Rebaselined, "Accept runs as a new level: older ones no longer count"),
		c.baselineImport(&f), c.baselineExport(&f), c.baselineCopy(&f), c.baselinePrune(&f), c.baselineVerify(&f),
	)
	return cmd
}

// storePath is the history that the flags and the configuration name.
func storePath(f configFlags) (string, error) {
	if f.store != "" {
		return f.store, nil
	}
	cfg, err := loadConfig(f.config, true)
	if err != nil {
		return "", err
	}
	return cfg.Store.Address(), nil
}

// withStore runs do on the history, which has to be there.
func (c Command) withStore(ctx context.Context, f configFlags, do func(baseline.Store) error) error {
	path, err := storePath(f)
	if err != nil {
		return err
	}
	store, err := c.openExisting(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(do(store), store.Close())
}

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
			return out, usage(fmt.Errorf("--where is %q, want NAME=VALUE", w), "")
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
	table := tablewriter.NewWriter(c.Stdout)
	table.Header("run", "started", "app", "scenario", "context", "state")
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

func atLeastOneRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(fmt.Errorf("%s takes the id of a run", cmd.CommandPath()), "apkgate baseline list shows them")
	}
	return nil
}

func (c Command) baselineMark(f *configFlags, verb string, state baseline.State, short string) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: verb + " RUN [RUN …]", Short: short, Args: atLeastOneRun,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return c.withStore(cmd.Context(), *f, func(s baseline.Store) error {
				if err := s.Mark(cmd.Context(), ids, baseline.Mark{State: state, At: c.Now(), Note: note}); err != nil {
					return storeError(err)
				}
				fmt.Fprintf(c.Stdout, "%s: %d %s\n", state, len(ids), plural(len(ids), "run"))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why, in a few words")
	return cmd
}

func (c Command) baselineImport(f *configFlags) *cobra.Command {
	var imports importFlags
	var unmarked bool
	cmd := &cobra.Command{
		Use: "import FILE [FILE …]", Short: "Add runs from files to the history, as accepted",
		Long: `Adds the runs of apkgate.run/1 files (JSON, JSON Lines, .gz, .zst), of androidx
*-benchmarkData.json, of flashlight results and of lists of {name,unit,value}.
Importing a file twice changes nothing.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("import takes the names of files"), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			return c.importFiles(cmd.Context(), *f, imports, files, !unmarked)
		},
	}
	imports.register(cmd)
	cmd.Flags().BoolVar(&unmarked, "unmarked", false, "do not accept the runs")
	return cmd
}

func (c Command) importFiles(ctx context.Context, f configFlags, imports importFlags, files []string, accept bool) error {
	options, err := imports.options()
	if err != nil {
		return err
	}
	if err := c.allThere(files); err != nil {
		return err
	}
	path, err := storePath(f)
	if err != nil {
		return err
	}
	store, err := c.openStore(ctx, path)
	if err != nil {
		return err
	}
	var mark *baseline.Mark
	if accept {
		mark = &baseline.Mark{State: baseline.Accepted, At: c.Now(), Note: "imported"}
	}
	var total baseline.Imported
	broken := 0
	for _, file := range files {
		done, err := baseline.Import(ctx, store, counting(c.runsIn(file, options), &broken), mark)
		if err != nil {
			return errors.Join(importError(err), store.Close())
		}
		total.Read, total.Added, total.Marked = total.Read+done.Read, total.Added+done.Added, total.Marked+done.Marked
	}
	fmt.Fprintf(c.Stdout, "%d %s read, %d new, %d accepted; the history is %s\n",
		total.Read, plural(total.Read, "run"), total.Added, total.Marked, plain(shownAddress(path)))
	if accept && broken > 0 {
		fmt.Fprintf(c.Stdout, "%d of them not whole: kept, but never compared with\n", broken)
	}
	return store.Close()
}

// counting counts the runs that pass by and are not complete.
func counting(runs iter.Seq2[run.Run, error], broken *int) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		for r, err := range runs {
			if err == nil && r.Status != run.Complete {
				*broken++
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// allThere opens each file once, so that a misspelt name is told before a history
// is made.
func (c Command) allThere(files []string) error {
	for _, file := range files {
		if file == "-" {
			continue
		}
		f, err := c.open(file)
		if err != nil {
			return usage(err, "")
		}
		f.Close()
	}
	return nil
}

// importError keeps what reading the file said, and sorts what the store said.
func importError(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	return storeError(err)
}

func (c Command) baselineExport(f *configFlags) *cobra.Command {
	var ff filterFlags
	var out string
	cmd := &cobra.Command{
		Use: "export", Short: "Write runs as JSON Lines", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := ff.filter()
			if err != nil {
				return err
			}
			return c.withStore(cmd.Context(), *f, func(s baseline.Store) error {
				write := func(w io.Writer) error {
					_, err := baseline.WriteJSONL(w, s.Export(cmd.Context(), filter))
					return err
				}
				if out == "" || out == "-" {
					return infrastructureIf(write(c.Stdout))
				}
				err := writeFile(out, func(w io.Writer) error {
					packed, err := baseline.Compress(w, out)
					if err != nil {
						return err
					}
					return errors.Join(write(packed), packed.Close())
				})
				if err != nil {
					return infrastructure(fileError("write", out, err))
				}
				return nil
			})
		},
	}
	ff.register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write, compressed where its name ends in .gz or .zst (default: standard output)")
	return cmd
}

func infrastructureIf(err error) error {
	if err == nil {
		return nil
	}
	return infrastructure(err)
}

func (c Command) baselineCopy(f *configFlags) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "copy --to HISTORY", Short: "Add every run and its mark to another history", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usage(errors.New("copy needs --to with the other history"), "a file, branch:REMOTE#BRANCH or postgres://…")
			}
			return c.withStore(cmd.Context(), *f, func(from baseline.Store) error {
				target, err := c.openStore(cmd.Context(), to)
				if err != nil {
					return err
				}
				done, err := baseline.Copy(cmd.Context(), target, from)
				if err = errors.Join(err, target.Close()); err != nil {
					return storeError(err)
				}
				fmt.Fprintf(c.Stdout, "%d new %s in %s\n", done.Added, plural(done.Added, "run"), plain(shownAddress(to)))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the other history: a file, branch:REMOTE#BRANCH or postgres://…")
	return cmd
}

func (c Command) baselinePrune(f *configFlags) *cobra.Command {
	var keep int
	var yes bool
	cmd := &cobra.Command{
		Use: "prune --keep N", Short: "Remove all but the newest N runs of each app, scenario and context", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep < 1 {
				return usage(fmt.Errorf("--keep is %d, want 1 or more", keep), "apkgate baseline prune --keep 200")
			}
			return c.withStore(cmd.Context(), *f, func(s baseline.Store) error { return c.prune(cmd.Context(), s, keep, yes) })
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 0, "how many to keep of each app, scenario and context")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove them; without it they are only listed")
	return cmd
}

func (c Command) prune(ctx context.Context, s baseline.Store, keep int, yes bool) error {
	n := 0
	_, err := s.Prune(ctx, baseline.Retention{Keep: keep, DryRun: !yes}, func(e baseline.Entry) error {
		n++
		_, err := fmt.Fprintf(c.Stdout, "%s  %s  %s  %s\n", plain(e.Run.ID), plain(e.Run.App.Package), plain(e.Run.Scenario), plain(brief(e.Run.Context)))
		return err
	})
	if err != nil {
		return storeError(err)
	}
	if yes {
		fmt.Fprintf(c.Stdout, "%d %s removed\n", n, plural(n, "run"))
		return nil
	}
	fmt.Fprintf(c.Stdout, "%d %s would be removed; --yes removes them\n", n, plural(n, "run"))
	return nil
}

func (c Command) baselineVerify(f *configFlags) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read the whole history and say what is damaged", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), *f, func(s baseline.Store) error {
				damages, err := s.Verify(cmd.Context())
				if err != nil {
					return storeError(err)
				}
				for _, d := range damages {
					fmt.Fprintln(c.Stdout, d)
				}
				if len(damages) > 0 {
					return &failure{exitInfrastructure, fmt.Errorf("%d parts of the history are damaged", len(damages)), "baseline export still reads the runs that are whole"}
				}
				fmt.Fprintln(c.Stdout, "the history is whole")
				return nil
			})
		},
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
