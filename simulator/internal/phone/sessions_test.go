package phone

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/simulator/profile"
)

// part returns one APK of a split app.
func part(name string, more ...string) string {
	lines := []string{"apkgate-simulated-app/1", "package com.example.parts", "version 3.0 30"}
	if name != "" {
		lines = append(lines, "split "+name)
	} else {
		lines = append(lines, "incomplete")
	}
	return strings.Join(append(lines, more...), "\n") + "\n"
}

// begin opens a session, and returns its id.
func begin(t *testing.T, p *Phone) string {
	t.Helper()
	id, ok := strings.CutPrefix(output(t, p, "pm install-create -r -t"), "Success: created install session [")
	if !ok {
		t.Fatalf("%q", id)
	}
	return strings.TrimSuffix(id, "]\n")
}

func TestInstallMultiple(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", "")
	id := begin(t, p)
	for name, text := range map[string]string{"base": part(""), "en": part("config.en"), "x86": part("config.x86")} {
		var out, errs strings.Builder
		command := fmt.Sprintf("cmd package install-write -S %d %s %s -", len(text), id, name)
		if code := p.Start(t.Context(), command, strings.NewReader(text), &out, &errs)(); code != 0 || out.String() != fmt.Sprintf("Success: streamed %d bytes\n", len(text)) {
			t.Fatalf("%s: exit code %d, %q, %q", name, code, &out, &errs)
		}
	}
	if _, _, code := run(t, p, "pm path com.example.parts"); code == 0 {
		t.Error("it is there before the commit")
	}
	if got := output(t, p, "pm install-commit "+id); got != "Success\n" {
		t.Errorf("%q", got)
	}
	const dir = "package:/data/app/com.example.parts-1/"
	if got, want := output(t, p, "pm path com.example.parts"), dir+"base.apk\n"+dir+"split_config.en.apk\n"+dir+"split_config.x86.apk\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, errs, code := run(t, p, "pm install-commit "+id); code == 0 || !strings.Contains(errs, "SecurityException") {
		t.Errorf("a session that is over: exit code %d, %q", code, errs)
	}
}

func TestInstallMultipleErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why   string
		phone string
		parts []string
		want  string
	}{
		{"a base alone", "pixel-7-android-14", []string{part("")}, "INSTALL_FAILED_MISSING_SPLIT: Missing split for com.example.parts"},
		{"a base alone, before Android 10", "pixel-3-android-9", []string{part("")}, "Success"},
		{"no base", "pixel-7-android-14", []string{part("config.en")}, "INSTALL_FAILED_INVALID_APK: Full install must include a base package"},
		{"two of a name", "pixel-7-android-14", []string{part(""), part("config.en"), part("config.en")}, "Split config.en was defined multiple times"},
		{"another app's", "pixel-7-android-14", []string{part(""), strings.ReplaceAll(part("config.en"), "parts", "other")}, "package com.example.other inconsistent with com.example.parts"},
		{"another version's", "pixel-7-android-14", []string{part(""), strings.ReplaceAll(part("config.en"), " 30", " 31")}, "version code 31 inconsistent with 30"},
	} {
		p := newPhone(t, c.phone, "")
		id := begin(t, p)
		for i, text := range c.parts {
			put(t, p, "/data/local/tmp/part.apk", text)
			output(t, p, fmt.Sprintf("pm install-write %s part%d /data/local/tmp/part.apk", id, i))
		}
		if got, _, _ := run(t, p, "pm install-commit "+id); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
		if n := p.Sessions(); n != 0 {
			t.Errorf("%s: %d sessions are left", c.why, n)
		}
	}
}

func TestInstallAbandon(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", "")
	id := begin(t, p)
	put(t, p, "/data/local/tmp/base.apk", still)
	output(t, p, "pm install-write "+id+" base /data/local/tmp/base.apk")
	output(t, p, "pm install-abandon "+id)
	if _, _, code := run(t, p, "pm path com.example.still"); code == 0 || p.Sessions() != 0 {
		t.Errorf("it is installed, or one of %d sessions is left", p.Sessions())
	}
}

// The messages are those of adbd's restart_service.cpp.
func TestControlRoot(t *testing.T) {
	t.Parallel()
	debug := newPhone(t, "pixel-7-android-14", "")
	pr, err := profile.Find("pixel-7-android-14")
	if err != nil {
		t.Fatal(err)
	}
	sold := New(pr, 1, Options{Production: true})
	t.Cleanup(sold.Close)
	for _, c := range []struct {
		what              string
		phone             *Phone
		service, argument string
		want              string
		restarts          bool
	}{
		{"a phone as it is sold", sold, "root", "", "adbd cannot run as root in production builds\n", false},
		{"before", debug, "unroot", "", "adbd not running as root\n", false},
		{"a debug build", debug, "root", "", "restarting adbd as root\n", true},
		{"again", debug, "root", "", "adbd is already running as root\n", false},
		{"back", debug, "unroot", "", "restarting adbd as non root\n", true},
		{"a port", sold, "tcpip", "5555", "restarting in TCP mode port: 5555\n", true},
		{"no port", sold, "tcpip", "http", "invalid port\n", false},
		{"the cable", sold, "usb", "", "restarting in USB mode\n", true},
	} {
		if got, restarts := c.phone.Control(c.service, c.argument); got != c.want || restarts != c.restarts {
			t.Errorf("%s: %q, %t; want %q, %t", c.what, got, restarts, c.want, c.restarts)
		}
	}
	has(t, output(t, sold, "getprop ro.build.type"), "user\n")
}

// The features of Android's own adb daemon, by version (transport.cpp of each release).
func TestFeaturesByVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ has, lacks string }{
		"moto-g5-android-7.0":     {"shell_v2,cmd", "stat_v2"},
		"pixel-3-android-9":       {"shell_v2,cmd,stat_v2", "abb"},
		"pixel-5-android-11":      {"ls_v2,abb_exec", "delayed_ack"},
		"pixel-7-android-14":      {"sendrecv_v2", "devraw"},
		"galaxy-s3-android-4.1.1": {"", "features="},
	} {
		b := newPhone(t, name, "").Banner()
		if !strings.Contains(b, c.has) || strings.Contains(b, c.lacks) {
			t.Errorf("%s: %q, want %q and not %q", name, b, c.has, c.lacks)
		}
	}
}
