package baselinecmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/viewer"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func evidenceCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	var out, open string
	var part viewer.Span
	cmd := &cobra.Command{
		Use: "evidence RUN", Short: "List the files that were kept with a run, or copy them", Args: atLeastOneRun,
		Long: `Lists the traces, dumps and other files that were kept with runs, and where they
are; with --output, copies them to a folder. A file that is not on this computer
is listed all the same.

With --open, the link that opens a trace in Perfetto's user interface
(ui.perfetto.dev), at the part that matters, or that --from-ms and --to-ms name.
The page reads the file from this computer while apkgate waits.`,
		Example: `  apkgate baseline evidence 4f2a91c0
  apkgate baseline evidence 4f2a91c0 --open ba7816bf
  apkgate baseline evidence 4f2a91c0 --output traces`,
		RunE: func(cmd *cobra.Command, ids []string) error {
			address, err := settings.StoreAddress(*f)
			if err != nil {
				return err
			}
			if open != "" && out != "" {
				return exit.Usage(errors.New("--open and --output are two answers"), "ask for one at a time")
			}
			if err := viewer.PartOf(cmd.Flags(), open != ""); err != nil {
				return err
			}
			return reading(cmd.Context(), c, *f, func(s runstore.Store) error {
				if open != "" {
					return openEvidence(cmd.Context(), c, s, openstore.Kept(address), ids, open, part)
				}
				return showEvidence(cmd.Context(), c, s, openstore.Kept(address), ids, out)
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the folder to copy the files to")
	cmd.Flags().StringVar(&open, "open", "", "the trace to open in Perfetto's user interface: its name, or the beginning of its digest")
	part.Register(cmd.Flags())
	return cmd
}

// openEvidence opens the one trace of the runs with that name or digest.
func openEvidence(ctx context.Context, c terminal.Console, s runstore.Store, folder *evidence.Folder, ids []string, name string, part viewer.Span) error {
	found := map[string]run.Evidence{}
	for _, id := range ids {
		e, err := runNamed(ctx, s, id)
		if err != nil {
			return err
		}
		for _, file := range e.Run.Evidence {
			if file.Kind == run.PerfettoTrace && (file.Name == name || len(name) >= runstore.MinPrefix && strings.HasPrefix(file.Digest, name)) {
				found[file.Digest] = file
			}
		}
	}
	if len(found) != 1 {
		return exit.Usage(fmt.Errorf("open %q: %s called so, want one", prose.Short(name), prose.Count(len(found), "trace is", "traces are")),
			"apkgate baseline evidence RUN lists them with the beginning of their digests")
	}
	for _, file := range found {
		sound, err := folder.Open(file.Digest) // damaged files are not served
		if errors.Is(err, evidence.ErrAbsent) {
			return exit.Usage(fmt.Errorf("open %q: the trace is not here, in %s", prose.Short(name), terminal.Plain(folder.Path())), "")
		}
		if err == nil {
			err = sound.Close()
		}
		if err != nil {
			return exit.Infrastructure(err)
		}
		at, _, _ := folder.Place(file.Digest)
		if part == (viewer.Span{}) {
			part = viewer.Span{FromMS: file.FromMS, ToMS: file.ToMS}
		}
		return viewer.Open(ctx, c, "perfetto", at, part)
	}
	return nil
}

func showEvidence(ctx context.Context, c terminal.Console, s runstore.Store, folder *evidence.Folder, ids []string, out string) error {
	var runs []run.Run
	for _, id := range ids {
		e, err := runNamed(ctx, s, id)
		if err != nil {
			return err
		}
		runs = append(runs, e.Run)
		if len(e.Run.Evidence) == 0 {
			fmt.Fprintf(c.Stdout, "no file was kept with run %s\n", terminal.Plain(e.Run.ID))
			continue
		}
		if err := runevidence.List(c.Stdout, folder, e.Run); err != nil {
			return exit.Infrastructure(err)
		}
	}
	if out == "" {
		return nil
	}
	done, err := runevidence.TakeOut(ctx, folder, out, runs...)
	if err != nil {
		return exit.Infrastructure(err)
	}
	fmt.Fprintf(c.Stdout, "%s copied to %s\n", prose.Count(len(done.Names), "file", "files"), terminal.Plain(out))
	if n := len(done.Absent); n > 0 {
		fmt.Fprintf(c.Stderr, "%s not here, or damaged\n", prose.Count(n, "file is", "files are"))
	}
	return nil
}
