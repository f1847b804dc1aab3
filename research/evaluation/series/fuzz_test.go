package series_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/research/evaluation/series"
)

// FuzzRead: what is read as series is within the limits, has finite numbers, and can be
// written and read again; else there is an error of one line.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"name":"a","device":"d","values":[1,2,3],"metric":"frames.duration_ms"}]`))
	f.Add([]byte(`[{"name":"a","device":"d","values":[1,2],"session":["x","y"]}]`))
	f.Add([]byte(`[{"values":[1e999]}]`))
	f.Add([]byte(`[[[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := series.Read(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		if len(all) > series.MaxSeries {
			t.Errorf("%d series are read", len(all))
		}
		for _, s := range all {
			for _, v := range s.Values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%q has %v", s.Name, v)
				}
			}
		}
		if err := series.Check(all); err != nil {
			return
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := series.Read(bytes.NewReader(text)); err != nil || len(again) != len(all) {
			t.Errorf("written and read again: %d of %d series, %v", len(again), len(all), err)
		}
	})
}
