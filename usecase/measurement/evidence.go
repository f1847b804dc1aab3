package measurement

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Evidence configures where the files that are kept with runs go. The zero value keeps none.
type Evidence struct {
	// Folder is next to the history in which the runs are stored; nil if they are stored in none.
	Folder *evidence.Folder
	// Report is a report folder that gets a copy of each file for its readers; "" for none.
	Report string
	// APK keeps the measured build with its runs.
	APK bool
	// Sources are the folders with the files of runs that are known already (see
	// CollectFlags.Known), in addition to Folder.
	Sources []*evidence.Folder
}

// keeper receives files while runs are made, and attaches them to their runs.
type keeper struct {
	console   terminal.Console
	folder    *evidence.Folder // nil keeps nothing
	temporary string           // the folder that is removed at the end, "" for none
	report    string
	room      int64 // remaining bytes of the report folder
	sources   []*evidence.Folder
}

// keeper prepares the destinations of the files. Files that only a report gets have a temporary
// folder.
func (e Evidence) keeper(c terminal.Console) (*keeper, error) {
	k := &keeper{console: c, folder: e.Folder, report: e.Report, room: evidence.Default.Total, sources: e.Sources}
	if k.folder != nil || k.report == "" {
		return k, nil
	}
	dir, err := os.MkdirTemp("", "apkgate-evidence-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for what is kept with the runs: %w", err)
	}
	k.temporary, k.folder = dir, evidence.At(filepath.Join(dir, "evidence"), evidence.Default)
	return k, nil
}

// receiver returns what receives the files, nil if nothing does.
func (k *keeper) receiver() evidence.Keeper {
	if k.folder == nil {
		return nil
	}
	return k
}

// Keep implements evidence.Keeper.
func (k *keeper) Keep(ctx context.Context, r io.Reader, limit int64) (string, int64, error) {
	if err := atomicfile.MakeFolder(filepath.Dir(k.folder.Path())); err != nil {
		return "", 0, atomicfile.Error("make a folder for what is kept with the runs", k.folder.Path(), err)
	}
	return k.folder.Keep(ctx, r, limit)
}

// build keeps the measured build, whose record each of its runs gets. A failure is a warning, as
// for any other file.
func (k *keeper) build(ctx context.Context, app config.App) ([]run.Evidence, error) {
	paths := app.APKs()
	if k.folder == nil || k.temporary != "" || len(paths) == 0 {
		return nil, nil
	}
	e, err := k.keepBuild(ctx, paths)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		fmt.Fprintf(k.console.Stderr, "warning: the build is not kept with its runs: %s\n", terminal.Plain(err.Error()))
		return nil, nil
	}
	return []run.Evidence{e}, nil
}

func (k *keeper) keepBuild(ctx context.Context, paths []string) (run.Evidence, error) {
	info, err := os.Stat(paths[0])
	switch {
	case err != nil:
		return run.Evidence{}, atomicfile.Error("read", paths[0], err)
	case len(paths) > 1 || info.IsDir():
		return run.Evidence{}, fmt.Errorf("it is in %s: only one file is kept, an APK or an archive of them (.apks)", prose.Count(max(len(paths), 2), "part", "parts"))
	}
	file, err := os.Open(paths[0])
	if err != nil {
		return run.Evidence{}, atomicfile.Error("read", paths[0], err)
	}
	defer file.Close()
	digest, size, err := k.Keep(ctx, file, evidence.Default.File)
	return run.Evidence{Digest: digest, Kind: run.Build, Name: buildName(paths[0]), Bytes: size}, err
}

// buildName returns the name of a build among kept files, by the kind of its file.
func buildName(path string) string {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".apks", ".xapk", ".apkm", ".zip":
		return "app" + ext
	}
	return "app.apk"
}

// finished attaches the files to their run. A failure is a warning: the run is complete without
// them.
func (k *keeper) finished(ctx context.Context, r run.Run) {
	if k.folder == nil || len(r.Evidence) == 0 {
		return
	}
	r, err := r.Named()
	var gone evidence.Gone
	if err == nil {
		gone, err = k.attach(ctx, r)
	}
	if line := runevidence.GoneLine(gone); line != "" {
		fmt.Fprintln(k.console.Stderr, line)
	}
	if err == nil && k.report != "" {
		err = k.toReport(ctx, r)
	}
	if err != nil {
		fmt.Fprintf(k.console.Stderr, "warning: files that were kept with run %s: %s\n", terminal.Plain(r.ID), terminal.Plain(err.Error()))
	}
}

// attach attaches the files to their run, and copies those that are elsewhere.
func (k *keeper) attach(ctx context.Context, r run.Run) (evidence.Gone, error) {
	var gone evidence.Gone
	if len(k.sources) > 0 {
		if err := atomicfile.MakeFolder(filepath.Dir(k.folder.Path())); err != nil {
			return gone, atomicfile.Error("make a folder for what is kept with the runs", k.folder.Path(), err)
		}
	}
	for _, source := range k.sources {
		if k.hasAll(r) {
			break
		}
		done, err := evidence.Copy(ctx, k.folder, source, r)
		gone.Add(done.Gone)
		if err != nil {
			return gone, err
		}
	}
	if !k.hasAll(r) {
		fmt.Fprintf(k.console.Stderr, "warning: not all files that were kept with the run of %s are %s, so that it only names them\n", terminal.Plain(r.Scenario), k.where())
	}
	more, err := k.folder.Attach(ctx, r)
	gone.Add(more)
	return gone, err
}

// hasAll reports whether all files of the run are here.
func (k *keeper) hasAll(r run.Run) bool {
	for _, e := range r.Evidence {
		if _, _, here := k.folder.Place(e.Digest); !here && !k.reported(e) {
			return false
		}
	}
	return true
}

// reported reports whether the report folder has a file already, of a resumed measurement, and it
// is the only place for it.
func (k *keeper) reported(e run.Evidence) bool {
	if k.temporary == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(runevidence.InReport(k.report), runevidence.FileName(e)))
	return err == nil && info.Size() == e.Bytes
}

// where returns where the files of known runs should be.
func (k *keeper) where() string {
	switch {
	case len(k.sources) > 0:
		return "beside the parts"
	case k.temporary != "":
		return "in the report folder, the only place where they are kept"
	}
	return "beside the history"
}

// toReport copies the run's files to the report folder, as far as there is room.
func (k *keeper) toReport(ctx context.Context, r run.Run) error {
	left := 0
	all := r.Evidence
	r.Evidence = nil
	for _, e := range all {
		if e.Kind == run.Build {
			continue // it is what was measured, and shows nothing of why
		}
		_, size, _ := k.folder.Place(e.Digest)
		if size > k.room {
			left++
			continue
		}
		k.room -= size
		r.Evidence = append(r.Evidence, e)
	}
	_, err := runevidence.TakeOut(ctx, k.folder, runevidence.InReport(k.report), r)
	if err == nil && left > 0 {
		err = fmt.Errorf("%s not copied to the report folder, which is full", prose.Count(left, "file is", "files are"))
	}
	return err
}

// close removes the temporary folder. A failure must not lose the measurements.
func (k *keeper) close() {
	if k.temporary == "" {
		return
	}
	if err := os.RemoveAll(k.temporary); err != nil {
		fmt.Fprintf(k.console.Stderr, "warning: remove the folder of kept files that was for the report: %s\n", terminal.Plain(err.Error()))
	}
}
