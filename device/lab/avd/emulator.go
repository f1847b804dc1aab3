package avd

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
)

// emulator describes the installed emulator.
type emulator struct {
	path    string
	version string          // "36.4.10.0"
	options map[string]bool // supported ones: "-no-metrics"
}

// ask queries the installed emulator's version and options.
func (l *Lab) ask(ctx context.Context, s sdk) (emulator, error) {
	e := emulator{path: s.emulator}
	if e.path == "" {
		return e, failure("find the emulator: neither the SDK's folder nor the PATH has one", installEmulator)
	}
	out, err := l.run(ctx, e.path, nil, "-version")
	if err != nil {
		return e, l.broken(ctx, "ask the emulator for its version", err)
	}
	if e.version = parseVersion(string(out.Stdout) + string(out.Stderr)); e.version == "" {
		return e, failure(fmt.Sprintf("ask %s for its version: it says %.200q", e.path, out.Said()), installEmulator)
	}
	help, err := l.run(ctx, e.path, nil, "-help")
	if err != nil {
		return e, l.broken(ctx, "ask the emulator for its options", err)
	}
	e.options = parseOptions(string(help.Stdout) + string(help.Stderr))
	return e, nil
}

// broken returns the error for a program of the SDK that could not be run, or ctx's error if
// it has ended.
func (l *Lab) broken(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return retryable(doing+": "+err.Error(), "")
}

// versionLine matches the output of -version, which since 33 is a line of the log ("INFO
// | Android emulator version 36.4.10.0 (build_id 15004761) (CL:N/A)").
var versionLine = regexp.MustCompile(`(?m)^(?:[A-Z_]{4,12} *\| *)?Android emulator version ([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})\b`)

// parseVersion returns the emulator's version from its output, "" for none.
func parseVersion(output string) string {
	if m := versionLine.FindStringSubmatch(output); m != nil {
		return m[1]
	}
	return ""
}

// compareVersions compares versions numerically; invalid ones come first.
func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		if d := number(x, i) - number(y, i); d != 0 {
			return d
		}
	}
	return 0
}

func number(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return -1
	}
	return n
}

// parseOptions returns the options that -help lists, one at the beginning of each line.
func parseOptions(help string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(help) {
		if fields := strings.Fields(line); len(fields) > 0 && len(fields[0]) > 1 && fields[0][0] == '-' {
			out[fields[0]] = true
		}
	}
	return out
}

// avdName matches the valid names of AVDs (AvdManagerCli: a-z A-Z 0-9 . _ -).
var avdName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// parseAVDs returns the names that -list-avds prints, in some versions between lines of the
// log.
func parseAVDs(output string) (names []string) {
	for line := range strings.Lines(output) {
		if name := strings.TrimSpace(line); avdName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// commandLine returns the emulator's arguments for a spec. The lease's name is also passed as
// the id, since an existing AVD has another name.
func (e emulator) commandLine(spec boot.Spec, avd, id string, port int) []string {
	args := []string{"-avd", avd, "-port", strconv.Itoa(port), "-no-window", "-no-audio", "-no-boot-anim", "-accel", "on"}
	if e.options["-id"] {
		args = append(args, "-id", id)
	}
	if e.options["-no-metrics"] { // without it, it asks a question or prints a banner
		args = append(args, "-no-metrics")
	}
	if spec.GPU != "" {
		args = append(args, "-gpu", spec.GPU)
	}
	if spec.Snapshot != "" {
		args = append(args, "-snapshot", spec.Snapshot, "-no-snapshot-save")
	} else {
		args = append(args, "-no-snapshot")
	}
	if spec.Existing == "" {
		return args
	}
	args = append(args, "-read-only")
	if spec.RAMMiB > 0 {
		args = append(args, "-memory", strconv.Itoa(spec.RAMMiB))
	}
	if spec.Cores > 0 {
		args = append(args, "-cores", strconv.Itoa(spec.Cores))
	}
	return args
}
