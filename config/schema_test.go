package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

var update = flag.Bool("update", false, "write docs/apkgate.schema.json anew")

const schemaFile = "../docs/apkgate.schema.json"

// The committed schema is the one generated from the types.
func TestSchemaIsInStep(t *testing.T) {
	got := generateSchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of step (-committed +generated); run: go test ./config -run TestSchemaIsInStep -update\n%s", schemaFile, diff)
	}
}

// generateSchema generates the schema from the types. Their comments become the descriptions, and
// the decoder's own patterns the patterns.
func generateSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, Mapper: scalarSchema,
	}
	if err := r.AddGoComments("github.com/apkgate/apkgate/config", ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	for name, text := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(text), " ")
	}
	s := r.Reflect(&Config{})
	s.ID, s.Title, s.Description = SchemaURL, "apkgate.yml", "The configuration of apkgate, a performance gate for Android pull requests."
	constrain(t, s)
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// scalarSchema returns the schema of the types that have a notation of their own in the file.
func scalarSchema(typ reflect.Type) *jsonschema.Schema {
	switch typ {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: durationPattern.String()}
	case reflect.TypeFor[Screen]():
		return &jsonschema.Schema{Type: "string", Pattern: screenPattern.String()}
	case reflect.TypeFor[Fraction]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number", Minimum: "0", Maximum: "1"}, percentSchema()}}
	case reflect.TypeFor[map[string]string]():
		most := uint64(maxItems)
		return &jsonschema.Schema{
			Type: "object", MaxProperties: &most,
			PropertyNames: &jsonschema.Schema{Pattern: propertyPattern.String()}, AdditionalProperties: looseSchema(),
		}
	}
	return nil
}

func percentSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: percentPattern.String()}
}

// looseSchema accepts any scalar: version: 5.10 is a number in YAML.
func looseSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: linePattern}, {Type: "number"}, {Type: "boolean"}}}
}

const (
	linePattern = `^(\S(.*\S)?)?$`                    // isLine, as closely as a pattern can
	bootPattern = `^[^\s-](.*\S)?$`                   // bootRule, likewise
	pathPattern = `^[^~](.*[^/])?$`                   // isFilePath, likewise
	hostPattern = `^(\[[^\s\[\]]+\]|[^\s:]+):[0-9]+$` // isAddress, likewise
)

