package packages

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// filters are the compiler filters, weakest first; filters7 are those of Android 7
// (compiler_filter.cc of ART; compiler_filter_test.cc lists them).
var (
	filters  = []string{"verify", "quicken", "space-profile", "space", "speed-profile", "speed", "everything-profile", "everything"}
	filters7 = []string{"verify-none", "verify-at-runtime", "verify-profile", "interpret-only", "time", "space-profile", "space", "balanced", "speed-profile", "speed", "everything-profile", "everything"}
)

// takes reports whether this Android version's compiler supports a filter.
func (m *Manager) takes(filter string) bool {
	if m.API < 26 {
		return slices.Contains(filters7, filter)
	}
	return slices.Contains(filters, filter)
}

// least returns the filter that compiles nothing but verifies everything.
func (m *Manager) least() string {
	if m.API < 26 {
		return "interpret-only"
	}
	return "verify"
}

// CompiledAhead reports whether all methods of the app are compiled.
func (a *Installed) CompiledAhead() bool { return a.filter == "speed" || a.filter == "everything" }

// Slowdown of interpreted and JIT-compiled code: in a new process, which starts with
// interpreted code only, and in an older one.
const (
	interpretedCold = 1.45
	interpretedWarm = 1.12
)

// CodeFactor returns the factor on an app's work due to code that was not compiled ahead of
// time. Before Android 7 all code was compiled, at installation.
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
	case reset, a.App.Power.Debuggable: // a debug build is not compiled, silently
		filter = c.least()
	}
	c.Clock.Spend(compileTime[filter], func() {
		c.compiled(a, filter)
		c.Printf("Success\n")
		then(0)
	})
}

// compileTime is the duration of a compilation.
var compileTime = map[string]time.Duration{"speed-profile": 2 * time.Second, "speed": 9 * time.Second, "everything": 12 * time.Second}

// compiled records the result of a compilation. With an empty profile nothing is compiled,
// which the status reports since Android 14 (Dexopter.java).
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

// InstallProfile returns the result code of the app's ProfileInstallReceiver for the broadcast
// that installs the baseline profile. The broadcast wakes the app.
func (m *Manager) InstallProfile(component string, wake func(app *simapp.App)) int {
	pkg, receiver, _ := strings.Cut(component, "/")
	a := m.Apps[pkg]
	if a == nil || a.App.NoProfile || receiver != "androidx.profileinstaller.ProfileInstallReceiver" {
		return noReceiver
	}
	wake(a.App)
	if a.App.Power.Debuggable { // only release builds contain a profile
		return profileNotFound
	}
	a.profiled = true
	return profileDone
}
