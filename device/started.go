package device

import (
	"regexp"
	"strings"
)

// BootQuery is the command line whose output ReadBoot parses. sys.boot_completed is set when
// the activity manager has sent the boot broadcast, dev.bootcomplete right after it
// (ActivityManagerService.finishBooting). init.svc.bootanim is the state of the boot
// animation, which ends when something else is drawn. On a slow emulator services appear later
// than all of these ("cmd: Can't find service: package", android-emulator-runner 432);
// service(1) checks for them.
const BootQuery = `echo "$(getprop sys.boot_completed),$(getprop dev.bootcomplete),$(getprop init.svc.bootanim)"; service check package; service check activity`

// Boot is how far a device has started. The zero value has not started.
type Boot struct {
	// Up reports whether the device can be used: it reports that it has booted, and the
	// services exist that all later commands need.
	Up bool
	// Pending describes what is not done yet; "" once the start is complete. A device that is
	// up may still show its boot animation.
	Pending string
}

var (
	bootProperties = regexp.MustCompile(`(?m)^(\w*),(\w*),(\w*)\s*$`)
	serviceMissing = regexp.MustCompile(`(?m)^Service (\w{1,40}): not found\s*$`)
)

// ReadBoot parses the output of BootQuery.
func ReadBoot(output string) Boot {
	m := bootProperties.FindStringSubmatch(output)
	if m == nil || m[1] != "1" {
		return Boot{Pending: "sys.boot_completed is not 1"}
	}
	if missing := serviceMissing.FindStringSubmatch(output); missing != nil {
		return Boot{Pending: "its service " + missing[1] + " is not there"}
	}
	var waits []string
	if m[2] != "1" {
		waits = append(waits, "dev.bootcomplete is not 1")
	}
	if m[3] == "running" {
		waits = append(waits, "the boot animation runs")
	}
	return Boot{Up: true, Pending: strings.Join(waits, ", ")}
}
