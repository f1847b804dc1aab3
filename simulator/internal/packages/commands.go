package packages

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/simulator/adbd"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Command is pm.
func (m *Manager) Command(c *shell.Call, then func(code int)) { pm(&call{m, c}, then) }

// Service is cmd package: pm, and the verbs that only cmd has.
func (m *Manager) Service(c *shell.Call, then func(code int)) {
	if c.Arg(0) == "resolve-activity" {
		then(resolveActivity(&call{m, c}))
		return
	}
	m.Command(c, then)
}

func pm(c *call, then func(code int)) {
	if c.Arg(0) == "compile" {
		c.Args = c.Args[1:]
		pmCompile(c, then)
		return
	}
	then(pmAtOnce(c))
}

// pmAtOnce handles the verbs of pm that take no time.
func pmAtOnce(c *call) int {
	if len(c.Args) == 0 {
		c.Errorf("usage: pm path [--user USER_ID] PACKAGE\n")
		return 1
	}
	verb := c.Arg(0)
	c.Args = c.Args[1:]
	switch verb {
	case "list":
		return pmList(c)
	case "path":
		if c.Arg(0) == "android" { // Android's own package, which is not among the apps
			c.Printf("package:/system/framework/framework-res.apk\n")
			return 0
		}
		a := c.Apps[c.Arg(0)]
		if a == nil {
			return 1
		}
		for _, path := range a.paths() {
			c.Printf("package:%s\n", path)
		}
	case "install":
		return pmInstall(c)
	case "install-create", "install-write", "install-commit", "install-abandon":
		return pmSession(c, verb)
	case "uninstall":
		return pmUninstall(c)
	case "clear":
		pkg := c.Arg(len(c.Args) - 1)
		if c.Apps[pkg] == nil {
			c.Printf("Failed\n")
			return 1
		}
		c.Kill(pkg)
		c.Apps[pkg].ResetPermissions()
		c.Printf("Success\n")
	case "grant", "revoke":
		return pmGrant(c, verb == "grant")
	default:
		c.Errorf("Error: unknown command '%s'\n", verb)
		return 1
	}
	return 0
}

func pmList(c *call) int {
	switch c.Arg(0) {
	case "packages":
		filter, files, third := "", false, false
		for _, a := range c.Args[1:] {
			switch {
			case a == "-f":
				files = true
			case a == "-3":
				third = true
			case !strings.HasPrefix(a, "-"):
				filter = a
			}
		}
		show := func(path, pkg string) {
			if !strings.Contains(pkg, filter) {
				return
			}
			if files {
				pkg = path + "=" + pkg
			}
			c.Printf("package:%s\n", pkg)
		}
		if !third {
			show("/system/framework/framework-res.apk", "android")
			show("/system/priv-app/SystemUI/SystemUI.apk", "com.android.systemui")
		}
		for _, pkg := range slices.Sorted(maps.Keys(c.Apps)) {
			show(c.Apps[pkg].Path, pkg)
		}
	case "instrumentation":
		for _, pkg := range slices.Sorted(maps.Keys(c.Apps)) {
			app := c.Apps[pkg].App
			if target := app.Tests; target != "" {
				c.Printf("instrumentation:%s/%s (target=%s)\n", pkg, app.Runner, target)
			} else if len(app.TestCases) > 0 && !c.isTested(pkg) {
				c.Printf("instrumentation:%s/%s (target=%s)\n", pkg, app.Runner, pkg)
			}
		}
	default:
		c.Errorf("Error: unknown list type '%s'\n", c.Arg(0))
		return 1
	}
	return 0
}

// isTested reports whether a test APK of the app is installed: then the test's own lines are
// used, and the app is not an instrumentation.
func (m *Manager) isTested(pkg string) bool {
	for _, a := range m.Apps {
		if a.App.Tests == pkg {
			return true
		}
	}
	return false
}

// pmInstall is pm install [-r] [-t] [-g] [-d] … FILE, or from a stream with -S.
func pmInstall(c *call) int {
	file, stream, grant, queryable := "", false, false, false
	for i := 0; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case a == "-S":
			stream = true
			i++
		case a == "-g" && c.API < 23: // runtime permissions were introduced in Android 6
			c.Errorf("Error: Unknown option: -g\n")
			return 1
		case a == "-g":
			grant = true
		case a == "--force-queryable" && c.API >= 30:
			queryable = true
		case strings.HasPrefix(a, "--force-"):
			c.Errorf("Error: Unknown option: %s\n", a)
			return 1
		case a == "-i" || a == "--user" || a == "--abi" || a == "--install-location":
			i++
		case a != "-" && !strings.HasPrefix(a, "-"):
			file = a
		}
	}
	data := c.In
	if !stream {
		if c.API < 24 {
			c.Printf("\tpkg: %s\n", file)
		}
		var err error
		if data, err = c.Files.Read(file); err != nil {
			return c.failure("INSTALL_FAILED_INVALID_URI")
		}
	}
	code := c.installAll([][]byte{data}, grant)
	if app, err := simapp.Parse(data); err == nil && queryable && code == 0 {
		c.Apps[app.Package].Queryable = true
	}
	return code
}

// installAll installs one app from several APKs, and prints the result.
func (c *call) installAll(parts [][]byte, grant bool) int {
	if c.Refuses() {
		return c.failure("INSTALL_FAILED_VERIFICATION_FAILURE: Install not allowed for file:///data/app/vmdl1418703677.tmp")
	}
	app, err := c.Install(parts...)
	if err != nil {
		if errors.Is(err, adbd.ErrNoSpace) {
			return c.failure("INSTALL_FAILED_INSUFFICIENT_STORAGE")
		}
		return c.failure(err.Error())
	}
	if grant {
		for _, name := range app.Permissions {
			c.Apps[app.Package].granted[name] = true
		}
	}
	c.Printf("Success\n")
	return 0
}

// failure prints the package manager's reason for a refusal. Before Android 7, pm prints it to
// standard error and exits with 0.
func (c *call) failure(why string) int {
	line := fmt.Sprintf("Failure [%s]\n", why)
	if c.API < 24 {
		c.Err.Write([]byte(line))
		return 0
	}
	c.Out.Write([]byte(line))
	return 1
}

func pmUninstall(c *call) int {
	pkg := c.Arg(len(c.Args) - 1)
	if c.Apps[pkg] == nil {
		if c.API < 24 {
			c.Printf("Failure\n")
			return 1
		}
		return c.failure("DELETE_FAILED_INTERNAL_ERROR")
	}
	c.Kill(pkg)
	c.discard(c.Apps[pkg])
	delete(c.Apps, pkg)
	c.Printf("Success\n")
	return 0
}

// resolveActivity is cmd package resolve-activity --brief PKG: the activity that the launcher
// would open.
func resolveActivity(c *call) int {
	a := c.Apps[c.Arg(len(c.Args)-1)]
	if a == nil {
		c.Printf("No activity found\n")
		return 0
	}
	names := a.App.Launchers()
	if len(names) > 1 { // the system would ask the user
		names = []string{"android/com.android.internal.app.ResolverActivity"}
	}
	c.Printf("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n%s\n", names[0])
	return 0
}
