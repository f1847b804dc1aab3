package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/art/artexport"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/ring"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// callFiles are the files that inspect art writes: the newest calls, and all of them for other
// programs.
type callFiles struct{ newest, perfetto, pprof, folded, mapping string }

func (f *callFiles) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.newest, "newest", "", "keep the newest calls alone, and write them as a method trace to this file, at the end of the input or at Ctrl-C (art)")
	flags.StringVar(&f.perfetto, "perfetto", "", "also write the calls for Perfetto's user interface to this file (art)")
	flags.StringVar(&f.pprof, "pprof", "", "also write a profile for go tool pprof to this file (art)")
	flags.StringVar(&f.folded, "folded", "", "also write folded stacks, for flame graphs, to this file (art)")
	flags.StringVar(&f.mapping, "mapping", "", "the mapping.txt by which R8 renamed the app's code, for these files (art)")
}

// of rejects the flags for what is no method trace, or where another answer is requested, and
// overwriting an input.
func (f callFiles) of(flags *pflag.FlagSet, reader, path string) error {
	for _, name := range []string{"newest", "perfetto", "pprof", "folded", "mapping"} {
		if !flags.Changed(name) {
			continue
		}
		if reader != "art" {
			return exit.Usage(fmt.Errorf("--%s is for art, not for %s", name, terminal.Plain(reader)), "")
		}
		for _, other := range []string{"open", "table"} {
			if flags.Changed(other) {
				return exit.Usage(fmt.Errorf("--%s and --%s don't go together", name, other), "")
			}
		}
	}
	if f.mapping != "" && !f.exports() {
		return exit.Usage(errors.New("--mapping is for the files that are written"), "--perfetto, --pprof and --folded name them; apkgate diagnose --mapping shows the calls")
	}
	return atomicfile.KeepsInput([]string{f.newest, f.perfetto, f.pprof, f.folded}, []string{path, f.mapping})
}

// exports reports whether any file is to be written for other programs.
func (f callFiles) exports() bool { return f.perfetto != "" || f.pprof != "" || f.folded != "" }

// prepare returns the trace for an inspection, and again if other files are to be written: a trace
// that can be read twice, or that of the newest calls.
func (f callFiles) prepare(ctx context.Context, c terminal.Console, path string, in io.Reader) (first io.Reader, again io.ReadSeeker, drop func(), err error) {
	switch {
	case f.newest != "":
		if err := f.keep(ctx, c, path, in); err != nil {
			return nil, nil, nil, err
		}
		kept, err := os.Open(f.newest)
		if err != nil {
			return nil, nil, nil, exit.Infrastructure(fmt.Errorf("read the newest calls again: %w", err))
		}
		return kept, kept, func() { _ = kept.Close() }, nil
	case f.exports():
		if again, drop, err = inputfiles.Seekable(in); err != nil {
			return nil, nil, nil, unread(path, err)
		}
		return again, again, drop, nil
	}
	return in, nil, func() {}, nil
}

// unread is the error of a file that can't be read.
func unread(path string, err error) error {
	return exit.Usage(fmt.Errorf("inspect %s: %w", terminal.Plain(path), err), "")
}

// keep writes the newest calls of a trace that may still be written: at its end, or when the user
// ends it.
func (f callFiles) keep(ctx context.Context, c terminal.Console, path string, in io.Reader) error {
	k := ring.NewKeep(ring.Options{})
	ended := make(chan error, 1)
	go func() {
		_, err := k.Read(in)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			return unread(path, err)
		}
	case <-ctx.Done(): // what was read so far is what the user wants
	}
	var kept ring.Flushed
	err := atomicfile.Write(f.newest, func(w io.Writer) (err error) {
		kept, err = k.Flush(w)
		return err
	})
	switch {
	case errors.Is(err, ring.ErrEmpty), errors.Is(err, ring.ErrNoTimes):
		return unread(path, err)
	case err != nil:
		return exit.Infrastructure(atomicfile.Error("write", f.newest, err))
	}
	for _, w := range kept.Warnings {
		fmt.Fprintf(c.Stderr, "warning: %s\n", w)
	}
	return nil
}

// write writes the files, and prints what they lack.
func (f callFiles) write(c terminal.Console, path string, in io.ReadSeeker) error {
	if !f.exports() {
		return nil
	}
	var names *r8map.Map
	if f.mapping != "" {
		content, file, err := inputfiles.Recording(c, f.mapping, inputfiles.Mappings)
		if err != nil {
			return err
		}
		defer file.Close()
		if names, err = r8map.Read(content.Reader); err != nil {
			return exit.Usage(fmt.Errorf("read the mapping %s: %w", terminal.Plain(f.mapping), err), "")
		}
	}
	src, err := artexport.Open(in, names)
	if err != nil {
		return unread(path, err)
	}
	var warnings []run.Warning
	for _, one := range []struct {
		path string
		fill func(io.Writer) ([]run.Warning, error)
	}{
		{f.perfetto, src.Perfetto}, {f.folded, src.Folded},
		{f.pprof, func(w io.Writer) ([]run.Warning, error) { return src.Pprof(w, "") }},
	} {
		if one.path == "" {
			continue
		}
		if one.path == f.perfetto && !src.HasTimes() {
			return exit.Usage(fmt.Errorf("write %s: %w", terminal.Plain(one.path), artexport.ErrNoTimes), "--pprof and --folded count the calls")
		}
		err := atomicfile.Write(one.path, func(w io.Writer) error {
			more, err := one.fill(w)
			for _, m := range more {
				if !slices.Contains(warnings, m) {
					warnings = append(warnings, m)
				}
			}
			return err
		})
		if err != nil {
			return exit.Infrastructure(atomicfile.Error("write", one.path, err))
		}
	}
	for _, w := range warnings {
		fmt.Fprintf(c.Stderr, "warning: %s\n", w)
	}
	return nil
}
