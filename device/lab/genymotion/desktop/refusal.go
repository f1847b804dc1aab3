package desktop

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/prose"
)

// called is how the lab is called in sentences.
const called = "Genymotion Desktop"

// Exit codes of gmtool, of the vendor's Gradle plugin (2.x) and of the vendor's reference
// of 2026 (3.x), which agree up to 10. 9 and 10 are of the licence in both; 13 is a licence
// that is needed in the one and a device that doesn't start in the other.
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

// refused is the error of a gmtool that ended with the code while that was being done.
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

// noise are the lines of gmtool's own log, which it prints beside what it says.
var noise = regexp.MustCompile(`^\s*\[?(Debug|Info|Warning)\b`)

// message is the last line that is none of the log's.
func message(text string) (last string) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !noise.MatchString(line) {
			last = prose.OneLine(line)
		}
	}
	return last
}

// Advice that several refusals share.
const (
	adviceLicense = "gmtool license info tells which license there is; gmtool license register KEY registers one. Without one, gmtool 3.2 and later still starts devices that are there: name: DEVICE"
	adviceStart   = "start it once in Genymotion itself, which tells more; gmtool admin logzip collects its logs"
)

// judge says what to do about a refusal, and whether doing the same again may help.
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
