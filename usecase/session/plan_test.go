package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apkgate/apkgate/config"
)

func file(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A plan differs if something else would be measured, and not if the same files are elsewhere or
// are judged differently.
func TestPlanOf(t *testing.T) {
	dir := t.TempDir()
	script := file(t, dir+"/a/run.sh", "input tap 1 1\n")
	of := func(change func(c *config.Config)) string {
		t.Helper()
		c := config.Default()
		c.App.Package = "com.example.mail"
		energy := config.DefaultEnergy()
		c.Energy = &energy
		c.Scenarios = []config.Scenario{{Name: "tap", Repetitions: 5, Workload: config.Workload{Shell: &config.Shell{Script: script}}}}
		c.Devices = []config.Device{{Name: "shelf", Serial: "R5CT"}}
		change(&c)
		plan, err := planOf(&c, "")
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	same := of(func(*config.Config) {})
	for name, c := range map[string]struct {
		change func(c *config.Config)
		other  bool
	}{
		"the gate":          {func(c *config.Config) { c.Gate.MinHistory = 9 }, false},
		"the store":         {func(c *config.Config) { c.Store.SQLite = "h.db" }, false},
		"rounds":            {func(c *config.Config) { c.Rounds.Max, c.Base = 7, "base.apk" }, false},
		"where the APK is":  {func(c *config.Config) { c.App.APK = "elsewhere.apk" }, false},
		"where profiles go": {func(c *config.Config) { c.Energy.Profiles = "elsewhere" }, false},
		"a moved script": {func(c *config.Config) {
			c.Scenarios[0].Workload.Shell = &config.Shell{Script: file(t, dir+"/b/moved.sh", "input tap 1 1\n")}
		}, false},
		"another script": {func(c *config.Config) {
			c.Scenarios[0].Workload.Shell = &config.Shell{Script: file(t, dir+"/c/run.sh", "input tap 2 2\n")}
		}, true},
		"repetitions":  {func(c *config.Config) { c.Scenarios[0].Repetitions = 6 }, true},
		"the package":  {func(c *config.Config) { c.App.Package = "com.example.maps" }, true},
		"the version":  {func(c *config.Config) { c.App.Version = "2" }, true},
		"a network":    {func(c *config.Config) { c.Networks = []string{"3g"} }, true},
		"a device":     {func(c *config.Config) { c.Devices[0].Serial = "R6CT" }, true},
		"no energy":    {func(c *config.Config) { c.Energy = nil }, true},
		"the rate":     {func(c *config.Config) { c.Energy.SampleHz = 9 }, true},
		"what is kept": {func(c *config.Config) { c.Evidence.Keep = "all" }, true},
		"a property":   {func(c *config.Config) { c.Context.Extra = map[string]string{"rack": "4"} }, true},
	} {
		if got := of(c.change); (got != same) != c.other {
			t.Errorf("%s: another plan %t, want %t", name, got != same, c.other)
		}
	}
	c := config.Default()
	c.Scenarios = []config.Scenario{{Workload: config.Workload{Shell: &config.Shell{Script: dir + "/none"}}}}
	if _, err := planOf(&c); err == nil {
		t.Error("a script that is not there has a digest")
	}
}

// A build is what is installed, whatever its files are called.
func TestBuildOf(t *testing.T) {
	dir := t.TempDir()
	of := func(app config.App) string {
		t.Helper()
		build, err := buildOf(app)
		if err != nil {
			t.Fatal(err)
		}
		return build
	}
	one, moved, two := file(t, dir+"/1/app.apk", "one"), file(t, dir+"/2/other.apk", "one"), file(t, dir+"/3/app.apk", "two")
	same := of(config.App{APK: one})
	if len(same) != 64 || of(config.App{APK: moved}) != same {
		t.Errorf("a moved file is another build than %q", same)
	}
	for name, app := range map[string]config.App{
		"another file": {APK: two}, "a split more": {APK: one, Splits: []string{two}}, "with a test": {APK: one, TestAPK: two},
		"the test alone": {TestAPK: one}, "a folder": {APK: filepath.Dir(one)},
	} {
		if got := of(app); got == same || len(got) != 64 {
			t.Errorf("%s: %q", name, got)
		}
	}
	folder := of(config.App{APK: dir + "/1"})
	file(t, dir+"/1/split.apk", "two")
	if of(config.App{APK: dir + "/1"}) == folder {
		t.Error("a folder with a file more is the same build")
	}
	for name, app := range map[string]config.App{"nothing": {}, "a file that is not there": {APK: dir + "/none"}, "nor its test": {APK: one, TestAPK: dir + "/none"}} {
		if got := of(app); got != "" {
			t.Errorf("%s: %q, want nothing told", name, got)
		}
	}
}
