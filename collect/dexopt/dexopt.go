// Package dexopt has the code of an app compiled as it is to be measured, and reads how
// it stands afterwards.
//
// It owns what Android's package manager and the app's own profileinstaller are asked
// for, and what their answers mean. It does not know why a compilation was chosen (the
// scenario says), nor what a run notes of it. It takes a stand: "Success" proves
// nothing, since Android says it of debug builds too and leaves them as they are; what
// counts is the state that is read back.
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

// Supported reports whether code can be compiled on demand: `cmd package compile` came
// with Android 7. Before, all of it is when it is installed.
func Supported(f target.Facts) bool { return f.API >= 24 }

// Stand is how an app's code stands.
type Stand struct {
	Asked string // the compilation that was asked for
	// Wanted is the compiler's filter for it: Android 7 has other names.
	Wanted string
	// Filter is the compiler's filter that Android says the code stands at, "" where it
	// doesn't say.
	Filter string
	// Debug says that it is a debug build, of which Android compiles nothing ahead.
	Debug bool
	// NoProfile says why nothing was compiled by a profile, "" where something was.
	NoProfile string
}

// Done reports whether the code stands as was asked for. By a profile that the build
// doesn't bring, nothing is to be compiled.
func (s Stand) Done() bool {
	return s.Filter == "" || s.Filter == s.Wanted || s.NoProfile != "" && !s.Debug
}

// filterFor is the compiler's filter for a compilation: what verifies all and compiles nothing
// is called "verify" since Android 8 (compiler_filter.h of ART, kInterpretOnly before).
func filterFor(how string, api int) string {
	if how == config.CompileVerify && api > 0 && api < 26 {
		return "interpret-only"
	}
	return how
}

// longest bounds a compilation: of a large app on a slow device it takes minutes.
const longest = 20 * time.Minute

// Compile has the app's code compiled, and reads how it stands. The error is that the
// device was lost or refuses.
func Compile(ctx context.Context, t *target.Target, pkg, how string) (Stand, error) {
	s := Stand{Asked: how, Wanted: filterFor(how, t.Facts.API)}
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
		return s, fmt.Errorf("read how the code of %s stands: %w", pkg, err)
	}
	s.read(text)
	return s, nil
}

var (
	filterIs = regexp.MustCompile(`\[status=([a-z-]{1,40})\]|compilation_filter=([a-z-]{1,40})`) // since Android 9, and before
	flags    = regexp.MustCompile(`(?m)^\s*(?:pkgFlags|flags)=\[([^\]]*)\]`)
)

// IsDebug reports whether `dumpsys package` tells of a debug build.
func IsDebug(text string) bool {
	return slices.ContainsFunc(flags.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return slices.Contains(strings.Fields(m[1]), "DEBUGGABLE")
	})
}

// read reads what `dumpsys package` says: of several files, one that stands as asked
// for, or else the first.
func (s *Stand) read(text string) {
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

// receiver is what installs the profile that a build brings: androidx.profileinstaller,
// which most AndroidX libraries depend on.
const (
	receiver       = "androidx.profileinstaller.ProfileInstallReceiver"
	installAction  = "androidx.profileinstaller.action.INSTALL_PROFILE"
	resultInstalls = 1
	resultIsThere  = 2
)

// results are what the receiver says by its result code (ProfileInstaller.java).
var results = map[int]string{
	0: "no androidx.profileinstaller in the app has answered", 3: "this Android takes no profiles",
	4: "the profile can't be written", 5: "this Android's format of profiles can't be written",
	6: "the build brings none", 7: "it could not be read", 8: "it is not in order",
}

var completed = regexp.MustCompile(`Broadcast completed: result=(\d{1,4})\b`)

// installProfile installs the baseline profile that the build brings, as the app would
// some seconds after its first start; without tells why there is none. The app is
// stopped afterwards: its start was for this alone.
func installProfile(ctx context.Context, t *target.Target, pkg string) (without string, err error) {
	text, err := t.Output(ctx, "am", "broadcast", "-a", installAction, pkg+"/"+receiver)
	if err != nil {
		return "", fmt.Errorf("install the baseline profile of %s: %w", pkg, err)
	}
	without = "the device doesn't tell"
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
