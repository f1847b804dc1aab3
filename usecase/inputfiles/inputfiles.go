// Package inputfiles opens the input files of a command line: runs in every known format, recordings
// plain and packed, and standard input.
//
// It owns the flags for what other tools' files lack, and no format: runs are read by packages
// baseline and importer, recordings by those in trace.
package inputfiles

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// ImportFlags supply what other tools' files lack.
type ImportFlags struct {
	Pkg, Scenario, Version, Commit, Started string
	// Unnamed is the scenario of a file that names none, instead of the file's name.
	Unnamed string
	Context []string
}

// Options returns the flags as an importer takes them.
func (f ImportFlags) Options() (importer.Options, error) {
	o := importer.Options{Package: f.Pkg, Scenario: f.Scenario, Unnamed: f.Unnamed, AppVersion: f.Version, Commit: f.Commit}
	for _, property := range f.Context {
		name, value, ok := strings.Cut(property, "=")
		if !ok || name == "" {
			return o, exit.Usage(fmt.Errorf("--context is %q, want NAME=VALUE", prose.Short(property)), "")
		}
		if o.Context == nil {
			o.Context = map[string]string{}
		}
		o.Context[name] = value
	}
	var err error
	if o.Started, err = parseTime(f.Started); err != nil {
		return o, exit.Usage(fmt.Errorf("--started is %q, want a day such as 2026-01-31 or a time such as 2026-01-31T22:00:00Z", prose.Short(f.Started)), "")
	}
	return o, nil
}

// parseTime parses a day, in UTC, or a time with its zone. "" is the zero time.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day, nil
	}
	return time.Parse(time.RFC3339, s)
}

// MaxRuns is how many runs are judged or reported together: a hundred devices with fifty scenarios
// each. A few bytes of a compressed file can be far more.
const MaxRuns = 5000

