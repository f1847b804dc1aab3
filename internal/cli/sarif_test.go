package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// sarifResults are the results of a SARIF file. Each has what code scanning asks
// of it: a rule, a message, and at least one location.
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
func TestEachCommandThatJudgesWritesSARIF(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	store := at("history.db")
	fast := nightlyRuns(t, dir, 0, 8)
	for n := range 15 {
		if got := night(t, n, "baseline", "refresh", "--store", store, "--run", nightlyRuns(t, dir, n, 8)); got.status != exitPass {
			t.Fatalf("night %d: status %d\n%s%s", n, got.status, got.stdout, got.stderr)
		}
	}
	slow := nightlyRuns(t, dir, 20, 16)
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"check", "--store", store, "--run", slow, "--json", at("verdict.json")}, exitRegression},
		{[]string{"report", at("verdict.json")}, exitPass},
		{[]string{"compare", "--base-run", store + ".jsonl", "--head-run", at("slow.jsonl")}, exitRegression},
		{[]string{"baseline", "refresh", "--store", store, "--run", slow}, exitRegression},
	} {
		name := c.args[0]
		if name == "compare" {
			base, head := "", ""
			for n := range 15 {
				base += readAll(t, nightlyRuns(t, dir, n, 8))
				head += readAll(t, nightlyRuns(t, dir, 30+n, 16))
			}
			write(t, store+".jsonl", base)
			write(t, at("slow.jsonl"), head)
		}
		got := night(t, 40, append(c.args, "--sarif", at(name+".sarif"), "--format", "sarif")...)
		if got.status != c.status {
			t.Fatalf("%s: status %d, want %d\n%s%s", name, got.status, c.status, got.stdout, got.stderr)
		}
		if n := sarifResults(t, got.stdout); n == 0 {
			t.Errorf("%s: a regression has no result:\n%s", name, got.stdout)
		}
		if readAll(t, at(name+".sarif")) != got.stdout {
			t.Errorf("%s: --sarif and --format sarif differ", name)
		}
	}
	if got := night(t, 41, "check", "--store", store, "--run", fast, "--sarif", fast); got.status != exitUsage {
		t.Errorf("it writes its findings over the runs: status %d", got.status)
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
