package series

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestASeriesIsReadAsItIsWritten(t *testing.T) {
	got, err := Read(strings.NewReader(`[{"name":"a","device":"p","values":[1,2.5,-3],"session":["x","y","x"]},{"name":"b","device":"","values":[4],"metric":"energy.total_j"}]`))
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if s := got[0]; fmt.Sprint(s.Sessions()) != "[{x [1 -3]} {y [2.5]}]" || s.Positive() {
		t.Errorf("%+v in sessions %v", s, s.Sessions())
	}
	if s := got[1]; fmt.Sprint(s.Sessions()) != "[{ [4]}]" || !s.Positive() || s.Metric != "energy.total_j" {
		t.Errorf("%+v in sessions %v", s, s.Sessions())
	}
}

func TestWhatIsNoSeriesIsRefusedWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  `the file is empty, want [{"name"`,
		`{}`:                                `the file at byte 1: want [{`,
		`[]`:                                `no series in the list`,
		`[] []`:                             `more after the end`,
		`[{"name":"a","values":[1],"x":1}]`: `unknown field "x"`,
		`[{"name":"a","values":[1,"2"]}]`:   `got string`,
		`[{"name":"a","values":[1,null]}]`:  `series 1 (a): value 2 is null`,
		`[{"name":"","values":[1]}]`:        `"name" is empty`,
		`[{"name":"a","values":[]}]`:        `no value in "values"`,
		`[{"name":"a","values":[1e101]}]`:   `value 1 is 1e+101, want at most 1e+100`,
		`[{"name":"a","values":[1e999]}]`:   `want`,
		`[{"name":"a","values":[1],"session":[]}]`:                    `session names 0 values of 1`,
		`[{"name":"a","values":[1],"session":[null]}]`:                `session 1 is null`,
		`[{"name":"a","values":[1],"metric":"x"}]`:                    `metric is "x", want one of the catalogue`,
		`[{"name":"` + strings.Repeat("a", 5000) + `","values":[1]}]`: `longer than 4096 bytes`,
		strings.Repeat(" ", MaxBytes+1):                               `larger than 64 MiB`,
		`[` + strings.Repeat(`{},`, MaxSeries) + `{}]`:                `10001 series, at most 10000`,
	} {
		if got, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q is read as %v with %v, want %q", text, got, err, want)
		}
	}
}

// The standard deviation of 8, 10, 12 is 2, a fifth of their mean.
func TestTheCoefficientOfVariation(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{8, 10, 12}, 0.2}, {[]float64{-8, -10, -12}, 0.2}, {[]float64{5, 5}, 0}, {[]float64{-1, 1}, 0}} {
		if got := (Series{Values: c.values}).CV(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

// A file of many small things takes no more memory than the largest allowed one.
func TestAFileOfTooMuchIsRefusedBeforeItTakesMemory(t *testing.T) {
	const most = 32 << 20 // bytes beside the file's own, which is read by doubling
	for name, text := range map[string]string{
		"series": "[" + strings.Repeat("{},", 4_000_000) + "{}]",
		"values": `[{"name":"a","values":[` + strings.Repeat("1,", 6_000_000) + "1]}]",
		"names":  `[{"name":"a","values":[1],"session":[` + strings.Repeat(`"",`, 4_000_000) + `""]}]`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(strings.NewReader(text))
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.Contains(err.Error(), "more than 10000 series, or more than 1000000 values") || taken > uint64(5*len(text)+most) {
			t.Errorf("%s: %v, with %d MiB for a file of %d MiB", name, err, taken>>20, len(text)>>20)
		}
	}
}

func TestCommasInNamesAreNoElements(t *testing.T) {
	session := `"` + strings.Repeat(`,\",\\`, 1_000) + `"`
	text := `[{"name":"a","values":[` + strings.Repeat("1,", 2_000) + `1],"session":[` + strings.Repeat(session+",", 2_000) + session + "]}]"
	if got, err := Read(strings.NewReader(text)); err != nil || len(got[0].Values) != 2_001 {
		t.Error(err)
	}
}
