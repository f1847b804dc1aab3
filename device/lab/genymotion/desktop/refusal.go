package desktop

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/prose"
)

// called is the lab's name in sentences.
const called = "Genymotion Desktop"

// Exit codes of gmtool, from the vendor's Gradle plugin (2.x) and from the vendor's reference
// of 2026 (3.x), which agree up to 10. 9 and 10 belong to the licence in both; 13 is a missing
// licence in the former and a device that does not start in the latter.
const (
	codeNoAction     = 1
	codeBadValue     = 2
	codeFailed       = 3
	codeEngine       = 4
	codeNoDevice     = 5
	codeLogin        = 6
	codeRegister     = 7
	codeActivate     = 8
	codeNotActivated = 9
	codeBadLicense   = 10
	codeMissing      = 11
	codeNotStopped   = 12
	codeStartOr      = 13
	codePaid         = 14
)

// refused returns the error for a gmtool that ended with the code.
func refused(doing string, code int, stdout, stderr string) *genymotion.RefusedError {
	said := message(stderr)
	if said == "" {
		said = message(stdout)
	}
	advice, retry := judge(code, said)
	if said == "" {
		said = "gmtool said nothing"
	}
	return &genymotion.RefusedError{Code: code, Said: said, Failed: &boot.Error{
		Lab: called, What: fmt.Sprintf("%s: %s (exit code %d)", doing, prose.Clip(said, 300), code), Advice: advice, Retry: retry,
	}}
}

// noise matches lines of gmtool's own log, which it prints among its messages.
var noise = regexp.MustCompile(`^\s*\[?(Debug|Info|Warning)\b`)

// message returns the last line that does not belong to the log.
func message(text string) (last string) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !noise.MatchString(line) {
			last = prose.OneLine(line)
		}
	}
	return last
}

// Hints of several refusals.
const (
	adviceLicense = "gmtool license info shows the license; gmtool license register KEY registers one. Without one, gmtool 3.2 and later still starts devices that are there: name: DEVICE"
	adviceStart   = "start it once in Genymotion itself, which shows more; gmtool admin logzip collects its logs"
)

// judge returns the hint for a refusal, and whether a retry may help.
func judge(code int, said string) (advice string, retry bool) {
	says := func(parts ...string) bool { return genymotion.Says(said, parts...) }
	switch code {
	case codeRegister, codeActivate, codeNotActivated, codeBadLicense, codePaid:
		if says("start", "launch") && !says("licen") {
			return adviceStart, true
		}
		return adviceLicense, false
	case codeStartOr:
		if says("licen") {
			return adviceLicense, false
		}
		return adviceStart, true
	case codeFailed:
		if says("licen") {
			return adviceLicense, false
		}
		return adviceStart, true
	case codeEngine:
		return "look whether VirtualBox or QEMU works for Genymotion, and which version of it this one wants; start Genymotion again", true
	case codeLogin:
		return "gmtool config --email EMAIL --password PASSWORD", false
	case codeNoDevice:
		return "gmtool admin list shows those that are there", false
	case codeNotStopped:
		return "end it in Genymotion or its hypervisor", true
	case codeNoAction, codeBadValue, codeMissing:
		return "look which version of Genymotion this is: gmtool version", false
	}
	return adviceStart, false
}
