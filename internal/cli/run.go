package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/run"
)

type runFlags struct {
	configFlags
	policyFlags
	outputFlags
	collectFlags
	accept bool
}

func (c Command) runVerb() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure, compare with the history, and report",
		Long: `Runs the scenarios of apkgate.yml on its devices, checks the runs against the
history, and says pass or fail. The runs are kept in the history; they count as
references once they are accepted.

With --accept, as on a main branch, runs that are no regression are accepted.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd, f) },
	}
	f.configFlags.register(cmd)
	f.policyFlags.register(cmd)
	f.outputFlags.register(cmd)
	f.collectFlags.register(cmd)
	cmd.Flags().BoolVar(&f.accept, "accept", false, "accept the runs that are no regression")
	return cmd
}

func (c Command) run(cmd *cobra.Command, f runFlags) error {
	ctx := cmd.Context()
	f.session = cmp.Or(f.session, runSession(c.Now()))
	cfg, err := c.collectConfig(f.config, f.collectFlags)
	if err != nil {
		return err
	}
	set, err := c.settings(cmd, f.configFlags, f.policyFlags)
	if err != nil {
		return err
	}
	f.outputFlags.defaults(cfg.Report)
	f.outputFlags.places = c.placesOf(cfg, f.configFlags.file())
	if err := oneOf("format", Format(f.format), reportFormats); err != nil {
		return err
	}
	if err := keepsInput(f.outputFlags.files(), []string{set.store, f.configFlags.file(), cfg.App.APK, cfg.App.TestAPK}); err != nil {
		return err
	}
	store, err := c.openStore(ctx, set.store)
	if err != nil {
		return err
	}
	results, err := c.measure(ctx, cfg, f.collectFlags, func(r run.Run) error {
		if _, err := store.Add(context.WithoutCancel(ctx), r); err != nil {
			return storeError(err)
		}
		return nil
	})
	if err == nil {
		err = c.gateResults(ctx, store, results, set, f)
	}
	return errors.Join(err, store.Close())
}

// gateResults checks what was measured, accepts it where that was asked for,
// and fails for a run that was lost even if the others pass.
func (c Command) gateResults(ctx context.Context, store baseline.Store, results []collect.Result, set settings, f runFlags) error {
	var runs []run.Run
	for r := range runsOf(results) {
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return lossOf(results)
	}
	sound := baseline.SoundOf(store)
	in, err := c.judge(runs, pastOf(ctx, sound, set), set, f.outputFlags)
	if err != nil {
		return err
	}
	verdict := in.Verdict
	if f.accept {
		if err := c.acceptAll(ctx, store, verdict); err != nil {
			return err
		}
	}
	c.tellNext(verdict, f)
	return exitOf(verdict.Verdict, set.failOn, errors.Join(lossOf(results), c.damageOf(sound)))
}

// acceptAll accepts the runs that are neither a regression nor in pieces.
func (c Command) acceptAll(ctx context.Context, store baseline.Store, v gate.Verdict) error {
	var ids []string
	for _, r := range v.Runs {
		if r.Verdict != gate.Regression && r.Verdict != gate.Invalid {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := store.Mark(ctx, ids, baseline.Mark{State: baseline.Accepted, Note: "run --accept"}); err != nil {
		return storeError(err)
	}
	fmt.Fprintf(c.Stderr, "%d of %d %s accepted\n", len(ids), len(v.Runs), words.Plural(len(v.Runs), "run", "runs"))
	return nil
}
