package device

import (
	"regexp"
	"strings"
)

// BootQuestion is the command line whose output ReadBoot reads. sys.boot_completed is set when
// the activity manager has sent the broadcast of the boot, dev.bootcomplete right after it
// (ActivityManagerService.finishBooting), and init.svc.bootanim is of the boot animation, which
// ends when something else is drawn. On a slow emulator services answer later than all of that
// ("cmd: Can't find service: package", android-emulator-runner 432), which service(1) tells.
const BootQuestion = `echo "$(getprop sys.boot_completed),$(getprop dev.bootcomplete),$(getprop init.svc.bootanim)"; service check package; service check activity`

// Boot is how far a device has started. The zero value has not.
type Boot struct {
	// Up says that it can be used: it says that it has booted, and the services are there that
	// everything else asks.
	Up bool
	// Waits is what is not done yet, in words; "" where the start is over. A device that is up
	// may still show its boot animation.
	Waits string
}

var (
	bootProperties = regexp.MustCompile(`(?m)^(\w*),(\w*),(\w*)\s*$`)
	serviceMissing = regexp.MustCompile(`(?m)^Service (\w{1,40}): not found\s*$`)
)

// ReadBoot reads the answer to BootQuestion.
func ReadBoot(output string) Boot {
	m := bootProperties.FindStringSubmatch(output)
	if m == nil || m[1] != "1" {
		return Boot{Waits: "sys.boot_completed is not 1"}
	}
	if missing := serviceMissing.FindStringSubmatch(output); missing != nil {
		return Boot{Waits: "its service " + missing[1] + " is not there"}
	}
	var waits []string
	if m[2] != "1" {
		waits = append(waits, "dev.bootcomplete is not 1")
	}
	if m[3] == "running" {
		waits = append(waits, "the boot animation runs")
	}
	return Boot{Up: true, Waits: strings.Join(waits, ", ")}
}
