package avd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/standin/instance"
	"github.com/apkgate/apkgate/internal/standin/state"
)

const version = "Android emulator version 36.4.10.0 (build_id 15004761) (CL:N/A)"

// Emulator plays the emulator, which is the phone's process as well.
func Emulator(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if err != nil {
		fmt.Fprintln(stderr, "emulator:", err)
		return 1
	}
	switch {
	case o.version:
		fmt.Fprintf(stdout, "INFO         | %s\nINFO         | Graphics backend: gfxstream\n%s\nCopyright (C) 2006-2024 The Android Open Source Project and many others.\n", version, version)
		return 0
	case o.accelCheck:
		return accelCheck(folder, stdout)
	case o.listAVDs:
		for _, n := range names(home()) {
			fmt.Fprintln(stdout, n)
		}
		return 0
	}
	fmt.Fprintf(stdout, "INFO         | %s\nINFO         | Graphics backend: gfxstream\n", version)
	if o.avd == "" {
		fmt.Fprintln(stderr, "ERROR        | No AVD specified. Use '@foo' or '-avd foo' to launch a virtual device named 'foo'")
		return 1
	}
	if _, err := os.Stat(filepath.Join(home(), o.avd+".ini")); err != nil {
		fmt.Fprintf(stderr, "ERROR        | Unknown AVD name [%s], use -list-avds to see valid list.\nHOME is defined but there is no file %[1]s.ini in $HOME/.android/avd\n"+
			"(Note: Directories are searched in the order $ANDROID_AVD_HOME, $ANDROID_SDK_HOME/avd and $HOME/.android/avd)\n", o.avd)
		return 1
	}
	spec := instance.Spec{
		Name: "emulator-" + strconv.Itoa(o.port), Console: o.port, ADB: o.port + 1, AVD: o.avd, Announce: true,
	}
	err = instance.Run(folder, spec, func(instance.Running) error { return nil })
	if err != nil {
		fmt.Fprintln(stderr, "FATAL        |", err)
		return 1
	}
	return 0
}

type options struct {
	avd                           string
	port                          int
	version, accelCheck, listAVDs bool
}

// with and without are the emulator's options that take a word and those that don't.
var (
	with    = " -avd -port -ports -gpu -memory -cores -accel -snapshot -netspeed -netdelay -id -feature -skin -timezone "
	without = " -no-window -no-audio -noaudio -no-boot-anim -no-snapshot -no-snapshot-save -no-snapshot-load -read-only -wipe-data " +
		"-skip-adb-auth -delay-adb -no-metrics -version -accel-check -list-avds -verbose "
)

func parse(args []string) (o options, err error) {
	o.port = 5554
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case strings.HasPrefix(arg, "@"):
			o.avd = arg[1:]
		case strings.Contains(without, " "+arg+" "):
			o.version = o.version || arg == "-version"
			o.accelCheck = o.accelCheck || arg == "-accel-check"
			o.listAVDs = o.listAVDs || arg == "-list-avds"
		case strings.Contains(with, " "+arg+" ") && i+1 < len(args):
			i++
			switch arg {
			case "-avd":
				o.avd = args[i]
			case "-port":
				if o.port, err = strconv.Atoi(args[i]); err != nil {
					return o, fmt.Errorf("option -port must be followed by an integer. '%s' is not a valid input", args[i])
				}
			}
		default:
			return o, fmt.Errorf("unknown option: %s\nplease use -help for a list of valid options", arg)
		}
	}
	return o, nil
}

// FailsWithoutKVM has this computer lack /dev/kvm.
const FailsWithoutKVM = "no-kvm"

func accelCheck(folder state.Folder, stdout io.Writer) int {
	code, text := 0, "KVM (version 12) is installed and usable."
	if folder.Fails(FailsWithoutKVM) {
		code, text = 8, "/dev/kvm is not found: VT disabled in BIOS or KVM kernel module not loaded"
	}
	fmt.Fprintf(stdout, "accel:\n%d\n%s\naccel\n", code, text)
	return code
}
