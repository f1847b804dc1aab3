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

// sdk is where Android's SDK is, and the programs of it that are used; "" for what is not
// there.
type sdk struct {
	root                      string
	emulator, avdmanager, adb string
}

// installEmulator is what to type for the programs that a boot needs.
const installEmulator = `install it with: sdkmanager "emulator" "platform-tools" "cmdline-tools;latest" (and set ANDROID_HOME to the SDK's folder)`

// sdk finds the SDK and its programs. Its own programs come before those of the PATH: an
// avdmanager of another SDK (Homebrew's looks beside its own jar) knows none of this one's
// system images.
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

// root is the SDK's folder: as the variables say, or else where the SDK's installers put
// it; "" where there is none.
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

// managers are where avdmanager may be below the SDK: the newest command-line tools first,
// and last those of before 2020.
func managers(root string) []string {
	found, _ := filepath.Glob(filepath.Join(root, "cmdline-tools", "*")) // of a good pattern
	slices.SortFunc(found, func(a, b string) int { return compareVersions(filepath.Base(b), filepath.Base(a)) })
	out := []string{filepath.Join("cmdline-tools", "latest", "bin", "avdmanager")}
	for _, dir := range found {
		out = append(out, filepath.Join("cmdline-tools", filepath.Base(dir), "bin", "avdmanager"))
	}
	return append(out, filepath.Join("tools", "bin", "avdmanager"))
}

// find is the program at the first of the paths below the SDK, or else on the PATH.
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

// executable is a program's path as the system has it.
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

// package names of system images: "system-images;android-34;google_apis;x86_64".
func imagePackage(spec boot.Spec) string {
	return strings.Join([]string{"system-images", "android-" + spec.Android, spec.Image, spec.ABI}, ";")
}

// installed are the system images that the SDK has, as sdkmanager names them.
func (s sdk) installed() (out []string) {
	found, _ := filepath.Glob(filepath.Join(s.root, "system-images", "*", "*", "*", "package.xml")) // of a good pattern
	for _, path := range found {
		if rel, err := filepath.Rel(s.root, filepath.Dir(path)); err == nil {
			out = append(out, strings.ReplaceAll(filepath.ToSlash(rel), "/", ";"))
		}
	}
	return out
}

// lacks is the error where a system image is not installed.
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

// hostABI is the ABI that this computer runs without translation.
func hostABI() string {
	if runtime.GOARCH == "arm64" {
		return "arm64-v8a"
	}
	return "x86_64"
}