// constrain adds what struct tags can't express.
func constrain(t *testing.T, s *jsonschema.Schema) {
	t.Helper()
	for key, pattern := range map[string]string{
		"App.package": packagePattern.String(), "App.test-apk": pathPattern, "App.orchestrator-apk": pathPattern, "App.test-services-apk": pathPattern,
		"Scenario.name": linePattern, "Instrumentation.test-package": packagePattern.String(),
		"Instrumentation.runner": classPattern.String(), "Instrumentation.class": linePattern,
		"Startup.activity": activityPattern.String(), "Maestro.flow": pathPattern, "Shell.script": pathPattern,
		"Device.serial": serialPattern.String(), "Device.address": hostPattern, "Device.simulated": linePattern, "Device.name": linePattern,
		"Device.profile": linePattern, "AVD.image": imagePattern.String(), "AVD.gpu": imagePattern.String(),
		"Firebase.project": projectPattern.String(), "Firebase.bucket": bucketPattern.String(), "FarmDevice.model": modelPattern.String(),
		"AWS.project": arnPattern.String(), "AWSDevice.model": phonePattern.String(),
		"BrowserStackDevice.model": phonePattern.String(),
		"Metric.name":              `^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$`, "Metric.unit": linePattern, "Metric.title": linePattern,
		"KnownProblem.name": linePattern, "KnownProblem.text": linePattern, "KnownProblem.link": linkPattern.String(),
		"Threshold.event": linePattern, "Store.sqlite": pathPattern,
		"Store.branch": branchPattern.String(), "Store.postgres": databasePattern.String(), "Store.address": storePattern.String(),
		"BackgroundLoad.from": downloadPattern.String(), "Config.base": pathPattern, "Report.html": pathPattern, "Report.markdown": pathPattern, "Report.json": pathPattern,
	} {
		property(t, s, key).Pattern = pattern
	}
	for typ := range labTypes() {
		for _, key := range []string{"model", "name", "recipe", "serial", "snapshot"} {
			if p, ok := s.Definitions[typ].Properties.Get(key); ok {
				p.Pattern = bootPattern
			}
		}
	}
	for _, key := range []string{"Config.networks", "Device.networks"} {
		property(t, s, key).Items.Pattern = networkPattern.String()
	}
	property(t, s, "Instrumentation.classes").Items.Pattern = classPattern.String()
	property(t, s, "KnownProblem.calls").Items.Pattern = methodPattern.String()
	property(t, s, "Context.use").Items.Pattern = propertyPattern.String()
	apk, most, least := property(t, s, "App.apk"), uint64(maxItems), uint64(1)
	apk.Type, apk.AnyOf = "", []*jsonschema.Schema{
		{Type: "string", Pattern: pathPattern},
		{Type: "array", Items: &jsonschema.Schema{Type: "string", Pattern: pathPattern}, MinItems: &least, MaxItems: &most, UniqueItems: true},
	}
	for _, key := range []string{"App.version", "App.build"} {
		p := property(t, s, key)
		p.Type, p.AnyOf = "", looseSchema().AnyOf
	}
	for typ := range labTypes() {
		if p, ok := s.Definitions[typ].Properties.Get("android"); ok {
			p.Type, p.AnyOf = "", []*jsonschema.Schema{{Type: "string", Pattern: androidPattern.String()}, {Type: "number"}}
		}
	}
	for key, pattern := range map[string]*regexp.Regexp{"AVD.android": apiPattern, "FarmDevice.version": modelPattern, "AWSDevice.version": phonePattern, "BrowserStackDevice.version": phonePattern} {
		p := property(t, s, key)
		p.Type, p.AnyOf = "", []*jsonschema.Schema{{Type: "string", Pattern: pattern.String()}, {Type: "number"}}
	}
	for _, key := range []string{"Threshold.max", "Threshold.min"} {
		p := property(t, s, key)
		p.Type, p.AnyOf = "", []*jsonschema.Schema{{Type: "number"}, percentSchema()}
	}
	s.Definitions["Workload"].OneOf = oneRequired("instrumentation", "startup", "maestro", "monkey", "shell")
	s.Definitions["Device"].OneOf = oneRequired(connectionKeys...)
	s.Definitions["Farm"].OneOf = []*jsonschema.Schema{
		{Required: []string{"firebase", "max-usd"}, Not: &jsonschema.Schema{AnyOf: oneRequired("aws", "browserstack")}},
		{Required: []string{"aws", "max-usd"}, Not: &jsonschema.Schema{AnyOf: oneRequired("firebase", "browserstack")}},
		{Required: []string{"browserstack"}, Not: &jsonschema.Schema{AnyOf: oneRequired("firebase", "aws", "max-usd")}},
	}
	s.Definitions["AVD"].OneOf = []*jsonschema.Schema{{Required: []string{"model", "android"}}, {Required: []string{"name"}}}
	s.Definitions["Genymotion"].OneOf = s.Definitions["AVD"].OneOf
	one := uint64(1)
	s.Definitions["Store"].MaxProperties = &one
	for _, key := range []string{"Store.postgres", "Store.address"} {
		property(t, s, key).Not = &jsonschema.Schema{Pattern: passwordPattern.String()}
	}
}

// labTypes are the names of the labs' types, by which the schema has them, with their keys.
func labTypes() map[string]string {
	out := map[string]string{}
	for i, key := range labKeys {
		out[reflect.TypeFor[Labs]().Field(i).Type.Elem().Name()] = key
	}
	return out
}

func property(t *testing.T, s *jsonschema.Schema, path string) *jsonschema.Schema {
	t.Helper()
	typ, key, _ := strings.Cut(path, ".")
	properties := s.Properties
	if typ != "Config" {
		properties = s.Definitions[typ].Properties
	}
	p, ok := properties.Get(key)
	if !ok {
		t.Fatalf("the schema has no %s", path)
	}
	return p
}

func oneRequired(keys ...string) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, k := range keys {
		out = append(out, &jsonschema.Schema{Required: []string{k}})
	}
	return out
}

