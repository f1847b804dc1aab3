package interleaved

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// Base is the build that a new one is compared with. The zero value is none.
type Base struct {
	// APK is its file, or a folder or an archive of its parts.
	APK    string
	Source run.Source
	// From names the run of a kept build, for people: "kept with run 4f2a91c0".
	From string
	// temporary is the folder that is removed after the measurement, "" for none.
	temporary string
}

// Named returns the base build of a flag or the configuration; none if neither names one. A flag's
// file must exist. A missing file of the configuration is skipped with a warning.
func Named(c terminal.Console, cfg *config.Config, flag, commit string) (Base, error) {
	b := Base{APK: cmp.Or(flag, cfg.Base), Source: run.Source{Repository: c.Getenv("GITHUB_REPOSITORY"), Commit: commit}}
	if b.APK == "" {
		return Base{}, nil
	}
	_, err := os.Stat(b.APK)
	if flag == "" && errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(c.Stderr, "warning: base: %s is not there, so nothing can be measured alternately with it\n", terminal.Plain(b.APK))
		return Base{}, nil
	}
	if err != nil {
		return Base{}, exit.Usage(fmt.Errorf("the base build: %w", atomicfile.Error("find", b.APK, err)), "build it first, from the commit that the change begins with, or name another file")
	}
	return b, b.fits(cfg)
}

// name returns the build's name for people: its file, or the run that it was kept with.
func (b Base) name() string {
	if b.temporary != "" {
		return "the build that was " + b.From
	}
	return b.APK
}

// Files returns the files of the build, nil for none.
func (b Base) Files() []string {
	if b.APK == "" {
		return nil
	}
	return []string{b.APK}
}

// fits checks that the build is one of the measured app.
func (b Base) fits(cfg *config.Config) error {
	own := *cfg
	own.App.Install(b.APK)
	if err := validate.Files(&own); err != nil {
		return fmt.Errorf("the base build: %w", err)
	}
	return nil
}

// mostLooked limits among how many accepted runs a kept build is searched.
const mostLooked = 1_000

// Kept returns the build that was kept with accepted runs: of the first of the commits that has
// one, or the newest if no commits are named. None if there is none, or it is not on this computer.
// A failure is a warning, and the build is none.
func Kept(ctx context.Context, c terminal.Console, cfg *config.Config, store runstore.Store, folder *evidence.Folder, commits []string) Base {
	r, e, err := keptBuild(ctx, cfg, store, folder, commits)
	if err == nil && e.Digest == "" {
		return Base{}
	}
	b := Base{Source: r.Source, From: "kept with run " + r.ID}
	if err == nil {
		err = b.takeOut(ctx, folder, r, e)
	}
	if err == nil {
		err = b.fits(cfg)
	}
	if err != nil {
		b.Close(c)
		fmt.Fprintf(c.Stderr, "warning: nothing can be measured alternately with the build that was kept: %s\n", terminal.Plain(err.Error()))
		return Base{}
	}
	return b
}

// keptBuild finds the record of the kept build and its run, among the runs that have files here.
func keptBuild(ctx context.Context, cfg *config.Config, store runstore.Store, folder *evidence.Folder, commits []string) (run.Run, run.Evidence, error) {
	ids, err := folder.Runs()
	if err != nil || len(ids) == 0 {
		return run.Run{}, run.Evidence{}, err
	}
	var found []run.Run
	for e, err := range store.List(ctx, runstore.Filter{
		IDs: ids[max(0, len(ids)-mostLooked):], Package: cfg.App.Package, Status: run.Complete,
		States: []runstore.State{runstore.Accepted, runstore.Rebaselined}, Level: true,
	}) {
		if errors.Is(err, runstore.ErrDamaged) {
			continue
		}
		if err != nil {
			return run.Run{}, run.Evidence{}, err
		}
		if len(commits) == 0 || placeOf(e.Run, commits) >= 0 {
			found = append(found, e.Run)
		}
	}
	slices.SortStableFunc(found, func(a, b run.Run) int {
		return cmp.Compare(placeOf(a, commits), placeOf(b, commits))
	})
	for _, r := range found {
		e, err := store.Get(ctx, r.ID)
		if errors.Is(err, runstore.ErrDamaged) || errors.Is(err, runstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return run.Run{}, run.Evidence{}, err
		}
		if build, is := buildOf(e.Run, folder); is {
			return e.Run, build, nil
		}
	}
	return run.Run{}, run.Evidence{}, nil
}

// placeOf returns the index of the run's commit among the commits, either of which may be
// abbreviated; -1 for none.
func placeOf(r run.Run, commits []string) int {
	return slices.IndexFunc(commits, func(c string) bool { return run.SameCommit(c, r.Source.Commit) })
}

// buildOf returns the build that was kept with a run, if it is on this computer.
func buildOf(r run.Run, folder *evidence.Folder) (run.Evidence, bool) {
	for _, e := range r.Evidence {
		if _, _, here := folder.Place(e.Digest); here && e.Kind == run.Build {
			return e, true
		}
	}
	return run.Evidence{}, false
}

// takeOut copies the build to where it can be installed from, under its name.
func (b *Base) takeOut(ctx context.Context, folder *evidence.Folder, r run.Run, e run.Evidence) (err error) {
	if b.temporary, err = os.MkdirTemp("", "apkgate-base-"); err != nil {
		return err
	}
	r.Evidence = []run.Evidence{e}
	done, err := runevidence.TakeOut(ctx, folder, b.temporary, r)
	if err == nil && len(done.Absent) > 0 {
		err = fmt.Errorf("the file of run %s is damaged", r.ID)
	}
	b.APK = filepath.Join(b.temporary, done.Names[e.Digest])
	return err
}

// Close removes the temporary copy.
func (b Base) Close(c terminal.Console) {
	if b.temporary == "" {
		return
	}
	if err := os.RemoveAll(b.temporary); err != nil {
		fmt.Fprintf(c.Stderr, "warning: remove the base build that was taken out to be measured: %s\n", terminal.Plain(err.Error()))
	}
}
