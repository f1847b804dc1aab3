package avd

import (
	"fmt"
	"io"
	"strconv"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// FailsWithoutKVM simulates a computer without /dev/kvm; "accel-" with a code of -accel-check
// makes the check report that code.
const FailsWithoutKVM = "no-kvm"

// accelerations are the check's messages by code (cpu_accelerator.cpp).
var accelerations = map[int]string{
	0:   "KVM (version 12) is installed and usable.",
	1:   "Android Emulator does not support nested virtualization.  Your VM host: 'made up'",
	2:   "Android Emulator requires an Intel processor with VT-x and NX support.  Your CPU: 'made up'",
	3:   "KVM requires a CPU that supports vmx or svm",
	4:   "Android Emulator requires an Intel processor with VT-x and NX support.  (VT-x is not supported)",
	5:   "Android Emulator requires an Intel processor with VT-x and NX support.  (NX is not supported)",
	6:   "HAXM is not installed on this machine",
	7:   "HAXM must be updated (version 1.0 < 6.0.1).",
	8:   "/dev/kvm is not found: VT disabled in BIOS or KVM kernel module not loaded",
	9:   "VT feature disabled in BIOS/UEFI",
	10:  "NX feature disabled in BIOS/UEFI",
	11:  "This user doesn't have permissions to use KVM (/dev/kvm).\nThe KVM line in /etc/group is: [kvm:x:101:]\n\nIf the current user has KVM permissions,\nthe KVM line in /etc/group should end with \":\" followed by your username.\n\nIf we see LINE_NOT_FOUND, the kv",
	12:  "Could not open /dev/kvm : Device or resource busy",
	13:  "Could not extract KVM version: Inappropriate ioctl for device",
	14:  "KVM version too old: 10 (expected at least 12)\n",
	15:  "Please disable Hyper-V before using the Android Emulator.",
	138: "Internal error: failed" + " to parse OS version 'made up'",
}

func accelCheck(folder state.Folder, stdout, stderr io.Writer) int {
	code := 0
	for c := range accelerations {
		if folder.Fails("accel-" + strconv.Itoa(c)) {
			code = c
		}
	}
	if folder.Fails(FailsWithoutKVM) {
		code = 8
	}
	if code == 11 { // the probe has already printed it
		fmt.Fprintf(stderr, "ProbeKVM: %s\n", accelerations[code])
	}
	fmt.Fprintf(stdout, "accel:\n%d\n%s\naccel\n", code, accelerations[code])
	return code
}
