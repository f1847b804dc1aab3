package reproduction_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/reporttest"
	"github.com/apkgate/apkgate/usecase/reproduction"
)

func verdict(o gate.Outcome, scenario string) gate.Verdict {
	return gate.Verdict{Verdict: o, Runs: []gate.RunVerdict{{Scenario: "fine", Verdict: gate.Pass}, {Scenario: scenario, Verdict: o}}}
}

// The command names what a stranger wrote only where it is a plain name or a path in the repository;
// else it is the command without it.
func TestStrangersChooseNoCommand(t *testing.T) {
	const both = "apkgate compare --base base.apk --head app/build/app-release.apk"
	good := reproduction.Builds{Base: "base.apk", Head: "app/build/app-release.apk", Scenarios: 2}
	with := func(base, head string) reproduction.Builds {
		return reproduction.Builds{Base: base, Head: head, Scenarios: 2}
	}
	for _, c := range []struct {
		builds   reproduction.Builds
		verdict  gate.Verdict
		config   string
		want     string
		stranger string // want, if it is another one
	}{
		{good, verdict(gate.Regression, "read-mail"), "", both + " --scenario read-mail", ""},
		{good, verdict(gate.Regression, "read-mail"), "ci/gate.yml", both + " --scenario read-mail --config ci/gate.yml", ""},
		{good, verdict(gate.Invalid, "read-mail"), "", "apkgate run --scenario read-mail", ""},
		{good, verdict(gate.Pass, "read-mail"), "", "", ""},
		{reproduction.Builds{Base: "base.apk", Head: "a.apk", Scenarios: 1}, verdict(gate.Regression, "x"), "", "apkgate compare --base base.apk --head a.apk", ""},
		{reproduction.Builds{}, verdict(gate.Regression, "x"), "", "apkgate run", ""},
		{good, verdict(gate.Regression, "read mail"), "", both + " --scenario 'read mail'", both},
		{good, verdict(gate.Regression, "--accept"), "", both + " --scenario --accept", both},
		{with("../../other.apk", "a.apk"), verdict(gate.Regression, "x"), "", "apkgate compare --base ../../other.apk --head a.apk --scenario x", "apkgate run --scenario x"},
		{with("/etc/a.apk", "a.apk"), verdict(gate.Regression, "x"), "", "apkgate compare --base /etc/a.apk --head a.apk --scenario x", "apkgate run --scenario x"},
		{with("a/../../b.apk", "a.apk"), verdict(gate.Regression, "x"), "", "apkgate compare --base a/../../b.apk --head a.apk --scenario x", "apkgate run --scenario x"},
		{with("--help.apk", "a.apk"), verdict(gate.Regression, "x"), "", "apkgate compare --base --help.apk --head a.apk --scenario x", "apkgate run --scenario x"},
		{with("base.apk", "$(id).apk"), verdict(gate.Regression, "x"), "", "apkgate compare --base base.apk --head '$(id).apk' --scenario x", "apkgate run --scenario x"},
		{with("base.apk", "https://evil.example/a.apk"), verdict(gate.Regression, "x"), "", "apkgate compare --base base.apk --head https://evil.example/a.apk --scenario x", "apkgate run --scenario x"},
	} {
		if c.stranger == "" {
			c.stranger = c.want
		}
		ours, theirs := "", ""
		for _, f := range c.builds.Facts(c.verdict, c.config) {
			ours += f.Command
		}
		for _, f := range c.builds.Stranger(c.verdict, c.config) {
			theirs += f.Command
		}
		if ours != c.want || theirs != c.stranger {
			t.Errorf("%+v of %q: the command is\n%q, of a stranger\n%q, want\n%q and\n%q", c.builds, c.verdict.Runs[1].Scenario, ours, theirs, c.want, c.stranger)
		}
	}
	safe := regexp.MustCompile(`^apkgate run( --scenario [A-Za-z0-9][A-Za-z0-9._-]*)?$`)
	for _, s := range append(reporttest.Hostile, "a;id", "`id`", "a\nb", "x --reset") {
		for _, f := range with(s, s+".apk").Stranger(verdict(gate.Regression, s), "") {
			if !safe.MatchString(f.Command) {
				t.Errorf("%q: the command is %q", s, f.Command)
			}
		}
	}
}

// A command at the root of the repository names the configuration of a folder below it, and none for
// the one that it reads anyway.
func TestConfigOfTheCommand(t *testing.T) {
	root := t.TempDir()
	for path, want := range map[string]string{
		"": "", "apkgate.yml": "", "./apkgate.yml": "", "app/apkgate.yml": "app/apkgate.yml", "ci/gate.yml": "ci/gate.yml",
		filepath.Join(root, "apkgate.yml"): "", filepath.Join(root, "app", "apkgate.yml"): "app/apkgate.yml", filepath.Join(filepath.Dir(root), "gate.yml"): "gate.yml",
	} {
		if got := reproduction.Config(root, path); got != want {
			t.Errorf("of %s it is %q, want %q", path, got, want)
		}
	}
}
