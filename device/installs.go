package device

import (
	"slices"
	"strings"
)

// InstallsQuestion is the command whose output says who stands between adb and an
// installation: Android's verification of apps, and Samsung's Auto Blocker.
const InstallsQuestion = "settings get global verifier_verify_adb_installs; settings get global package_verifier_enable; settings get secure rampart_main_switch_enabled"

// installs reads the answer to InstallsQuestion; told is false where the device has no
// such settings.
func installs(output string) (checked, blocked, told bool) {
	values := strings.Fields(output)
	notSetting := func(v string) bool { return v != "null" && v != "0" && v != "1" && v != "-1" }
	if len(values) != 3 || slices.ContainsFunc(values, notSetting) {
		return false, false, false
	}
	off := values[0] == "0" || values[1] == "0"
	on := values[0] == "1" || values[1] == "1"
	return on && !off, values[2] == "1", true
}

// InstallsChecked reports whether what adb installs is checked, so that it may be
// refused or wait for a tap on the device's screen, by the answer to InstallsQuestion.
func InstallsChecked(output string) bool {
	checked, blocked, _ := installs(output)
	return checked || blocked
}

// lookInstalls holds a check for fit, since most installations pass it.
func lookInstalls(output string) Finding {
	switch checked, blocked, told := installs(output); {
	case !told:
		return fit(notTold)
	case blocked:
		return unfit("Auto Blocker is on: it keeps apps from being installed over adb", "turn Auto Blocker off in the device's settings (Security and privacy)")
	case checked:
		return fit("apps from adb are verified, so one may be refused or wait for a tap: settings put global verifier_verify_adb_installs 0 turns that off")
	}
	return fit("no verification of apps from adb is turned on")
}
