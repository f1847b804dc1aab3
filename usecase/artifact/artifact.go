// Package artifact writes the report folder that a workflow uploads, and reads it in another
// workflow, which comments.
//
// It owns the folder's files and their limits. A downloaded folder was written by a stranger: of it
// only the verdict, the judged runs and meta.json are read, and nothing in it decides where anything
// is posted.
package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/reproduction"
)

// metaFile lists, next to a file of each format, the contents of a report folder.
const metaFile = "meta.json"

// RunsFile has the judged runs, if another job of the same run shows the report. ReadFolder does not
// read it; ReadRuns does.
const RunsFile = "runs.jsonl.zst"

// verdictFile is the file that is read back.
var verdictFile = fileOf("json")

// fileOf returns the name of a format's file.
func fileOf(format string) string {
	f, _ := report.Find(format)
	return f.File
}

// artifactFiles returns the files of a report folder: one of each format, and meta.json.
func artifactFiles() []string {
	var out []string
	for _, f := range report.Formats {
		if f.File != "" {
			out = append(out, f.File)
		}
	}
	return append(out, metaFile, RunsFile)
}

// Limits in bytes on an untrusted report folder.
const (
	maxArtifact = 64 << 20
	maxVerdict  = 32 << 20
	maxMeta     = 64 << 10
	maxRuns     = 5_000 // runs in its verdict
	maxNotes    = 10
	maxEntries  = 2_000 // files, with profiles
)

// strangersBounds allow for what a verdict of maxVerdict bytes needs.
var strangersBounds = saved.Bounds{Elements: 300_000, Members: 2_000_000}

// profileEndings are the suffixes of profiles of methods, which may be next to the report. They are
// for people to open, and never read here.
var profileEndings = []string{".pb.gz", ".csv"}

// EvidenceFolder is the subfolder of a report folder with the files that were kept with its runs.
// They too are for people to open.
const EvidenceFolder = "evidence"

// artifactFormat is the format and version of meta.json.
const artifactFormat = "apkgate.artifact/1"

// meta is what a report shows and a verdict does not contain. Nothing in it decides where anything
// is posted.
type meta struct {
	Format  string   `json:"format"`
	Version string   `json:"version,omitempty"`
	Leg     string   `json:"leg,omitempty"` // of a job matrix
	Notes   []string `json:"notes,omitempty"`
	// Base is the commit of the history, Newest the newest accepted run that was compared with.
	Base   string  `json:"base,omitempty"`
	Newest *newest `json:"newest,omitempty"`
	// Why says how to explain what is unexplained.
	Why string `json:"why,omitempty"`
	// Places are the lines of the scenarios.
	Places map[string]place `json:"places,omitempty"`
	// Builds are what the verdict is reproduced with; nil where a command can't do it.
	Builds *reproduction.Builds `json:"builds,omitempty"`
}

type newest struct {
	Started time.Time `json:"started"`
	Commit  string    `json:"commit,omitempty"`
}

type place struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// Folder are the paths of a report's files, absolute.
type Folder struct{ Dir, Report, Verdict, SARIF string }

// FolderAt returns the paths of a report's files in a folder.
func FolderAt(dir string) (Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, fmt.Errorf("find the report folder: %w", err)
	}
	at := func(format string) string { return filepath.Join(dir, fileOf(format)) }
	return Folder{Dir: dir, Report: at("html"), Verdict: at("json"), SARIF: at("sarif")}, nil
}

// Report is what a report folder holds.
type Report struct {
	Input layout.Input
	Leg   string // of a job matrix, "" if there is none
	// Places are the lines of the scenarios. ReadFolder leaves them out, see ReadPlaces.
	Places document.Places
	// Builds are what the verdict is reproduced with, nil if unknown; as a stranger may have written
	// them where they were read.
	Builds *reproduction.Builds
}

// WriteFolder writes the report as a folder for the workflow to upload: verdict.json, report.html,
// report.md, apkgate.sarif, picture.svg and meta.json.
func WriteFolder(dir string, r Report) (Folder, error) {
	folder, err := FolderAt(dir)
	if err != nil {
		return Folder{}, err
	}
	if err := os.MkdirAll(folder.Dir, 0o755); err != nil {
		return Folder{}, fmt.Errorf("write the report folder: %w", err)
	}
	in := r.Input
	m := meta{Format: artifactFormat, Version: in.Meta.Version, Leg: r.Leg, Notes: in.Notes, Base: in.Meta.BaseCommit, Why: in.Why, Places: map[string]place{}, Builds: r.Builds}
	if n := in.Meta.Newest; n != (layout.Origin{}) {
		m.Newest = &newest{n.At, n.Commit}
	}
	for scenario, at := range r.Places {
		m.Places[scenario] = place{at.Path, at.Line}
	}
	answer := layout.Verdict(in)
	o := document.Options{Limit: githubactions.MaxSummary, Places: func() document.Places { return r.Places }}
	files := map[string]func(io.Writer) error{metaFile: func(w io.Writer) error { return json.NewEncoder(w).Encode(m) }}
	for _, format := range report.Formats {
		if format.File != "" {
			files[format.File] = func(w io.Writer) error { return format.Render(w, answer, o) }
		}
	}
	for name, write := range files {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return Folder{}, err
		}
		if err := os.WriteFile(filepath.Join(folder.Dir, name), b.Bytes(), 0o644); err != nil {
			return Folder{}, fmt.Errorf("write the report folder: %w", err)
		}
	}
	return folder, nil
}

// Clear removes the verdict that an earlier run left in a folder: if this run ends without one, no
// other job takes it for this run's.
func Clear(dir string) error {
	if err := os.Remove(filepath.Join(dir, verdictFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the earlier report from %s: %w", dir, err)
	}
	return nil
}
