// Package recorddevice implements the command record-device: it records a run on a device, and
// compares a recording with a simulated phone.
//
// Recording and replaying belong to package replay; comparing answers belongs to package fidelity.
package recorddevice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/replay"
	"github.com/apkgate/apkgate/usecase/terminal"
)

type flags struct {
	measurement.CollectFlags
	config, device, note string
	blackOut             []string
	withoutBuilds        bool
}

// Command returns apkgate record-device.
func Command(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "record-device DIR",
		Short: "Record all that is exchanged with a device during a run, to replay it elsewhere",
		Long: `Runs the scenarios of apkgate.yml on one device, as apkgate collect does, and keeps
every command, answer, stream and file, with its time, in the folder DIR, which must be
new or empty. apkgate run --replay DIR makes the run again from that, without the device.

Before anything is written, serial numbers, accounts, Wi-Fi names, network addresses,
the names of other packages and what --black-out names are blacked out; what was is
listed in the end. docs/recording.md says what else is in a recording: look through it
before you give it to anybody.`,
		Example: `  apkgate record-device pixel-7 --scenario scroll
  apkgate run --replay pixel-7
  apkgate record-device compare pixel-7`,
		Args: arguments.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return record(cmd.Context(), c, f, args[0]) },
	}
	cmd.Flags().StringVar(&f.config, "config", "", "the configuration (default apkgate.yml)")
	cmd.Flags().StringVar(&f.APK, "apk", "", "the APK to measure, or a folder or .apks of its parts, instead of the configuration's")
	cmd.Flags().StringArrayVar(&f.Scenarios, "scenario", nil, "only this scenario; may be repeated")
	cmd.Flags().StringVar(&f.device, "device", "", "the device, by its name in the configuration, where that has several")
	cmd.Flags().StringArrayVar(&f.blackOut, "black-out", nil, "one more word to black out; may be repeated")
	cmd.Flags().BoolVar(&f.withoutBuilds, "without-builds", false, "leave the APKs and other files out that the configuration names: who replays needs them")
	cmd.Flags().StringVar(&f.note, "note", "", "a line about the recording, such as the phone's name and who grants which licence")
	cmd.AddCommand(compareCommand(c))
	return cmd
}

func record(ctx context.Context, c terminal.Console, f flags, dir string) error {
	c = replay.Unsourced(c)
	cfg, err := measurement.Config(f.config, f.CollectFlags)
	if err != nil {
		return err
	}
	if err := oneDevice(cfg, f.device); err != nil {
		return err
	}
	release, err := hold(ctx, c, cfg)
	if err != nil {
		return err
	}
	defer release()
	black := recording.NewBlackout(replay.Packages(cfg)...)
	black.Learn(recording.Named, f.blackOut...)
	head := recording.Head{Of: recording.OfDevice, Note: f.note, Session: "recording-" + c.Now().UTC().Format("20060102T150405.000Z")}
	if len(cfg.Devices) == 1 && cfg.Devices[0].Simulated != "" {
		head.Of, head.Profile = recording.OfSimulated, cfg.Devices[0].Simulated
	}
	r, err := replay.Record(c, dir, cfg, head, black)
	if err != nil {
		return err
	}
	plan := replay.Plan{Config: cfg, Bare: f.withoutBuilds, Black: black}
	if err := plan.Write(dir, nil); err != nil {
		return err
	}
	results, err := measured(ctx, c, cfg, f.CollectFlags, r, head.Session)
	head, ended := r.Finish(err == nil && ctx.Err() == nil)
	if err := errors.Join(err, exit.InfrastructureIf(ended), plan.Write(dir, properties(results))); err != nil {
		return err
	}
	replays := "not tried: the builds are not in the recording"
	if ctx.Err() != nil {
		replays = "not tried: the recording was interrupted"
	} else if !f.withoutBuilds {
		if replays, err = replayOf(ctx, c, dir, results, black); err != nil {
			return err
		}
	}
	head.Replays = replays
	if err := r.Note(replays); err != nil {
		return exit.Infrastructure(err)
	}
	return errors.Join(printSummary(c, dir, head), cmp.Or(measurement.LossOf(results), measurement.EndedOf(results)))
}

// oneDevice keeps the one device that is recorded, and refuses what can't be.
func oneDevice(cfg *config.Config, name string) error {
	for _, s := range cfg.Scenarios {
		if s.Workload.Maestro != nil {
			return exit.Usage(fmt.Errorf("record scenario %s: a Maestro flow talks to the device by itself, which can't be recorded", terminal.Plain(s.Name)), "choose others with --scenario")
		}
	}
	var names []string
	for _, d := range cfg.Devices {
		names = append(names, d.Stations()...)
	}
	if name != "" {
		at := slices.IndexFunc(cfg.Devices, func(d config.Device) bool { return slices.Contains(d.Stations(), name) })
		if at < 0 {
			return exit.BadValue("device", name, names)
		}
		cfg.Devices = []config.Device{cfg.Devices[at]}
	}
	if len(cfg.Devices) > 1 {
		return exit.Usage(fmt.Errorf("%d devices are named, and one is recorded", len(names)), "choose one with --device: "+prose.Few(names, 10))
	}
	for i := range cfg.Devices { // of several identical ones, the first
		cfg.Devices[i].Count = 0
	}
	return nil
}

