package saas

import (
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// outputs has, for each collected output of gmsaas, what apkgate reads in it, or why it reads
// nothing.
var outputs = map[string]corpustest.Reading{
	"commands-vendor-doc.txt":                   {Not: "a manual"},
	"env-and-timeouts-source.txt":               {Not: "names of variables and limits, in the comments of this package"},
	"instances-options-source.txt":              {Not: "options, which the stand-in takes"},
	"states-source.txt":                         {Reads: readsStates},
	"session-user-note-1.16.txt":                {Reads: readsSession},
	"exit-codes-source-new.txt":                 {Reads: readsExitCodes},
	"exit-codes-source-old.txt":                 {Reads: readsExitCodes},
	"error-messages-source.txt":                 {Reads: readsMessages},
	"detox-error-mock.txt":                      {Reads: refuses(codeAPI, "TOO_MANY_RUNNING_VDS", "as many instances as it may", true)},
	"rendered-error-quota-json.txt":             {Reads: refuses(codeAPI, "TOO_MANY_RUNNING_VDS", "as many instances as it may", true)},
	"rendered-error-adb-not-ready-json.txt":     {Reads: refuses(codeNotReady, "", "is not started yet", true)},
	"rendered-error-adb-port-busy-json.txt":     {Reads: refuses(codePortBusy, "", "Port '5555' is not available", true)},
	"rendered-error-network-json.txt":           {Reads: refuses(codeRequest, "", "no network connection", true)},
	"rendered-error-no-sdk-json.txt":            {Reads: refuses(codeConfiguration, "", "no Android SDK path set", false)},
	"rendered-error-not-authenticated-json.txt": {Reads: refuses(codeConfiguration, "", "no credentials found", false)},
	"rendered-error-start-timeout-json.txt":     {Reads: refuses(codeInstance, "", "did not start in time", true)},
	"rendered-doctor-ko-json.txt":               {Reads: refuses(1, "", "Authentication failed. Android SDK not configured.", false)},
	"rendered-version-json.txt": {Reads: func(t *testing.T, text []byte) {
		if a := answers(t, text); a.Version != "1.10.0" {
			t.Errorf("version %q", a.Version)
		}
	}},
	"rendered-instances-list-json.txt":         {Reads: readsList},
	"rendered-instances-list-empty-json.txt":   {Reads: func(t *testing.T, text []byte) { lists(t, answers(t, text), 0) }},
	"rendered-instances-start-json.txt":        {Reads: is(online, "")},
	"rendered-instances-start-nowait-json.txt": {Reads: is("CREATING", "")},
	"rendered-instances-stop-json.txt":         {Reads: is("DELETED", "")},
	"rendered-instances-adbconnect-json.txt":   {Reads: is(online, "127.0.0.1:34919")},
	"rendered-recipes-list-json.txt": {Reads: func(t *testing.T, text []byte) {
		offers := answers(t, text).offers()
		if len(offers) != 1 || offers[0].Name != "Google Pixel 3" || offers[0].Android != "8.1" || !isUUID(offers[0].ID) {
			t.Errorf("%+v", offers)
		}
	}},
	"rendered-config-set-json.txt":           {Not: "apkgate configures nothing of gmsaas"},
	"rendered-config-set-text.txt":           {Not: "text: apkgate asks for JSON"},
	"rendered-doctor-ko-text.txt":            {Not: "text: apkgate asks for JSON"},
	"rendered-doctor-ok-text.txt":            {Not: "text: apkgate asks for JSON"},
	"rendered-instances-list-text.txt":       {Not: "text: apkgate asks for JSON"},
	"rendered-instances-list-empty-text.txt": {Not: "text: apkgate asks for JSON"},
	"rendered-recipes-list-text.txt":         {Not: "text: apkgate asks for JSON"},
	"rendered-version-text.txt":              {Not: "text: apkgate asks for JSON"},
	"rendered-whoami-none-text.txt":          {Not: "text: apkgate asks for JSON"},
}

// The collected outputs of gmsaas are parsed, and none of them is left out.
func TestGatheredOutputs(t *testing.T) {
	corpustest.Readings(t, outputs, 20, "labs", "gmsaas")
}

func answers(t *testing.T, text []byte) answer {
	t.Helper()
	a, err := readAnswer(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func lists(t *testing.T, a answer, n int) {
	t.Helper()
	if len(a.Instances) != n {
		t.Errorf("%d instances, want %d", len(a.Instances), n)
	}
}

func readsList(t *testing.T, text []byte) {
	a := answers(t, text)
	lists(t, a, 2)
	one, two := a.named("gminstance_ci_1"), a.named("gminstance_ci_2")
	if len(one) != 1 || one[0].State != online || endOf(a, "gminstance_ci_1") != "" {
		t.Errorf("the first is %+v, ends %q", one, endOf(a, "gminstance_ci_1"))
	}
	if at, ok := address(one[0].Serial); !ok || at != "127.0.0.1:34919" {
		t.Errorf("the first is at %q", one[0].Serial)
	}
	if _, ok := address(two[0].Serial); ok || two[0].State != "BOOTING" {
		t.Errorf("the second is %+v", two)
	}
	if len(a.named("gminstance_ci")) != 0 || endOf(a, "gminstance_ci") == "" {
		t.Error("an instance that isn't listed is found")
	}
}

// is checks the state and the address of the only instance in an answer, "" for none.
func is(state, at string) func(*testing.T, []byte) {
	return func(t *testing.T, text []byte) {
		a := answers(t, text)
		if a.Instance == nil || !isUUID(a.Instance.UUID) || a.Instance.State != state {
			t.Fatalf("%+v", a.Instance)
		}
		if got, _ := address(a.Instance.Serial); got != at {
			t.Errorf("it is at %q, want %q", got, at)
		}
		if over := a.Instance.over(); over != (state == "DELETED") {
			t.Errorf("it is over: %v", over)
		}
	}
}

// refuses checks an error's reason, its wording and whether a retry may help.
func refuses(code int, reason, says string, retry bool) func(*testing.T, []byte) {
	return func(t *testing.T, text []byte) {
		r := readRefusal(code, nil, text)
		e := r.failed("start an instance")
		if r.reason != reason || !strings.Contains(e.What, says) || e.Retry != retry {
			t.Errorf("reason %q, %q, retry %v; want %q, %q, retry %v", r.reason, e.What, e.Retry, reason, says, retry)
		}
		if strings.Contains(e.What, "Error: ") && code != codeAPI || strings.ContainsAny(e.What, "\n{") {
			t.Errorf("it is not said in apkgate's way: %q", e.What)
		}
	}
}

// Every state has a meaning: the instance is usable, no longer usable, or on the way to being
// usable.
func readsStates(t *testing.T, text []byte) {
	first, _, _ := strings.Cut(string(text), "\n")
	_, states, ok := strings.Cut(first, ": ")
	if !ok || len(strings.Fields(states)) < 10 {
		t.Fatalf("the states are %q", first)
	}
	for _, state := range strings.Fields(states) {
		uuid := "4f4e21b3-0000-4000-8000-000000000001"
		ended := endOf(answer{Instances: []instance{{UUID: uuid, Name: "x", State: state}}}, "x") != ""
		starting := strings.Contains(" UNKNOWN CREATING STARTING BOOTING ", " "+state+" ")
		if ended == (starting || state == online) {
			t.Errorf("an instance that was online and is %s has ended: %v", state, ended)
		}
	}
}

func readsSession(t *testing.T, text []byte) {
	r := readRefusal(codeAPI, nil, text)
	if r.reason != "TOO_MANY_RUNNING_VDS" {
		t.Errorf("reason %q", r.reason)
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		if at, ok := address(strings.TrimSpace(line)); ok && at == "127.0.0.1:34919" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the serial is found %d times", found)
	}
}

// ours are the exit codes that this package distinguishes, by the names in both tables.
var ours = map[string]int{
	"USAGE_ERROR": codeUsage, "RESERVED": codeUsage, "AUTHENTICATION_ERROR": codeAuth, "API_ERROR": codeAPI, "INVALID_JSON_ERROR": codeJSON,
	"CONFIGURATION_ERROR": codeConfiguration, "PACKAGE_ERROR": codePackage, "COMPATIBILITY_ERROR": codeCompatibility,
	"APPLE_SILICON_CHIP_ERROR": codeRosetta, "UNREACHABLE_ERROR": codeRosetta, "INSTANCE_ERROR": codeInstance,
	"ADBTUNNEL_BUSY_PORT_ERROR": codePortBusy, "ADBTUNNEL_TIMEOUT_ERROR": codeTunnel, "ADBTUNNEL_GENERIC_ERROR": codeTunnel,
	"ADBTUNNEL_DIFFERENT_PORT_ERROR": codeOtherPort, "ADBTUNNEL_INSTANCE_NOT_READY": codeNotReady, "REQUEST_ERROR": codeRequest,
	"NOT_SUPPORTED_ERROR": codeNotSupported,
	// For commands that apkgate does not call, or that are no errors.
	"NO_ERROR": 0, "DEFAULT_ERROR": 1, "LOGZIP_ERROR": 16, "SAVE_INSTANCE_ERROR": 17, "DISPLAY_INSTANCE_ERROR": 18,
}

func readsExitCodes(t *testing.T, text []byte) {
	for line := range strings.Lines(string(text)) {
		name, number, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if n, err := strconv.Atoi(number); !ok || err != nil || ours[name] != n {
			t.Errorf("%q: this package has %d", line, ours[name])
		}
	}
}

// Every message in gmsaas's sources has a hint, or a retry may help.
func readsMessages(t *testing.T, text []byte) {
	n := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) < 3 {
			continue
		}
		code, err := strconv.Atoi(f[0])
		if err != nil || ours[f[1]] != code {
			t.Errorf("%q: this package has the code %d", line, ours[f[1]])
			continue
		}
		n++
		message := strings.ReplaceAll(f[2], `\n`, "\n")
		e := readRefusal(code, nil, []byte(message)).failed("do something")
		if e.Advice == "" && !e.Retry {
			t.Errorf("no hint for %q", message)
		}
		if strings.Contains(e.What, "\n") || strings.Contains(e.What, "said nothing") {
			t.Errorf("%q is said as %q", message, e.What)
		}
	}
	if n < 20 {
		t.Errorf("%d messages", n)
	}
}

// The output of gmsaas comes from a cloud and is untrusted.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"instances":[{"uuid":"4f4e21b3-0000-4000-8000-000000000001","name":"x","state":"ONLINE","adb_serial":"localhost:34919"}],"exit_code":0}`), 0)
	f.Add([]byte("warning\n{\"error\":{\"message\":\"API return unexpected code: 403. Error: {\\\"code\\\":\\\"LICENSE_EXPIRED\\\"}\"},\"exit_code\":4}"), 4)
	f.Add([]byte("Traceback:\n  x\nError: \x1b[31mno"), 1)
	f.Fuzz(func(t *testing.T, text []byte, code int) {
		if a, err := readAnswer(text); err == nil {
			for _, o := range a.offers() {
				if !isUUID(o.ID) {
					t.Errorf("an offer is passed to gmsaas as %q", o.ID)
				}
			}
			for _, i := range a.Instances {
				for _, found := range a.named(i.Name) {
					if !isUUID(found.UUID) || found.over() {
						t.Errorf("found %+v", found)
					}
				}
				endOf(a, i.Name)
				if at, ok := address(i.Serial); ok && (strings.ContainsAny(at, " \n/") || !strings.Contains(at, ":")) {
					t.Errorf("address %q", at)
				}
			}
		}
		e := readRefusal(code, nil, text).failed("do")
		if e.What == "do: " || strings.ContainsAny(e.What, "\n\r\x1b") || len([]rune(e.What)) > 500 {
			t.Errorf("what is said is %q", e.What)
		}
	})
}
