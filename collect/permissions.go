package collect

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
)

// hasRuntimePermissions: they came with Android 6.
func hasRuntimePermissions(f target.Facts) bool { return f.API >= 23 }

// readPermissions notes what the app may do as it is installed: pm clear takes it
// away in each repetition (PackageManagerService, resetRuntimePermissions).
func (c *collector) readPermissions(ctx context.Context) error {
	between := workload.ClearsBetween(c.job.Scenario.Workload)
	if !c.job.Scenario.ClearData && !between || !hasRuntimePermissions(c.target.Facts) {
		return nil
	}
	text, err := c.target.Output(ctx, "dumpsys", "package", c.job.App.Package)
	if err != nil {
		return fmt.Errorf("read the permissions of %s: %w", c.job.App.Package, err)
	}
	c.granted = grantedPermissions(text)
	if between && len(c.granted) > 0 {
		c.journal.Warnf("clearPackageData takes the app's permissions away before each test, and nobody but the test can give them again in between (GrantPermissionRule): %s; or leave it out and set clear-data: true, which grants them again",
			strings.Join(c.granted, ", "))
	}
	return nil
}

var grantedLine = regexp.MustCompile(`^([\w.]{1,200}): granted=true\b`)

// maxPermissions bounds what one app is granted.
const maxPermissions = 200

// grantedPermissions are the runtime permissions that dumpsys package says the first
// user has granted, which is the user that pm clear and pm grant act on. Those of other
// users, and of the package that a system app's update hides, stand behind them.
func grantedPermissions(text string) (granted []string) {
	text, _, _ = strings.Cut(text, "Hidden system packages:")
	inFirst, inRuntime := true, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "User "):
			inFirst, inRuntime = strings.HasPrefix(line, "User 0:"), false
		case strings.HasSuffix(line, "permissions:"):
			inRuntime = line == "runtime permissions:"
		case inFirst && inRuntime && len(granted) < maxPermissions:
			if m := grantedLine.FindStringSubmatch(line); m != nil {
				granted = append(granted, m[1])
			}
		}
	}
	return granted
}

// grantAgain gives the app the permissions that it had when it was installed.
func (c *collector) grantAgain(ctx context.Context) error {
	for _, name := range c.granted {
		out, err := c.target.Exec(ctx, "pm", "grant", c.job.App.Package, name)
		if err != nil {
			return fmt.Errorf("grant %s again: %w", name, err)
		}
		if refused := target.Answered("grant "+name+" again, which clearing the app's data took away", out, nil); refused != nil {
			c.journal.Warnf("%v: the app may ask for it", refused)
		}
	}
	return nil
}
