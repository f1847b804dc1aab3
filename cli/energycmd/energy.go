// Package energycmd implements the command apkgate energy: it attributes the joules of manual
// recordings to the app's methods, and prints them.
//
// The arithmetic belongs to package energy; here are the flags, the files and the table.
package energycmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/energy/symbolize"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/archive"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/simpleperf"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

type flags struct {
	power              []string
	source             string
	onBattery          bool
	pkg, mapping       string
	capacity           float64
	top                int
	format, pprof, csv string
}

// Command returns apkgate energy.
func Command(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "energy RECORDING …",
		Short: "Attribute the energy of recordings to the app's methods",
		Long: `Reads recordings of simpleperf (perf.data, or report-sample --protobuf) together with
Perfetto traces of the device's power, and ranks the app's methods by the joules
that their own code took. Use it where a test is done by hand; with "energy: {methods: true}"
in apkgate.yml, run and compare record and attribute by themselves.

Each recording is one iteration: several give better intervals. --power is one
trace for all, or one for each recording in the same order.`,
		Example: `  apkgate energy perf.data --power power.perfetto-trace --package com.example.mail
  apkgate energy perf.data --power power.perfetto-trace --mapping mapping.txt --pprof energy.pb.gz
  go tool pprof -http=: energy.pb.gz`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage(errors.New("energy takes one recording of simpleperf or more, got none"), "simpleperf record --app PACKAGE -e task-clock -f 500 --call-graph dwarf --clockid monotonic")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return attribute(c, args, f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.power, "power", nil, "a Perfetto trace with power rails or battery counters; may be repeated")
	flags.StringVar(&f.source, "source", energy.Auto, "where joules come from: auto, rails or battery")
	flags.BoolVar(&f.onBattery, "on-battery", false, "no charger was connected, if the trace doesn't say")
	flags.StringVar(&f.pkg, "package", "", "the app; without it, all processes in the recording")
	flags.StringVar(&f.mapping, "mapping", "", "the mapping file that R8 wrote for this build")
	flags.Float64Var(&f.capacity, "battery-capacity-mah", 0, "what a full battery holds, to show joules in per cent of it")
	flags.IntVar(&f.top, "top", 30, "how many methods to print as text")
	flags.StringVar(&f.format, "format", string(output.FormatText), "what to print: text, csv or json")
	flags.StringVar(&f.pprof, "pprof", "", "also write a profile for go tool pprof to this file")
	flags.StringVar(&f.csv, "csv", "", "also write the whole table to this file")
	return cmd
}

func attribute(c terminal.Console, recordings []string, f flags) error {
	if err := f.validate(len(recordings)); err != nil {
		return err
	}
	if err := checkInputs(recordings, f); err != nil {
		return err
	}
	var all attributed
	name, err := naming(c, &all, f.mapping)
	if err != nil {
		return err
	}
	for i, path := range recordings {
		if err := addRecording(c, &all, path, f.power[min(i, len(f.power)-1)], name, f); err != nil {
			return err
		}
	}
	all.result, err = methods.Attribute(all.traces, methods.Options{Measured: true})
	if err != nil {
		return exit.Usage(fmt.Errorf("attribute energy to methods: %w", err), "")
	}
	all.doubt(f.mapping)
	all.batteryJ = energy.FullBattery(f.capacity, 0)
	return show(c, all, f)
}

func (f flags) validate(recordings int) error {
	switch {
	case len(f.power) == 0:
		return exit.Usage(errors.New("--power names no trace of the device's power"), "record one with it: a Perfetto trace with the data source android.power (docs/energy.md)")
	case len(f.power) > 1 && len(f.power) != recordings:
		return exit.Usage(fmt.Errorf("%d traces of power for %d recordings, want one for all or one for each", len(f.power), recordings), "")
	case f.capacity != 0 && energy.Capacity(f.capacity) != f.capacity:
		return exit.Usage(fmt.Errorf("--battery-capacity-mah is %g, want what a battery can hold: 200 to 60000", f.capacity), "")
	case f.top < 1:
		return exit.Usage(fmt.Errorf("--top is %d, want 1 or more", f.top), "")
	}
	if err := exit.OneOf("source", f.source, []string{energy.Auto, string(energy.Rails), string(energy.Battery)}); err != nil {
		return err
	}
	return exit.OneOf("format", output.Format(f.format), []output.Format{output.FormatText, output.FormatCSV, output.FormatJSON})
}

