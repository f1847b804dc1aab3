package saas

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/prose"
)

// called is the lab's name in sentences.
const called = "Genymotion SaaS"

// Exit codes of gmsaas, from the tables in its errors.py of 2019 and of 2022 and later. They
// agree except for 2, which was reserved, 9, which was "unreachable", and 12, which was any
// problem of the tunnel.
const (
	codeUsage         = 2
	codeAuth          = 3
	codeAPI           = 4
	codeJSON          = 5
	codeConfiguration = 6
	codePackage       = 7
	codeCompatibility = 8
	codeRosetta       = 9
	codeInstance      = 10
	codePortBusy      = 11
	codeTunnel        = 12
	codeOtherPort     = 13
	codeNotReady      = 14
	codeRequest       = 15
	codeNotSupported  = 19
)

// refusal is the parsed error output of gmsaas.
type refusal struct {
	code    int    // its exit code
	status  int    // of HTTP, 0 if not reported
	reason  string // the platform's own code: "TOO_MANY_RUNNING_VDS"
	message string // one line
}

var (
	// The platform's code is in the body of its answer, which gmsaas quotes.
	reasonPattern = regexp.MustCompile(`"code"\s*:\s*"([A-Z][A-Z0-9_]{2,60})"`)
	// A truncated or differently quoted body still contains the most important codes.
	knownReason   = regexp.MustCompile(`\b(TOO_MANY_RUNNING_VDS|LICENSE_EXPIRED)\b`)
	statusPattern = regexp.MustCompile(`unexpected code: (\d{3})\b`)
)

// readRefusal parses the output of a gmsaas that ended with the code. Without JSON, as for a
// wrong option (click prints its usage) or an uncaught Python exception, it is the last line.
func readRefusal(code int, stdout, stderr []byte) refusal {
	r := refusal{code: code}
	text := ""
	a, err := readAnswer(stderr)
	if err != nil || a.Error == nil {
		a, err = readAnswer(stdout)
	}
	if err == nil && a.Error != nil {
		r.message = strings.TrimPrefix(prose.OneLine(a.Error.Message), "Error: ")
		text = a.Error.Message + "\n" + a.Error.Details
		if len(a.Error.Issues) > 0 {
			r.message += ": " + prose.OneLine(strings.Join(a.Error.Issues, " "))
		}
	} else {
		r.message = lastLine(stderr)
		text = string(stderr)
	}
	if m := reasonPattern.FindStringSubmatch(text); m != nil {
		r.reason = m[1]
	} else {
		r.reason = knownReason.FindString(text)
	}
	if m := statusPattern.FindStringSubmatch(text); m != nil {
		r.status, _ = strconv.Atoi(m[1])
	}
	return r
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimPrefix(prose.OneLine(lines[len(lines)-1]), "Error: ")
}

// Hints of several refusals.
const (
	adviceLogin  = "log in with gmsaas auth token TOKEN, or set GENYMOTION_API_TOKEN (old versions: gmsaas auth login EMAIL PASSWORD)"
	adviceSDK    = "gmsaas config set android-sdk-path PATH"
	adviceUpdate = "pip install --upgrade gmsaas"
	adviceQuota  = "stop one: gmsaas instances list, then gmsaas instances stop UUID; apkgate devices clean stops those that a killed apkgate left; or give the device a smaller count"
)

// failed returns the error of a refusal during an operation: "start an instance of …".
func (r refusal) failed(doing string) *boot.Error {
	e := &boot.Error{Lab: called, What: doing + ": " + r.text()}
	e.Advice, e.Retry = r.judge()
	return e
}

// text describes the reason, in gmsaas's own words.
func (r refusal) text() string {
	said := prose.Clip(r.message, 300)
	if said == "" {
		said = "gmsaas ended with exit code " + strconv.Itoa(r.code) + " and said nothing"
	}
	switch {
	case r.reason == "TOO_MANY_RUNNING_VDS":
		return "the account already runs as many instances as it may (" + r.reason + ")"
	case r.reason == "LICENSE_EXPIRED":
		return "the account's license has expired (" + r.reason + ")"
	case r.reason != "":
		return "the platform refuses it (" + r.reason + "): " + said
	}
	return said
}

// judge returns the hint for a refusal, and whether a retry may help. For refusals of the
// platform (exit code 4) gmsaas has the reason in its text only.
func (r refusal) judge() (advice string, retry bool) {
	switch r.code {
	case codeAPI, codeJSON:
		return r.judgePlatform()
	case codeAuth:
		return adviceLogin, false
	case codeConfiguration:
		if genymotion.Says(r.message, "sdk") {
			return adviceSDK, false
		}
		return adviceLogin, false
	case codeCompatibility:
		return "another gmsaas left its tunnel running: end the process gmadbtunneld, and use one version, server and proxy", false
	case codePackage, codeUsage:
		return adviceUpdate, false
	case codeNotSupported:
		return "unset GENYMOTION_API_TOKEN, or use it alone", false
	case codeRosetta:
		if genymotion.Says(r.message, "rosetta") {
			return "softwareupdate --install-rosetta", false
		}
		return adviceNetwork, true
	case codeRequest:
		switch {
		case genymotion.Says(r.message, "proxy"):
			return "gmsaas config set proxy URL", false
		case genymotion.Says(r.message, "ssl"):
			return "look at the certificates of this computer and its proxy: gmsaas --verbose instances list shows more", false
		}
		return adviceNetwork, true
	case codePortBusy, codeTunnel, codeOtherPort, codeInstance, codeNotReady:
		return "", true
	}
	return "gmsaas doctor shows more", false
}

const adviceNetwork = "look whether this computer reaches https://api.geny.io"

func (r refusal) judgePlatform() (advice string, retry bool) {
	switch {
	case r.reason == "TOO_MANY_RUNNING_VDS":
		return adviceQuota, true
	case strings.Contains(r.reason, "LICENSE"):
		return "look at the plan of the account on https://cloud.geny.io", false
	case r.status == 401:
		return adviceLogin, false
	case r.status == 404:
		return "gmsaas recipes list shows those that the account has", false
	case r.status == 429, r.status >= 500, r.code == codeJSON:
		return "the platform has trouble of its own: try again later", true
	}
	return "gmsaas --verbose instances list shows more", false
}
