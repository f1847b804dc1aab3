package install

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

// readPermissions records the app's permissions as it is installed: pm clear revokes them in each
// repetition (PackageManagerService, resetRuntimePermissions).
func (b *Installer) readPermissions(ctx context.Context) error {
	between := workload.ClearsBetween(b.Scenario.Workload)
	if !b.Scenario.ClearData && !between || !hasRuntimePermissions(b.Target.Facts) {
		return nil
	}
	text, err := b.Target.Output(ctx, "dumpsys", "package", b.App.Package)
	if err != nil {
		return fmt.Errorf("read the permissions of %s: %w", b.App.Package, err)
	}
	b.Granted = grantedPermissions(text)
	if between && len(b.Granted) > 0 {
		b.Target.Journal.Warnf("clearPackageData takes the app's permissions away before each test, and only the test can grant them again in between (GrantPermissionRule): %s; or leave it out and set clear-data: true, which grants them again",
			strings.Join(b.Granted, ", "))
	}
	return nil
}

var grantedLine = regexp.MustCompile(`^([\w.]{1,200}): granted=true\b`)

// maxPermissions limits the recorded permissions of one app.
const maxPermissions = 200

// grantedPermissions returns the runtime permissions that the first user has granted by dumpsys
// package: the user that pm clear and pm grant act on. Those of other users, and of the package
// that a system app's update hides, come after them.
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

// GrantAgain grants the app the permissions that it had when it was installed.
func (b *Installer) GrantAgain(ctx context.Context) error {
	for _, name := range b.Granted {
		out, err := b.Target.Exec(ctx, "pm", "grant", b.App.Package, name)
		if err != nil {
			return fmt.Errorf("grant %s again: %w", name, err)
		}
		if refused := target.Answered("grant "+name+" again, which clearing the app's data took away", out, nil); refused != nil {
			b.Target.Journal.Warnf("%v: the app may ask for it", refused)
		}
	}
	return nil
}
