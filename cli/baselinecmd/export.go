package baselinecmd

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/parquetexport"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func exportCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	var ff filterFlags
	var out string
	var evidence bool
	cmd := &cobra.Command{
		Use: "export", Short: "Write runs as JSON Lines, or their numbers as Parquet",
		Long: `Writes runs as JSON Lines, without their marks. Where check or noise reads the file
as a history, all of them count as accepted: for that export what is accepted.
apkgate baseline copy takes the marks along. Files that were kept with runs, such
as traces, stay where they are; with --evidence they are copied next to the file,
where import finds them.

A file whose name ends in .parquet has the runs' numbers as rows, with their marks, for
an engine that analyses columns (docs/format/parquet.md). It is not read back.`,
		Example: `  apkgate baseline export --state accepted -o history.jsonl.zst
  apkgate check --history history.jsonl.zst --run run.json
  apkgate baseline export -o numbers.parquet`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := ff.filter()
			if err != nil {
				return err
			}
			toFile := out != "" && out != "-"
			if evidence && !toFile {
				return exit.Usage(errors.New("--evidence copies files next to the one that is written"), "name that with --output")
			}
			if evidence && parquetexport.Named(out) {
				return exit.Usage(errors.New("--evidence goes with runs, of which a .parquet file has only numbers"), "export them to a .jsonl.zst too")
			}
			address, err := settings.StoreAddress(*f)
			if err == nil {
				err = atomicfile.KeepsInput([]string{out}, []string{address, f.File()})
			}
			if err != nil {
				return err
			}
			return reading(cmd.Context(), c, *f, func(s runstore.Store) error {
				var load runevidence.Load
				write := func(w io.Writer) error {
					_, err := runstore.WriteJSONL(w, load.Passing(runstore.Runs(s.Export(cmd.Context(), filter))))
					return err
				}
				if !toFile {
					err := exit.InfrastructureIf(write(c.Stdout))
					printNote(c, load.Staying(openstore.Kept(address)))
					return err
				}
				err := atomicfile.Write(out, func(w io.Writer) error {
					if parquetexport.Named(out) {
						_, err := parquetexport.Write(w, s.Export(cmd.Context(), filter))
						return err
					}
					packed, err := runstore.Compress(w, out)
					if err != nil {
						return err
					}
					return errors.Join(write(packed), packed.Close())
				})
				if err != nil {
					return exit.Infrastructure(atomicfile.Error("write", out, err))
				}
				if evidence {
					return carry(cmd.Context(), c, &load, address, out)
				}
				printNote(c, load.Staying(openstore.Kept(address)))
				return nil
			})
		},
	}
	ff.register(cmd)
	cmd.Flags().BoolVar(&evidence, "evidence", false, "also copy the files kept with the runs, next to the exported file")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write, compressed where its name ends in .gz or .zst, numbers in columns where in .parquet (default: standard output)")
	return cmd
}
