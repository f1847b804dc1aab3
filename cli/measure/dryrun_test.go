package measure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// What would be measured is shown without adb; the flags choose of it.
func TestDryRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "apkgate.yml")
	const text = `app: {package: a.b}
networks: [wifi, lte]
scenarios:
  - {name: open, workload: {startup: {}}}
  - {name: scroll, workload: {monkey: {events: 500}}, repetitions: 9}
devices: [{serial: X1, name: shelf}, {serial: X2, name: desk}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := func(more ...string) (rows []string) {
		for _, command := range []string{"run", "collect"} {
			got := clitest.Run(t, nil, append([]string{command, "--dry-run", "--config", path}, more...)...)
			if got.Status != exit.StatusPass {
				t.Fatalf("%s: %s", command, got.Stderr)
			}
			rows = nil
			for line := range strings.Lines(got.Stdout) {
				rows = append(rows, strings.Join(strings.Fields(line), " "))
			}
		}
		return rows[2 : len(rows)-1] // between the header and the sum
	}
	all := lines()
	if len(all) != 8 || !strings.HasPrefix(all[0], "open shelf wifi 1 5 ") || !strings.HasPrefix(all[7], "scroll desk lte 1 9 ") {
		t.Errorf("%q", all)
	}
	some := lines("--device", "desk", "--scenario", "scroll", "--repetitions", "2")
	if len(some) != 2 || !strings.HasPrefix(some[0], "scroll desk wifi 1 2 ") || !strings.HasPrefix(some[1], "scroll desk lte 1 2 ") {
		t.Errorf("%q", some)
	}
	clitest.Refuses(t, clitest.Run(t, nil, "run", "--config", path, "--device", "attic"), "--device attic: the configuration has shelf and desk")
	clitest.Refuses(t, clitest.Run(t, nil, "run", "--config", path, "--repetitions", "1001"), "--repetitions is 1001, want 1 to 1000")
	clitest.Refuses(t, clitest.Run(t, nil, "run", "--config", path, "--repetitions", "-1"), "--repetitions is -1, want 1 to 1000")
}
