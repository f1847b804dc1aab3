package workload

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// Installed checks that the packages without a configured APK are on the device: the app, and the
// scenario's test with its runner. A missing one is the caller's error (IsConfiguration); any other
// error is that the device could not be reached.
func Installed(ctx context.Context, d device.Device, app config.App, scenario config.Scenario) error {
	test := Needed{TestPackage(scenario.Workload), app.TestAPK}
	if test.APK == "" && test.Package == app.Package {
		test.APK = app.APK // an app that has its own tests
	}
	needed := []Needed{{app.Package, app.APK}, test}
	for _, of := range append(needed, Orchestra(scenario.Workload, app)...) {
		if of.Package == "" || of.APK != "" {
			continue
		}
		there, err := IsInstalled(ctx, d, of.Package)
		if err != nil {
			return err
		}
		if !there {
			return NotInstalled(of.Package)
		}
	}
	if w := scenario.Workload.Instrumentation; w != nil && test.APK == "" {
		_, err := hasRunner(ctx, d, app.Package, *w)
		return err
	}
	return nil
}

// NotInstalled returns the error that a package is not on the device and can't be installed.
func NotInstalled(pkg string) *loss.Error {
	problem := &loss.Error{
		Cause: loss.Configuration, Phase: journal.SetUp, Final: true,
		Err:    fmt.Errorf("%s is not on the device, and apkgate.yml names no APK of it", pkg),
		Advice: "name its APK (app.apk, app.test-apk), or install it before",
	}
	if pkg == OrchestratorPackage || pkg == ServicesPackage {
		return noOrchestrator(problem)
	}
	return problem
}

// IsInstalled reports whether a package is on the device; false for "".
func IsInstalled(ctx context.Context, d device.Device, pkg string) (bool, error) {
	if pkg == "" {
		return false, nil
	}
	out, err := d.Exec(ctx, device.Quote("pm", "path", pkg))
	if err != nil {
		return false, fmt.Errorf("look for %s on the device: %w", pkg, err)
	}
	return strings.Contains(string(out.Stdout), "package:"), nil
}

// runnerLine matches a line of `pm list instrumentation`.
var runnerLine = regexp.MustCompile(`(?m)^instrumentation:(\S+)/(\S+)(?: \(target=(\S+)\))?`)

// hasRunner checks that the device knows the test's runner, and returns the package that it tests,
// "" if unknown. It passes if the device lists no runners at all.
func hasRunner(ctx context.Context, d device.Device, app string, w config.Instrumentation) (target string, err error) {
	out, err := d.Exec(ctx, device.Quote("pm", "list", "instrumentation"))
	if err != nil {
		return "", fmt.Errorf("look for the test's runner on the device: %w", err)
	}
	wanted := expand(w.TestPackage, runnerOf(w))
	var others []string
	found := runnerLine.FindAllStringSubmatch(string(out.Stdout), -1)
	for _, m := range found {
		switch {
		case m[1] == w.TestPackage && expand(m[1], m[2]) == wanted:
			return m[3], nil
		case m[1] == w.TestPackage:
			others = append(others, m[2])
		case m[3] == app:
			others = append(others, m[1]+"/"+m[2])
		}
	}
	if len(found) == 0 {
		return "", nil
	}
	problem := &loss.Error{
		Cause: loss.Configuration, Phase: journal.SetUp, Final: true, Advice: "compare test-package and runner with what `adb shell pm list instrumentation` prints",
		Err: fmt.Errorf("the device has no runner %s of %s", runnerOf(w), w.TestPackage),
	}
	if len(others) > 0 {
		problem.Err = fmt.Errorf("%w, but %s", problem.Err, journal.Line(strings.Join(others, ", ")))
	}
	return "", problem
}

// expand returns a class's full name: a name that begins with a dot is relative to the package.
func expand(pkg, class string) string {
	if strings.HasPrefix(class, ".") {
		return pkg + class
	}
	return class
}

// checkRunner checks the runner of the scenario's test, now that the test is on the device.
func (p Plan) checkRunner(ctx context.Context) error {
	w := p.Scenario.Workload.Instrumentation
	if w == nil {
		return nil
	}
	tested, err := hasRunner(ctx, p.Target.Device(), p.App, *w)
	if problem := loss.As(err); problem != nil {
		problem.Device = p.Target.Name
	}
	if tested != "" && tested != p.App && tested != w.TestPackage { // a test of its own package starts others by itself
		p.Target.Journal.Warnf("%s is a test of %s, and app.package is %s: Android starts and ends the former with the test, and the latter is measured", w.TestPackage, journal.Line(tested), p.App)
	}
	return err
}

// TestPackage returns the package of the workload's test, "" if it has none.
func TestPackage(w config.Workload) string {
	if w.Instrumentation != nil {
		return w.Instrumentation.TestPackage
	}
	return ""
}
