// Package importer converts the result files of other measuring tools to runs: androidx
// Macrobenchmark and Microbenchmark, from their files or from the output of an instrumentation,
// flashlight, the plain list of {name, unit, value}, as JSON or as CSV, and lines of name=value. It
// recognizes a file by its content, never by its name. It opens no files, and does not read apkgate's
// own records: Detect recognizes them, and package run decodes them.
//
// A number only gets a catalogue's name if it was measured as such. What the tool measured
// differently keeps a name of its own, and each run's context says which tool measured it
// (MeasuredBy), so that a Macrobenchmark's CPU time per frame is never compared with a frame time
// from gfxinfo.
//
// The mapping is documented in docs/format/import.md.
package importer

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// MaxBytes limits a file: 64 MiB, as for a record of our own.
const MaxBytes = run.MaxBytes

// MeasuredBy is the context property with the tool behind the numbers.
const MeasuredBy = devctx.MeasuredBy

// unknownPackage is the app of a file that doesn't name one.
const unknownPackage = "imported"

// Options are values that a file lacks, or that override the file's.
type Options struct {
	Package    string            // the app's package; default: from the file, else "imported"
	Scenario   string            // default: the suite's class, or Unnamed
	Unnamed    string            // the scenario of a file that names none; default: the file's name
	AppVersion string            // none of the formats states it
	Commit     string            // of the app's source
	Context    map[string]string // added to the file's, and takes precedence
	Started    time.Time         // none of the formats states it
}

// Result is the content of a file.
type Result struct {
	// Runs are the runs, each with its ID: one for each suite in the file. Each declares the
	// metrics that the built-in catalogue lacks, with the unit and direction that their names or
	// units suggest.
	Runs []run.Run
	// Warnings report what could not be read; each run has its own as well.
	Warnings []run.Warning
}

// Read reads one result file. The name is the file's, for messages and for a scenario without
// another name. An error names the field, and what is allowed there.
func Read(name string, data []byte, opts Options) (Result, error) {
	res, err := read(name, data, opts)
	if err != nil {
		return Result{}, fmt.Errorf("import %s: %w", name, err)
	}
	return res, nil
}

func read(name string, data []byte, opts Options) (Result, error) {
	if len(data) > MaxBytes {
		return Result{}, fmt.Errorf("the file has %d bytes, at most %d MiB are read", len(data), MaxBytes>>20)
	}
	im := &importing{
		opts: opts, fileName: baseName(name), declared: map[string]metric.Metric{},
		names: map[string]string{}, taken: map[string]bool{},
	}
	var err error
	switch f := Detect(data); f {
	case AndroidX:
		err = im.androidx(trimBOM(data))
	case List:
		err = im.list(trimBOM(data))
	case CSV:
		err = im.csv(trimBOM(data))
	case Pairs:
		err = im.pairs(trimBOM(data))
	case Flashlight:
		err = im.flashlight(trimBOM(data))
	case Printed:
		err = im.printed(trimBOM(data))
	case Record:
		err = errors.New("this is apkgate's own record, there is nothing to import")
	default:
		err = fmt.Errorf("not a result file: want one of %s", strings.Join(formatNames(), ", "))
	}
	if err != nil {
		return Result{}, err
	}
	return im.result(), nil
}

// importing is the state of reading one file.
type importing struct {
	opts     Options
	fileName string
	runs     []run.Run
	declared map[string]metric.Metric
	names    map[string]string // the file's names to ours
	taken    map[string]bool   // ours
	warnings []run.Warning
}

func (im *importing) warnf(format string, args ...any) {
	im.warnings = append(im.warnings, run.Warning{Text: fmt.Sprintf(format, args...)})
}

// newRun returns a run with the options set. The given package and scenario are the file's own,
// used where the options name none.
func (im *importing) newRun(pkg, scenario, measuredBy string, context map[string]string) run.Run {
	all := map[string]string{MeasuredBy: measuredBy}
	if im.opts.AppVersion != "" {
		all[devctx.Version] = im.opts.AppVersion
	}
	maps.Copy(all, context)
	maps.Copy(all, im.opts.Context)
	return run.Run{
		Format:   run.Format,
		Started:  im.opts.Started,
		App:      run.App{Package: first(im.opts.Package, pkg, unknownPackage), Version: im.opts.AppVersion},
		Source:   run.Source{Commit: im.opts.Commit},
		Scenario: first(im.opts.Scenario, scenario, im.opts.Unnamed, im.fileName),
		Context:  all,
		Status:   run.Complete,
	}
}

// add adds a completed run, with the warnings from the given index onwards, and names it by its
// content.
func (im *importing) add(r run.Run, warningsFrom int, more ...run.Warning) error {
	r.Warnings = append(append([]run.Warning{}, more...), im.warnings[warningsFrom:]...)
	if len(r.Iterations) == 0 {
		r.Status = run.Failed
	}
	if err := r.Validate(); err != nil {
		return err
	}
	r.Declared = im.declaredIn(r)
	r, err := r.Named()
	if err != nil {
		return err
	}
	im.runs = append(im.runs, r)
	return nil
}

// declaredIn returns the metrics of the run that the catalogue lacks, by name.
func (im *importing) declaredIn(r run.Run) []run.Declared {
	used := map[string]bool{}
	for _, it := range r.Iterations {
		for name := range it.Metrics {
			used[name] = true
		}
		for _, e := range it.Events {
			for name := range e.Metrics {
				used[name] = true
			}
		}
	}
	var out []run.Declared
	for _, name := range slices.Sorted(maps.Keys(used)) {
		m, ok := im.declared[name]
		if !ok {
			continue
		}
		d := run.Declared{Name: m.Name, Unit: m.Unit, Better: m.Direction.String(), Of: m.Of}
		if m.Log {
			d.Scale = run.Log
		}
		out = append(out, d)
	}
	return out
}

func (im *importing) result() Result { return Result{Runs: im.runs, Warnings: im.warnings} }

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// baseName returns the file's name without its folder and extensions.
func baseName(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base, _, _ = strings.Cut(base, ".json")
	base, _, _ = strings.Cut(base, ".csv")
	base, _, _ = strings.Cut(base, ".txt")
	if base == "" || base == "-" || base == "." || base == "/" {
		return unknownPackage
	}
	return base
}
