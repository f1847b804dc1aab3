package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/run"
)

// importFlags say what other tools' files don't tell.
type importFlags struct {
	pkg, scenario, version, commit string
	context                        []string
}

func (f *importFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pkg, "package", "", "the app, for files that don't name it")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "the scenario, for files that don't name it")
	cmd.Flags().StringVar(&f.version, "app-version", "", "the app's version, for files that don't name it")
	cmd.Flags().StringVar(&f.commit, "commit", "", "the app's commit, for files that don't name it")
	cmd.Flags().StringArrayVar(&f.context, "context", nil, "a context property, NAME=VALUE, for files that don't name it; may be repeated")
}

func (f importFlags) options() (importer.Options, error) {
	o := importer.Options{Package: f.pkg, Scenario: f.scenario, AppVersion: f.version, Commit: f.commit}
	for _, property := range f.context {
		name, value, ok := strings.Cut(property, "=")
		if !ok || name == "" {
			return o, usage(fmt.Errorf("--context is %q, want NAME=VALUE", property), "")
		}
		if o.Context == nil {
			o.Context = map[string]string{}
		}
		o.Context[name] = value
	}
	return o, nil
}

// readRuns reads every run of the files, each named; "-" is standard input.
func (c Command) readRuns(paths []string, f importFlags) ([]run.Run, error) {
	var out []run.Run
	for _, path := range paths {
		for r, err := range c.runsIn(path, f) {
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// runsIn reads the runs of one file, whichever tool wrote it.
func (c Command) runsIn(path string, f importFlags) func(yield func(run.Run, error) bool) {
	return func(yield func(run.Run, error) bool) {
		src, err := c.open(path)
		if err != nil {
			yield(run.Run{}, usage(err, ""))
			return
		}
		defer src.Close()
		buffered := bufio.NewReaderSize(src, detectBytes)
		head, _ := buffered.Peek(detectBytes)
		switch importer.Detect(head) {
		case importer.AndroidX, importer.List, importer.Flashlight:
			c.foreign(path, buffered, f, yield)
		default:
			c.records(path, buffered, yield)
		}
	}
}

// detectBytes is how much of a file is looked at to tell what it is.
const detectBytes = 64 << 10

func (c Command) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(c.Stdin), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("read runs: %s is a folder, want a file", path)
	}
	return os.Open(path)
}

func (c Command) records(path string, src io.Reader, yield func(run.Run, error) bool) {
	for r, err := range baseline.ReadJSONL(src) {
		if err == nil {
			r, err = r.Named()
		}
		if err != nil {
			yield(run.Run{}, usage(fmt.Errorf("read runs of %s: %w", path, err), ""))
			return
		}
		if !yield(r, nil) {
			return
		}
	}
}

func (c Command) foreign(path string, src io.Reader, f importFlags, yield func(run.Run, error) bool) {
	options, err := f.options()
	if err != nil {
		yield(run.Run{}, err)
		return
	}
	data, err := io.ReadAll(io.LimitReader(src, importer.MaxBytes+1))
	if err != nil {
		yield(run.Run{}, usage(fmt.Errorf("read %s: %w", path, err), ""))
		return
	}
	result, err := importer.Read(path, data, options)
	if err != nil {
		yield(run.Run{}, usage(err, ""))
		return
	}
	for _, r := range result.Runs {
		if !yield(r, nil) {
			return
		}
	}
}
