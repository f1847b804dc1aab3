package diagnose

import (
	"regexp"
	"slices"
	"strings"
)

// platform are the prefixes of methods that are not the app's own.
var platform = []string{"java.", "javax.", "jdk.", "sun.", "libcore.", "dalvik.", "android.", "com.android.", "kotlin.", "kotlinx."}

// Platform reports whether a method is not the app's own, but the platform's.
func Platform(method string) bool {
	return slices.ContainsFunc(platform, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
}

// byOrganization are domains under which many organizations publish.
var byOrganization = []string{"com.google", "com.android", "com.github", "io.github", "org.apache", "co.uk"}

// OwnNames returns the prefix of names of the app's own code, its organization's domain:
// "com.example." for "com.example.mail.beta"; "" for no package.
func OwnNames(packageName string) string {
	parts := strings.Split(packageName, ".")
	n := min(2, len(parts))
	if len(parts) > 2 && slices.Contains(byOrganization, strings.Join(parts[:2], ".")) {
		n = 3
	}
	return strings.TrimPrefix(strings.Join(parts[:n], ".")+".", ".")
}

// The names that compilers renumber or hash again when code around them changes: D8's synthetic
// lambdas, those of older desugaring, R8's, javac's, Compose's (by their number or a key, which may
// be negative), and anonymous inner classes (of Java and of Kotlin's lambdas).
var renumbered = []struct {
	pattern *regexp.Regexp
	stable  string
}{
	{regexp.MustCompile(`\$\$ExternalSyntheticLambda\d+`), "$$$$ExternalSyntheticLambda*"},
	{regexp.MustCompile(`(-\$\$Lambda\$[^.$]*)\$[A-Za-z0-9_-]+`), "$1$$*"},
	{regexp.MustCompile(`\$r8\$lambda\$[A-Za-z0-9_-]+`), "$$r8$$lambda$$*"},
	{regexp.MustCompile(`(lambda\$[^.$]+)\$\d+`), "$1$$*"},
	{regexp.MustCompile(`([Ll]ambda)(?:-|\$-?|__?)\d+`), "$1*"},
	{regexp.MustCompile(`\$\d+\b`), "$$*"},
}

// Stable returns a method's name without a compiler's numbers, so that it is the same in builds of
// different sources.
func Stable(name string) string {
	if !strings.Contains(name, "$") {
		return name
	}
	for _, r := range renumbered {
		name = r.pattern.ReplaceAllString(name, r.stable)
	}
	return name
}
