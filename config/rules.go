package config

import (
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apkgate/apkgate/metric"
)

// rule is a condition on a text.
type rule struct {
	want string // completes "want …"
	ok   func(string) bool
}

func pattern(re *regexp.Regexp, want string) rule { return rule{want, re.MatchString} }

// The patterns are also the JSON Schema's.
var (
	packagePattern  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)
	classPattern    = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$`)
	activityPattern = regexp.MustCompile(`^\.?[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$`)
	propertyPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)
	networkPattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,31}$`)
	serialPattern   = regexp.MustCompile(`^[!-~]{1,200}$`)
	durationPattern = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)
	percentPattern  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)
	integerPattern  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	branchPattern   = regexp.MustCompile(`^[^\s#-][^\s]*$|^#[^\s]+$`)
	databasePattern = regexp.MustCompile(`^postgres(ql)?://[!-~]*$`)
	storePattern    = regexp.MustCompile(`^[a-z][a-z0-9+.-]+:[!-~]+$`)
	passwordPattern = regexp.MustCompile(`^[a-z]+://[^/@]*:[^/]*@|[?&]password=`)
	downloadPattern = regexp.MustCompile(`^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[!-~]*)?$`)
	apiPattern      = regexp.MustCompile(`^[0-9]{2}(\.[0-9]+)?(-ext[0-9]+)?$|^[A-Z][A-Za-z]{1,39}$`)
	androidPattern  = regexp.MustCompile(`^[0-9]{1,2}(\.[0-9]{1,2}){0,2}$`)
	imagePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	screenPattern   = regexp.MustCompile(`^([1-9][0-9]{2,3})x([1-9][0-9]{2,3})@([1-9][0-9]{1,3})$`)
	projectPattern  = regexp.MustCompile(`^[a-z][a-z0-9:.-]{4,60}[a-z0-9]$`)
	bucketPattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$`)
	modelPattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$`)
	arnPattern      = regexp.MustCompile(`^arn:aws:devicefarm:[a-z0-9-]{1,30}:[0-9]{12}:project:[A-Za-z0-9-]{1,100}$`)
	phonePattern    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9 _.+()/'-]{0,78}[A-Za-z0-9+)])?$`)
	numberPattern   = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

var (
	packageRule  = pattern(packagePattern, "an application id such as com.example.mail")
	runnerRule   = pattern(classPattern, "a class such as "+DefaultRunner)
	activityRule = pattern(activityPattern, "the class of an activity such as .MainActivity or com.example.mail.MainActivity")
	propertyRule = pattern(propertyPattern, "a property name: a letter, then up to 63 letters, digits or _ . -")
	networkRule  = pattern(networkPattern, "a network such as wifi, 3g, 4g or none: up to 32 small letters, digits or _ . -")
	serialRule   = pattern(serialPattern, "a serial as adb devices prints it, without spaces")
	nameRule     = rule{"1 to 200 printable characters, no space at either end", func(s string) bool { return isLine(s, 1, 200) }}
	eventRule    = rule{"up to 200 printable characters, no space at either end", func(s string) bool { return isLine(s, 0, 200) }}
	unitRule     = rule{"up to 20 printable characters, no space at either end", func(s string) bool { return isLine(s, 0, 20) }}
	valueRule    = rule{"up to 1000 printable characters, no space at either end", func(s string) bool { return isLine(s, 0, 1000) }}
	oneClassRule = rule{"a test class such as com.example.StartupBenchmark", func(s string) bool { return isLine(s, 1, 190) && classPattern.MatchString(s) }}
	classRule    = rule{"a test class, class#method or package class, such as com.example.MailTest#openMessage", func(s string) bool { return isLine(s, 1, 1000) }}
	addressRule  = rule{"host:port, such as 10.0.0.7:5555 or [fe80::1]:5555", isAddress}
	metricRule   = rule{"a letter, then up to 127 letters, digits or _ . : / -", metric.ValidName}
	branchRule   = rule{"REMOTE#BRANCH without spaces, such as origin, origin#apkgate-history or \"#perf\"", func(s string) bool { return isLine(s, 1, 1000) && branchPattern.MatchString(s) }}
	downloadRule = pattern(downloadPattern, "an address such as http://10.0.2.2:8000/file, without spaces and without a password")
	storeRule    = rule{"an address as --store takes it, up to 1000 characters without spaces", func(s string) bool { return isLine(s, 1, 1000) && storePattern.MatchString(s) }}
	databaseRule = rule{"an address such as postgres://ci@db.example.org/apkgate?sslmode=verify-full, up to 1000 characters without spaces", func(s string) bool { return isLine(s, 1, 1000) && databasePattern.MatchString(s) }}
	apiRule      = pattern(apiPattern, "the API level of a system image, such as 34 or 34-ext8")
	androidRule  = pattern(androidPattern, "a version of Android, such as \"11.0\"")
	imageRule    = pattern(imagePattern, "a word of small letters, digits or _ -")
	bootRule     = rule{"1 to 200 printable characters, no space at either end and no - at the beginning", func(s string) bool { return isLine(s, 1, 200) && !strings.HasPrefix(s, "-") }}
	screenRule   = rule{"a screen as WIDTHxHEIGHT@DPI, such as 1080x2400@420", func(s string) bool { _, ok := parseScreen(s); return ok }}
	projectRule  = pattern(projectPattern, "the id of a project, such as my-app-1234")
	bucketRule   = pattern(bucketPattern, "the name of a bucket without gs://, such as my-app-results")
	modelRule    = pattern(modelPattern, "an id as gcloud firebase test android models list prints it, such as oriole or 33")
	arnRule      = pattern(arnPattern, "the ARN of a project, as aws devicefarm list-projects prints it: arn:aws:devicefarm:us-west-2:123456789012:project:…")
	awsRule      = pattern(phonePattern, "a name or an os as aws devicefarm list-devices prints them, such as Google Pixel 6 or 13")
	phoneRule    = pattern(phonePattern, "a name of BrowserStack's list of devices, such as Google Pixel 7 or \"13.0\"")
	pathRule     = rule{"a path to a file, up to 1000 printable characters", isFilePath}
)

// isLine reports whether the text is one printable line of that many characters.
func isLine(s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	if n < least || n > most || strings.TrimSpace(s) != s {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// printable replaces unprintable characters, for messages.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '\uFFFD'
}

func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || !serialPattern.MatchString(host) || strings.ContainsAny(host, `/\`) {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// isFilePath accepts absolute paths and those that leave the repository: whoever can change
// apkgate.yml can already run any workload. It rejects a folder's name and a ~ that nothing would
// expand.
func isFilePath(s string) bool {
	if !isLine(s, 1, 1000) || strings.HasPrefix(s, "~") || strings.HasSuffix(s, "/") {
		return false
	}
	base := filepath.Base(s)
	return base != "." && base != ".."
}