// hold undoes what a killed run left on an existing device, and takes it until the recording has
// ended: the recorded run does neither.
func hold(ctx context.Context, c terminal.Console, cfg *config.Config) (release func(), err error) {
	if len(cfg.Devices) == 1 && (cfg.Devices[0].Simulated != "" || cfg.Devices[0].Booted()) {
		return func() {}, nil
	}
	devices, closing, err := measurement.Ready(ctx, c, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closing() }()
	if len(devices) == 0 {
		return func() {}, nil
	}
	d := devices[0]
	lines, err := d.Restore(ctx, c.Now())
	for _, line := range lines {
		fmt.Fprintf(c.Stderr, "%s: %s\n", terminal.Plain(d.Name), terminal.Plain(line))
	}
	if err != nil {
		return nil, exit.InfrastructureIf(err)
	}
	release, err = d.Hold(ctx, "apkgate record-device")
	return release, exit.InfrastructureIf(err)
}

// measured makes the runs while they are recorded. Kept evidence is in the recording.
func measured(ctx context.Context, c terminal.Console, cfg *config.Config, f measurement.CollectFlags, r *replay.Recorder, session string) ([]collect.Result, error) {
	temporary, err := os.MkdirTemp("", "apkgate-recording-")
	if err != nil {
		return nil, exit.Infrastructure(fmt.Errorf("make a folder for what is kept with the runs: %w", err))
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	f.Tape, f.Session, f.Profiles = r, session, filepath.Join(temporary, "energy")
	measurement.ProfilesTo(f.Profiles, cfg.Energy)
	f.Evidence.Folder = evidence.At(filepath.Join(temporary, "evidence"), evidence.Default)
	results, err := measurement.Measure(ctx, c, cfg, f, nil)
	return results, errors.Join(err, exit.InfrastructureIf(r.Err()))
}

// properties returns those of the context that only this computer knows.
func properties(results []collect.Result) map[string]string {
	out := map[string]string{}
	for _, r := range results {
		if host := r.Run.Context[devctx.Host]; host != "" {
			out[devctx.Host] = host
		}
	}
	return out
}

// replayOf makes the runs again from the recording, stores them in it, and returns how they compare
// with the measured ones.
func replayOf(ctx context.Context, c terminal.Console, dir string, results []collect.Result, black *recording.Blackout) (string, error) {
	r, err := replay.Open(dir)
	if err != nil {
		return "", err
	}
	c.Stderr = io.Discard
	var f measurement.CollectFlags
	if err := r.Take(&f); err != nil {
		return "", err
	}
	defer func() { _ = r.End(c) }()
	cfg, err := measurement.Config(r.Config(), f)
	if err != nil {
		return "", err
	}
	again, err := measurement.Measure(ctx, c, cfg, f, nil)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, replay.RunsFile)
	if err := atomicfile.Write(path, measurement.JSONLines(again)); err != nil {
		return "", exit.Infrastructure(atomicfile.Error("write", path, err))
	}
	if len(again) != len(results) {
		return fmt.Sprintf("not exactly: %d of %s", len(again), prose.Count(len(results), "run", "runs")), nil
	}
	var differences []string
	for i := range results {
		places, more, err := replay.Blacked(results[i].Run, again[i].Run, black)
		if err != nil {
			return "", exit.Infrastructure(err)
		}
		if more > 0 {
			places = append(places, fmt.Sprintf("and in %d places more", more))
		}
		differences = append(differences, places...)
	}
	if len(differences) == 0 {
		return "exactly", nil
	}
	const most = 2000 // bytes
	return prose.Fit("not exactly: "+strings.Join(differences, "; "), most), nil
}

// printSummary prints what is in the recording.
func printSummary(c terminal.Console, dir string, head recording.Head) error {
	r, err := recording.Read(dir)
	if err != nil {
		return exit.Infrastructure(err)
	}
	calls := 0
	var took time.Duration
	for _, made := range r.Runs {
		calls += len(made.Entries)
		if n := len(made.Entries); n > 0 {
			took += time.Duration(made.Entries[n-1].AtNS - made.Entries[0].AtNS)
		}
	}
	size, err := sizeOf(dir)
	if err != nil {
		return exit.Infrastructure(err)
	}
	fmt.Fprintf(c.Stdout, "%s: %s, %s exchanges in %s, %.1f MB\n", terminal.Plain(dir), prose.Count(len(r.Runs), "run", "runs"), prose.Thousands(calls), prose.Duration(took.Round(time.Second)), float64(size)/1e6)
	if len(head.BlackedOut) == 0 {
		fmt.Fprintln(c.Stdout, "blacked out: nothing was found that had to be")
	} else {
		fmt.Fprintln(c.Stdout, "blacked out:")
	}
	for _, b := range head.BlackedOut {
		fmt.Fprintf(c.Stdout, "  %s: %s in %s\n", b.What, prose.Count(b.Words, "word", "words"), prose.Count(b.Places, "place", "places"))
	}
	fmt.Fprintf(c.Stdout, "it replays: %s\n", terminal.Plain(head.Replays))
	fmt.Fprintln(c.Stdout, "look through it before you give it to anybody: docs/recording.md says what else is in it")
	return nil
}

func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
