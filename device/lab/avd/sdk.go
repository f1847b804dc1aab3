package avd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// sdk is the location of Android's SDK and of its programs; "" for those that are missing.
type sdk struct {
	root                      string
	emulator, avdmanager, adb string
}

// installEmulator is the hint for missing programs.
const installEmulator = `install it with: sdkmanager "emulator" "platform-tools" "cmdline-tools;latest" (and set ANDROID_HOME to the SDK's folder)`

// sdk finds the SDK and its programs. The SDK's own programs take precedence over those in the
// PATH: an avdmanager of another SDK (Homebrew's looks beside its own jar) does not find this
// SDK's system images.
func (l *Lab) sdk() sdk {
	s := sdk{root: l.root()}
	s.emulator = l.find(s.root, "emulator", filepath.Join("emulator", "emulator"))
	s.avdmanager = l.find(s.root, "avdmanager", managers(s.root)...)
	s.adb = l.find(s.root, "adb", filepath.Join("platform-tools", "adb"))
	if s.root == "" && s.emulator != "" {
		if real, err := filepath.EvalSymlinks(s.emulator); err == nil {
			s.root = filepath.Dir(filepath.Dir(real))
		}
	}
	return s
}

// root returns the SDK's folder: from the variables, or else where the SDK's installers put
// it; "" if there is none.
func (l *Lab) root() string {
	for _, name := range []string{"ANDROID_HOME", "ANDROID_SDK_ROOT"} {
		if dir := l.computer.Getenv(name); isFolder(dir) {
			return dir
		}
	}
	home := l.computer.Getenv("HOME")
	usual := []string{filepath.Join(home, "Android", "Sdk"), "/usr/lib/android-sdk", "/usr/local/lib/android/sdk"}
	switch runtime.GOOS {
	case "darwin":
		usual = []string{filepath.Join(home, "Library", "Android", "sdk")}
	case "windows":
		usual = []string{filepath.Join(l.computer.Getenv("LOCALAPPDATA"), "Android", "Sdk")}
	}
	for _, dir := range usual {
		if isFile(executable(filepath.Join(dir, "emulator", "emulator"))) {
			return dir
		}
	}
	return ""
}

// managers returns the possible paths of avdmanager in the SDK: the newest command-line tools
// first, and those of before 2020 last.
func managers(root string) []string {
	found, _ := filepath.Glob(filepath.Join(root, "cmdline-tools", "*")) // the pattern is valid
	slices.SortFunc(found, func(a, b string) int { return compareVersions(filepath.Base(b), filepath.Base(a)) })
	out := []string{filepath.Join("cmdline-tools", "latest", "bin", "avdmanager")}
	for _, dir := range found {
		out = append(out, filepath.Join("cmdline-tools", filepath.Base(dir), "bin", "avdmanager"))
	}
	return append(out, filepath.Join("tools", "bin", "avdmanager"))
}

// find returns the program at the first of the paths that exists in the SDK, or else on the
// PATH.
func (l *Lab) find(root, name string, paths ...string) string {
	for _, p := range paths {
		if full := executable(filepath.Join(root, p)); root != "" && isFile(full) {
			return full
		}
	}
	for _, dir := range filepath.SplitList(l.computer.Getenv("PATH")) {
		if full := executable(filepath.Join(dir, name)); filepath.IsAbs(dir) && isFile(full) {
			return full
		}
	}
	return ""
}

// executable returns a program's path with the system's suffix.
func executable(path string) string {
	switch {
	case runtime.GOOS != "windows":
		return path
	case filepath.Base(path) == "avdmanager":
		return path + ".bat"
	}
	return path + ".exe"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.IsDir()
}

// imagePackage returns the package name of a system image:
// "system-images;android-34;google_apis;x86_64".
func imagePackage(spec boot.Spec) string {
	return strings.Join([]string{"system-images", "android-" + spec.Android, spec.Image, spec.ABI}, ";")
}

// installed returns the SDK's system images, as sdkmanager names them.
func (s sdk) installed() (out []string) {
	found, _ := filepath.Glob(filepath.Join(s.root, "system-images", "*", "*", "*", "package.xml")) // the pattern is valid
	for _, path := range found {
		if rel, err := filepath.Rel(s.root, filepath.Dir(path)); err == nil {
			out = append(out, strings.ReplaceAll(filepath.ToSlash(rel), "/", ";"))
		}
	}
	return out
}

// lacks returns the error for a system image that is not installed.
func (s sdk) lacks(image string) *boot.Error {
	there := "none is"
	if all := s.installed(); len(all) > 0 {
		const most = 5
		there = prose.Few(all, most)
	}
	return failure(fmt.Sprintf("create an AVD: the system image %s is not installed in %s; installed: %s", image, s.root, there),
		fmt.Sprintf("install it and accept its licence with: sdkmanager %q", image))
}

// has reports whether the SDK has a system image.
func (s sdk) has(image string) bool { return slices.Contains(s.installed(), image) }

// hostABI returns the ABI that this computer runs without translation.
func hostABI() string {
	if runtime.GOARCH == "arm64" {
		return "arm64-v8a"
	}
	return "x86_64"
}
