package sourcelocation

import (
	"os"
	"path/filepath"
	"testing"
)

func TestScenarioLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apkgate.yml")
	if err := os.WriteFile(path, []byte("app:\n  package: com.example.demo\nscenarios:\n  - name: open\n    repetitions: 3\n  - name: read-mail\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := scenarioLines(path)["read-mail"]; got != 6 {
		t.Errorf("the scenario is on line %d, want 6", got)
	}
}
