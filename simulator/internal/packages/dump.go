package packages

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// Dump is dumpsys package PKG.
func (m *Manager) Dump(c *shell.Call) int { return dumpPackage(&call{m, c}) }

func dumpPackage(c *call) int {
	a := c.Apps[c.Arg(0)]
	if a == nil {
		c.Printf("Unable to find package: %s\n", c.Arg(0))
		return 0
	}
	label := "userId"
	if c.API >= 33 {
		label = "appId"
	}
	c.Printf("Packages:\n  Package [%s] (41fc59c8):\n    %s=%d\n    codePath=%s\n    versionCode=%d", a.App.Package, label, a.uid, a.Path, a.App.VersionCode)
	if c.API >= 24 {
		c.Printf(" minSdk=16 targetSdk=23")
	}
	if c.API >= 21 {
		c.Printf("\n    primaryCpuAbi=%s\n    secondaryCpuAbi=null", cmp.Or(a.abi, "null"))
	}
	at := clock.Wall(a.updated).Format("2006-01-02 15:04:05")
	debuggable := ""
	if a.App.Power.Debuggable {
		debuggable = "DEBUGGABLE "
	}
	c.Printf("\n    versionName=%s\n    flags=[ %sHAS_CODE ALLOW_CLEAR_USER_DATA ]\n    firstInstallTime=%s\n    lastUpdateTime=%s\n", a.App.Version, debuggable, at, at)
	c.dumpPermissions(a)
	c.dumpCompiled(a)
	return 0
}

// dumpCompiled prints how a package's code is compiled.
func (c *call) dumpCompiled(a *Installed) {
	abi := strings.TrimSuffix(c.ABI, "-v8a")
	state := fmt.Sprintf("%s: [status=%s] [reason=cmdline]", abi, a.filter)
	switch {
	case c.API < 24:
		return
	case c.API < 28:
		state = fmt.Sprintf("%s: %s/oat/%s/base.odex[status=kOatUpToDate, compilation_filter=%s]", abi, a.folder(), abi, a.filter)
	case c.API >= 34:
		state += " [primary-abi]"
	}
	c.Printf("\nDexopt state:\n  [%s]\n    path: %s\n      %s\n", a.App.Package, a.Path, state)
}

// dumpPermissions prints an app's permissions in dumpsys package.
func (c *call) dumpPermissions(a *Installed) {
	if len(a.App.Permissions) == 0 {
		return
	}
	c.Printf("    requested permissions:\n      android.permission.INTERNET\n      %s\n", strings.Join(a.App.Permissions, "\n      "))
	c.Printf("    install permissions:\n      android.permission.INTERNET: granted=true\n")
	c.Printf("    User 0: ceDataInode=131619 installed=true hidden=false suspended=false stopped=false notLaunched=false enabled=0 instant=false\n      gids=[3003]\n")
	if c.API < runtimePermissions {
		return
	}
	c.Printf("      runtime permissions:\n")
	for _, name := range a.App.Permissions {
		c.Printf("        %s: granted=%t, flags=[ USER_SENSITIVE_WHEN_GRANTED|USER_SENSITIVE_WHEN_DENIED]\n", name, a.granted[name])
	}
}