// checkInputs rejects one recording given as two iterations, and overwriting an input.
func checkInputs(recordings []string, f flags) error {
	for i, path := range recordings {
		for _, other := range recordings[:i] {
			if atomicfile.Same(path, other) {
				return exit.Usage(fmt.Errorf("%s is given twice", terminal.Plain(path)), "each recording is one iteration: the same once more would feign certainty")
			}
		}
	}
	return atomicfile.KeepsInput([]string{f.csv, f.pprof}, recordings, f.power, []string{f.mapping})
}

// attributed is the result of the command energy.
type attributed struct {
	traces   []methods.Trace
	source   energy.Source
	update   time.Duration
	batteryJ float64
	result   methods.Result
	warnings []run.Warning
	renamed  bool // the mapping has renamed something
}

// naming names methods, by a mapping if there is one, and records whether it renamed any.
func naming(c terminal.Console, all *attributed, mapping string) (methods.Naming, error) {
	asRecorded := symbolize.New(nil)
	if mapping == "" {
		return asRecorded, nil
	}
	var m *r8map.Map
	if err := read(c, mapping, inputfiles.Mappings, func(r io.Reader) (err error) {
		m, err = r8map.Read(r)
		return err
	}); err != nil {
		return nil, err
	}
	all.warn(mapping, m.Warnings[:min(inputfiles.ShownWarnings, len(m.Warnings))])
	asInSource := symbolize.New(m)
	return func(f simpleperf.Frame) []methods.Frame {
		frames := asInSource(f)
		all.renamed = all.renamed || !slices.Equal(frames, asRecorded(f))
		return frames
	}, nil
}

// doubt adds the doubts about the result, without duplicates.
func (a *attributed) doubt(mapping string) {
	if mapping != "" && !a.renamed {
		a.warnings = append(a.warnings, run.Warning{Text: mapping + ": it renames none of the methods that were sampled: is it of this build?"})
	}
	told := map[string]bool{}
	for _, t := range a.traces {
		for _, w := range t.Warnings {
			told[w.Text] = true // with its recording
		}
	}
	for _, w := range a.result.Warnings {
		if !told[w.Text] {
			a.warnings = append(a.warnings, w)
		}
	}
}

// read opens a recording and reads it; an error names the file.
func read(c terminal.Console, path string, want archive.Want, read func(io.Reader) error) error {
	content, file, err := inputfiles.Recording(c, path, want)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := read(content.Reader); err != nil {
		return exit.Usage(fmt.Errorf("%s: %w", path, err), "")
	}
	return nil
}

// addRecording combines one recording with its power.
func addRecording(c terminal.Console, all *attributed, recording, power string, name methods.Naming, f flags) error {
	curve, err := powerCurve(c, all, power, f)
	if err != nil {
		return err
	}
	var p *simpleperf.Profile
	if err := read(c, recording, inputfiles.Samples, func(r io.Reader) (err error) {
		p, err = simpleperf.Read(r)
		return err
	}); err != nil {
		return err
	}
	t := methods.Of(p, curve, name, methods.Pick{App: f.pkg})
	all.warn(recording, p.Warnings)
	all.warn(recording, t.Warnings)
	if len(t.Samples) == 0 {
		return noSamples(recording, f.pkg, p, t)
	}
	if !known(t) {
		return exit.Usage(fmt.Errorf("%s: no sample lies in the time of %s", recording, power), "both must run at once and be stamped by CLOCK_MONOTONIC: simpleperf record --clockid monotonic")
	}
	all.traces = append(all.traces, t)
	return nil
}

// noSamples returns the error of a recording without the app, with its readers' own message if
// there is one.
func noSamples(recording, pkg string, p *simpleperf.Profile, t methods.Trace) error {
	why := "no samples of " + cmp.Or(pkg, "any process")
	switch {
	case len(p.Samples) > 0 && len(t.Warnings) > 0:
		why = t.Warnings[0].Text
	case p.Source == "" && len(p.Warnings) > 0:
		why += ": " + p.Warnings[0].Text
	}
	return exit.Usage(fmt.Errorf("%s: %s", recording, why), "name the app with --package as it was recorded, and sample task-clock")
}

// known reports whether the power at any sample is known.
func known(t methods.Trace) bool {
	for _, s := range t.Samples {
		if s.Reading >= 0 {
			return true
		}
	}
	return false
}

func (a *attributed) warn(path string, warnings []run.Warning) {
	for _, w := range warnings {
		a.warnings = append(a.warnings, run.Warning{Line: w.Line, Text: path + ": " + w.Text})
	}
}
