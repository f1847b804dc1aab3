package packages

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// filters are the compiler's, the least first, and filters7 those of Android 7
// (compiler_filter.cc of ART; compiler_filter_test.cc lists them).
var (
	filters  = []string{"verify", "quicken", "space-profile", "space", "speed-profile", "speed", "everything-profile", "everything"}
	filters7 = []string{"verify-none", "verify-at-runtime", "verify-profile", "interpret-only", "time", "space-profile", "space", "balanced", "speed-profile", "speed", "everything-profile", "everything"}
)

// takes reports whether this Android's compiler knows a filter.
func (m *Manager) takes(filter string) bool {
	if m.API < 26 {
		return slices.Contains(filters7, filter)
	}
	return slices.Contains(filters, filter)
}

// least is the filter that compiles nothing but verifies all.
func (m *Manager) least() string {
	if m.API < 26 {
		return "interpret-only"
	}
	return "verify"
}

// CompiledAhead reports whether all methods of the app are compiled.
func (a *Installed) CompiledAhead() bool { return a.filter == "speed" || a.filter == "everything" }

// How much longer code takes that is interpreted, and compiled while it runs: in a
// process that begins, of which all is interpreted at first, and in an older one.
const (
	interpretedCold = 1.45
	interpretedWarm = 1.12
)

// CodeFactor is what an app's work costs for want of code that was compiled ahead of
// time. Before Android 7 all of it was, at installation.
func (m *Manager) CodeFactor(app *simapp.App, cold bool) float64 {
	a := m.Apps[app.Package]
	switch {
	case m.API < 24, a == nil, a.CompiledAhead(), a.hot:
		return 1
	case cold:
		return interpretedCold
	}
	return interpretedWarm
}

// pmCompile is cmd package compile [-m FILTER] [-f] [-r REASON] PKG, or --reset PKG.
func pmCompile(c *call, then func(code int)) {
	filter, pkg, reset := "speed-profile", "", false
	for i := 0; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case a == "-m":
			i++
			filter = c.Arg(i)
		case a == "-r" || a == "-c" || a == "--check-prof":
			i++
		case a == "--reset":
			reset = true
		case !strings.HasPrefix(a, "-"):
			pkg = a
		}
	}
	a := c.Apps[pkg]
	switch {
	case a == nil:
		c.Printf("Failure: package %s could not be found\n", pkg)
		then(1)
		return
	case !c.takes(filter):
		c.Errorf("Error: \"%s\" is not a valid compilation filter.\n", filter)
		then(1)
		return
	case reset, a.App.Power.Debuggable: // of a debug build nothing is compiled, nor is that said
		filter = c.least()
	}
	c.Clock.Spend(compileTime[filter], func() {
		c.compiled(a, filter)
		c.Printf("Success\n")
		then(0)
	})
}

// compileTime is how long the compiler takes for an app.
var compileTime = map[string]time.Duration{"speed-profile": 2 * time.Second, "speed": 9 * time.Second, "everything": 12 * time.Second}

// compiled notes what came of a compilation. By a profile that names nothing, nothing
// is compiled: the status says so since Android 14 (Dexopter.java).
func (m *Manager) compiled(a *Installed, filter string) {
	byProfile := strings.HasSuffix(filter, "-profile")
	if byProfile && !a.profiled && m.API >= 34 {
		filter = "verify"
	}
	a.filter, a.hot = filter, byProfile && a.profiled
}

// Results of androidx.profileinstaller.ProfileInstallReceiver.
const (
	noReceiver      = 0
	profileDone     = 1
	profileNotFound = 6
)

// InstallProfile is what the app's ProfileInstallReceiver makes of the broadcast that
// asks for its baseline profile, by result code. The broadcast wakes the app.
func (m *Manager) InstallProfile(component string, wake func(app *simapp.App)) int {
	pkg, receiver, _ := strings.Cut(component, "/")
	a := m.Apps[pkg]
	if a == nil || a.App.NoProfile || receiver != "androidx.profileinstaller.ProfileInstallReceiver" {
		return noReceiver
	}
	wake(a.App)
	if a.App.Power.Debuggable { // the build puts a profile into release builds alone
		return profileNotFound
	}
	a.profiled = true
	return profileDone
}
