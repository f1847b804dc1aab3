package avd

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/device/boot"
	"github.com/apkgate/apkgate/internal/words"
)

// fatal is a way in which an emulator does not start, by what it prints then (main-emulator.cpp,
// android-qemu2-glue/main.cpp, main-common.c, qemu-setup.cpp, multi-instance.cpp, avd/info.c of
// the emulator's sources).
type fatal struct {
	says   *regexp.Regexp
	what   string // of it; "" for its own words
	advice string
	retry  bool
}

// portsTaken is what is said of ports that another program has got meanwhile.
const portsTaken = "its ports were taken"

// says matches any of the texts.
func says(texts ...string) *regexp.Regexp {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = regexp.QuoteMeta(t)
	}
	return regexp.MustCompile(strings.Join(quoted, "|"))
}

var fatals = []fatal{
	{says("emulation currently requires hardware acceleration", "CPU acceleration is not supported on this machine", "CPU acceleration not supported on this machine"),
		"there is no hardware acceleration", "see what `emulator -accel-check` says; on Linux the emulator needs /dev/kvm", false},
	{says("Not enough space to create userdata partition", "Not enough disk space to run AVD", "does not have enough disk space to run"),
		"", "make room on that disk; an AVD takes about 7.5 GB", false},
	{says("Running multiple emulators with the same AVD", "Another emulator instance is running"),
		"the AVD runs already, or an emulator that was killed has left its lock", "close the emulator that uses it; where none runs, remove multiinstance.lock and hardware-qemu.ini.lock from the AVD's folder", false},
	{says("Unknown AVD name [", "could not find virtual device named", "unknown virtual device name"),
		"", "name an AVD that `emulator -list-avds` lists", false},
	{says("Missing emulator engine program", "QEMU2 emulator does not support", "is not supported by the QEMU2 emulator", "This emulator cannot emulate", "can't find the emulator executable"),
		"", "take a system image of this computer's own processor (abi), or install the emulator again: sdkmanager emulator", false},
	{says("Cannot find AVD system path", "Broken AVD system path", "Missing system image", "System image file doesn't exist", "No initial system image", "configuration is missing a kernel file", "Corrupt virtual device config file", "bad config:", "can't access virtual device content directory"),
		"", "see whether the AVD's system image is installed where ANDROID_HOME points: sdkmanager --list_installed", false},
	{says("too many emulator instances are running", "Address already in use"),
		portsTaken, "", true},
	{says("is pending and timeout has expired"), "", "", true},
	{says("Invalid GPU mode"), "", "set gpu to auto, host or swiftshader_indirect", false},
	{says("unknown option:", "invalid command-line parameter"), "", "update the emulator with: sdkmanager emulator", false},
	{says("Invalid value for -cores", "-memory must be followed"), "", "", false},
	{says("must be configured with at least", "Unable to allocate memory", "cannot set up guest memory"), "", "give the device less RAM (ram-mib), or run fewer at once", false},
}

// known is the way in which an emulator failed that says so.
func known(l logLine) (fatal, bool) {
	if l.level != "" && !l.grave() {
		return fatal{}, false
	}
	for _, f := range fatals {
		if f.says.MatchString(l.text) {
			return f, true
		}
	}
	return fatal{}, false
}

// explanation are the lines of a log that explain the one at i, as the reason for which KVM
// can't be used: those below it that say so.
func explanation(lines []logLine, i int) string {
	const most = 3 // lines
	for _, l := range lines[i+1 : min(len(lines), i+1+most)] {
		if strings.HasPrefix(l.text, "CPU acceleration status:") {
			return ": " + words.OneLine(strings.TrimPrefix(l.text, "CPU acceleration status:"))
		}
	}
	return ""
}

// died is why an emulator ended that was to boot, by its log and its ending ("it ended with
// the exit code 1").
func (g *log) died(avd, ending string) *boot.Error {
	const most = 300
	lines := g.lines()
	for i, l := range lines {
		f, ok := known(l)
		if !ok {
			continue
		}
		what := f.what
		if what == "" {
			what = words.OneLine(l.text)
		}
		return &boot.Error{
			Lab: inSentences, What: fmt.Sprintf("boot the AVD %s: %s", avd, words.Clip(what+explanation(lines, i), most)), Advice: f.advice, Retry: f.retry,
		}
	}
	what := fmt.Sprintf("boot the AVD %s: %s", avd, ending)
	if said := g.lastWords(); said != "" {
		what += "; it said " + words.Quote(said, most)
	}
	return passing(what, "")
}
