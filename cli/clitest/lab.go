package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
)

// The lab of these tests: simulated phones of which the first, the only one with Android 11, fails
// by its app or by itself. A fault in the app's file strikes only there: "when sdk=11".
var (
	FaultyPhone = "pixel-5-android-11"
	soundPhones = []string{"pixel-7-android-14", "nexus-5x-android-6.0.0"}
)

// Lab is a folder with a configuration, two APKs and a history.
type Lab struct {
	T   *testing.T
	Dir string
}

const LabConfig = `app: {package: com.example.demo, apk: %s.apk, test-apk: demo-test.apk}
scenarios:
  - name: read-mail
    workload:
      instrumentation: {test-package: com.example.demo.test, class: "com.example.demo.ReadMailTest#readsMail"}
    repetitions: 2
    warm-up: 0
    retries: 1
    timeout: 30s
networks: [%s]
devices:
%s`

// Text is text that prints itself.
type Text string

// OnePhoneOfEachVersion makes the lab one phone of each version of Android, and returns the
// versions by the phone's name.
func (l Lab) OnePhoneOfEachVersion() map[string]string {
	l.T.Helper()
	versions, seen := map[string]string{}, map[string]bool{}
	var phones strings.Builder
	for _, p := range simulator.Profiles() {
		if !seen[p.SDK] {
			seen[p.SDK] = true
			versions[p.Name] = p.SDK
			fmt.Fprintf(&phones, "  - simulated: %s\n", p.Name)
		}
	}
	l.ConfigurePhones("demo-good", &phones, "wifi")
	return versions
}

// NewLab writes a lab whose history has nine accepted runs. The app is one of the shipped ones with
// additional lines in its file.
func NewLab(t *testing.T, app, fault string) Lab {
	t.Helper()
	l := Lab{t, t.TempDir()}
	for name, lines := range map[string]string{app: fault, "demo-test": ""} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		WriteFile(t, l.Path(name+".apk"), string(text)+"\n"+lines+"\n")
	}
	l.Configure(app, "wifi")
	l.Accept(Sound(9))
	return l
}

// Path returns the path of a file in the lab's folder.
func (l Lab) Path(name string) string { return filepath.Join(l.Dir, name) }

// Configure writes the configuration: two repetitions on each network, of which one may be
// repeated.
func (l Lab) Configure(app string, networks ...string) {
	l.T.Helper()
	var phones strings.Builder
	for _, name := range append([]string{FaultyPhone}, soundPhones...) {
		fmt.Fprintf(&phones, "  - simulated: %s\n", name)
	}
	l.ConfigurePhones(app, &phones, networks...)
}

// ConfigurePhones writes the configuration for other phones.
func (l Lab) ConfigurePhones(app string, phones fmt.Stringer, networks ...string) {
	l.T.Helper()
	WriteFile(l.T, l.Path("apkgate.yml"), fmt.Sprintf(LabConfig, app, strings.Join(networks, ", "), phones))
}

// Edit changes the configuration's text.
func (l Lab) Edit(from, to string) {
	l.T.Helper()
	text, err := os.ReadFile(l.Path("apkgate.yml"))
	if err != nil || !strings.Contains(string(text), from) {
		l.T.Fatalf("change %q in %s: %v", from, text, err)
	}
	WriteFile(l.T, l.Path("apkgate.yml"), strings.Replace(string(text), from, to, 1))
}

// Accept adds accepted runs to the history.
func (l Lab) Accept(records string) {
	l.T.Helper()
	if got := l.Apkgate("baseline", "import", WriteFile(l.T, l.Path("accepted.jsonl"), records)); got.Status != exit.StatusPass {
		l.T.Fatalf("import a history: %+v", got)
	}
}

// Apkgate runs a command line on the lab's history.
func (l Lab) Apkgate(args ...string) Result {
	l.T.Helper()
	args = append(args, "--store", l.Path("history.db"))
	if args[0] == "run" {
		args = append(args, "--config", l.Path("apkgate.yml"))
	}
	return Run(l.T, nil, args...)
}

// Export returns the history as JSON Lines, by id.
func (l Lab) Export() map[string]string {
	l.T.Helper()
	got := l.Apkgate("baseline", "export")
	if got.Status != exit.StatusPass {
		l.T.Fatalf("export the history: %+v", got)
	}
	records := map[string]string{}
	for line := range strings.Lines(got.Stdout) {
		r, err := run.Decode([]byte(line))
		if err != nil {
			l.T.Fatal(err)
		}
		records[r.ID] = line
	}
	return records
}

// Kept asserts that the history is undamaged and has everything that it had before, and returns the
// status of each new run, by profile and network.
func (l Lab) Kept(before map[string]string) map[string]run.Status {
	l.T.Helper()
	if got := l.Apkgate("baseline", "verify"); got.Status != exit.StatusPass {
		l.T.Errorf("verify the history: %+v", got)
	}
	after := l.Export()
	for id, record := range before {
		if after[id] != record {
			l.T.Errorf("run %s was %s and is %s", id, record, after[id])
		}
	}
	added := map[string]run.Status{}
	for id, record := range after {
		if _, old := before[id]; old {
			continue
		}
		r, err := run.Decode([]byte(record))
		if err != nil {
			l.T.Fatal(err)
		}
		added[r.Context["sdk"]+" "+r.Context["network"]] = r.Status
	}
	return added
}

// String returns the text.
func (s Text) String() string { return string(s) }
