// Package version returns the version of this apkgate: a release's number, set by the linker, or
// what Go records of the module. It does not cover the formats' versions.
package version

import "runtime/debug"

// release is the version that scripts/release builds, "v1.2.3"; "" otherwise.
var release string

// Tool returns the program and its version, as reports name it.
func Tool() string { return "apkgate " + String() }

// String returns the release's version, or the module's in the build information.
func String() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version
}
