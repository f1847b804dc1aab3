package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// CSV writes the methods of a result as a table with a header, in their order (EDATA, table 3.2;
// docs/format/methods.md). Times and joules are per iteration. An unknown number is empty: the
// bounds of an interval without a basis, the power of a method without samples, joules if no power
// was measured, and the battery's percentages if batteryJ, the energy of a full battery, is 0.
//
// Text that a spreadsheet would take for a formula is prefixed with an apostrophe.
func CSV(w io.Writer, r methods.Result, batteryJ float64) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns()); err != nil {
		return fmt.Errorf("write the methods' header: %w", err)
	}
	for _, m := range r.Methods {
		row := []string{text(m.Name), text(m.File), text(string(m.Kind))}
		row = append(row, cost(m.Local, batteryJ)...)
		row = append(row, cost(m.NonLocal, batteryJ)...)
		if dark(m.Local) || dark(m.NonLocal) {
			row = append(row, "", "")
		} else {
			row = append(row, number(m.EnergyJ()), percent(m.EnergyJ(), batteryJ))
		}
		row = append(row, more(m.Local)...)
		row = append(row, more(m.NonLocal)...)
		if err := out.Write(row); err != nil {
			return fmt.Errorf("write the method %.60q: %w", m.Name, err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the methods: %w", err)
	}
	return nil
}

// CSVOfRecord writes the methods of a run in the same columns. A run keeps only the intervals of
// energy; the others are empty.
func CSVOfRecord(w io.Writer, m run.Methods, batteryJ float64) error {
	var r methods.Result
	for _, f := range m.List {
		r.Methods = append(r.Methods, methods.Method{
			Name: f.Name, File: f.File, Kind: simpleperf.Kind(f.Kind), Local: recorded(f.Local), NonLocal: recorded(f.NonLocal),
		})
	}
	return CSV(w, r, batteryJ)
}

func recorded(c run.Cost) methods.Cost {
	return methods.Cost{
		Samples:   c.Samples,
		Share:     methods.Estimate{Value: c.Share},
		CPUMS:     methods.Estimate{Value: c.CPUMS},
		PowerW:    methods.Estimate{Value: c.PowerW},
		EnergyJ:   methods.Estimate{Value: c.EnergyJ, Low: c.LowJ, High: c.HighJ},
		ReadJ:     methods.Estimate{Value: c.ReadJ, Low: c.ReadLowJ, High: c.ReadHighJ},
		StretchMS: c.StretchMS, Blurred: c.Blurred,
	}
}

// columns returns the header.
func columns() []string {
	out := []string{"method", "file", "kind"}
	for _, part := range []string{"local", "non_local"} {
		out = append(out, part+"_samples")
		for _, amount := range []string{"share", "cpu_ms", "energy_j", "power_w"} {
			name := part + "_" + amount
			out = append(out, name, name+"_low", name+"_high")
		}
		out = append(out, part+"_battery_percent")
	}
	out = append(out, "energy_j", "battery_percent")
	for _, part := range []string{"local", "non_local"} {
		out = append(out, part+"_time_share", part+"_stretch_ms", part+"_blurred", part+"_read_j", part+"_read_j_low", part+"_read_j_high")
	}
	return out
}

// more returns the columns that were added after the first ones were fixed.
func more(c methods.Cost) []string {
	blurred := ""
	if c.Blurred {
		blurred = "yes"
	}
	stretch := ""
	if c.StretchMS > 0 {
		stretch = number(c.StretchMS)
	}
	return append([]string{number(c.Share.Value), stretch, blurred}, estimate(c.ReadJ, c.ReadJ.Value > 0)...)
}

func cost(c methods.Cost, batteryJ float64) []string {
	out := []string{strconv.Itoa(c.Samples)}
	out = append(out, estimate(c.Share, true)...)
	out = append(out, estimate(c.CPUMS, true)...)
	out = append(out, estimate(c.EnergyJ, !dark(c))...)
	out = append(out, estimate(c.PowerW, c.PowerW.Value > 0)...)
	if dark(c) {
		return append(out, "")
	}
	return append(out, percent(c.EnergyJ.Value, batteryJ))
}

// dark reports whether there are samples but none with a known power.
func dark(c methods.Cost) bool { return c.Samples > 0 && c.EnergyJ.Value == 0 }

// estimate formats a number and the ends of its interval.
func estimate(e methods.Estimate, known bool) []string {
	switch {
	case !known:
		return []string{"", "", ""}
	case !e.Bounded():
		return []string{number(e.Value), "", ""}
	}
	return []string{number(e.Value), number(e.Low), number(e.High)}
}

// percent formats a part of the battery, "" if the battery is unknown.
func percent(joules, batteryJ float64) string {
	if batteryJ <= 0 {
		return ""
	}
	return number(joules / batteryJ * 100)
}

// number formats six digits, as many as such estimates can ever have.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// text escapes text so that spreadsheets show it unchanged: Excel, LibreOffice and Google Sheets
// run a cell that begins with one of these as a formula. A cell may also begin after a semicolon or
// a tab: where the comma is the decimal sign, spreadsheets split lines there.
func text(s string) string {
	var b strings.Builder
	begins := true
	for _, r := range s {
		if begins && strings.ContainsRune("=+-@＝＋－＠\t\r\n", r) {
			b.WriteByte('\'')
		}
		b.WriteRune(r)
		begins = r == ';' || r == '\t' || begins && r == ' '
	}
	return b.String()
}
