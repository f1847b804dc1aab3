package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
)

const docsFile = "../docs/configuration.md"

func readDocs(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// The example in the documentation is valid for Load and for the schema.
func TestDocumentedExampleIsValid(t *testing.T) {
	_, rest, _ := strings.Cut(readDocs(t), "```yaml\n")
	example, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatalf("%s has no yaml example", docsFile)
	}
	if _, err := Load("apkgate.yml", []byte(example), Options{}); err != nil {
		t.Error(err)
	}
	if err := validate(t, compiledSchema(t), []byte(example)); err != nil {
		t.Errorf("the schema refuses it: %v", err)
	}
}

// So is the example in the document on farms.
func TestDocumentedFarmIsValid(t *testing.T) {
	src, err := os.ReadFile("../docs/farms.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(src), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```\n")
	c, err := Load("apkgate.yml", []byte(example), Options{})
	if err != nil || c.Farm == nil || c.Farm.Firebase.Devices[0] != (FarmDevice{"oriole", "33"}) {
		t.Errorf("%v: %+v", err, c)
	}
	_, rest, _ = strings.Cut(rest, "```yaml\nfarm:\n  aws:\n")
	example, _, _ = strings.Cut(rest, "```\n")
	c, err = Load("apkgate.yml", []byte("app: {package: a.b}\nfarm:\n  aws:\n"+example), Options{GateOnly: true})
	if err != nil || c.Farm == nil || c.Farm.AWS.Devices[0] != (AWSDevice{"Google Pixel 6", "13"}) {
		t.Errorf("%v: %+v", err, c)
	}
	_, rest, _ = strings.Cut(string(src), "```yaml\nfarm:\n  browserstack:")
	section, _, _ := strings.Cut(rest, "```\n")
	c, err = Load("apkgate.yml", []byte("app: {package: a.b}\nfarm:\n  browserstack:"+section), Options{GateOnly: true})
	if err != nil || c.Farm == nil || c.Farm.BrowserStack.Devices[0] != (BrowserStackDevice{"Google Pixel 7", "13.0"}) {
		t.Errorf("%v: %+v", err, c)
	}
}

// docsSections are the headings under which each type's keys are documented.
var docsSections = map[string]string{
	"App": "## app (required)", "Scenario": "## scenarios", "Instrumentation": "### workload: instrumentation",
	"BackgroundLoad": "### load", "Startup": "### workload: startup", "Maestro": "### workload: maestro", "Monkey": "### workload: monkey", "Shell": "### workload: shell",
	"Device": "## devices",
	"Farm":   "## farm", "Firebase": "### farm: firebase", "FarmDevice": "### farm: firebase: devices",
	"AWS": "### farm: aws", "AWSDevice": "### farm: aws: devices",
	"BrowserStack": "### farm: browserstack", "BrowserStackDevice": "### farm: browserstack: devices",
	"Context": "## context", "KnownProblem": "## known-problems", "Metric": "## metrics", "Energy": "## energy", "Gate": "## gate",
	"Threshold": "### gate.thresholds", "Rounds": "## rounds", "Evidence": "## evidence", "Store": "## store", "Report": "## report",
}

// Every key is in its section's table, with the default, the bounds and the words of the schema.
func TestEveryKeyIsDocumented(t *testing.T) {
	var s struct {
		Properties map[string]any
		Defs       map[string]struct {
			Properties map[string]struct {
				Default          any
				Enum             []any
				Minimum, Maximum json.Number
			}
			Required []string
		} `json:"$defs"`
	}
	src, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &s); err != nil {
		t.Fatal(err)
	}
	docs := readDocs(t)
	for key := range s.Properties {
		if !strings.Contains(docs, "\n## "+key) {
			t.Errorf("no section for %s", key)
		}
	}
	ofLabs, err := os.ReadFile("../docs/labs.md") // where each lab says what its key may say
	if err != nil {
		t.Fatal(err)
	}
	docs += string(ofLabs)
	sections := maps.Clone(docsSections)
	for typ, key := range labTypes() {
		sections[typ] = "### devices: " + key
		delete(s.Defs["Device"].Properties, key)
		if !strings.Contains(sectionOf(docs, "## Kinds of devices"), "| `"+key+"` |") {
			t.Errorf("docs/labs.md does not say what %s is", key)
		}
	}
	for typ, heading := range sections {
		section := sectionOf(docs, heading)
		for key, p := range s.Defs[typ].Properties {
			row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(key) + "` \\|.*$").FindString(section)
			if row == "" {
				t.Errorf("%q: no row for %s", heading, key)
				continue
			}
			want := p.Enum
			if p.Default != nil {
				want = append(want, p.Default)
			}
			for _, w := range want {
				if !strings.Contains(row, fmt.Sprintf("`%v`", w)) {
					t.Errorf("%q: the row of %s does not tell `%v`:\n%s", heading, key, w, row)
				}
			}
			if bounds := fmt.Sprintf("%s to %s", p.Minimum, p.Maximum); p.Minimum != "" && !strings.Contains(row, bounds) {
				t.Errorf("%q: the row of %s does not tell %s:\n%s", heading, key, bounds, row)
			}
		}
		for _, key := range s.Defs[typ].Required {
			if !strings.Contains(section, "| `"+key+"` | required |") {
				t.Errorf("%q: %s is not told to be required", heading, key)
			}
		}
	}
}

// sectionOf returns the text from a heading to the next one.
func sectionOf(docs, heading string) string {
	_, rest, _ := strings.Cut(docs, "\n"+heading+"\n")
	if end := strings.Index(rest, "\n#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}
