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
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// ReportFolders returns the report folders that were downloaded to dir: dir itself, or one folder
// in it for each leg of a matrix. There may be none.
func ReportFolders(dir string) ([]string, error) {
	if _, err := os.Lstat(filepath.Join(dir, verdictFile)); err == nil {
		return []string{dir}, nil
	}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for reports: %w", plainPath(err))
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("look for reports: %w", plainPath(err))
	}
	var out []string
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(dir, e.Name(), verdictFile)); err == nil && e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	if len(out) > matrixcomment.MaxLegs {
		return nil, fmt.Errorf("look for reports: %s holds %d, at most %d are allowed", dir, len(out), matrixcomment.MaxLegs)
	}
	return out, nil
}

// ReadFolder reads a report folder of another workflow's run as hostile input. The folder may
// contain the files of a report, profiles of methods, a folder of kept files and nothing else, no
// links, within limits. Only its verdict, with where its energy went, its notes, the name of its leg
// and the builds are read. Where the report belongs is not taken from it.
func ReadFolder(dir string) (Report, error) {
	r, err := readFolder(dir)
	if err != nil {
		return Report{}, fmt.Errorf("read the report folder %s: %w", dir, err)
	}
	return r, nil
}

func readFolder(dir string) (Report, error) {
	root, err := os.OpenRoot(dir) // keeps every path inside, whatever links say
	if err != nil {
		return Report{}, plainPath(err)
	}
	defer root.Close()
	if err := checkFolder(root); err != nil {
		return Report{}, err
	}
	data, err := readFile(root, verdictFile, maxVerdict)
	if err != nil {
		return Report{}, err
	}
	if err := strangersBounds.Check(data); err != nil {
		return Report{}, fmt.Errorf("%s: %w", verdictFile, err)
	}
	v, err := saved.ReadVerdict(bytes.NewReader(data))
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", verdictFile, err)
	}
	in := layout.OfVerdict(v)
	in.Stranger = true
	if n := len(in.Verdict.Runs); n > maxRuns {
		return Report{}, fmt.Errorf("%s has %d runs, at most %d are allowed", verdictFile, n, maxRuns)
	}
	m, err := readMeta(root)
	if err != nil {
		return Report{}, err
	}
	in.Notes = m.Notes[:min(len(m.Notes), maxNotes)]
	in.Meta.Version, in.Why = m.Version, m.Why
	if githubactions.IsCommit(m.Base) {
		in.Meta.BaseCommit = m.Base
	}
	if m.Newest != nil {
		in.Meta.Newest = layout.Origin{At: m.Newest.Started, Commit: m.Newest.Commit}
	}
	leg, err := matrixcomment.LegName(m.Leg)
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", metaFile, err)
	}
	return Report{Input: in, Leg: leg, Builds: m.Builds}, nil
}

// BaseOf returns the commit of the base build that a verdict's runs were measured alternately with,
// "" if there is none or it is no full id.
func BaseOf(v gate.Verdict) string {
	for _, r := range v.Runs {
		if r.Rounds != nil && r.Rounds.Measured > 0 && githubactions.IsCommit(r.Rounds.Base.Source.Commit) {
			return r.Rounds.Base.Source.Commit
		}
	}
	return ""
}

// ReadPlaces reads the lines of the scenarios from a report folder, for annotations. Only paths in
// the repository are kept.
func ReadPlaces(dir string) (document.Places, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read the report folder %s: %w", dir, plainPath(err))
	}
	defer root.Close()
	m, err := readMeta(root)
	if err != nil {
		return nil, fmt.Errorf("read the report folder %s: %w", dir, err)
	}
	out := document.Places{}
	for scenario, at := range m.Places {
		if fs.ValidPath(at.Path) && at.Path != "." && at.Line >= 0 {
			out[scenario] = document.Place{Path: at.Path, Line: at.Line}
		}
	}
	return out, nil
}

// checkFolder checks that the folder contains only what a report folder may.
func checkFolder(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return plainPath(err)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return plainPath(err)
	}
	if len(entries) > maxEntries {
		return fmt.Errorf("it holds more than %d files", maxEntries)
	}
	var total int64
	for _, e := range entries {
		info, err := root.Lstat(e.Name())
		switch {
		case err != nil:
			return plainPath(err)
		case e.Name() == EvidenceFolder && info.IsDir(): // its contents are never read
			continue
		case !slices.Contains(artifactFiles(), e.Name()) && !isProfile(e.Name()):
			return fmt.Errorf("it holds %.80q, want only %s, and profiles (%s)", e.Name(), strings.Join(artifactFiles(), ", "), strings.Join(profileEndings, ", "))
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", e.Name())
		}
		if !isProfile(e.Name()) {
			total += info.Size()
		}
	}
	if total > maxArtifact {
		return fmt.Errorf("it holds %d bytes, at most %d MiB are allowed", total, maxArtifact>>20)
	}
	return nil
}

func isProfile(name string) bool {
	return slices.ContainsFunc(profileEndings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, plainPath(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, plainPath(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, nil
}

// readMeta reads meta.json; a folder without it has the zero meta.
func readMeta(root *os.Root) (meta, error) {
	var m meta
	data, err := readFile(root, metaFile, maxMeta)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", metaFile, err)
	}
	if m.Format != artifactFormat {
		return m, fmt.Errorf("%s: format is %.60q, want %q", metaFile, m.Format, artifactFormat)
	}
	return m, nil
}

// plainPath returns a file error without the operation and the full path.
func plainPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}
