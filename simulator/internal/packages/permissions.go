package packages

import (
	"slices"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// runtimePermissions is the API level that introduced runtime permissions, which have to be
// granted.
const runtimePermissions = 23

// pmGrant is pm grant|revoke PKG PERMISSION.
func pmGrant(c *call, on bool) int {
	pkg, name := c.Arg(0), c.Arg(1)
	a := c.Apps[pkg]
	switch {
	case c.API < runtimePermissions:
		c.Errorf("Operation not allowed: java.lang.SecurityException: Can't change %s. It is required by the application\n", name)
		return 1
	case a == nil:
		c.Errorf("\nException occurred while executing 'grant':\njava.lang.IllegalArgumentException: Unknown package: %s\n", pkg)
		return 255
	case !slices.Contains(a.App.Permissions, name):
		c.Errorf("\nException occurred while executing 'grant':\njava.lang.SecurityException: Package %s has not requested permission %s\n", pkg, name)
		return 255
	}
	a.granted[name] = on
	if !on {
		c.Kill(pkg) // the system kills a process that loses a permission
	}
	return 0
}

// ResetPermissions revokes all granted permissions (PackageManagerService:
// resetRuntimePermissions).
func (a *Installed) ResetPermissions() { clear(a.granted) }

// Lacks returns the first permission that the app was not granted, "" for none.
func (m *Manager) Lacks(app *simapp.App) string {
	a := m.Apps[app.Package]
	if a == nil || m.API < runtimePermissions {
		return ""
	}
	for _, name := range app.Permissions {
		if !a.granted[name] {
			return name
		}
	}
	return ""
}
