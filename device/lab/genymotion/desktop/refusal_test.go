package desktop

import (
	"strings"
	"testing"
)

// The tables of versions 2 and 3 disagree: gmtool's message decides.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		code   int
		said   string
		advice string
		retry  bool
	}{
		{codeStartOr, "This feature requires a license", adviceLicense, false},
		{codeStartOr, "Unable to start the virtual device", adviceStart, true},
		{codeNotActivated, "No license is activated", adviceLicense, false},
		{codeNotActivated, "", adviceLicense, false},
		{codeBadLicense, "Unable to launch the device", adviceStart, true},
		{codePaid, "Requires Indie/Business licence to start devices", adviceLicense, false},
		{codeFailed, "No launch: no license", adviceLicense, false},
		{codeFailed, "No launch", adviceStart, true},
		{codeNotStopped, "", "end it in Genymotion or its hypervisor", true},
		{codeMissing, "", "gmtool version", false},
		{143, "", adviceStart, false},
	} {
		e := refused("do", c.code, "", c.said)
		if !strings.Contains(e.Failed.Advice, c.advice) || e.Failed.Retry != c.retry {
			t.Errorf("%d, %q: advice %q, retry %v; want %q, %v", c.code, c.said, e.Failed.Advice, e.Failed.Retry, c.advice, c.retry)
		}
	}
	for _, c := range []struct{ stdout, stderr, want string }{
		{"", "", "do: gmtool said nothing (exit code 3)"},
		{"on its output\n", "[Warning] [x] noise\n", "do: on its output (exit code 3)"},
		{"x\n", "first\n  [Debug] y\nlast\n\n", "do: last (exit code 3)"},
	} {
		if got := refused("do", codeFailed, c.stdout, c.stderr).Failed.What; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Lists that can't be parsed are errors, not empty lists.
func TestReadListErrors(t *testing.T) {
	const head = " State | ADB Serial | UUID | Name\n-------+------------+------+-----\n"
	for _, text := range []string{"", "hello", "a | b | c | d\n", " State | Name | UUID | ADB Serial\n On | x | y | z\n"} {
		if got, err := readList(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	if got, err := readList(head); err != nil || len(got) != 0 {
		t.Errorf("of no devices: %+v, %v", got, err)
	}
	got, err := readList(head + " | 1.2.3.4 | u | no state\n On | 1.2.3.4 | u | \n On | not an address! | u | x\n")
	if err != nil || len(got) != 1 || got[0].Serial != "" || got[0].Name != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSpelled(t *testing.T) {
	for _, list := range []string{
		"Hardware profile\nGoogle Pixel 3\nGoogle Pixel 3 XL\n",
		" Name           | Screen\n----+----\n Google Pixel 3 | 1080x2160\n",
		"Name : Google Pixel 3\nScreen : 1080\n",
	} {
		if got := spelled(list, "GOOGLE pixel 3", strings.EqualFold); got != "Google Pixel 3" {
			t.Errorf("%q: %q", list, got)
		}
	}
	if got := spelled("a\n\nb\n", "Nothing Phone", strings.EqualFold); got != "Nothing Phone" {
		t.Errorf("what isn't listed becomes %q", got)
	}
	for android, want := range map[string]string{"11.0": "Android 11.0", "Android 11.0": "Android 11.0", "android 9": "android 9"} {
		if got := image(android); got != want {
			t.Errorf("%q is the image %q, want %q", android, got, want)
		}
	}
}
