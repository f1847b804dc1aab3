package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/run"
)

// The lab of these tests: simulated phones of which the first, the only one with
// Android 11, is let down by its app or by itself. A fault in the app's file
// strikes there alone: "when sdk=11".
var (
	faultyPhone = "pixel-5-android-11"
	soundPhones = []string{"pixel-7-android-14", "nexus-5x-android-6.0.0"}
)

// faultLab is a folder with a configuration, two APKs and a history.
type faultLab struct {
	t   *testing.T
	dir string
}

// newFaultLab writes a lab whose history holds nine accepted runs. The app is
// one of the shipped ones with more lines in its file.
func newFaultLab(t *testing.T, app, fault string) faultLab {
	t.Helper()
	l := faultLab{t, t.TempDir()}
	for name, lines := range map[string]string{app: fault, "demo-test": ""} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, l.path(name+".apk"), string(text)+"\n"+lines+"\n")
	}
	l.configure(app, "")
	history := put(t, l.path("accepted.jsonl"), sound(9))
	if got := l.apkgate("baseline", "import", "--accept", history); got.status != exitPass {
		t.Fatalf("import a history: %+v", got)
	}
	return l
}

func (l faultLab) path(name string) string { return filepath.Join(l.dir, name) }

// configure writes the configuration: two repetitions, of which one may be made
// again. more is further lines of it.
func (l faultLab) configure(app, more string) {
	l.t.Helper()
	text := fmt.Sprintf(`app: {package: com.example.demo, apk: %s.apk, test-apk: demo-test.apk}
scenarios:
  - name: read-mail
    workload: {instrumentation: {test-package: com.example.demo.test, class: "com.example.demo.ReadMailTest#readsMail"}}
    repetitions: 2
    warm-up: 0
    retries: 1
    timeout: 30s
devices:
`, app)
	for _, name := range append([]string{faultyPhone}, soundPhones...) {
		text += "  - simulated: " + name + "\n"
	}
	put(l.t, l.path("apkgate.yml"), text+more)
}

func (l faultLab) apkgate(args ...string) ran {
	l.t.Helper()
	where := []string{"--store", l.path("history.db")}
	if args[0] == "run" {
		where = append(where, "--config", l.path("apkgate.yml"))
	}
	return cli(l.t, nil, append(args, where...)...)
}

// stored are the runs in the history, by model.
func (l faultLab) stored() map[string][]run.Run {
	l.t.Helper()
	file := l.path("all.jsonl")
	if got := l.apkgate("baseline", "export", "--state", "all", "-o", file); got.status != exitPass {
		l.t.Fatalf("export the history: %+v", got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	runs := map[string][]run.Run{}
	for line := range strings.Lines(string(text)) {
		var r run.Run
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			l.t.Fatal(err)
		}
		runs[r.Context["model"]] = append(runs[r.Context["model"]], r)
	}
	return runs
}