// Runs reads every run of the files, up to MaxRuns, and names each; "-" is standard input.
func Runs(c terminal.Console, paths []string, f ImportFlags) ([]run.Run, error) {
	options, err := f.Options()
	if err != nil {
		return nil, err
	}
	var out []run.Run
	for _, path := range paths {
		for r, err := range RunsIn(c, path, options) {
			if err != nil {
				return nil, err
			}
			if len(out) == MaxRuns {
				err := fmt.Errorf("read runs of %s: with it there are more than %d runs, which are at most taken together", terminal.Plain(path), MaxRuns)
				return nil, exit.Usage(err, "check those of one session at a time; accepted runs are given with --history")
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// RunsIn reads the runs of one file, whichever tool wrote it. Runs of a history come one at a time,
// however many there are.
func RunsIn(c terminal.Console, path string, options importer.Options) func(yield func(run.Run, error) bool) {
	return func(yield func(run.Run, error) bool) {
		src, err := Open(c, path)
		if err != nil {
			yield(run.Run{}, exit.Usage(err, ""))
			return
		}
		defer src.Close()
		buffered := bufio.NewReaderSize(src, detectBytes)
		head, _ := buffered.Peek(detectBytes)
		if bytes.HasPrefix(head, []byte(sqliteMagic)) {
			yield(run.Run{}, exit.Usage(fmt.Errorf("read runs of %s: it is a history in SQLite, no file of runs", terminal.Plain(path)), "name it with --store"))
			return
		}
		switch importer.Detect(head) {
		case importer.AndroidX, importer.List, importer.CSV, importer.Pairs, importer.Flashlight, importer.Printed:
			foreign(c, path, buffered, options, yield)
		case importer.Record:
			records(c, path, buffered, "", yield)
		default: // it may be compressed
			if line := lineOfATable(head); line != "" {
				yield(run.Run{}, exit.Usage(fmt.Errorf("read runs of %s: line 1 is %q, want the header name,unit,value of a table, or a line of name=value such as search=31ms", terminal.Plain(path), prose.Short(line)), readable))
				return
			}
			records(c, path, buffered, readable, yield)
		}
	}
}

// tableLine matches a line of words and numbers that are separated by commas, semicolons, tabs or an
// equals sign.
var tableLine = regexp.MustCompile(`^[\pL\d_ ."/%+-]+([,;\t=][\pL\d_ ."/%+-]*)+$`)

// lineOfATable returns the first line of a file that looks like a table or a list of names and
// values, "" for any other.
func lineOfATable(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if text := strings.TrimSpace(string(line[:min(len(line), 1000)])); tableLine.MatchString(text) {
		return text
	}
	return ""
}

// readable lists the readable formats, as a hint for any other.
const readable = "runs are read from apkgate.run/1 records, androidx *-benchmarkData.json, what am instrument -r prints of them, flashlight results, lists of {name,unit,value}, CSV with the header name,unit,value and lines of name=value; apkgate inspect reads dumps and logs"

// sqliteMagic is the prefix of a history that is kept in a file (docs/format/history.md).
const sqliteMagic = "SQLite format 3\x00"

// detectBytes is how much of a file is read to detect its format.
const detectBytes = 64 << 10

// Open opens an input file; "-" is standard input.
func Open(c terminal.Console, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(c.Stdin), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, atomicfile.Error("read", path, err)
	}
	if info.IsDir() {
		return nil, exit.WithStatus(exit.StatusUsage, fmt.Errorf("read %s: it is a folder, want a file", terminal.Plain(path)), "the shell names all files of a folder: "+filepath.Join(path, "*"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, atomicfile.Error("read", path, err)
	}
	return f, nil
}

func records(c terminal.Console, path string, src io.Reader, hint string, yield func(run.Run, error) bool) {
	unchecked, n := 0, 0
	for r, err := range runstore.ReadCheckedJSONL(src, &unchecked) {
		n++
		if err == nil {
			r, err = r.Named()
		}
		if err == nil && r.Explains {
			err = fmt.Errorf("run %s: %w", r.ID, runstore.ErrExplains)
		}
		var damaged *runstore.DamagedRun
		if err != nil {
			err = exit.Usage(fmt.Errorf("read runs of %s: %w", terminal.Plain(path), err), hint)
		}
		if !yield(r, err) || err != nil && !errors.As(err, &damaged) {
			return
		}
		hint = "" // it is a file of runs, broken further on
	}
	// A single run may be written by a person or another program; several are a history.
	if unchecked > 0 && n > 1 {
		fmt.Fprintf(c.Stderr, "note: %s: %d of %d runs have no checksum, so that a changed digit would not be noticed; apkgate baseline export writes them\n",
			terminal.Plain(path), unchecked, n)
	}
}

func foreign(c terminal.Console, path string, src io.Reader, options importer.Options, yield func(run.Run, error) bool) {
	data, err := io.ReadAll(io.LimitReader(src, importer.MaxBytes+1))
	if err != nil {
		yield(run.Run{}, exit.Usage(atomicfile.Error("read", path, err), ""))
		return
	}
	result, err := importer.Read(path, data, options)
	if err != nil {
		yield(run.Run{}, exit.Usage(err, ""))
		return
	}
	warn(c, path, result.Warnings)
	for _, r := range result.Runs {
		if !yield(r, nil) {
			return
		}
	}
}

// ShownWarnings is how many warnings of one file are printed; a run keeps all.
const ShownWarnings = 5

// warn prints what could not be read of a file.
func warn(c terminal.Console, path string, warnings []run.Warning) {
	for i, w := range warnings {
		if i == ShownWarnings {
			fmt.Fprintf(c.Stderr, "warning: %s: and %d more\n", terminal.Plain(path), len(warnings)-i)
			return
		}
		fmt.Fprintf(c.Stderr, "warning: %s: %s\n", terminal.Plain(path), terminal.Plain(w.String()))
	}
}

// CheckFiles opens each file once, so that a misspelt name is reported before a history is created.
func CheckFiles(c terminal.Console, files []string) error {
	for _, file := range files {
		if file == "-" {
			continue
		}
		f, err := Open(c, file)
		if err != nil {
			return exit.Usage(err, "")
		}
		f.Close()
	}
	return nil
}

// Distinct removes duplicate runs. Two runs with one id and different content can't be told apart
// in a verdict, so they are refused.
func Distinct(runs []run.Run, files []string) ([]run.Run, error) {
	digestOf := map[string]string{}
	var out []run.Run
	for _, r := range runs {
		digest, err := r.Digest()
		if err != nil {
			return nil, exit.Usage(err, "")
		}
		switch known, ok := digestOf[r.ID]; {
		case !ok:
			digestOf[r.ID] = digest
			out = append(out, r)
		case known != digest:
			return nil, SameID(files, r.ID)
		}
	}
	return out, nil
}

// SameID returns the error for two runs that a verdict could not tell apart.
func SameID(files []string, id string) error {
	return exit.Usage(fmt.Errorf("read runs of %s: two runs have the id %q and other content", strings.Join(files, ", "), prose.Short(id)),
		"give each an id of its own, or none: it is then named by its content")
}
