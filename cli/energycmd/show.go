package energycmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/energy/export"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// documentFormat is the format and version of energy's JSON (docs/format/methods.md).
const documentFormat = "apkgate.energy/1"

func show(c terminal.Console, all attributed, f flags) error {
	asCSV := func(w io.Writer) error { return export.CSV(w, all.result, all.batteryJ) }
	asPprof := func(w io.Writer) error {
		p, err := export.Pprof(all.traces, export.About{App: f.pkg, Source: string(all.source), Measured: true})
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
		if err := atomicfile.Write(file.path, file.fill); err != nil {
			return exit.Infrastructure(atomicfile.Error("write", file.path, err))
		}
	}
	switch output.Format(f.format) {
	case output.FormatCSV:
		for _, w := range all.warnings {
			fmt.Fprintf(c.Stderr, "warning: %s\n", terminal.Plain(w.String()))
		}
		return asCSV(c.Stdout)
	case output.FormatJSON:
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(all.document())
	}
	return printMethods(c, all, f.top)
}

// document is energy's JSON output.
type document struct {
	Format   string        `json:"format"`
	Energy   run.Energy    `json:"energy"`
	Warnings []run.Warning `json:"warnings"`
}

func (a attributed) document() document {
	return document{
		Format: documentFormat, Warnings: append([]run.Warning{}, a.warnings...),
		Energy: run.Energy{
			Source: string(a.source), UpdateMS: float64(a.update) / float64(time.Millisecond),
			BatteryJ: a.batteryJ, Methods: a.result.Record(),
		},
	}
}

func printMethods(c terminal.Console, all attributed, top int) error {
	r := all.result
	fmt.Fprintf(c.Stdout, "%s J%s in %.0f ms of CPU time, measured by %s (a reading every %d ms); %d samples of %s in %d %s\n",
		joules(r.EnergyJ.Value), interval(r.EnergyJ), r.CPUMS.Value, all.source,
		all.update.Milliseconds(), r.Samples, terminal.Plain(r.Event), r.Iterations, prose.Plural(r.Iterations, "recording", "recordings"))
	fmt.Fprintf(c.Stdout, "%s\n\n", intervalsAre(r))
	header := []string{"J own code", "of all J", "CPU ms", "J with callees", "method"}
	if all.batteryJ > 0 {
		header = []string{"J own code", "of all J", "CPU ms", "of battery", "J with callees", "method"}
	}
	table := terminal.NewTable(c, header...)
	for _, m := range byOwnCode(r.Methods)[:min(top, len(r.Methods))] {
		own := m.Local
		row := []string{mark(own.Blurred) + joules(own.EnergyJ.Value) + interval(own.EnergyJ), part(own.EnergyJ.Value, r.EnergyJ.Value), strconv.FormatFloat(own.CPUMS.Value, 'f', 1, 64)}
		if all.batteryJ > 0 {
			row = append(row, strconv.FormatFloat(100*own.EnergyJ.Value/all.batteryJ, 'g', 2, 64)+" %")
		}
		if err := table.Append(append(row, mark(m.Blurred())+joules(m.EnergyJ()), terminal.Plain(prose.Short(m.Name)))); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	if text := slowSensor(r, all.update, top); text != "" {
		fmt.Fprintln(c.Stdout, text)
	}
	if left := len(r.Methods) - top; left > 0 {
		fmt.Fprintf(c.Stdout, "%d more %s: --top shows more, --csv writes all\n", left, prose.Plural(left, "method", "methods"))
	}
	for _, w := range all.warnings {
		fmt.Fprintf(c.Stdout, "warning: %s\n", terminal.Plain(w.String()))
	}
	return nil
}

// intervalsAre describes the numbers in brackets.
func intervalsAre(r methods.Result) string {
	const columns = "parts of all J and CPU ms are of own code; "
	switch {
	case !r.EnergyJ.Bounded():
		return columns + "there is too little for intervals"
	case r.Basis == methods.Iterations:
		return fmt.Sprintf("%sintervals of %.0f %%, from one recording to the next", columns, 100*r.Level)
	}
	return fmt.Sprintf("%sintervals of %.0f %% within the recordings: five recordings and more show what differs from one to the next", columns, 100*r.Level)
}

// byOwnCode sorts methods by the energy of their own code: otherwise the ones that begin every call
// chain would lead.
func byOwnCode(list []methods.Method) []methods.Method {
	return slices.SortedStableFunc(slices.Values(list), func(a, b methods.Method) int {
		return cmp.Compare(b.Local.EnergyJ.Value, a.Local.EnergyJ.Value)
	})
}

func joules(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// interval returns an estimate's interval, "" if it has none.
func interval(e methods.Estimate) string {
	if !e.Bounded() {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", joules(e.Low), joules(e.High))
}

func part(of, whole float64) string {
	if whole <= 0 {
		return "–"
	}
	return strconv.FormatFloat(100*of/whole, 'f', 1, 64) + " %"
}

// mark precedes joules of a method that has no sensor reading to itself.
func mark(blurred bool) string {
	if blurred {
		return "≈"
	}
	return ""
}

// slowSensor explains the mark, "" if no shown method has it.
func slowSensor(r methods.Result, update time.Duration, top int) string {
	if !slices.ContainsFunc(byOwnCode(r.Methods)[:min(top, len(r.Methods))], methods.Method.Blurred) {
		return ""
	}
	text := fmt.Sprintf("≈ the sensor is slower than these methods, which run for less than its %d ms at a time: ", update.Milliseconds())
	if r.Power == run.PowerSplit {
		return text + fmt.Sprintf("their power is separated from that of sleep and neighbours over all readings; by the power read at their samples all would take %s J", joules(r.ReadJ.Value))
	}
	return text + "their joules are partly those of sleep and neighbours, and which no interval includes"
}
