package avd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Keys of a lease's details for an emulator, in the order in which they are noted.
const (
	noteHome    = "avd-home" // the folder of a created AVD; absent for an existing one
	noteAVD     = "avd"
	notePort    = "console-port"
	noteProcess = "process" // once it was started
)

// machine is the AVD to boot.
type machine struct {
	name string
	home string // the AVD home that contains it, "" for the user's
}

// environment returns the variables that select the AVD's home for the SDK's programs.
func (d machine) environment() []string {
	if d.home == "" {
		return nil
	}
	return []string{"ANDROID_AVD_HOME=" + d.home}
}

// prepare finds the AVD of a spec, or creates it.
func (l *Lab) prepare(ctx context.Context, s sdk, e emulator, spec boot.Spec, held *lease.Held, tell func(string)) (machine, error) {
	if spec.Existing == "" {
		return l.create(ctx, s, spec, held, tell)
	}
	if !e.options["-id"] {
		return machine{}, failure(fmt.Sprintf("start the AVD %s: the emulator %s can't be distinguished from another one of the same AVD (it has no option -id)", spec.Existing, e.version), "update it with: sdkmanager emulator")
	}
	out, err := l.run(ctx, e.path, nil, "-list-avds")
	if err != nil {
		return machine{}, l.broken(ctx, "list the AVDs", err)
	}
	names := parseAVDs(string(out.Stdout))
	for _, name := range names {
		if name == spec.Existing {
			return machine{name: name}, held.Note(noteAVD, name)
		}
	}
	there := "there is none"
	if len(names) > 0 {
		const most = 10
		there = "there are " + prose.Few(names, most)
	}
	return machine{}, failure(fmt.Sprintf("start the AVD %s: no AVD has that name; %s", spec.Existing, there), "name one that `emulator -list-avds` lists, or leave name out to have one created")
}

// create makes avdmanager create an AVD that is named after the lease, in a home of its own,
// and applies the spec to it.
func (l *Lab) create(ctx context.Context, s sdk, spec boot.Spec, held *lease.Held, tell func(string)) (machine, error) {
	spec.ABI, spec.Image = cmp.Or(spec.ABI, hostABI()), cmp.Or(spec.Image, "google_apis")
	image := imagePackage(spec)
	switch {
	case s.avdmanager == "":
		return machine{}, failure("create an AVD: neither the SDK's folder nor the PATH has avdmanager", installEmulator)
	case !s.has(image):
		return machine{}, s.lacks(image)
	}
	d := machine{name: held.ID(), home: filepath.Join(l.homes, held.ID())}
	if err := errors.Join(held.Note(noteHome, d.home), held.Note(noteAVD, d.name)); err != nil {
		return d, err
	}
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		return d, failure("create a home for the AVD: "+err.Error(), "")
	}
	tell(fmt.Sprintf("creating the AVD %s (%s)", d.name, image))
	args := []string{"create", "avd", "-n", d.name, "-k", image}
	if spec.Model != "" {
		args = append(args, "-d", spec.Model)
	}
	out, err := hostprogram.Run(ctx, hostprogram.Command{
		Path: s.avdmanager, Args: args, Env: l.environment(d.environment()...), Stdin: "no\n", Timeout: l.patience.create,
	})
	if err != nil {
		return d, l.broken(ctx, "create the AVD "+d.name, err)
	}
	if out.ExitCode != 0 {
		return d, managerFailure(spec, s, image, out)
	}
	return d, d.configure(spec)
}

// configure writes the spec's settings to the AVD's config.ini. RAM is in MiB there, and a
// screen of its own size is a skin without pictures.
func (d machine) configure(spec boot.Spec) error {
	path := filepath.Join(d.home, d.name+".avd", "config.ini")
	config, err := readINI(path)
	if err != nil {
		return failure("read the AVD that avdmanager created: "+err.Error(), "see whether avdmanager heeds ANDROID_AVD_HOME: update it with sdkmanager \"cmdline-tools;latest\"")
	}
	if spec.Width > 0 && spec.Height > 0 {
		size := strconv.Itoa(spec.Width) + "x" + strconv.Itoa(spec.Height)
		for _, kv := range [][2]string{
			{"hw.lcd.width", strconv.Itoa(spec.Width)}, {"hw.lcd.height", strconv.Itoa(spec.Height)},
			{"skin.name", size}, {"skin.path", "_no_skin"}, {"skin.dynamic", "yes"},
		} {
			config.set(kv[0], kv[1])
		}
	}
	for key, n := range map[string]int{"hw.lcd.density": spec.Density, "hw.ramSize": spec.RAMMiB, "hw.cpu.ncore": spec.Cores} {
		if n > 0 {
			config.set(key, strconv.Itoa(n))
		}
	}
	if spec.GPU != "" {
		config.set("hw.gpu.enabled", "yes")
		config.set("hw.gpu.mode", spec.GPU)
	}
	config.set("showDeviceFrame", "no")
	if err := os.WriteFile(path, []byte(config.String()), 0o600); err != nil {
		return failure("write the settings of the AVD: "+err.Error(), "")
	}
	return nil
}

// managerError matches avdmanager's refusal: "Error: …", on lines of its own after the
// progress bars, followed by a line "null".
var managerError = regexp.MustCompile(`(?m)^(?:.*\r|.*% Done)?\s*Error: +(.*(?:\n[^\n]+)?)`)

// parseManagerError returns avdmanager's reason for a refusal, "" if it printed none.
func parseManagerError(output string) string {
	m := managerError.FindStringSubmatch(strings.ReplaceAll(output, "\r\n", "\n"))
	if m == nil {
		return ""
	}
	first, second, _ := strings.Cut(m[1], "\n")
	if second = strings.TrimSpace(second); second != "" && second != "null" {
		first = strings.TrimSpace(first) + " " + second
	}
	return strings.TrimSpace(first)
}

// managerFailure returns the error for an AVD that avdmanager did not create.
func managerFailure(spec boot.Spec, s sdk, image string, out hostprogram.Result) *boot.Error {
	all := string(out.Stderr) + "\n" + string(out.Stdout)
	said := cmp.Or(parseManagerError(all), out.Said())
	what := fmt.Sprintf("create an AVD: avdmanager says %s (exit code %d)", prose.Quote(prose.OneLine(said), 300), out.ExitCode)
	switch {
	case strings.Contains(all, "JAVA_HOME") || strings.Contains(all, "UnsupportedClassVersionError"):
		return failure(what, "avdmanager needs Java 17 or newer: install it, or set JAVA_HOME to it")
	case strings.Contains(said, "No device found matching"):
		return failure(what, fmt.Sprintf("model %q is none of those that `avdmanager list device -c` lists", spec.Model))
	case strings.Contains(said, "Package path is not valid"):
		return failure(what, fmt.Sprintf("avdmanager looks in another SDK than %s, or the image is damaged: sdkmanager %q", s.root, image))
	case strings.Contains(said, `"emulator" package must be installed`):
		return failure(what, installEmulator)
	case strings.Contains(all, "No space left on device"):
		return failure(what, "make room on the disk of "+s.root+" and of the home")
	}
	return failure(what, "")
}
