package explanation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// SessionFormat is the format and version of a session that can be explained later
// (docs/format/why.md).
const SessionFormat = "apkgate.why/1"

// Limits on what is kept and read.
const (
	mostSessions = 3       // kept sessions: each has two builds
	mostBuild    = 1 << 30 // bytes of a build
	mostHeader   = 8 << 20 // bytes of session.json
	mostParts    = 1_000   // files of a build
)

// Session is what a command that found a regression saves, so that it can be explained later: a
// folder with the verdict, the runs and both builds.
type Session struct {
	Format string `json:"format"`
	// Session is the name that its runs have in common.
	Session string `json:"session"`
	Base    Build  `json:"base"`
	Head    Build  `json:"head"`
	// Units are what each run of the verdict, or of the head, was measured on.
	Units map[string]Unit `json:"units"`
	// Reports are the files that the command wrote, by format.
	Reports map[string]string `json:"reports,omitempty"`
	Notes   []string          `json:"notes,omitempty"`
	// Store is the history that the runs are in, "" for none.
	Store string `json:"store,omitempty"`

	dir string
}

// Build is one of the two builds.
type Build struct {
	// File is its file or folder within the session's, "" if it was not kept, for the reason in
	// Why.
	File   string     `json:"file,omitempty"`
	Why    string     `json:"why,omitempty"`
	Source run.Source `json:"source,omitzero"`
}

// Unit is a measurement.Unit by its names.
type Unit struct {
	Scenario string `json:"scenario"`
	Profile  string `json:"profile,omitempty"`
	Network  string `json:"network,omitempty"`
}

// UnitsOf returns the units as a recorder takes them.
func (s Session) UnitsOf() map[string]measurement.Unit {
	out := map[string]measurement.Unit{}
	for id, u := range s.Units {
		out[id] = measurement.Unit{Scenario: u.Scenario, Profile: u.Profile, Network: u.Network}
	}
	return out
}

// Names returns units as they are saved.
func Names(units map[string]measurement.Unit) map[string]Unit {
	out := map[string]Unit{}
	for id, u := range units {
		out[id] = Unit{u.Scenario, u.Profile, u.Network}
	}
	return out
}

// Root returns the folder of the sessions of a configuration.
func Root(configuration string) string {
	return filepath.Join(filepath.Dir(configuration), atomicfile.OwnFolder, "why")
}

// unfit matches what a folder's name must not contain.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// folderOf returns the name of a session's folder.
func folderOf(name string) string {
	plain := strings.Trim(unfit.ReplaceAllString(name, "-"), "-.")
	return "session-" + strings.TrimPrefix(plain[:min(len(plain), 100)], "session-")
}

// The files of a session.
const (
	headerFile  = "session.json"
	verdictFile = "verdict.json"
	runsFile    = "runs.jsonl"
)

