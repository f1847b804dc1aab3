package clitest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// buildsConfig measures on simulated phones; every number is of one scenario.
const buildsConfig = `app:
  package: com.example.demo
  test-apk: %[1]s/demo-test.apk
scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo.test
        class: com.example.demo.ReadMailTest#readsMail
    timeout: 1m
store:
  sqlite: %[1]s/history.db
report:
  html: %[1]s/report-of-run.html
networks: [wifi]
devices:
%[2]s`

// SimulatedBuilds writes the demo's builds and a configuration into a folder.
func SimulatedBuilds(t *testing.T, profiles ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"demo-good", "demo-worse", "demo-test"} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		WriteFile(t, filepath.Join(dir, name+".apk"), string(text))
	}
	devices := ""
	for _, p := range profiles {
		devices += "  - simulated: " + p + "\n"
	}
	WriteFile(t, filepath.Join(dir, "apkgate.yml"), fmt.Sprintf(buildsConfig, dir, devices))
	return dir
}
