package baselinecmd

import (
	"context"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"iter"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func importCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	var imports inputfiles.ImportFlags
	var unmarked bool
	cmd := &cobra.Command{
		Use: "import FILE [FILE …]", Short: "Add runs from files to the history, as accepted",
		Long: `Adds the runs of apkgate.run/1 files (JSON, JSON Lines, .gz, .zst), of androidx
*-benchmarkData.json and of what am instrument -r prints of benchmarks, of flashlight
results, of lists of {name,unit,value}, of CSV with that header, and of lines of name=value.
Importing a file twice changes nothing. What the gate called a regression or invalid
before it was exported, and rounds of two builds, are kept and not accepted. Files that were kept with runs, such as
traces, are copied from the folder FILE.evidence to a history that is a file.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage(errors.New("import takes the names of files"), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			return importFiles(cmd.Context(), c, *f, imports, files, !unmarked)
		},
	}
	flagset.Import(cmd, &imports)
	cmd.Flags().BoolVar(&unmarked, "unmarked", false, "do not accept the runs")
	return cmd
}

func importFiles(ctx context.Context, c terminal.Console, f settings.ConfigFlags, imports inputfiles.ImportFlags, files []string, accept bool) error {
	options, err := imports.Options()
	if err != nil {
		return err
	}
	if err := inputfiles.CheckFiles(c, files); err != nil {
		return err
	}
	path, err := settings.StoreAddress(f)
	if err != nil {
		return err
	}
	store, err := openstore.Open(ctx, c, path)
	if err != nil {
		return err
	}
	var mark *runstore.Mark
	if accept {
		mark = &runstore.Mark{State: runstore.Accepted, Note: "imported"}
	}
	var total runstore.Imported
	broken, damaged := 0, 0
	for _, file := range files {
		runs := passOver(c, inputfiles.RunsIn(c, file, options), &damaged)
		var load runevidence.Load
		done, err := runstore.Import(ctx, store, load.Passing(counting(runs, &broken)), mark, isNoReference)
		if err == nil && file != "-" {
			err = carry(ctx, c, &load, file, path)
		}
		if err != nil {
			return errors.Join(importError(err), store.Close())
		}
		total.Read, total.Added, total.Marked = total.Read+done.Read, total.Added+done.Added, total.Marked+done.Marked
		total.Left += done.Left
	}
	fmt.Fprintf(c.Stdout, "%d %s read, %d new, %d accepted; the history is %s\n",
		total.Read, prose.Plural(total.Read, "run", "runs"), total.Added, total.Marked, terminal.Plain(openstore.Shown(path)))
	if accept && broken > 0 {
		fmt.Fprintf(c.Stdout, "%d of them incomplete: kept, but never compared with\n", broken)
	}
	if total.Left > 0 {
		fmt.Fprintf(c.Stdout, "%d of them not accepted: called a regression or invalid by the gate, or measured alternately with another build\n", total.Left)
	}
	if damaged > 0 {
		err = exit.WithStatus(exit.StatusInfrastructure, fmt.Errorf("%d %s damaged and passed over", damaged, prose.Plural(damaged, "record was", "records were")), "")
	}
	return errors.Join(err, store.Close())
}

// isNoReference reports whether a run is not accepted by default: the gate refused it, or it was
// measured alternately with another build.
func isNoReference(e runstore.Entry) bool {
	return openstore.Refused(e) || interleaved.MeasuredInTurns(e.Run)
}

// passOver skips the damaged records of a file, names and counts them.
func passOver(c terminal.Console, runs iter.Seq2[run.Run, error], count *int) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		for r, err := range runs {
			var damaged *runstore.DamagedRun
			if errors.As(err, &damaged) {
				if *count++; *count <= openstore.ShownDamage {
					fmt.Fprintf(c.Stderr, "warning: %s\n", terminal.Plain(err.Error()))
				}
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// counting counts the incomplete runs of a sequence as it is read.
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

// importError keeps an error of reading the file, and classifies one of the store.
func importError(err error) error {
	var f *exit.Failure
	if errors.As(err, &f) {
		return err
	}
	return openstore.Error(err)
}
