package saas

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/lab/genymotion"
)

// api returns an answer of the platform as gmsaas quotes it.
func api(status, body string) string {
	return `{"error":{"message":"API return unexpected code: ` + status + `. Error: ` + strings.ReplaceAll(body, `"`, `\"`) + `","details":""},"exit_code":4,"exit_code_desc":"API_ERROR"}`
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		code         int
		stderr       string
		what, advice string
		retry        bool
	}{
		{codeAPI, api("403", `{"code":"FORBIDDEN_RECIPE"}`), "do: the platform refuses it (FORBIDDEN_RECIPE): API return unexpected code: 403. ", "gmsaas --verbose", false},
		{codeAPI, api("403", `{"code":"LICENSE_REQUIRED"}`), "do: the platform refuses it (LICENSE_REQUIRED): ", "the plan of the account", false},
		{codeAPI, api("400", "no body"), "do: API return unexpected code: 400. Error: no body", "gmsaas --verbose", false},
		{codeAPI, api("429", "slow down"), "do: API return unexpected code: 429. ", "try again later", true},
		{codeAPI, api("500", ""), "do: API return unexpected code: 500. ", "try again later", true},
		{codeAPI, api("499", ""), "do: API return unexpected code: 499. ", "gmsaas --verbose", false},
		{codeJSON, `{"error":{"message":"API return invalid JSON: 200. Error: <html>"},"exit_code":5}`, "do: API return invalid JSON: 200. ", "try again later", true},
		{codeAPI, "TOO_MANY_RUNNING_VDS in a body that is cut", "do: the account already runs as many instances", "gmsaas instances stop UUID", true},
		{codeRosetta, `{"error":{"message":"Error: 'gmsaas' needs Rosetta 2"},"exit_code":9}`, "do: 'gmsaas' needs Rosetta 2", "softwareupdate", false},
		{codeRosetta, `{"error":{"message":"Error: unreachable"},"exit_code":9}`, "do: unreachable", "https://api.geny.io", true}, // of 2019
		{codeRequest, `{"error":{"message":"Error: SSL failed"},"exit_code":15}`, "do: SSL failed", "certificates", false},
		{codePackage, `{"error":{"message":"Error: 'gmadbtunneld' does not exist"},"exit_code":7}`, "do: 'gmadbtunneld' does not exist", "pip install --upgrade", false},
		{codeNotSupported, `{"error":{"message":"Error: command not supported when using API Token."},"exit_code":19}`, "do: command not supported", "GENYMOTION_API_TOKEN", false},
		{codeUsage, "Usage: gmsaas [OPTIONS]\nTry 'gmsaas --help' for help.\n\nError: No such option: --format\n", "do: No such option: --format", "pip install --upgrade", false},
		{1, "", "do: gmsaas ended with exit code 1 and said nothing", "gmsaas doctor", false},
		{77, "Killed\n", "do: Killed", "gmsaas doctor", false},
	} {
		e := readRefusal(c.code, nil, []byte(c.stderr)).failed("do")
		if !strings.HasPrefix(e.What, c.what) || !strings.Contains(e.Advice, c.advice) || e.Retry != c.retry {
			t.Errorf("%d, %s:\n %q, advice %q, retry %v\n want %q, %q, %v", c.code, c.stderr, e.What, e.Advice, e.Retry, c.what, c.advice, c.retry)
		}
	}
	if e := readRefusal(codeAPI, []byte(api("401", "")), nil).failed("do"); !strings.Contains(e.Advice, "gmsaas auth token") {
		t.Errorf("an error on the standard output: %+v", e) // some versions mix them
	}
}

func TestAddress(t *testing.T) {
	for serial, want := range map[string]string{
		"localhost:34919": "127.0.0.1:34919", "10.0.0.7:1": "10.0.0.7:1", "a.b:65535": "a.b:65535",
		"0.0.0.0": "", "localhost:0": "", "localhost:65536": "", "localhost:99999": "", "localhost:": "", "-x:5": "", "a b:5": "", "": "",
	} {
		if got, ok := address(serial); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", serial, got, ok, want)
		}
	}
}

func TestReadAnswer(t *testing.T) {
	for text, want := range map[string]string{
		``: "it printed nothing, want JSON", "\n \n": "it printed nothing, want JSON",
		`{"instances":[]}`:                   `it printed "{\"instances\":[]}", want JSON`, // without an exit code it is none
		"[{\"exit_code\":0}]":                `it printed "[{\"exit_code\":0}]", want JSON`,
		`{"exit_code":0,"instances":"five"}`: `it printed "{\"exit_code\":0,\"instances\":\"five\"}", want JSON`,
	} {
		if _, err := readAnswer([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`{"exit_code":0}`, "warning: {x}\n{\"a\": 1}\n{\"exit_code\": 0}\n", "{\n  \"exit_code\": 0\n}"} {
		if _, err := readAnswer([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// apkgate's timeout is longer than gmsaas's own, so that gmsaas reports it.
func TestStartWithin(t *testing.T) {
	for set, want := range map[string]time.Duration{
		"": 5 * time.Minute, "240": 5 * time.Minute, "600": 11 * time.Minute, "1": 61 * time.Second,
		"0": 5 * time.Minute, "-5": 5 * time.Minute, "soon": 5 * time.Minute, "86400": 5 * time.Minute,
	} {
		l := New(genymotion.Computer{Getenv: func(name string) string { return map[string]string{"GMSAAS_START_TIMEOUT": set}[name] }})
		if got := l.startWithin(); got != want {
			t.Errorf("GMSAAS_START_TIMEOUT=%s: %v, want %v", set, got, want)
		}
	}
}
