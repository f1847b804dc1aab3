package phone

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/clock"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
)

// filters are the compiler's, the least first.
var filters = []string{"verify", "quicken", "space-profile", "space", "speed-profile", "speed", "everything"}

// compiledAhead reports whether a filter compiles all methods.
func compiledAhead(filter string) bool { return filter == "speed" || filter == "everything" }

// How much longer code takes that is interpreted, and compiled while it runs: in a
// process that begins, of which all is interpreted at first, and in an older one.
const (
	interpretedCold = 1.45
	interpretedWarm = 1.12
)

// codeFactor is what an app's work costs for want of code that was compiled ahead of
// time. Before Android 7 all of it was, at installation.
func (p *Phone) codeFactor(app *simapp.App, cold bool) float64 {
	a := p.state.apps[app.Package]
	switch {
	case p.profile.API < 24, a == nil, compiledAhead(a.filter), a.hot:
		return 1
	case cold:
		return interpretedCold
	}
	return interpretedWarm
}

// isHot reports whether heat slows the phone down.
func (p *Phone) isHot() bool { return p.clock.Now() < clock.Boot+p.options.HotFor }

// heatFactor is what all work costs on a CPU whose speed is held down for heat.
func (p *Phone) heatFactor() float64 {
	if p.isHot() {
		return 1.6
	}
	return 1
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
	a := c.state.apps[pkg]
	switch {
	case a == nil:
		c.Printf("Failure: package %s could not be found\n", pkg)
		then(1)
		return
	case !slices.Contains(filters, filter):
		c.Errorf("Error: \"%s\" is not a valid compilation filter.\n", filter)
		then(1)
		return
	case reset, a.app.Power.Debuggable: // of a debug build nothing is compiled, nor is that said
		filter = "verify"
	}
	c.clock.Spend(compileTime[filter], func() {
		c.compiled(a, filter)
		c.Printf("Success\n")
		then(0)
	})
}

// compileTime is how long the compiler takes for an app.
var compileTime = map[string]time.Duration{"speed-profile": 2 * time.Second, "speed": 9 * time.Second, "everything": 12 * time.Second}

// compiled notes what came of a compilation. By a profile that names nothing, nothing
// is compiled: the status says so since Android 14 (Dexopter.java).
func (p *Phone) compiled(a *installed, filter string) {
	byProfile := strings.HasSuffix(filter, "-profile")
	if byProfile && !a.profiled && p.profile.API >= 34 {
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

// installProfile is what the app's ProfileInstallReceiver makes of the broadcast that
// asks for its baseline profile, by result code. It starts the app.
func (p *Phone) installProfile(component string) int {
	pkg, receiver, _ := strings.Cut(component, "/")
	a := p.state.apps[pkg]
	switch {
	case a == nil, a.app.NoProfile, receiver != "androidx.profileinstaller.ProfileInstallReceiver":
		return noReceiver
	case p.state.running[pkg] == nil:
		front := p.state.foreground
		p.launch(a.app, "broadcast")
		p.state.foreground = front
	}
	if a.app.Power.Debuggable { // the build puts a profile into release builds alone
		return profileNotFound
	}
	a.profiled = true
	return profileDone
}
