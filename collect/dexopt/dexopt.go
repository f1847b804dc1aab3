// Package dexopt compiles an app's code ahead of time as the configuration says, and reads the
// resulting state.
//
// It owns the requests to Android's package manager and to the app's profileinstaller, and the
// meaning of their answers. The choice of a compilation belongs to the scenario, and what a run
// records of it to package preparation. "Success" proves nothing, since Android says it of debug
// builds too and leaves them as they are; only the state that is read back counts.
package dexopt

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Supported reports whether code can be compiled on demand: `cmd package compile` came with Android
// 7. Before, all code is compiled at installation.
func Supported(f target.Facts) bool { return f.API >= 24 }

// State is how far an app's code is compiled.
type State struct {
	Asked string // the requested compilation
	// Wanted is the compiler filter of that compilation: Android 7 has other names.
	Wanted string
	// Filter is the compiler filter that Android reports for the code, "" if it reports none.
	Filter string
	// Debug reports a debug build, of which Android compiles nothing ahead of time.
	Debug bool
	// NoProfile is why no code was compiled by a profile, "" if some was.
	NoProfile string
}

// Done reports whether the code is compiled as requested. A build without a profile has nothing to
// compile by it.
func (s State) Done() bool {
	return s.Filter == "" || s.Filter == s.Wanted || s.NoProfile != "" && !s.Debug
}

// filterFor returns the compiler filter for a compilation. The one that verifies everything and
// compiles nothing is called "verify" since Android 8 (compiler_filter.h of ART, kInterpretOnly
// before).
func filterFor(how string, api int) string {
	if how == config.CompileVerify && api > 0 && api < 26 {
		return "interpret-only"
	}
	return how
}

// longest limits a compilation: that of a large app on a slow device takes minutes.
const longest = 20 * time.Minute

// Compile compiles the app's code and reads the resulting state. It fails if the device was lost or
// refuses.
func Compile(ctx context.Context, t *target.Target, pkg, how string) (State, error) {
	s := State{Asked: how, Wanted: filterFor(how, t.Facts.API)}
	if how == config.CompileProfile {
		var err error
		if s.NoProfile, err = installProfile(ctx, t, pkg); err != nil {
			return s, err
		}
	}
	out, err := t.Patient(ctx, longest, "cmd", "package", "compile", "-m", s.Wanted, "-f", pkg)
	if err := target.Answered("compile the app ahead of time", out, err); err != nil {
		return s, err
	}
	if !bytes.Contains(out.Stdout, []byte("Success")) && !bytes.Contains(out.Stdout, []byte("PERFORMED")) {
		return s, fmt.Errorf("compile the app ahead of time: the device says %q", target.FirstLine(out.Stdout))
	}
	text, err := t.Output(ctx, "dumpsys", "package", pkg)
	if err != nil {
		return s, fmt.Errorf("read how the code of %s is compiled: %w", pkg, err)
	}
	s.read(text)
	return s, nil
}

var (
	filterIs = regexp.MustCompile(`\[status=([a-z-]{1,40})\]|compilation_filter=([a-z-]{1,40})`) // since Android 9, and before
	flags    = regexp.MustCompile(`(?m)^\s*(?:pkgFlags|flags)=\[([^\]]*)\]`)
)

// IsDebug reports whether the output of `dumpsys package` is of a debug build.
func IsDebug(text string) bool {
	return slices.ContainsFunc(flags.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return slices.Contains(strings.Fields(m[1]), "DEBUGGABLE")
	})
}

// read parses the output of `dumpsys package`. Of several files, the first that is not compiled as
// requested counts, or else the first.
func (s *State) read(text string) {
	s.Debug = IsDebug(text)
	for _, m := range filterIs.FindAllStringSubmatch(text, -1) {
		switch filter := m[1] + m[2]; {
		case filter == s.Wanted:
			s.Filter = filter
		case s.Filter == "":
			s.Filter = filter
		}
	}
}

// receiver installs the profile that a build contains: androidx.profileinstaller, on which most
// AndroidX libraries depend.
const (
	receiver       = "androidx.profileinstaller.ProfileInstallReceiver"
	installAction  = "androidx.profileinstaller.action.INSTALL_PROFILE"
	resultInstalls = 1
	resultIsThere  = 2
)

// results are the receiver's result codes (ProfileInstaller.java).
var results = map[int]string{
	0: "no androidx.profileinstaller in the app has answered", 3: "this Android takes no profiles",
	4: "the profile can't be written", 5: "this Android's format of profiles can't be written",
	6: "the build brings none", 7: "it could not be read", 8: "it is not in order",
}

var completed = regexp.MustCompile(`Broadcast completed: result=(\d{1,4})\b`)

// installProfile installs the baseline profile that the build contains, as the app would some
// seconds after its first start; without is why there is none. The app was started for this alone,
// and is stopped afterwards.
func installProfile(ctx context.Context, t *target.Target, pkg string) (without string, err error) {
	text, err := t.Output(ctx, "am", "broadcast", "-a", installAction, pkg+"/"+receiver)
	if err != nil {
		return "", fmt.Errorf("install the baseline profile of %s: %w", pkg, err)
	}
	without = "the device doesn't report it"
	if m := completed.FindStringSubmatch(text); m != nil {
		result, _ := strconv.Atoi(m[1])
		switch why, known := results[result]; {
		case result == resultInstalls, result == resultIsThere:
			without = ""
		case known:
			without = why
		default:
			without = "its result is " + m[1]
		}
	}
	return without, t.Try(ctx, "am", "force-stop", pkg)
}
