package avd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apkgate/apkgate/internal/filelock"
	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// release is the version-specific behaviour of the emulator.
type release struct {
	version string
	error   string // the prefix of an error line
	info    string
	newest  bool
}

var (
	newest = release{"36.4.10.0 (build_id 15004761) (CL:N/A)", "ERROR        | ", "INFO         | ", true}
	older  = release{"30.7.5.0 (build_id 7491168) (CL:N/A)", "emulator: ERROR: ", "emulator: INFO: ", false}
)

// The failures of an emulator.
const (
	// FailsOld makes it version 30: other prefixes, no -no-metrics.
	FailsOld = "old-emulator"
	// FailsVersion makes it print no version.
	FailsVersion = "no-version"
	// FailsDisk, FailsEngine, FailsMemory and FailsSystem make it exit at its start, with the
	// messages for a full disk, a missing engine, too little memory and an SDK without its
	// image.
	FailsDisk   = "disk-full"
	FailsEngine = "no-engine"
	FailsMemory = "no-memory"
	FailsSystem = "no-system-image"
	// FailsPort makes another program take its ports at the last moment.
	FailsPort = "port-taken"
	// FailsSnapshot makes it crash when it loads a snapshot.
	FailsSnapshot = "snapshot-crashes"
	// FailsSilently makes it exit without a message.
	FailsSilently = "ends-silently"
	// Hangs makes it print a failure and hang.
	Hangs = "hangs-after-failure"
)

// Emulator simulates the emulator, which is also the phone's process.
func Emulator(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	r := newest
	if folder.Fails(FailsOld) {
		r = older
	}
	o, err := r.parse(args)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	switch {
	case o.version && folder.Fails(FailsVersion):
		fmt.Fprintln(stderr, "./emulator: error while loading shared libraries: libpulse.so.0")
		return 127
	case o.version:
		fmt.Fprintf(stdout, "%sAndroid emulator version %s\n%sGraphics backend: gfxstream\nAndroid emulator version %[2]s\nCopyright (C) 2006-2024 The Android Open Source Project and many others.\n", r.info, r.version, r.info)
		return 0
	case o.help:
		fmt.Fprint(stdout, "Android Emulator usage: emulator [options] [-qemu args]\n  options:\n")
		for _, name := range strings.Fields(r.without() + with) {
			fmt.Fprintf(stdout, "    %-28s made up for tests\n", name)
		}
		return 0
	case o.accelCheck:
		return accelCheck(folder, stdout, stderr)
	case o.listAVDs:
		fmt.Fprintf(stdout, "%sUsing crash reporting configuration from environment variable: ANDROID_EMU_ENABLE_CRASH_REPORTING=0\n", r.info)
		for _, n := range names(home()) {
			fmt.Fprintln(stdout, n)
		}
		return 0
	}
	return r.start(folder, o, stdout, stderr)
}

// start makes the same checks as the real one, in the same order, and runs the phone.
func (r release) start(folder state.Folder, o options, stdout, stderr io.Writer) int {
	fmt.Fprintf(stdout, "%sAndroid emulator version %s\n", r.info, r.version)
	refuse := func(format string, a ...any) int {
		fmt.Fprintf(stderr, format+"\n", a...)
		return 1
	}
	ini := filepath.Join(home(), o.avd+".ini")
	dir := filepath.Join(home(), o.avd+".avd")
	switch {
	case o.avd == "":
		return refuse(r.error + "No AVD specified. Use '@foo' or '-avd foo' to launch a virtual device named 'foo'")
	case !there(ini):
		return refuse(r.error+"Unknown AVD name [%s], use -list-avds to see valid list.\nHOME is defined but there is no file %[1]s.ini in $HOME/.android/avd\n"+
			"(Note: Directories are searched in the order $ANDROID_AVD_HOME, $ANDROID_SDK_HOME/avd and $HOME/.android/avd)", o.avd)
	case folder.Fails(FailsSilently):
		return 1
	case folder.Fails(FailsEngine):
		return refuse("PANIC: Missing emulator engine program for 'x86' CPU.")
	case folder.Fails(FailsSystem):
		return refuse("PANIC: Broken AVD system path. Check your ANDROID_SDK_ROOT value [%s]!", os.Getenv("ANDROID_SDK_ROOT"))
	case o.accelOn && folder.Fails(FailsWithoutKVM):
		return refuse(r.error + "x86_64 emulation currently requires hardware acceleration!\nCPU acceleration status: KVM requires a CPU that supports vmx or svm\nMore info on configuring VM acceleration on Linux:\nhttps://developer.android.com/studio/run/emulator-acceleration#vm-linux")
	case o.gpu != "" && !strings.Contains(" auto host swiftshader_indirect swangle_indirect off ", " "+o.gpu+" "):
		return refuse(r.error+"Invalid GPU mode '%s', use one of: host swiftshader_indirect. If you're already using one of those modes, the emulator installation may be corrupt. Please re-install the emulator.", o.gpu)
	case folder.Fails(FailsDisk):
		fatal := "FATAL        | "
		if !r.newest {
			fatal = r.error
		}
		code := refuse(fatal+"Not enough space to create userdata partition. Available: 1234.50 MB at %s, need 7372.80 MB.", dir)
		for folder.Fails(Hangs) && !folder.Gone() {
			time.Sleep(50 * time.Millisecond)
		}
		return code
	case folder.Fails(FailsMemory):
		return refuse("qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory")
	}
	lock, err := r.hold(dir, o.readOnly)
	if err != nil {
		return refuse("%v", err)
	}
	defer lock.Close()
	if o.snapshot != "" && !o.noSnapshot {
		fmt.Fprintf(stdout, "%sLoading snapshot '%s'...\n", r.info, o.snapshot)
		if folder.Fails(FailsSnapshot) {
			return refuse(r.error + "eglMakeCurrent failed")
		}
		if !there(filepath.Join(dir, "snapshots", o.snapshot)) {
			fmt.Fprintf(stdout, "WARNING      | Device 'cache' does not have the requested snapshot '%s'\n%sCold boot: snapshot failed"+" to load\n", o.snapshot, r.info)
		}
	}
	return r.run(folder, o, stdout, refuse)
}

