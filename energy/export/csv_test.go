package export_test

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/energy/export"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
)

// table parses a table: a map by column for each row.
func table(t *testing.T, text string) (header []string, rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("the table cannot be read again: %v", err)
	}
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, v := range record {
			row[all[0][i]] = v
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

func TestCSV(t *testing.T) {
	r := methods.Result{Methods: []methods.Method{{
		Name: "mail.Inbox.open", File: "base.apk", Kind: "aot",
		Local: methods.Cost{
			Samples: 40, Share: methods.Estimate{Value: 0.25, Low: 0.16, High: 0.33}, CPUMS: methods.Estimate{Value: 1500, Low: 900, High: 2000},
			EnergyJ: methods.Estimate{Value: 3, Low: 1.5, High: 4}, PowerW: methods.Estimate{Value: 2, Low: 1.9, High: 2.1},
			ReadJ: methods.Estimate{Value: 2.5, Low: 2.25, High: 2.75}, StretchMS: 12, Blurred: true,
		},
		NonLocal: methods.Cost{Samples: 2, Share: methods.Estimate{Value: 0.0125}, CPUMS: methods.Estimate{Value: 75}, EnergyJ: methods.Estimate{Value: 0.15}, PowerW: methods.Estimate{Value: 2}},
	}}}
	var out strings.Builder
	if err := export.CSV(&out, r, 60_000); err != nil {
		t.Fatal(err)
	}
	header, rows := table(t, out.String())
	if len(header) != 3+2*14+2+2*6 || len(rows) != 1 {
		t.Fatalf("%d columns and %d rows, want 45 and 1", len(header), len(rows))
	}
	for column, want := range map[string]string{
		"method": "mail.Inbox.open", "file": "base.apk", "kind": "aot",
		"local_samples": "40", "local_share": "0.25", "local_share_low": "0.16", "local_share_high": "0.33",
		"local_cpu_ms": "1500", "local_energy_j": "3", "local_energy_j_low": "1.5", "local_energy_j_high": "4",
		"local_power_w": "2", "local_power_w_low": "1.9", "local_power_w_high": "2.1",
		"local_battery_percent": "0.005", // 3 J of 60 kJ
		"non_local_samples":     "2", "non_local_energy_j": "0.15", "non_local_energy_j_low": "", "non_local_energy_j_high": "",
		"energy_j": "3.15", "battery_percent": "0.00525",
		"local_time_share": "0.25", "local_stretch_ms": "12", "local_blurred": "yes",
		"local_read_j": "2.5", "local_read_j_low": "2.25", "local_read_j_high": "2.75",
		"non_local_stretch_ms": "", "non_local_blurred": "", "non_local_read_j": "",
	} {
		if got := rows[0][column]; got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
}

func TestCSVOfRecord(t *testing.T) {
	m := run.Methods{List: []run.Method{{Name: "a", Local: run.Cost{Samples: 1, Share: 0.5, CPUMS: 2, PowerW: 3, EnergyJ: 0.006, LowJ: 0.001, HighJ: 0.01}}}}
	var out strings.Builder
	if err := export.CSVOfRecord(&out, m, 0); err != nil {
		t.Fatal(err)
	}
	_, rows := table(t, out.String())
	for column, want := range map[string]string{
		"local_share": "0.5", "local_share_low": "", "local_cpu_ms": "2", "local_power_w": "3", "local_power_w_high": "",
		"local_energy_j": "0.006", "local_energy_j_low": "0.001", "local_energy_j_high": "0.01",
		"local_battery_percent": "", "battery_percent": "", "energy_j": "0.006",
	} {
		if got := rows[0][column]; got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
}

// A method without samples has no power, and if no power was measured there are no joules: neither
// is 0.
func TestCSVLeavesWhatIsUnknownEmpty(t *testing.T) {
	m := run.Methods{List: []run.Method{
		{Name: "dark", Local: run.Cost{Samples: 5, Share: 1, CPUMS: 10}},
		{Name: "caller", NonLocal: run.Cost{Samples: 1, Share: 0.5, CPUMS: 2, PowerW: 3, EnergyJ: 0.006}},
	}}
	var out strings.Builder
	if err := export.CSVOfRecord(&out, m, 60_000); err != nil {
		t.Fatal(err)
	}
	_, rows := table(t, out.String())
	for i, wants := range []map[string]string{
		{"local_cpu_ms": "10", "local_energy_j": "", "local_power_w": "", "local_battery_percent": "", "energy_j": "", "battery_percent": ""},
		{"local_samples": "0", "local_energy_j": "0", "local_power_w": "", "non_local_power_w": "3", "energy_j": "0.006", "battery_percent": "1e-05"},
	} {
		for column, want := range wants {
			if got := rows[i][column]; got != want {
				t.Errorf("%s of %s is %q, want %q", column, rows[i]["method"], got, want)
			}
		}
	}
}

// No text of a recording becomes a formula, a second cell or a second row.
func TestCSVTextStaysText(t *testing.T) {
	names := []string{"=HYPERLINK(\"http://x\")", "+1", "-[Inbox open]", "@plt", "\tx", "a,b", "a\nb", "\"", "operator-", "", "＝1", "a;=1", "a; @b;-c", "a;b", "a -b"}
	want := []string{"'=HYPERLINK(\"http://x\")", "'+1", "'-[Inbox open]", "'@plt", "'\tx", "a,b", "a\nb", "\"", "operator-", "", "'＝1", "a;'=1", "a; '@b;'-c", "a;b", "a -b"}
	var m run.Methods
	for _, name := range names {
		m.List = append(m.List, run.Method{Name: name, File: name})
	}
	var out strings.Builder
	if err := export.CSVOfRecord(&out, m, 0); err != nil {
		t.Fatal(err)
	}
	_, rows := table(t, out.String())
	var got, files []string
	for _, row := range rows {
		got, files = append(got, row["method"]), append(files, row["file"])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(got, files) {
		t.Errorf("the files are %q, want them as the names are", files)
	}
}

func TestCSVReportsWriteErrors(t *testing.T) {
	m := run.Methods{List: []run.Method{{Name: "a"}}}
	if err := export.CSVOfRecord(full{}, m, 0); !errors.Is(err, errFull) {
		t.Errorf("the error is %v, want that of the writer", err)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
