// Package runevidence finds the files that were kept with the runs of a history, shows them, and
// copies them with their runs.
//
// It owns where such files are stored next to a history and what is reported of them. A run without
// its files is complete: missing files are reported and never fail a command. Storing files belongs
// to package evidence.
package runevidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/artifact"
)

// Beside returns the folder with the files of a history's runs: for a file, next to it. A shared
// history has only runs; files that are measured here for it are kept in own, apkgate's own folder
// on this computer.
func Beside(address string, shared bool, own string) *evidence.Folder {
	if !shared {
		return evidence.At(address+".evidence", evidence.Default)
	}
	sum := sha256.Sum256([]byte(address))
	return evidence.At(filepath.Join(own, "evidence-"+hex.EncodeToString(sum[:4])), evidence.Default)
}

// List prints the files of a run for people, and how to look at one of its traces.
func List(w io.Writer, folder *evidence.Folder, r run.Run) error {
	fmt.Fprintf(w, "%s kept with run %s\n", prose.Count(len(r.Evidence), "file", "files"), wording.Name(r.ID))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "kind\tdigest\tsize\tname\tevent\ttime\twhy\twhere")
	for _, e := range r.Evidence {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Kind, e.Digest[:8], plainSpaces(wording.FileSize(e.Bytes)), e.Name,
			wording.Dash(wording.Brief(e.Event)), when(e), wording.Dash(wording.Brief(e.Why)), Where(folder, e))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if e, at := toLookAt(folder, r); at != "" {
		_, err := fmt.Fprintf(w, "To look at a trace: %s\n", openCommand(at, e))
		return err
	}
	return nil
}

// toLookAt returns the first trace of a run that is here and was kept because of an anomaly, or
// else the first one, and its path; "" if there is none.
func toLookAt(folder *evidence.Folder, r run.Run) (first run.Evidence, where string) {
	for _, e := range r.Evidence {
		at, _, here := folder.Place(e.Digest)
		if !here || e.Kind != run.PerfettoTrace {
			continue
		}
		if e.Why != "" {
			return e, at
		}
		if where == "" {
			first, where = e, at
		}
	}
	return first, where
}

// openCommand returns the command that opens a Perfetto trace in Perfetto's user interface, at the
// relevant part.
func openCommand(at string, e run.Evidence) string {
	command := inspectCommand(at)
	if e.ToMS > e.FromMS {
		command += fmt.Sprintf(" --from-ms %.0f --to-ms %.0f", math.Floor(e.FromMS), math.Ceil(e.ToMS))
	}
	return command
}

// inspectCommand returns the command that opens a whole Perfetto trace.
func inspectCommand(at string) string {
	return "apkgate inspect perfetto " + device.Quote(at) + " --open"
}

// Where returns the path of a file, or that it is not here.
func Where(folder *evidence.Folder, e run.Evidence) string {
	if at, _, here := folder.Place(e.Digest); here {
		return at
	}
	return "not here"
}

// when returns in which repetition a file was kept, and which part of it is relevant.
func when(e run.Evidence) string {
	var parts []string
	if e.Repetition > 0 {
		parts = append(parts, fmt.Sprintf("repetition %d", e.Repetition))
	}
	if e.ToMS > e.FromMS {
		parts = append(parts, fmt.Sprintf("%.3f to %.3f s", e.FromMS/1000, e.ToMS/1000))
	}
	return wording.Dash(strings.Join(parts, ", "))
}

// plainSpaces replaces spaces that a terminal may show in another width.
func plainSpaces(s string) string {
	return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(s)
}

// FileName returns the name of a kept file outside of its folder: two runs' files may have one
// name.
func FileName(e run.Evidence) string { return e.Digest[:8] + "-" + e.Name }

// InReport returns the folder of kept files in a report folder.
func InReport(dir string) string { return filepath.Join(dir, artifact.EvidenceFolder) }

// Takeout is the result of TakeOut.
type Takeout struct {
	Names  map[string]string // of the files in the folder, by digest
	Absent []run.Evidence    // not here, or damaged
}

// TakeOut copies the files of runs to a folder of the user's, under their names. Missing files are
// reported.
func TakeOut(ctx context.Context, folder *evidence.Folder, dir string, runs ...run.Run) (Takeout, error) {
	done := Takeout{Names: map[string]string{}}
	for _, r := range runs {
		for _, e := range r.Evidence {
			if err := ctx.Err(); err != nil {
				return done, err
			}
			if done.Names[e.Digest] != "" {
				continue
			}
			err := takeOut(folder, dir, e)
			switch {
			case errors.Is(err, evidence.ErrAbsent), errors.Is(err, evidence.ErrDamaged):
				done.Absent = append(done.Absent, e)
			case err != nil:
				return done, fmt.Errorf("copy %s to %s: %w", FileName(e), dir, err)
			default:
				done.Names[e.Digest] = FileName(e)
			}
		}
	}
	return done, nil
}

func takeOut(folder *evidence.Folder, dir string, e run.Evidence) error {
	in, err := folder.Open(e.Digest)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(dir, "."+FileName(e)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(0o644), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), filepath.Join(dir, FileName(e)))
}