// run runs the phone until it is told to end.
func (r release) run(folder state.Folder, o options, stdout io.Writer, refuse func(string, ...any) int) int {
	spec := instance.Spec{
		Name: "emulator-" + strconv.Itoa(o.port), Console: o.port, ADB: o.port + 1, AVD: o.avd, ID: o.id, Announce: true,
	}
	taken := r.error + "It seems too many emulator instances are running on this machine. Aborting."
	if folder.Fails(FailsPort) {
		return refuse(taken)
	}
	err := instance.Run(folder, spec, func(instance.Running) error {
		fmt.Fprintf(stdout, "%sStarted GRPC server at 127.0.0.1:8554, security: Local, auth: +token\n", r.info)
		return nil
	})
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return refuse(taken)
	case err != nil:
		return refuse("FATAL        | %v", err)
	}
	return 0
}

// hold locks the AVD: for one emulator, or for several that only read.
func (r release) hold(dir string, readOnly bool) (io.Closer, error) {
	if readOnly {
		return io.NopCloser(nil), nil
	}
	file, err := filelock.Lock(filepath.Join(dir, "multiinstance.lock"))
	if err != nil {
		return nil, errors.New(r.error + "Running multiple emulators with the same AVD \n" + r.error + "is an experimental feature.\n" + r.error + "Please use -read-only flag to enable this feature.")
	}
	return file, nil
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

type options struct {
	avd, id, gpu, snapshot              string
	port                                int
	version, help, accelCheck, listAVDs bool
	accelOn, readOnly, noSnapshot       bool
}

// with and those of without are the emulator's options that take a word and those that don't.
const with = " -avd -port -ports -gpu -memory -cores -accel -snapshot -netspeed -netdelay -id -feature -skin -timezone "

func (r release) without() string {
	all := " -no-window -no-audio -noaudio -no-boot-anim -no-snapshot -no-snapshot-save -no-snapshot-load -read-only -wipe-data " +
		"-skip-adb-auth -delay-adb -version -help -accel-check -list-avds -verbose "
	if r.newest {
		all += "-no-metrics "
	}
	return all
}

func (r release) parse(args []string) (o options, err error) {
	o.port = 5554
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case strings.HasPrefix(arg, "@"):
			o.avd = arg[1:]
		case strings.Contains(r.without(), " "+arg+" "):
			flags := map[string]*bool{
				"-version": &o.version, "-help": &o.help, "-accel-check": &o.accelCheck, "-list-avds": &o.listAVDs,
				"-read-only": &o.readOnly, "-no-snapshot": &o.noSnapshot,
			}
			if flag := flags[arg]; flag != nil {
				*flag = true
			}
		case strings.Contains(with, " "+arg+" ") && i+1 < len(args):
			i++
			if err := o.set(arg, args[i]); err != nil {
				return o, errors.New(r.error + err.Error())
			}
		default:
			return o, fmt.Errorf("unknown option: %s\nplease use -help for a list of valid options", arg)
		}
	}
	return o, nil
}

func (o *options) set(option, word string) (err error) {
	switch option {
	case "-avd":
		o.avd = word
	case "-id":
		o.id = word
	case "-gpu":
		o.gpu = word
	case "-snapshot":
		o.snapshot = word
	case "-accel":
		o.accelOn = word == "on"
	case "-port":
		if o.port, err = strconv.Atoi(word); err != nil {
			return fmt.Errorf("option -port must be followed by an integer. '%s' is not a valid input", word)
		}
	}
	return nil
}
