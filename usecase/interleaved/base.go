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

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// Base is the build that a new one is measured against. The zero value is none.
type Base struct {
	// APK is its file, or a folder or an archive of its parts.
	APK    string
	Source run.Source
	// From says of which run a kept build is, for people: "kept with run 4f2a91c0".
	From string
	// temporary is the folder that is gone once it is measured, "" for none.
	temporary string
}

// Named is the base build that a flag or the configuration names; none where neither
// does. A flag's file has to be there. One that the configuration names and that is not
// there is told, and passed over.
func Named(c terminal.Console, cfg *config.Config, flag, commit string) (Base, error) {
	b := Base{APK: cmp.Or(flag, cfg.Base), Source: run.Source{Repository: c.Getenv("GITHUB_REPOSITORY"), Commit: commit}}
	if b.APK == "" {
		return Base{}, nil
	}
	_, err := os.Stat(b.APK)
	if flag == "" && errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(c.Stderr, "warning: base: %s is not there, so that nothing can be measured in turns with it\n", terminal.Plain(b.APK))
		return Base{}, nil
	}
	if err != nil {
		return Base{}, exit.Usage(fmt.Errorf("the base build: %w", atomicfile.Error("find", b.APK, err)), "build it first, from the commit that the change begins with, or name another file")
	}
	return b, b.fits(cfg)
}

// name is what the build is called where it is measured: its file, or the run that
// it was kept with.
func (b Base) name() string {
	if b.temporary != "" {
		return "the build that was " + b.From
	}
	return b.APK
}

// Files are what there is of the build, nil for none.
func (b Base) Files() []string {
	if b.APK == "" {
		return nil
	}
	return []string{b.APK}
}

// fits looks whether the build is one of the app that is measured.
func (b Base) fits(cfg *config.Config) error {
	own := *cfg
	own.App.Install(b.APK)
	if err := validate.FilesThere(&own); err != nil {
		return fmt.Errorf("the base build: %w", err)
	}
	return nil
}

// mostLooked bounds the accepted runs that a kept build is looked for among.
const mostLooked = 1_000

// Kept is the build that was kept with accepted runs: of the first of the commits that
// has one, or the newest where no commits are named. None where there is none, or it is
// not on this computer. What goes wrong with it is told, and it is none.
func Kept(ctx context.Context, c terminal.Console, cfg *config.Config, store baseline.Store, folder *evidence.Folder, commits []string) Base {
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
		fmt.Fprintf(c.Stderr, "warning: nothing can be measured in turns with the build that was kept: %s\n", terminal.Plain(err.Error()))
		return Base{}
	}
	return b
}

// keptBuild finds the record of the kept build and its run, among the runs that have
// files here.
func keptBuild(ctx context.Context, cfg *config.Config, store baseline.Store, folder *evidence.Folder, commits []string) (run.Run, run.Evidence, error) {
	ids, err := folder.Runs()
	if err != nil || len(ids) == 0 {
		return run.Run{}, run.Evidence{}, err
	}
	var found []run.Run
	for e, err := range store.List(ctx, baseline.Filter{
		IDs: ids[max(0, len(ids)-mostLooked):], Package: cfg.App.Package, Status: run.Complete,
		States: []baseline.State{baseline.Accepted, baseline.Rebaselined}, Level: true,
	}) {
		if errors.Is(err, baseline.ErrDamaged) {
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
		if errors.Is(err, baseline.ErrDamaged) || errors.Is(err, baseline.ErrNotFound) {
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

// placeOf is which of the commits the run's is, either of which may be cut short; -1 for none.
func placeOf(r run.Run, commits []string) int {
	return slices.IndexFunc(commits, func(c string) bool { return run.SameCommit(c, r.Source.Commit) })
}

// buildOf is the build that was kept with a run, where it is on this computer.
func buildOf(r run.Run, folder *evidence.Folder) (run.Evidence, bool) {
	for _, e := range r.Evidence {
		if _, _, here := folder.Place(e.Digest); here && e.Kind == run.Build {
			return e, true
		}
	}
	return run.Evidence{}, false
}

// takeOut puts the build where it can be installed from, under its name.
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

// Close removes what was only put there to be measured.
func (b Base) Close(c terminal.Console) {
	if b.temporary == "" {
		return
	}
	if err := os.RemoveAll(b.temporary); err != nil {
		fmt.Fprintf(c.Stderr, "warning: remove the base build that was taken out to be measured: %s\n", terminal.Plain(err.Error()))
	}
}
