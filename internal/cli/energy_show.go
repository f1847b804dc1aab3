package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/olekukonko/tablewriter"

	"github.com/apkgate/apkgate/energy/export"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
)

// energyFormat is the format and version of what energy prints as JSON
// (docs/format/methods.md).
const energyFormat = "apkgate.energy/1"

func (c Command) showEnergy(all attributed, f energyFlags) error {
	asCSV := func(w io.Writer) error { return export.CSV(w, all.result, all.batteryJ) }
	asPprof := func(w io.Writer) error {
		p, err := export.Pprof(all.traces, export.About{App: f.pkg, Source: string(all.source)})
		if err != nil {
			return err
		}
		return p.Write(w)
	}
	for _, file := range []struct {
		path string
		fill func(io.Writer) error
	}{{f.csv, asCSV}, {f.pprof, asPprof}} {
		if file.path == "" {
			continue
		}
		if err := writeFile(file.path, file.fill); err != nil {
			return infrastructure(fileError("write", file.path, err))
		}
	}
	switch Format(f.format) {
	case FormatCSV:
		return asCSV(c.Stdout)
	case FormatJSON:
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(all.document())
	}
	return c.printMethods(all, f.top)
}

// energyDocument is what energy prints as JSON.
type energyDocument struct {
	Format   string        `json:"format"`
	Energy   run.Energy    `json:"energy"`
	Warnings []run.Warning `json:"warnings"`
}

func (a attributed) document() energyDocument {
	return energyDocument{
		Format: energyFormat, Warnings: append([]run.Warning{}, append(a.warnings, a.result.Warnings...)...),
		Energy: run.Energy{
			Source: string(a.source), UpdateMS: float64(a.update) / float64(time.Millisecond),
			BatteryJ: a.batteryJ, Methods: a.result.Record(),
		},
	}
}

func (c Command) printMethods(all attributed, top int) error {
	r := all.result
	fmt.Fprintf(c.Stdout, "%s J%s in %s ms of CPU time, measured by %s (a reading every %v); %d samples of %s in %d %s\n\n",
		joules(r.EnergyJ.Value), interval(r.EnergyJ), strconv.FormatFloat(r.CPUMS.Value, 'f', 0, 64), all.source,
		all.update.Round(time.Millisecond), r.Samples, plain(r.Event), r.Iterations, plural(r.Iterations, "recording"))
	table := tablewriter.NewWriter(c.Stdout)
	header := []string{"J with callees", "J own code", "share", "CPU ms", "method"}
	if all.batteryJ > 0 {
		header = append(header[:4:4], "battery", "method")
	}
	table.Header(header)
	for _, m := range r.Methods[:min(top, len(r.Methods))] {
		row := []string{
			joules(m.EnergyJ()), joules(m.Local.EnergyJ.Value) + interval(m.Local.EnergyJ), share(m.EnergyJ(), r.EnergyJ.Value),
			strconv.FormatFloat(m.Local.CPUMS.Value+m.NonLocal.CPUMS.Value, 'f', 1, 64),
		}
		if all.batteryJ > 0 {
			row = append(row, strconv.FormatFloat(100*m.EnergyJ()/all.batteryJ, 'g', 2, 64)+" %")
		}
		if err := table.Append(append(row, plain(clip(m.Name)))); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	if left := len(r.Methods) - top; left > 0 {
		fmt.Fprintf(c.Stdout, "%d more %s: --top shows more, --csv writes all\n", left, plural(left, "method"))
	}
	for _, w := range append(all.warnings, r.Warnings...) {
		fmt.Fprintf(c.Stdout, "warning: %s\n", plain(w.String()))
	}
	return nil
}

func joules(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// interval is an estimate's, "" where it has none.
func interval(e methods.Estimate) string {
	if !e.Bounded() {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", joules(e.Low), joules(e.High))
}

func share(part, whole float64) string {
	if whole <= 0 {
		return "–"
	}
	return strconv.FormatFloat(100*part/whole, 'f', 1, 64) + " %"
}
