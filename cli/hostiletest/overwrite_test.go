package hostiletesthostile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// A typo on the command line costs no file: inputs and the history are never overwritten, nor are
// two reports written to one file.
func TestKeepsInputFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	runs, history := clitest.WriteFile(t, at("run.json"), clitest.Record("R", "", `{"memory.pss_kb":600}`)), clitest.WriteFile(t, at("history.jsonl"), clitest.Sound(6))
	if got := clitest.Run(t, nil, "check", "--run", runs, "--history", history, "--json", at("verdict.json")); got.Status != 0 {
		t.Fatal(got)
	}
	if got := clitest.Run(t, nil, "baseline", "import", history, "--store", at("history.db")); got.Status != 0 {
		t.Fatal(got)
	}
	if err := os.Symlink(runs, at("link")); err != nil {
		t.Fatal(err)
	}
	const lost, twice = "it is also an input, and would be lost", "two outputs name it"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the run that is checked":  {[]string{"check", "--run", runs, "--history", history, "--json", runs}, lost},
		"by another name":          {[]string{"check", "--run", at("link"), "--history", history, "--json", runs}, lost},
		"a file of the history":    {[]string{"check", "--run", runs, "--history", history, "--html", history}, lost},
		"the store":                {[]string{"check", "--run", runs, "--store", at("history.db"), "--html", at("history.db")}, lost},
		"two reports in one":       {[]string{"check", "--run", runs, "--history", history, "--html", at("new"), "--json", dir + "/./new"}, twice},
		"the verdict that's shown": {[]string{"report", at("verdict.json"), "--markdown", at("verdict.json")}, lost},
		"a build's runs":           {[]string{"compare", "--base-run", history, "--head-run", runs, "--json", runs}, lost},
		"what is accepted":         {[]string{"baseline", "refresh", "--run", runs, "--store", at("history.db"), "--json", runs}, lost},
		"the store itself":         {[]string{"baseline", "export", "--store", at("history.db"), "-o", at("history.db")}, lost},
		"a recording":              {[]string{"energy", runs, "--power", history, "--csv", runs}, lost},
		"a trace of power":         {[]string{"energy", runs, "--power", history, "--pprof", history}, lost},
	} {
		t.Run(name, func(t *testing.T) {
			before := contents(t, dir)
			clitest.Refuses(t, clitest.Run(t, nil, c.args...), c.want)
			if after := contents(t, dir); after != before {
				t.Error("a file is not what it was")
			}
		})
	}
}

// Reports do not overwrite the base build either.
func TestKeepsBuilds(t *testing.T) {
	dir := clitest.SimulatedBuilds(t, "pixel-7-android-14")
	at := func(name string) string { return filepath.Join(dir, name) }
	named := clitest.WriteFile(t, at("named.yml"), "base: demo-good.apk\n"+contentsOf(t, at("apkgate.yml")))
	for name, args := range map[string][]string{
		"a flag's":            {"--config", at("apkgate.yml"), "--base", at("demo-good.apk"), "--html", at("demo-good.apk")},
		"the configuration's": {"--config", named, "--apk", at("demo-worse.apk"), "--html", at("demo-good.apk")},
		"beside the rounds":   {"--config", at("apkgate.yml"), "--apk", at("demo-worse.apk"), "--keep", dir, "--json", at("base.jsonl")},
	} {
		before := contents(t, dir)
		got := clitest.Run(t, nil, append([]string{"run"}, args...)...)
		if got.Status != exit.StatusUsage || !strings.HasPrefix(got.Stderr, "error: write "+dir) || contents(t, dir) != before {
			t.Errorf("%s: exit status %d, want %d and nothing written\n%s", name, got.Status, exit.StatusUsage, got.Stderr)
		}
	}
}

// contents are all files of a folder with their contents.
func contents(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Name() + "\n" + string(data))
	}
	return b.String()
}

// Output folders are checked before hours are spent on measuring.
func TestFoldersAreCheckedBeforeMeasuring(t *testing.T) {
	dir := clitest.SimulatedBuilds(t, "pixel-7-android-14")
	at := func(name string) string { return filepath.Join(dir, name) }
	config := clitest.WriteFile(t, at("methods.yml"), strings.Replace(contentsOf(t, at("apkgate.yml")), "store:", "energy: {methods: true, profiles: file/profiles}\nstore:", 1))
	clitest.WriteFile(t, at("file"), "no folder")
	good, worse := at("demo-good.apk"), at("demo-worse.apk")
	for name, args := range map[string][]string{
		"runs of collect":  {"collect", "--config", at("apkgate.yml"), "-o", at("file/runs.jsonl")},
		"runs of compare":  {"compare", "--config", at("apkgate.yml"), "--base", good, "--head", worse, "--keep", at("file/runs")},
		"profiles":         {"collect", "--config", config},
		"profiles of both": {"compare", "--config", config, "--base", good, "--head", worse},
	} {
		got := clitest.Run(t, nil, args...)
		if got.Status != exit.StatusInfrastructure || got.Stdout != "" || !strings.HasPrefix(got.Stderr, "error: write to the folder "+at("file")) {
			t.Errorf("%s: exit status %d, want %d and the folder at once\n%s%s", name, got.Status, exit.StatusInfrastructure, got.Stdout, got.Stderr)
		}
	}
}

func contentsOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
