package avd

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// acceleration is the result of -accel-check.
type acceleration struct {
	code int    // 0: usable
	text string // "KVM (version 12) is installed and usable."
}

// accelerated asks the emulator whether this computer has hardware acceleration.
func (l *Lab) accelerated(ctx context.Context, e emulator) (acceleration, error) {
	out, err := l.run(ctx, e.path, nil, "-accel-check")
	if err != nil {
		return acceleration{}, l.broken(ctx, "ask the emulator for acceleration", err)
	}
	return parseAccel(string(out.Stdout)+"\n"+string(out.Stderr), out.ExitCode), nil
}

// parseAccel parses the output of -accel-check: a block between two lines "accel", with the
// code, which is also the exit code, and its meaning. Without a block, only the exit code is
// known.
func parseAccel(output string, exitCode int) acceleration {
	_, block, found := strings.Cut("\n"+strings.ReplaceAll(output, "\r", ""), "\naccel:\n")
	number, text, _ := strings.Cut(block, "\n")
	code, err := strconv.Atoi(strings.TrimSpace(number))
	if !found || err != nil {
		return acceleration{exitCode, prose.OneLine(prose.Clip(output, 200))}
	}
	text, _, _ = strings.Cut("\n"+text, "\naccel\n")
	return acceleration{code, strings.TrimSpace(text)}
}

// Hints for codes of -accel-check, as numbered by AndroidCpuAcceleration
// (android/cpu_accelerator.h).
var accelHints = map[int]string{
	1:   "run on a computer that is no virtual machine, or whose host passes virtualization on (nested virtualization)",
	2:   "HAXM needs an Intel processor: use Windows' hypervisor (WHPX) instead",
	3:   "the processor offers no virtualization here: in a virtual machine, have its host pass it on (nested virtualization); on GitHub, use a Linux runner",
	4:   "turn virtualization on in the BIOS or UEFI, or run on a processor with VT-x",
	5:   "run on a processor with the NX feature",
	6:   "install the hypervisor: KVM on Linux, Windows Hypervisor Platform on Windows",
	7:   "update the hypervisor",
	8:   "turn virtualization on in the BIOS or UEFI and load the module (sudo modprobe kvm_intel, or kvm_amd); in a container, pass the device in (docker run --device /dev/kvm)",
	9:   "turn virtualization on in the BIOS or UEFI",
	10:  "turn the NX feature on in the BIOS or UEFI",
	11:  kvmForUser,
	12:  "see who else uses /dev/kvm: another hypervisor, such as VirtualBox, may hold it",
	13:  "update the kernel: its KVM does not answer as the emulator expects",
	14:  "update the kernel: its KVM is too old",
	15:  "turn Hyper-V off, or turn Windows Hypervisor Platform on",
	138: "see what `emulator -accel-check` prints",
}

// kvmForUser is the hint for a user who may not open /dev/kvm, as on GitHub's runners.
const kvmForUser = `allow this user to use it: sudo gpasswd -a $USER kvm, and log in again; on GitHub's runners: echo 'KERNEL=="kvm", GROUP="kvm", MODE="0666", OPTIONS+="static_node=kvm"' | sudo tee /etc/udev/rules.d/99-kvm4all.rules && sudo udevadm control --reload-rules && sudo udevadm trigger --name-match=kvm`

// usable reports whether hardware acceleration works.
func (a acceleration) usable() bool { return a.code == 0 }

// summary returns the first line of the message.
func (a acceleration) summary() string {
	first, _, _ := strings.Cut(a.text, "\n")
	if first == "" {
		return fmt.Sprintf("code %d", a.code)
	}
	return prose.Clip(prose.OneLine(first), 200)
}

// hint returns what to do about it.
func (a acceleration) hint() string {
	if hint, ok := accelHints[a.code]; ok {
		return hint
	}
	if runtime.GOOS == "linux" {
		return "see whether /dev/kvm is there and may be opened"
	}
	return "see what `emulator -accel-check` prints"
}

// check returns an error if there is no hardware acceleration.
func (a acceleration) check() error {
	if a.usable() {
		return nil
	}
	return failure(fmt.Sprintf("look for hardware acceleration: %s (code %d)", a.summary(), a.code), a.hint())
}