// compiledSchema returns the committed schema, ready to validate with.
func compiledSchema(t *testing.T) *validator.Schema {
	t.Helper()
	f, err := os.Open(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := validator.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(SchemaURL, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks a YAML file against the schema, as an editor does.
func validate(t *testing.T, s *validator.Schema, src []byte) error {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return err
	}
	asJSON, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	v, err := validator.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestSchemaAcceptsValidFiles(t *testing.T) {
	s := compiledSchema(t)
	files, _ := filepath.Glob("testdata/valid/*.yml")
	if len(files) < 5 {
		t.Fatalf("testdata/valid has %d files, want 5 or more", len(files))
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, src); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// beyondSchema are the invalid files that only Load rejects, with what a schema can't check.
var beyondSchema = map[string]string{
	"two-documents":           "the second document",
	"utf-16":                  "the encoding",
	"own-tag":                 "YAML tags",
	"the-same-scenario-twice": "equal names",
	"the-same-device-twice":   "equal serials and names",
	"devices-of-one-profile":  "devices that are unlike",
	"keys-of-other-devices":   "which device a key says nothing of",

	"the-same-metric-twice":        "equal names",
	"the-same-threshold-twice":     "equal metrics and events",
	"simulated-device":             "the names of the profiles",
	"a-limit-for-a-neutral-metric": "the direction of a metric",
	"dune-has-no-false-alarms":     "one key that rules out another",
	"methods-without-energy":       "one key that rules out another",
	"too-few-rounds":               "how rare false alarms are to be",
	"clusters":                     "one key that rules out another",
	"tasks-without-a-recording":    "one key that needs another",
	"quartiles":                    "one key that rules out another",
	"two-outputs-in-one-file":      "equal paths",
}

func TestSchemaRejectsInvalidFiles(t *testing.T) {
	s := compiledSchema(t)
	number := regexp.MustCompile(`^\d+-`)
	files, _ := filepath.Glob("testdata/wrong/*.yml")
	var missed []string
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if validate(t, s, src) == nil {
			missed = append(missed, number.ReplaceAllString(strings.TrimSuffix(filepath.Base(file), ".yml"), ""))
		}
	}
	for _, name := range missed {
		if beyondSchema[name] == "" {
			t.Errorf("the schema takes %s, which Load refuses", name)
		}
	}
	for name := range beyondSchema {
		if !slices.Contains(missed, name) {
			t.Errorf("the schema refuses %s now: take it off the list", name)
		}
	}
}

// Load and the schema have the same keys.
func TestSchemaAndLoadHaveTheSameKeys(t *testing.T) {
	var s struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	src, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &s); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"Config":          `nope: 1`,
		"App":             `app: {nope: 1}`,
		"Scenario":        `scenarios: [{nope: 1}]`,
		"Workload":        `scenarios: [{workload: {nope: 1}}]`,
		"Instrumentation": `scenarios: [{workload: {instrumentation: {nope: 1}}}]`,
		"Startup":         `scenarios: [{workload: {startup: {nope: 1}}}]`,
		"Maestro":         `scenarios: [{workload: {maestro: {nope: 1}}}]`,
		"BackgroundLoad":  `scenarios: [{load: {nope: 1}}]`,
		"Monkey":          `scenarios: [{workload: {monkey: {nope: 1}}}]`,
		"Shell":           `scenarios: [{workload: {shell: {nope: 1}}}]`,
		"Device":          `devices: [{nope: 1}]`,
		"Context":         `context: {nope: 1}`,
		"KnownProblem":    `known-problems: [{nope: 1}]`,
		"Metric":          `metrics: [{nope: 1}]`,
		"Gate":            `gate: {nope: 1}`,
		"Threshold":       `gate: {thresholds: [{nope: 1}]}`,
		"Rounds":          `rounds: {nope: 1}`,
		"Evidence":        `evidence: {nope: 1}`,
		"Store":           `store: {nope: 1}`,
		"Report":          `report: {nope: 1}`,
	}
	for typ, key := range labTypes() {
		files[typ] = `devices: [{` + key + `: {nope: 1}}]`
	}
	for typ, yml := range files {
		properties := s.Properties
		if typ != "Config" {
			properties = s.Defs[typ].Properties
		}
		want := slices.Sorted(maps.Keys(properties))
		_, err := Load("apkgate.yml", []byte(yml), Options{})
		m := regexp.MustCompile(`unknown key "nope"; allowed: (.*)`).FindStringSubmatch(err.Error())
		if m == nil {
			t.Errorf("%s: Load did not say which keys are allowed:\n%v", yml, err)
			continue
		}
		got := strings.Split(m[1], ", ")
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("keys of %s (-schema +Load):\n%s", typ, diff)
		}
	}
}
