package avd

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// fatal is a way in which an emulator fails to start, identified by its output
// (main-emulator.cpp, android-qemu2-glue/main.cpp, main-common.c, qemu-setup.cpp,
// multi-instance.cpp, avd/info.c of the emulator's sources).
type fatal struct {
	matchAny *regexp.Regexp
	what     string // a description; "" for the emulator's own words
	advice   string
	retry    bool
	// mayContinue reports that the emulator may continue nevertheless, as after a port that only an
	// optional part of it needs. The message then only explains an exit that has happened.
	mayContinue bool
}

// portsTaken describes ports that another program has taken.
const portsTaken = "its ports were taken"

// matchAny matches any of the texts.
func matchAny(texts ...string) *regexp.Regexp {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = regexp.QuoteMeta(t)
	}
	return regexp.MustCompile(strings.Join(quoted, "|"))
}

var fatals = []fatal{
	{
		matchAny: matchAny("emulation currently requires hardware acceleration", "CPU acceleration is not supported on this machine", "CPU acceleration not supported on this machine"),
		what:     "there is no hardware acceleration",
		advice:   "see what `emulator -accel-check` says; on Linux the emulator needs /dev/kvm",
	},
	{
		matchAny: matchAny("Not enough space to create userdata partition", "Not enough disk space to run AVD", "does not have enough disk space to run"),
		advice:   "make room on that disk; an AVD takes about 7.5 GB",
	},
	{
		matchAny: matchAny("Running multiple emulators with the same AVD", "Another emulator instance is running"),
		what:     "the AVD runs already, or an emulator that was killed has left its lock",
		advice:   "close the emulator that uses it; where none runs, remove multiinstance.lock and hardware-qemu.ini.lock from the AVD's folder",
	},
	{
		matchAny: matchAny("Unknown AVD name [", "could not find virtual device named", "unknown virtual device name"),
		advice:   "name an AVD that `emulator -list-avds` lists",
	},
	{
		matchAny: matchAny("Missing emulator engine program", "QEMU2 emulator does not support", "is not supported by the QEMU2 emulator", "This emulator cannot emulate", "can't find the emulator executable"),
		advice:   "take a system image of this computer's own processor (abi), or install the emulator again: sdkmanager emulator",
	},
	{
		matchAny: matchAny("Cannot find AVD system path", "Broken AVD system path", "Missing system image", "System image file doesn't exist", "No initial system image",
			"configuration is missing a kernel file", "Corrupt virtual device config file", "bad config:", "can't access virtual device content directory"),
		advice: "see whether the AVD's system image is installed where ANDROID_HOME points: sdkmanager --list_installed",
	},
	{matchAny: matchAny("too many emulator instances are running"), what: portsTaken, retry: true},
	{matchAny: matchAny("Address already in use"), what: portsTaken, retry: true, mayContinue: true},
	{matchAny: matchAny("is pending and timeout has expired"), advice: "see whether another emulator uses the AVD's snapshots", retry: true},
	{matchAny: matchAny("Invalid GPU mode"), advice: "set gpu to auto, host or swiftshader_indirect"},
	{matchAny: matchAny("unknown option:", "invalid command-line parameter"), advice: "update the emulator with: sdkmanager emulator"},
	{matchAny: matchAny("Invalid value for -cores", "-memory must be followed"), advice: "set other cores or another ram-mib"},
	{
		matchAny:    matchAny("must be configured with at least", "Unable to allocate memory", "cannot set up guest memory"),
		advice:      "give the device less RAM (ram-mib), or run fewer at once",
		mayContinue: true,
	},
}

// known returns the failure that a line reports.
func known(l logLine) (fatal, bool) {
	if l.level != "" && !l.grave() {
		return fatal{}, false
	}
	for _, f := range fatals {
		if f.matchAny.MatchString(l.text) {
			return f, true
		}
	}
	return fatal{}, false
}

// explanation returns the lines after line i that explain it, such as the reason why KVM can't
// be used.
func explanation(lines []logLine, i int) string {
	const most = 3 // lines
	for _, l := range lines[i+1 : min(len(lines), i+1+most)] {
		if strings.HasPrefix(l.text, "CPU acceleration status:") {
			return ": " + prose.OneLine(strings.TrimPrefix(l.text, "CPU acceleration status:"))
		}
	}
	return ""
}

// died returns why an emulator exited during the boot, from its log and its ending ("it ended
// with the exit code 1").
func (g *log) died(avd, ending string) *boot.Error {
	const most = 300
	lines := g.lines()
	for _, sure := range []bool{true, false} {
		for i, l := range lines {
			f, ok := known(l)
			if !ok || f.mayContinue == sure {
				continue
			}
			what := prose.Clip(cmp.Or(f.what, prose.OneLine(l.text))+explanation(lines, i), most)
			return &boot.Error{Lab: title, What: fmt.Sprintf("boot the AVD %s: %s", avd, what), Advice: f.advice, Retry: f.retry}
		}
	}
	what := fmt.Sprintf("boot the AVD %s: %s", avd, ending)
	if said := g.lastWords(); said != "" {
		what += "; it said " + prose.Quote(said, most)
	}
	return retryable(what, "")
}
