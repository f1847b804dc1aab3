package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/run"
)

// importFlags say what other tools' files don't tell.
type importFlags struct {
	pkg, scenario, version, commit, started string
	context                                 []string
}

func (f *importFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pkg, "package", "", "the app, for files that don't name it")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "the scenario, for files that don't name it")
	cmd.Flags().StringVar(&f.version, "app-version", "", "the app's version, for files that don't name it")
	cmd.Flags().StringVar(&f.commit, "commit", "", "the app's commit, for files that don't name it")
	cmd.Flags().StringVar(&f.started, "started", "", "when it was measured, such as 2026-01-31 or 2026-01-31T22:00:00Z, for files that don't say")
	cmd.Flags().StringArrayVar(&f.context, "context", nil, "a context property, NAME=VALUE, for files that don't name it; may be repeated")
}

func (f importFlags) options() (importer.Options, error) {
	o := importer.Options{Package: f.pkg, Scenario: f.scenario, AppVersion: f.version, Commit: f.commit}
	for _, property := range f.context {
		name, value, ok := strings.Cut(property, "=")
		if !ok || name == "" {
			return o, usage(fmt.Errorf("--context is %q, want NAME=VALUE", words.Short(property)), "")
		}
		if o.Context == nil {
			o.Context = map[string]string{}
		}
		o.Context[name] = value
	}
	var err error
	if o.Started, err = parseTime(f.started); err != nil {
		return o, usage(fmt.Errorf("--started is %q, want a day such as 2026-01-31 or a time such as 2026-01-31T22:00:00Z", words.Short(f.started)), "")
	}
	return o, nil
}

// parseTime reads a day, which is taken in UTC, or a time with its zone. Nothing
// is the zero time.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day, nil
	}
	return time.Parse(time.RFC3339, s)
}

// readRuns reads every run of the files, each named; "-" is standard input.
func (c Command) readRuns(paths []string, f importFlags) ([]run.Run, error) {
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	var out []run.Run
	for _, path := range paths {
		for r, err := range c.runsIn(path, options) {
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// runsIn reads the runs of one file, whichever tool wrote it. Those of a history
// come one at a time, however many there are.
func (c Command) runsIn(path string, options importer.Options) func(yield func(run.Run, error) bool) {
	return func(yield func(run.Run, error) bool) {
		src, err := c.open(path)
		if err != nil {
			yield(run.Run{}, usage(err, ""))
			return
		}
		defer src.Close()
		buffered := bufio.NewReaderSize(src, detectBytes)
		head, _ := buffered.Peek(detectBytes)
		if bytes.HasPrefix(head, []byte(sqliteMagic)) {
			yield(run.Run{}, usage(fmt.Errorf("read runs of %s: it is a history in SQLite, no file of runs", plain(path)), "name it with --store"))
			return
		}
		switch importer.Detect(head) {
		case importer.AndroidX, importer.List, importer.Flashlight:
			c.foreign(path, buffered, options, yield)
		case importer.Record:
			c.records(path, buffered, "", yield)
		default: // it may be compressed
			c.records(path, buffered, readable, yield)
		}
	}
}

// readable tells whoever gave us something else what can be read.
const readable = "runs are read from apkgate.run/1 records, androidx *-benchmarkData.json, flashlight results and lists of {name,unit,value}; apkgate inspect reads dumps and logs"

// sqliteMagic begins a history that is kept in a file (docs/format/history.md).
const sqliteMagic = "SQLite format 3\x00"

// detectBytes is how much of a file is looked at to tell what it is.
const detectBytes = 64 << 10

// open opens an input file; "-" is standard input.
func (c Command) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(c.Stdin), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError("read", path, err)
	}
	if info.IsDir() {
		return nil, withStatus(exitUsage, fmt.Errorf("read %s: it is a folder, want a file", plain(path)), "the shell names all files of a folder: "+filepath.Join(path, "*"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError("read", path, err)
	}
	return f, nil
}

// fileError says what was being done to which file; the system call that it
// failed in is of no use to anybody.
func fileError(doing, path string, err error) error {
	var call *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &call):
		err = call.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s %s: %w", doing, plain(path), err)
}

func (c Command) records(path string, src io.Reader, hint string, yield func(run.Run, error) bool) {
	for r, err := range baseline.ReadJSONL(src) {
		if err == nil {
			r, err = r.Named()
		}
		var damaged *baseline.DamagedRun
		if err != nil {
			err = usage(fmt.Errorf("read runs of %s: %w", plain(path), err), hint)
		}
		if !yield(r, err) || err != nil && !errors.As(err, &damaged) {
			return
		}
		hint = "" // it is a file of runs, broken further on
	}
}

func (c Command) foreign(path string, src io.Reader, options importer.Options, yield func(run.Run, error) bool) {
	data, err := io.ReadAll(io.LimitReader(src, importer.MaxBytes+1))
	if err != nil {
		yield(run.Run{}, usage(fileError("read", path, err), ""))
		return
	}
	result, err := importer.Read(path, data, options)
	if err != nil {
		yield(run.Run{}, usage(err, ""))
		return
	}
	c.warn(path, result.Warnings)
	for _, r := range result.Runs {
		if !yield(r, nil) {
			return
		}
	}
}

// shownWarnings is how many warnings of one file are printed; a run bears all.
const shownWarnings = 5

// warn prints what could not be read of a file.
func (c Command) warn(path string, warnings []run.Warning) {
	for i, w := range warnings {
		if i == shownWarnings {
			fmt.Fprintf(c.Stderr, "warning: %s: and %d more\n", plain(path), len(warnings)-i)
			return
		}
		fmt.Fprintf(c.Stderr, "warning: %s: %s\n", plain(path), plain(w.String()))
	}
}
