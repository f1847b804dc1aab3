package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/words"
)

func (c Command) baselineVerb() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Look at and change the history that runs are compared with",
		Long: `The history holds every run that was measured. Only accepted ones are compared
with. Runs never change, and only prune removes any: accept and reject mark them.`,
		Args: onlyVerbs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.config, "config", "", "the configuration (default apkgate.yml where there is one)")
	cmd.PersistentFlags().StringVar(&f.store, "store", "", "the history, instead of the configuration's: a file, branch:REMOTE#BRANCH or postgres://…")
	cmd.AddCommand(
		c.baselineList(&f), c.baselineShow(&f), c.baselineRefresh(&f),
		c.baselineAccept(&f), c.baselineReject(&f), c.baselineRebaseline(&f),
		c.baselineImport(&f), c.baselineExport(&f), c.baselineCopy(&f), c.baselinePrune(&f), c.baselineVerify(&f), c.baselineRepair(&f),
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

// withStore runs do on the sound part of the history, which has to be there. What
// was damaged is told when it is done.
func (c Command) withStore(ctx context.Context, f configFlags, do func(baseline.Store) error) error {
	return c.with(ctx, f, do, func(address string) (baseline.Store, error) { return c.openExisting(ctx, address) })
}

// reading runs do, which changes nothing, on the history, which has to be there.
func (c Command) reading(ctx context.Context, f configFlags, do func(baseline.Store) error) error {
	return c.with(ctx, f, do, func(address string) (baseline.Store, error) { return c.openToRead(ctx, address) })
}

func (c Command) with(ctx context.Context, f configFlags, do func(baseline.Store) error, open func(address string) (baseline.Store, error)) error {
	path, err := storePath(f)
	if err != nil {
		return err
	}
	store, err := open(path)
	if err != nil {
		return err
	}
	sound := baseline.SoundOf(store)
	return errors.Join(do(sound), c.damageOf(sound), store.Close())
}

// verifyGCPercent is how much may be allocated beside what is in use, in percent
// of that: some 10 MB are in use.
const verifyGCPercent = 800

func (c Command) baselineVerify(f *configFlags) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read the whole history and say what is damaged", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), *f, func(s baseline.Store) error {
				// Millions of small, short-lived values and next to nothing that
				// stays: collected less often, they cost half the time.
				defer debug.SetGCPercent(debug.SetGCPercent(verifyGCPercent))
				damages, err := s.Verify(cmd.Context())
				if err != nil {
					return storeError(err)
				}
				for _, d := range damages {
					fmt.Fprintln(c.Stdout, d)
				}
				if len(damages) > 0 {
					return withStatus(exitInfrastructure, fmt.Errorf("%d %s damaged", len(damages), words.Plural(len(damages), "part of the history is", "parts of the history are")), repairHint)
				}
				fmt.Fprintln(c.Stdout, "the history is whole")
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

func infrastructureIf(err error) error {
	if err == nil {
		return nil
	}
	return infrastructure(err)
}
