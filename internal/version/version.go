// Package version returns the version of this apkgate: a release's number, set by the linker, or
// what Go records of the module. It does not cover the formats' versions.
package version

import (
	"runtime"
	"runtime/debug"
)

// release is the version that scripts/release builds, "v1.2.3"; "" otherwise.
var release string

// Tool returns the program and its version, as reports name it.
func Tool() string { return "apkgate " + String() }

// String returns the release's version, or the module's in the build information.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return factsOf(info).Version
}

// Facts are what is known of this build; a field is "" where Go has not recorded it.
type Facts struct {
	Version  string
	Commit   string // a git hash
	Time     string // of the commit, in RFC 3339
	Modified bool   // the files differed from the commit's
	Go       string // "go1.25.0"
	Platform string // "linux/amd64"
}

// Read returns the facts of this build.
func Read() Facts {
	info, _ := debug.ReadBuildInfo()
	return factsOf(info)
}

// factsOf returns the facts in build information, nil for none.
func factsOf(info *debug.BuildInfo) Facts {
	f := Facts{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if f.Version == "" {
		f.Version = "(unknown version)"
		if info != nil && info.Main.Version != "" {
			f.Version = info.Main.Version
		}
	}
	if info == nil {
		return f
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			f.Commit = s.Value
		case "vcs.time":
			f.Time = s.Value
		case "vcs.modified":
			f.Modified = s.Value == "true"
		}
	}
	return f
}
