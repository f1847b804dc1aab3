package measurement

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy/export"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// profileFiles writes the profiles of methods of runs: for each a pprof profile and a table.
type profileFiles struct {
	dir   string
	wrote []string
	err   error // the first
}

// KeepProfiles returns nil if none are configured.
func KeepProfiles(e *config.Energy) (*profileFiles, error) {
	if !e.Measured() || !e.Methods || e.Profiles == "" {
		return nil, nil
	}
	return &profileFiles{dir: e.Profiles}, atomicfile.Writable(e.Profiles)
}

// ProfilesTo writes profiles to another folder than the configuration's, if one is named.
func ProfilesTo(dir string, e *config.Energy) {
	if dir != "" && e != nil {
		e.Profiles = dir
	}
}

// Keep writes the profiles of one result; side is "base" or "head" if two builds are compared.
func (p *profileFiles) Keep(r collect.Result, side string) {
	if p == nil || p.err != nil || len(r.Traces) == 0 || r.Run.Energy == nil || r.Run.Energy.Methods == nil {
		return
	}
	name := filepath.Join(p.dir, fileName(r.Run.Scenario, r.Device, r.Run.Context["network"], side))
	for _, file := range []struct {
		path string
		fill func(io.Writer) error
	}{
		{name + ".csv", func(w io.Writer) error {
			return export.CSVOfRecord(w, *r.Run.Energy.Methods, r.Run.Energy.BatteryJ)
		}},
		{name + ".pb.gz", func(w io.Writer) error { return writePprof(w, r) }},
	} {
		if err := atomicfile.Write(file.path, file.fill); err != nil {
			p.err = exit.Infrastructure(atomicfile.Error("write", file.path, err))
			return
		}
	}
	p.wrote = append(p.wrote, name+".pb.gz")
}

func writePprof(w io.Writer, r collect.Result) error {
	p, err := export.Pprof(r.Traces, export.About{App: r.Run.App.Package, Source: r.Run.Energy.Source, Measured: r.Run.Energy.Methods.Power == run.PowerSplit})
	if err != nil {
		return err
	}
	return p.Write(w)
}

// PrintSummary prints where the profiles are, and how to open one.
func (p *profileFiles) PrintSummary(w io.Writer) error {
	if p == nil {
		return nil
	}
	if n := len(p.wrote); n > 0 {
		fmt.Fprintf(w, "%d %s of methods in %s; to look at one: go tool pprof -http=: %s\n", n, prose.Plural(n, "profile", "profiles"), terminal.Plain(p.dir), device.Quote(terminal.Plain(p.wrote[0])))
	}
	return p.err
}

// maxFileName limits a file name derived from names of users and devices.
const maxFileName = 120

// fileName returns a file name of the parts that are not empty.
func fileName(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		for _, r := range part {
			if b.Len() >= maxFileName {
				break
			}
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' {
				r = '-'
			}
			b.WriteRune(r)
		}
	}
	return strings.TrimLeft(b.String(), ".")
}
