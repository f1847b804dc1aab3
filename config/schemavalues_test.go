package config

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// places are files with a place for one more key of each type.
var places = map[string]string{
	"Scenario":        "app: {package: a.b}\nscenarios: [{name: x, workload: {shell: {script: s}}, KEY}]\n",
	"Instrumentation": "app: {package: a.b}\nscenarios: [{name: x, workload: {instrumentation: {test-package: a.c, KEY}}}]\n",
	"Startup":         "app: {package: a.b}\nscenarios: [{name: x, workload: {startup: {KEY}}}]\n",
	"Monkey":          "app: {package: a.b}\nscenarios: [{name: x, workload: {monkey: {events: 9, KEY}}}]\n",
	"Device":          "app: {package: a.b}\ndevices: [{simulated: nexus-4, KEY}]\n",
	"AVD":             "app: {package: a.b}\ndevices: [{avd: {model: pixel_6, android: 34, KEY}}]\n",
	"GenymotionSaaS":  "app: {package: a.b}\ndevices: [{genymotion-saas: {recipe: x, KEY}}]\n",
	"Farm":            "app: {package: a.b}\nfarm: {firebase: {project: abcdef, devices: [{model: a, version: 33}]}, max-usd: 1, KEY}\n",
	"BrowserStack":    "app: {package: a.b}\nfarm: {browserstack: {devices: [{model: Google Pixel 7, version: 13.0}], max-minutes: 1, KEY}}\n",
	"KnownProblem":    "app: {package: a.b}\nknown-problems: [{name: x, calls: [a.B.c], KEY}]\n",
	"Metric":          "app: {package: a.b}\nmetrics: [{name: x, better: lower, KEY}]\n",
	"Gate":            "app: {package: a.b}\ngate: {KEY}\n",
	"Threshold":       "app: {package: a.b}\ngate: {thresholds: [{metric: anr.count, max: 1, KEY}]}\n",
	"Store":           "app: {package: a.b}\nstore: {KEY}\n",
	"Report":          "app: {package: a.b}\nreport: {KEY}\n",
}

func loadWith(typ, key string, value any) (*Config, error) {
	written := ""
	if key != "" {
		written = fmt.Sprintf("%s: %v", key, value)
	}
	file := strings.Replace(places[typ], "KEY", written, 1)
	for given, needed := range map[string]string{"events": "events: 9, ", "max-usd": "max-usd: 1, ", "max-minutes": "max-minutes: 1, "} {
		if key == given {
			file = strings.Replace(file, needed, "", 1)
		}
	}
	return Load("apkgate.yml", []byte(file), Options{GateOnly: true})
}

// A schema's default is what Load uses where the key is left out, and its bounds are Load's.
func TestSchemaAndLoadHaveTheSameDefaultsAndBounds(t *testing.T) {
	var s struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Default          any
				Minimum, Maximum *float64
			}
		} `json:"$defs"`
	}
	src, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &s); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for typ := range places {
		without, err := loadWith(typ, "", nil)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		for key, p := range s.Defs[typ].Properties {
			if p.Default != nil {
				compared++
				with, err := loadWith(typ, key, p.Default)
				if diff := cmp.Diff(without, with); err != nil || diff != "" {
					t.Errorf("%s.%s: %v is no default (-left out +written): %v\n%s", typ, key, p.Default, err, diff)
				}
			}
			if p.Minimum != nil {
				compared++
				checkBound(t, typ, key, *p.Minimum, *p.Minimum-1)
				checkBound(t, typ, key, *p.Maximum, *p.Maximum+1)
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d defaults and bounds were found to compare", compared)
	}
}

// checkBound tests that Load accepts one value and rejects the other.
func checkBound(t *testing.T, typ, key string, in, out float64) {
	t.Helper()
	if _, err := loadWith(typ, key, fmt.Sprintf("%.17g", in)); err != nil {
		t.Errorf("%s.%s: %.17g is refused: %v", typ, key, in, err)
	}
	if _, err := loadWith(typ, key, fmt.Sprintf("%.17g", out)); err == nil {
		t.Errorf("%s.%s: %.17g is taken", typ, key, out)
	}
}
