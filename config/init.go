package config

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// SchemaURL is where editors find the JSON Schema of apkgate.yml.
const SchemaURL = "https://raw.githubusercontent.com/apkgate/apkgate/main/docs/apkgate.schema.json"

// InitOptions are the values of a new file. Empty ones become an example to change, or a comment.
type InitOptions struct {
	Package  string // com.example.app
	APK      string // the path of the APK, relative to the file
	TestAPK  string // the path of the test APK
	Scenario string // the scenario's name
	// TestPackage is the package of the instrumentation tests. With neither it nor
	// TestAPK, the workload is the app's cold start, which needs no test.
	TestPackage string
	Class       string // the test class or class#method
	Runner      string // of the tests; "" is the usual one
	// Macrobenchmark is set where the tests measure by themselves.
	Macrobenchmark bool
	Devices        []Device
	Networks       []string
}

// Init returns a new, commented apkgate.yml. The error is a Problems where one of the options is
// not allowed in such a file.
func Init(o InitOptions) ([]byte, error) {
	o = o.withExamples()
	var b bytes.Buffer
	fmt.Fprintf(&b, initHead, SchemaURL)
	fmt.Fprintf(&b, initApp, quote(o.Package), quote(o.APK))
	if o.TestAPK != "" {
		fmt.Fprintf(&b, "  # The APK with the instrumentation tests.\n  test-apk: %s\n", quote(o.TestAPK))
	}
	fmt.Fprintf(&b, initScenario, quote(o.Scenario))
	o.workload(&b)
	if !o.Macrobenchmark {
		b.WriteString(initRepetitions)
	}
	o.devices(&b)
	o.networks(&b)
	b.WriteString(initEnergy)
	b.WriteString(initBase)
	b.WriteString(initGate)
	if _, err := Load(FileName, b.Bytes(), Options{}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (o InitOptions) withExamples() InitOptions {
	for _, example := range []struct {
		dst   *string
		value string
	}{
		{&o.Package, "com.example.app"},
		{&o.APK, "app/build/outputs/apk/release/app-release.apk"},
		{&o.Scenario, "cold-start"},
	} {
		if *example.dst == "" {
			*example.dst = example.value
		}
	}
	if o.TestAPK != "" && o.TestPackage == "" {
		o.TestPackage = o.Package + ".test"
	}
	return o
}

const initHead = `# yaml-language-server: $schema=%s
#
# What apkgate measures, and when a pull request fails.
# Every key is explained in docs/configuration.md of github.com/apkgate/apkgate.

`

const initApp = `app:
  # The application id.
  package: %s
  # What is installed before measuring. Paths are relative to this file.
  apk: %s
`

const initScenario = `
scenarios:
  # A run is compared with earlier runs of the same scenario name.
  - name: %s
    # What drives the app: instrumentation, startup, maestro, monkey or shell.
    workload:
`

const initRepetitions = `    # More repetitions, less noise; the warm-up is not measured.
    repetitions: 5
    warm-up: 1
    # A repetition that takes longer is stopped and made again.
    timeout: 5m
`

const initEnergy = `
# Joules: by the device's power rails or its battery where it has them, else by a
# model. Add methods: true to see which methods burn them.
energy: {source: auto}
`

const initDevices = `
# Without devices, the one that adb sees is used.
# devices:
#   - serial: emulator-5554
#   - address: 10.0.0.7:5555
#   - avd: {model: pixel_6, android: 34} # an emulator that apkgate boots: docs/labs.md
`

const initBase = `
# The build before the change: what the accepted runs don't clear is measured alternately with it.
# base: base/app-release.apk
`

const initGate = `
gate:
  # At most this share of unchanged pull requests fails by chance.
  false-alarms: 1%
  # A smaller change never fails.
  min-change: 5%
  # Start with never; change to regression once the verdicts have proved right.
  fail-on: never

store:
  # The accepted runs. Keep this file from one build to the next.
  sqlite: .apkgate/history.db
  # Or share them: on a branch of a git remote, or in PostgreSQL.
  # branch: origin#apkgate-history
  # postgres: postgres://ci@db.example.org/apkgate?sslmode=verify-full
`

func (o InitOptions) workload(b *bytes.Buffer) {
	if o.TestPackage == "" {
		b.WriteString("      # The app's start, after its process was ended. A test of yours tells more.\n" +
			"      startup: {mode: cold}\n")
		return
	}
	fmt.Fprintf(b, "      instrumentation:\n        test-package: %s\n", quote(o.TestPackage))
	if o.Runner != "" && o.Runner != DefaultRunner {
		fmt.Fprintf(b, "        runner: %s\n", quote(o.Runner))
	}
	if o.Class != "" {
		fmt.Fprintf(b, "        class: %s\n", quote(o.Class))
	}
	if !o.Macrobenchmark {
		return
	}
	b.WriteString("        # It repeats and measures by itself: each of its classes gets a run of its own.\n        macrobenchmark: true\n")
	if slices.ContainsFunc(o.Devices, func(d Device) bool { return d.AVD != nil }) {
		b.WriteString("        # Macrobenchmark refuses emulators, whose times say little; this makes it measure all the same.\n" +
			"        args: {androidx.benchmark.suppressErrors: EMULATOR}\n")
	}
}

func (o InitOptions) devices(b *bytes.Buffer) {
	if len(o.Devices) == 0 {
		b.WriteString(initDevices)
		return
	}
	b.WriteString("\n# Each scenario runs on each of these.\ndevices:\n")
	for _, d := range o.Devices {
		lead := "  - "
		for _, kv := range [][2]string{{"serial", d.Serial}, {"address", d.Address}, {"simulated", d.Simulated}, {"name", d.Name}} {
			if kv[1] != "" {
				fmt.Fprintf(b, "%s%s: %s\n", lead, kv[0], quote(kv[1]))
				lead = "    "
			}
		}
		if d.AVD != nil {
			fmt.Fprintf(b, "%savd: {model: %s, android: %s, image: %s}\n", lead, quote(d.AVD.Model), quote(d.AVD.Android), quote(d.AVD.Image))
			lead = "    "
		}
		if len(d.Context) > 0 {
			fmt.Fprintf(b, "%scontext:\n", lead)
		}
		for _, key := range slices.Sorted(maps.Keys(d.Context)) {
			fmt.Fprintf(b, "      %s: %s\n", quote(key), quote(d.Context[key]))
		}
	}
}

func (o InitOptions) networks(b *bytes.Buffer) {
	if len(o.Networks) == 0 {
		return
	}
	b.WriteString("\n# Each device runs once on each network.\nnetworks:\n")
	for _, n := range o.Networks {
		fmt.Fprintf(b, "  - %s\n", quote(n))
	}
}

// quote returns the text as a YAML scalar.
func quote(s string) string {
	out, err := yaml.Marshal(s)
	if err != nil || bytes.Count(out, []byte("\n")) != 1 {
		return fmt.Sprintf("%q", s) // a text that Load rejects
	}
	return strings.TrimSuffix(string(out), "\n")
}
