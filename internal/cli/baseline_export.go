package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/words"
)

func (c Command) baselineExport(f *configFlags) *cobra.Command {
	var ff filterFlags
	var out string
	cmd := &cobra.Command{
		Use: "export", Short: "Write runs as JSON Lines",
		Long: `Writes runs as JSON Lines, without their marks. Where check or noise reads the file
as a history, all of them count as accepted: for that export what is accepted.
apkgate baseline copy takes the marks along.`,
		Example: `  apkgate baseline export --state accepted -o history.jsonl.zst
  apkgate check --history history.jsonl.zst --run run.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := ff.filter()
			if err != nil {
				return err
			}
			address, err := storePath(*f)
			if err == nil {
				err = keepsInput([]string{out}, []string{address, f.file()})
			}
			if err != nil {
				return err
			}
			return c.reading(cmd.Context(), *f, func(s baseline.Store) error {
				write := func(w io.Writer) error {
					_, err := baseline.WriteJSONL(w, baseline.Runs(s.Export(cmd.Context(), filter)))
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

func (c Command) baselineCopy(f *configFlags) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "copy --to HISTORY", Short: "Add every run and its mark to another history", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usage(errors.New("copy needs --to with the other history"), "a file, branch:REMOTE#BRANCH or postgres://…")
			}
			return c.reading(cmd.Context(), *f, func(from baseline.Store) error {
				target, err := c.openStore(cmd.Context(), to)
				if err != nil {
					return err
				}
				done, err := baseline.Copy(cmd.Context(), target, from)
				if err = errors.Join(err, target.Close()); err != nil {
					return storeError(err)
				}
				fmt.Fprintf(c.Stdout, "%d new %s in %s\n", done.Added, words.Plural(done.Added, "run", "runs"), plain(shownAddress(to)))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the other history: a file, branch:REMOTE#BRANCH or postgres://…")
	return cmd
}
