package device

import (
	"slices"
	"strings"
)

// InstallsQuery is the command line that reads which checks may stop an installation over adb:
// Android's verification of apps, and Samsung's Auto Blocker.
const InstallsQuery = "settings get global verifier_verify_adb_installs; settings get global package_verifier_enable; settings get secure rampart_main_switch_enabled"

// readInstalls parses the output of InstallsQuery. known is false where the device has no such
// settings.
func readInstalls(output string) (checked, blocked, known bool) {
	values := strings.Fields(output)
	notSetting := func(v string) bool { return v != "null" && v != "0" && v != "1" && v != "-1" }
	if len(values) != 3 || slices.ContainsFunc(values, notSetting) {
		return false, false, false
	}
	off := values[0] == "0" || values[1] == "0"
	on := values[0] == "1" || values[1] == "1"
	return on && !off, values[2] == "1", true
}

// InstallsChecked reports whether the device verifies what adb installs, so that an
// installation may be refused or wait for a tap on the device's screen. Its input is the
// output of InstallsQuery.
func InstallsChecked(output string) bool {
	checked, blocked, _ := readInstalls(output)
	return checked || blocked
}

// checkInstalls reports a device that verifies apps as fit, since most installations pass.
func checkInstalls(output string) Finding {
	switch checked, blocked, known := readInstalls(output); {
	case !known:
		return fit(notReported)
	case blocked:
		return unfit("Auto Blocker is on: it keeps apps from being installed over adb", "turn Auto Blocker off in the device's settings (Security and privacy)")
	case checked:
		return fit("apps from adb are verified, so one may be refused or wait for a tap: settings put global verifier_verify_adb_installs 0 turns that off")
	}
	return fit("no verification of apps from adb is turned on")
}
