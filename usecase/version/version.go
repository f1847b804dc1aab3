// Package version knows which apkgate this is: a release's number, set when it is
// linked, or what Go notes of the module. It says nothing of the formats' versions.
package version

import "runtime/debug"

// release is the version that scripts/release builds, "v1.2.3"; "" otherwise.
var release string

// Tool is the program and its version, as reports name it.
func Tool() string { return "apkgate " + String() }

// String is the release's, or the module's version as the build knows it.
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
