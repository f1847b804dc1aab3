package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// sarifResults counts the results of a SARIF file and checks that each has what code scanning
// requires: a rule, a message, and at least one location.
func sarifResults(t *testing.T, text string) int {
	t.Helper()
	var log struct {
		Version string
		Runs    []struct {
			Results []struct {
				RuleID    string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("no SARIF 2.1.0 with one run (%v):\n%.500s", err, text)
	}
	for _, r := range log.Runs[0].Results {
		if r.RuleID == "" || r.Message.Text == "" || len(r.Locations) == 0 ||
			r.Locations[0].PhysicalLocation.ArtifactLocation.URI == "" || r.Locations[0].PhysicalLocation.Region.StartLine < 1 {
			t.Errorf("a result lacks its rule, message or location: %+v", r)
		}
	}
	return len(log.Runs[0].Results)
}

// Fifteen nights at 8 ms a frame, and one at 16 ms.
func TestJudgingCommandsWriteSARIF(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	store := at("history.db")
	fast := clitest.NightlyRuns(t, dir, 0, 8)
	for n := range 15 {
		if got := clitest.RunAtNight(t, n, "baseline", "refresh", "--store", store, "--run", clitest.NightlyRuns(t, dir, n, 8)); got.Status != exit.StatusPass {
			t.Fatalf("night %d: status %d\n%s%s", n, got.Status, got.Stdout, got.Stderr)
		}
	}
	slow := clitest.NightlyRuns(t, dir, 20, 16)
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"check", "--store", store, "--run", slow, "--json", at("verdict.json")}, exit.StatusRegression},
		{[]string{"report", at("verdict.json")}, exit.StatusPass},
		{[]string{"compare", "--base-run", store + ".jsonl", "--head-run", at("slow.jsonl")}, exit.StatusRegression},
		{[]string{"baseline", "refresh", "--store", store, "--run", slow}, exit.StatusRegression},
	} {
		name := c.args[0]
		if name == "compare" {
			base, head := "", ""
			for n := range 15 {
				base += readAll(t, clitest.NightlyRuns(t, dir, n, 8))
				head += readAll(t, clitest.NightlyRuns(t, dir, 30+n, 16))
			}
			clitest.WriteFile(t, store+".jsonl", base)
			clitest.WriteFile(t, at("slow.jsonl"), head)
		}
		got := clitest.RunAtNight(t, 40, append(c.args, "--sarif", at(name+".sarif"), "--format", "sarif")...)
		if got.Status != c.status {
			t.Fatalf("%s: status %d, want %d\n%s%s", name, got.Status, c.status, got.Stdout, got.Stderr)
		}
		if n := sarifResults(t, got.Stdout); n == 0 {
			t.Errorf("%s: a regression has no result:\n%s", name, got.Stdout)
		}
		if readAll(t, at(name+".sarif")) != got.Stdout {
			t.Errorf("%s: --sarif and --format sarif differ", name)
		}
	}
	if got := clitest.RunAtNight(t, 41, "check", "--store", store, "--run", fast, "--sarif", fast); got.Status != exit.StatusUsage {
		t.Errorf("it writes its findings over the runs: status %d", got.Status)
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
