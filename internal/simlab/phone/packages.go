package phone

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/internal/simlab/adbd"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
)

// pm is the package manager.
func pm(c *call, then func(code int)) {
	if c.Arg(0) == "compile" {
		c.Args = c.Args[1:]
		pmCompile(c, then)
		return
	}
	then(pmAtOnce(c))
}

// pmAtOnce are the commands of pm that take no time.
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
		a := c.state.apps[c.Arg(0)]
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
		if c.state.apps[pkg] == nil {
			c.Printf("Failed\n")
			return 1
		}
		c.kill(pkg)
		clear(c.state.apps[pkg].granted) // PackageManagerService: resetRuntimePermissions
		c.Printf("Success\n")
	case "grant", "revoke":
		return pmGrant(c, verb == "grant")
	default:
		c.Errorf("Error: unknown command '%s'\n", verb)
		return 1
	}
	return 0
}

// cmd is cmd SERVICE …: the newer way to the package and activity managers.
func cmd(c *call, then func(code int)) {
	switch c.Arg(0) {
	case "package":
		c.Args = c.Args[1:]
		if c.Arg(0) == "resolve-activity" {
			then(resolveActivity(c))
			return
		}
		pm(c, then)
		return
	case "battery":
		if c.Args = c.Args[1:]; len(c.Args) > 0 {
			then(dumpBattery(c))
			return
		}
	}
	c.Errorf("cmd: Can't find service: %s\n", c.Arg(0))
	then(20)
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
		for _, pkg := range sortedKeys(c.state.apps) {
			show(c.state.apps[pkg].path, pkg)
		}
	case "instrumentation":
		for _, pkg := range sortedKeys(c.state.apps) {
			app := c.state.apps[pkg].app
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

// isTested reports whether a test APK of the app is installed: then its own test lines
// are what that plays, and the app is no instrumentation.
func (p *Phone) isTested(pkg string) bool {
	for _, a := range p.state.apps {
		if a.app.Tests == pkg {
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
		case a == "-g" && c.profile.API < 23: // runtime permissions came with Android 6
			c.Errorf("Error: Unknown option: -g\n")
			return 1
		case a == "-g":
			grant = true
		case a == "--force-queryable" && c.profile.API >= 30:
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
		if c.profile.API < 24 {
			c.Printf("\tpkg: %s\n", file)
		}
		var err error
		if data, err = c.files.Read(file); err != nil {
			return c.failure("INSTALL_FAILED_INVALID_URI")
		}
	}
	code := c.installAll([][]byte{data}, grant)
	if app, err := simapp.Parse(data); err == nil && queryable && code == 0 {
		c.state.apps[app.Package].queryable = true
	}
	return code
}

// installAll installs the parts of one app, and says how that went.
func (c *call) installAll(parts [][]byte, grant bool) int {
	if c.options.Verifier && c.state.settings["global verifier_verify_adb_installs"] != "0" {
		return c.failure("INSTALL_FAILED_VERIFICATION_FAILURE: Install not allowed for file:///data/app/vmdl1418703677.tmp")
	}
	app, err := c.install(parts...)
	if err != nil {
		if errors.Is(err, adbd.ErrNoSpace) {
			return c.failure("INSTALL_FAILED_INSUFFICIENT_STORAGE")
		}
		return c.failure(err.Error())
	}
	if grant {
		for _, name := range app.Permissions {
			c.state.apps[app.Package].granted[name] = true
		}
	}
	c.Printf("Success\n")
	return 0
}

// failure prints why the package manager refuses. Before Android 7, pm says so
// on standard error and exits with 0.
func (c *call) failure(why string) int {
	line := fmt.Sprintf("Failure [%s]\n", why)
	if c.profile.API < 24 {
		c.Err.Write([]byte(line))
		return 0
	}
	c.Out.Write([]byte(line))
	return 1
}

func pmUninstall(c *call) int {
	pkg := c.Arg(len(c.Args) - 1)
	if c.state.apps[pkg] == nil {
		if c.profile.API < 24 {
			c.Printf("Failure\n")
			return 1
		}
		return c.failure("DELETE_FAILED_INTERNAL_ERROR")
	}
	c.kill(pkg)
	c.discard(c.state.apps[pkg])
	delete(c.state.apps, pkg)
	c.Printf("Success\n")
	return 0
}

// testCases are those of a test APK that -e class chooses: "C", "C#m", or a list.
func testCases(test, target *simapp.App, class string) []simapp.TestCase {
	all := test.TestCases
	if len(all) == 0 {
		all = target.TestCases
	}
	if class == "" {
		return all
	}
	var out []simapp.TestCase
	for _, want := range strings.Split(class, ",") {
		c, m, _ := strings.Cut(want, "#")
		for _, t := range all {
			if t.Class == c && (m == "" || t.Method == m) {
				out = append(out, t)
			}
		}
	}
	return out
}
