package show

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/art/artexport"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// callFiles are the files that inspect art writes for other programs.
type callFiles struct{ perfetto, pprof, folded, mapping string }

func (f *callFiles) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.perfetto, "perfetto", "", "also write the calls for Perfetto's user interface to this file (art)")
	flags.StringVar(&f.pprof, "pprof", "", "also write a profile for go tool pprof to this file (art)")
	flags.StringVar(&f.folded, "folded", "", "also write folded stacks, for flame graphs, to this file (art)")
	flags.StringVar(&f.mapping, "mapping", "", "the mapping.txt by which R8 renamed the app's code, for these files (art)")
}

// of rejects the flags for what is no method trace, or where another answer is requested, and
// overwriting an input.
func (f callFiles) of(flags *pflag.FlagSet, reader, path string) error {
	for _, name := range []string{"perfetto", "pprof", "folded", "mapping"} {
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
	if f.mapping != "" && !f.wanted() {
		return exit.Usage(errors.New("--mapping is for the files that are written"), "--perfetto, --pprof and --folded name them; apkgate diagnose --mapping shows the calls")
	}
	return atomicfile.KeepsInput([]string{f.perfetto, f.pprof, f.folded}, []string{path, f.mapping})
}

// wanted reports whether any file is to be written.
func (f callFiles) wanted() bool { return f.perfetto != "" || f.pprof != "" || f.folded != "" }

// write writes the files, and prints what they lack.
func (f callFiles) write(c terminal.Console, path string, in io.ReadSeeker) error {
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
		return exit.Usage(fmt.Errorf("inspect %s: %w", terminal.Plain(path), err), "")
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