// Leave saves a session below the root, with its builds, nil for none. It removes the oldest
// sessions beyond the limit. If it fails, nothing is left: builds are large.
func Leave(root string, s Session, base, head []string, answer document.Document, runs []run.Run) (Session, error) {
	s.Format, s.dir = SessionFormat, filepath.Join(root, folderOf(s.Session))
	if err := os.RemoveAll(s.dir); err != nil {
		return s, atomicfile.Error("leave what explains a regression in", s.dir, err)
	}
	s.Base.keep(s.dir, "base", base)
	s.Head.keep(s.dir, "head", head)
	err := errors.Join(
		atomicfile.Write(filepath.Join(s.dir, runsFile), func(w io.Writer) error {
			_, err := runstore.WriteJSONL(w, func(yield func(run.Run, error) bool) {
				for _, r := range runs {
					if !yield(r, nil) {
						return
					}
				}
			})
			return err
		}),
		s.Save(answer),
	)
	if err == nil { // last: a folder without it is no session
		err = atomicfile.Write(filepath.Join(s.dir, headerFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
	}
	if err != nil {
		_ = os.RemoveAll(s.dir) // what can't be removed is no session either
		return s, atomicfile.Error("leave what explains a regression in", s.dir, err)
	}
	prune(root)
	return s, nil
}

// Save saves the current verdict.
func (s Session) Save(answer document.Document) error {
	return atomicfile.Write(filepath.Join(s.dir, verdictFile), func(w io.Writer) error { return saved.Render(w, answer, document.Options{}) })
}

// keep copies a build into the session's folder: a file, or the files of one in parts.
func (b *Build) keep(dir, side string, paths []string) {
	if len(paths) == 0 {
		b.Why = "there was none"
		return
	}
	name, err := copyBuild(dir, side, paths)
	if err != nil {
		b.Why = "it could not be kept: " + prose.Clip(err.Error(), mostWhy)
		return
	}
	b.File = name
}

// copyBuild returns the name of the copy.
func copyBuild(dir, side string, paths []string) (string, error) {
	info, err := os.Stat(paths[0])
	if err != nil {
		return "", atomicfile.Error("read", paths[0], err)
	}
	if len(paths) == 1 && !info.IsDir() {
		name, left := side+filepath.Ext(paths[0]), int64(mostBuild)
		return name, copyFile(filepath.Join(dir, name), paths[0], &left)
	}
	if info.IsDir() {
		if paths, err = partsIn(paths[0]); err != nil {
			return "", err
		}
	}
	left := int64(mostBuild)
	for _, path := range paths {
		if err := copyFile(filepath.Join(dir, side, filepath.Base(path)), path, &left); err != nil {
			return "", err
		}
	}
	return side, nil
}

// partsIn returns the files of a folder.
func partsIn(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, atomicfile.Error("read", dir, err)
	}
	if len(entries) > mostParts {
		return nil, fmt.Errorf("read %s: it has %d files, at most %d are kept", dir, len(entries), mostParts)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// copyFile copies a file up to the remaining size.
func copyFile(to, from string, left *int64) error {
	in, err := os.Open(from)
	if err != nil {
		return atomicfile.Error("read", from, err)
	}
	defer in.Close()
	err = atomicfile.Write(to, func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(in, *left+1))
		if *left -= n; err == nil && *left < 0 {
			err = fmt.Errorf("it is larger than %d MiB", mostBuild>>20)
		}
		return err
	})
	if err != nil {
		return atomicfile.Error("copy", from, err)
	}
	return nil
}

// list returns the sessions below a root, the newest first.
func list(root string) (out []Session) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	when := map[string]int64{}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		info, err := os.Stat(filepath.Join(dir, headerFile))
		if err != nil {
			continue
		}
		if s, err := read(dir); err == nil {
			out, when[dir] = append(out, s), info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(out, func(a, b Session) int {
		return int(min(max(when[b.dir]-when[a.dir], -1), 1))
	})
	return out
}

// prune removes the oldest sessions beyond the limit. What can't be removed stays.
func prune(root string) {
	all := list(root)
	for _, s := range all[min(len(all), mostSessions):] {
		_ = os.RemoveAll(s.dir)
	}
}

// read reads the session of a folder.
func read(dir string) (Session, error) {
	s := Session{dir: dir}
	file, err := os.Open(filepath.Join(dir, headerFile))
	if err != nil {
		return s, err
	}
	defer file.Close()
	if err := json.NewDecoder(io.LimitReader(file, mostHeader)).Decode(&s); err != nil {
		return s, fmt.Errorf("want a JSON object {\"format\":%q, …}: %w", SessionFormat, err)
	}
	switch {
	case s.Format != SessionFormat:
		return s, fmt.Errorf("format is %s, want %q", prose.Quote(s.Format, 80), SessionFormat)
	case s.Session == "" || len(s.Session) > run.MaxText || !utf8.ValidString(s.Session):
		return s, fmt.Errorf("session is no text of 1 to %d bytes", run.MaxText)
	}
	for _, b := range []Build{s.Base, s.Head} {
		if b.File != "" && (b.File != filepath.Base(b.File) || !filepath.IsLocal(b.File)) {
			return s, fmt.Errorf("a build is %s, want a file of the session's folder", prose.Quote(b.File, 80))
		}
	}
	return s, nil
}

// Find returns the session of that name, or in that folder. The reports of a session outside the
// root are ignored: whoever created it may have named any file.
func Find(root, name string) (Session, error) {
	all := list(root)
	for _, s := range all {
		if s.Session == name {
			return s, nil
		}
	}
	if _, err := os.Stat(filepath.Join(name, headerFile)); err == nil {
		s, err := read(name)
		if err != nil {
			return s, exit.Usage(fmt.Errorf("%s: %w", terminal.Plain(filepath.Join(name, headerFile)), err), "")
		}
		if !isIn(root, name) {
			s.Reports = nil
		}
		return s, nil
	}
	hint := "apkgate run and apkgate compare leave one where they find a regression"
	if len(all) > 0 {
		var names []string
		for _, s := range all {
			names = append(names, s.Session)
		}
		hint = "there are: " + strings.Join(names, "; ")
	}
	return Session{}, exit.Usage(fmt.Errorf("there is no session %s in %s to be explained; the newest %d are kept", prose.Quote(name, 80), terminal.Plain(root), mostSessions), hint)
}

// isIn reports whether a folder is in the root.
func isIn(root, dir string) bool {
	in, err := os.Stat(root)
	above, aboveErr := os.Stat(filepath.Join(dir, ".."))
	return err == nil && aboveErr == nil && os.SameFile(in, above)
}

// BuildOf returns the file of one of the builds, or why it is not here.
func (s Session) BuildOf(b Build, side string) (string, error) {
	if b.File == "" {
		return "", fmt.Errorf("session %s has kept no %s build: %s", prose.Short(s.Session), side, prose.Short(b.Why))
	}
	path := filepath.Join(s.dir, b.File)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the %s build of session %s is gone: it was %s", side, prose.Short(s.Session), terminal.Plain(path))
	} else if err != nil {
		return "", atomicfile.Error("read", path, err)
	}
	return path, nil
}

// Answer returns the saved verdict.
func (s Session) Answer() (saved.Report, error) {
	path := filepath.Join(s.dir, verdictFile)
	file, err := os.Open(path)
	if err != nil {
		return saved.Report{}, exit.Usage(atomicfile.Error("read the verdict of the session", path, err), "measure again")
	}
	defer file.Close()
	found, err := saved.Read(file)
	if err != nil {
		return found, exit.Usage(fmt.Errorf("%s: %w", terminal.Plain(path), err), "measure again")
	}
	return found, nil
}

// RunsFile returns the file of the verdict's runs, or of the head's.
func (s Session) RunsFile() string { return filepath.Join(s.dir, runsFile) }
