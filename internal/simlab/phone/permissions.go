package phone

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/simlab/simapp"
)

// runtimePermissions came with Android 6: an app has those that were granted to it.
const runtimePermissions = 23

// pmGrant is pm grant|revoke PKG PERMISSION.
func pmGrant(c *call, on bool) int {
	pkg, name := c.Arg(0), c.Arg(1)
	a := c.state.apps[pkg]
	switch {
	case c.profile.API < runtimePermissions:
		c.Errorf("Operation not allowed: java.lang.SecurityException: Can't change %s. It is required by the application\n", name)
		return 1
	case a == nil:
		c.Errorf("\nException occurred while executing 'grant':\njava.lang.IllegalArgumentException: Unknown package: %s\n", pkg)
		return 255
	case !slices.Contains(a.app.Permissions, name):
		c.Errorf("\nException occurred while executing 'grant':\njava.lang.SecurityException: Package %s has not requested permission %s\n", pkg, name)
		return 255
	}
	a.granted[name] = on
	if !on {
		c.kill(pkg) // the system ends a process that loses a permission
	}
	return 0
}

// lacks is the first permission of the app that is not granted, "" for none.
func (p *Phone) lacks(app *simapp.App) string {
	a := p.state.apps[app.Package]
	if a == nil || p.profile.API < runtimePermissions {
		return ""
	}
	for _, name := range app.Permissions {
		if !a.granted[name] {
			return name
		}
	}
	return ""
}

// dumpPermissions is what dumpsys package says of an app's permissions.
func (c *call) dumpPermissions(a *installed) {
	if len(a.app.Permissions) == 0 {
		return
	}
	c.Printf("    requested permissions:\n      android.permission.INTERNET\n      %s\n", strings.Join(a.app.Permissions, "\n      "))
	c.Printf("    install permissions:\n      android.permission.INTERNET: granted=true\n")
	c.Printf("    User 0: ceDataInode=131619 installed=true hidden=false suspended=false stopped=false notLaunched=false enabled=0 instant=false\n      gids=[3003]\n")
	if c.profile.API < runtimePermissions {
		return
	}
	c.Printf("      runtime permissions:\n")
	for _, name := range a.app.Permissions {
		c.Printf("        %s: granted=%t, flags=[ USER_SENSITIVE_WHEN_GRANTED|USER_SENSITIVE_WHEN_DENIED]\n", name, a.granted[name])
	}
}
