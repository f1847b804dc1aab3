package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/words"
)

func (c Command) baselinePrune(f *configFlags) *cobra.Command {
	var keep int
	var yes bool
	cmd := &cobra.Command{
		Use: "prune --keep N", Short: "Remove all but the newest N runs of each app, scenario and context", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep < 1 {
				return usage(fmt.Errorf("--keep is %d, want 1 or more", keep), "apkgate baseline prune --keep 200")
			}
			prune := func(s baseline.Store) error { return c.prune(cmd.Context(), s, keep, yes) }
			if yes {
				return c.withStore(cmd.Context(), *f, prune)
			}
			return c.reading(cmd.Context(), *f, prune)
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
		fmt.Fprintf(c.Stdout, "%d %s removed\n", n, words.Plural(n, "run", "runs"))
		return nil
	}
	fmt.Fprintf(c.Stdout, "%d %s would be removed; --yes removes them\n", n, words.Plural(n, "run", "runs"))
	return nil
}
