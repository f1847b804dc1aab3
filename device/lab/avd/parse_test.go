package avd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Android emulator version 30.7.5.0 (build_id 1) (CL:N/A)\nCopyright\n":                                            "30.7.5.0",
		"INFO         | Android emulator version 36.4.10.0 (build_id 1)\nAndroid emulator version 36.4.10.0 (build_id 1)": "36.4.10.0",
		"INFO    | Android emulator version 33.1.24.0\r\n":                                                                "33.1.24.0",
		"Android emulator version unknown\n":                                                                              "",
		"I saw Android emulator version 1.2\n":                                                                            "",
		"":                                                                                                                "",
	} {
		if got := parseVersion(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	versions := []string{"9.0", "latest", "12.0", "11.0", "12", "12.0.1", "2.1"}
	slices.SortStableFunc(versions, compareVersions)
	if want := []string{"latest", "2.1", "9.0", "11.0", "12.0", "12", "12.0.1"}; !slices.Equal(versions, want) {
		t.Errorf("%v, want %v", versions, want)
	}
}

func TestParseAccel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output string
		exit   int
		want   acceleration
		first  string
	}{
		"usable":               {"accel:\n0\nKVM (version 12) is installed and usable.\naccel\n", 0, acceleration{0, "KVM (version 12) is installed and usable."}, "KVM (version 12) is installed and usable."},
		"on Windows":           {"accel:\r\n0\r\nWHPX(10.0.1) is installed and usable.\r\naccel\r\n", 0, acceleration{0, "WHPX(10.0.1) is installed and usable."}, "WHPX(10.0.1) is installed and usable."},
		"behind a probe":       {"ProbeKVM: accel: no\n\naccel:\n11\nno permission\nmore\n\nand cut of\naccel\n", 11, acceleration{11, "no permission\nmore\n\nand cut of"}, "no permission"},
		"the code counts":      {"accel:\n8\nno /dev/kvm\naccel\n", 0, acceleration{8, "no /dev/kvm"}, "no /dev/kvm"},
		"without its end":      {"accel:\n8\nno /dev/kvm", 8, acceleration{8, "no /dev/kvm"}, "no /dev/kvm"},
		"without a text":       {"accel:\n138\naccel\n", 138, acceleration{138, ""}, "code 138"},
		"without a block":      {"emulator-check: not found\n", 127, acceleration{127, "emulator-check: not found"}, "emulator-check: not found"},
		"with a strange block": {"accel:\nnone\nx\naccel\n", 1, acceleration{1, "accel: none x accel"}, "accel: none x accel"},
		"nothing":              {"", 1, acceleration{1, ""}, "code 1"},
	} {
		got := parseAccel(c.output, c.exit)
		if got != c.want || got.summary() != c.first {
			t.Errorf("%s: %+v, %q; want %+v, %q", name, got, got.summary(), c.want, c.first)
		}
		if (got.check() == nil) != (c.want.code == 0) {
			t.Errorf("%s: %v", name, got.check())
		}
	}
	for code := 1; code <= 15; code++ {
		if accelHints[code] == "" {
			t.Errorf("there is no hint for the code %d", code)
		}
	}
	if (acceleration{code: 99}).hint() == "" {
		t.Error("an unknown code has no hint")
	}
}

func TestParseAVDs(t *testing.T) {
	t.Parallel()
	got := parseAVDs("INFO | Using crash reporting configuration\nPixel_2\r\n\n  Nexus.5-X \nWARNING: x y\n../escape\n")
	if want := []string{"Pixel_2", "Nexus.5-X"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseOptions(t *testing.T) {
	t.Parallel()
	got := parseOptions("usage: emulator [options] -wrong\n  options:\n    -no-metrics     x\r\n    -id <name>   an id\n    -\n\n")
	if len(got) != 2 || !got["-no-metrics"] || !got["-id"] {
		t.Errorf("%v", got)
	}
}

// Refusals of avdmanager, with its progress bars, with Windows' line ends, and without.
func TestParseManagerError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Error: Package path is not valid. Valid system image paths are:\nnull\n":                           "Package path is not valid. Valid system image paths are:",
		"Error: Android Virtual Device 'a' already exists.\nUse --force if you want to replace it.\nnull\n": "Android Virtual Device 'a' already exists. Use --force if you want to replace it.",
		"[=      ] 10% Loading\r[=======] 100% Done\r\nError: There is no 'a'.\r\nnull\r\n":                 "There is no 'a'.",
		"[=======] 100% Fetch\rError: No device found matching --device x.\nnull":                           "No device found matching --device x.",
		"ERROR: JAVA_HOME is not set\n": "",
		"no Error: here\n":              "",
		"Error: \nnull\n":               "",
	} {
		if got := parseManagerError(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestINI(t *testing.T) {
	t.Parallel()
	f := parseINI("\ufeffavd.ini.encoding=UTF-8\r\nhw.ramSize = 1536\r\n# a comment=1\r\n\r\nhw.ramSize=2048\r\npath=a=b\r\n")
	if f.get("hw.ramSize") != "2048" || f.get("path") != "a=b" || f.get("avd.ini.encoding") != "UTF-8" || f.get("# a comment") != "" || f.get("none") != "" {
		t.Errorf("%q", f)
	}
	f.set("hw.ramSize", "4096")
	f.set("hw.cpu.ncore", "2")
	if want := "avd.ini.encoding=UTF-8\n# a comment=1\n\npath=a=b\nhw.ramSize=4096\nhw.cpu.ncore=2\n"; f.String() != want {
		t.Errorf("%q, want %q", f.String(), want)
	}
	path := filepath.Join(t.TempDir(), "config.ini")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", mostINI+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readINI(path); err == nil {
		t.Error("a file of more than a MiB is read")
	}
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]logLine{
		"emulator: ERROR: Not enough space":                            {"ERROR", "Not enough space"},
		"emulator: Increasing screen off timeout":                      {"", "Increasing screen off timeout"},
		"ERROR   | Running multiple emulators":                         {"ERROR", "Running multiple emulators"},
		"ERROR        | Unknown AVD name [x]\r":                        {"ERROR", "Unknown AVD name [x]"},
		"USER_WARNING | Suggested minimum":                             {"USER_WARNING", "Suggested minimum"},
		"PANIC: Missing emulator engine program":                       {"PANIC", "Missing emulator engine program"},
		"2025-11-23T09:37:02.9313781Z INFO         | Android emulator": {"INFO", "Android emulator"},
		"\x1b[0;39mWARNING      | Client not connected yet.\x1b[0;39m": {"WARNING", "Client not connected yet."},
		"HOME is defined but there is no file":                         {"", "HOME is defined but there is no file"},
		"WARNING: cannnot unmap ptr":                                   {"WARNING", "cannnot unmap ptr"},
		"":                                                             {"", ""},
	} {
		if got := parseLogLine(line); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

// An endless log, in pieces of any size, is limited to its beginning and its end.
func TestLogIsLimited(t *testing.T) {
	t.Parallel()
	seen := 0
	g := &log{seen: func(logLine) { seen++ }}
	line := "INFO | " + strings.Repeat("x", 5000) + "\n"
	for range 1000 {
		for i := 0; i < len(line); i += 700 {
			g.Write([]byte(line[i:min(i+700, len(line))]))
		}
	}
	g.Write([]byte("ERROR | the last\nunended"))
	lines := g.lines()
	if seen != 1001 || len(lines) != firstSeen+lastSeen || len(lines[0].text) > mostLine || lines[len(lines)-1].text != "the last" || g.lastWords() != "the last" {
		t.Errorf("saw %d lines, kept %d of up to %d bytes, the last %q, last words %q", seen, len(lines), len(lines[0].text), lines[len(lines)-1].text, g.lastWords())
	}
	if cap(g.last) > 8*lastSeen || cap(g.part) > 2*mostLine {
		t.Errorf("room for %d lines and %d bytes", cap(g.last), cap(g.part))
	}
}

// logOf returns a log with the text.
func logOf(text string) *log {
	g := &log{seen: func(logLine) {}}
	g.Write([]byte(strings.TrimSuffix(text, "\n") + "\n"))
	return g
}

// corpus returns a file of real programs' output.
func corpus(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(corpustest.Path(t, append([]string{"labs"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The output of real emulators that could not start is recognized, for each version.
func TestBootFailuresOfRealEmulators(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		what  string
		retry bool
	}{
		"disk-full-29.txt":              {"Not enough space to create userdata partition. Available: 6162.445312 MB", false},
		"disk-full-30.txt":              {"Available: 4189.421875 MB", false},
		"disk-full-fatal-36.txt":        {"Available: 6881.56 MB", false},
		"system-compat-warning.txt":     {"does not have enough disk space", false},
		"no-kvm-x86_64-30.txt":          {"there is no hardware acceleration: KVM requires a CPU that supports vmx or svm", false},
		"no-kvm-x86_64-34.txt":          {"there is no hardware acceleration: KVM requires a CPU", false},
		"no-kvm-x86_64-36.txt":          {"there is no hardware acceleration", false},
		"same-avd-running-29.txt":       {"the AVD runs already", false},
		"same-avd-running-33.txt":       {"the AVD runs already", false},
		"panic-missing-engine.txt":      {"Missing emulator engine program for 'x86' CPU.", false},
		"unknown-avd.txt":               {"Unknown AVD name [missing]", false},
		"snapshot-renderer-changed.txt": {"it ended; it said \"eglMakeCurrent", true},
		"crash-segv-coredumpctl.txt":    {"it ended; it said", true},
	} {
		e := logOf(corpus(t, "emulator", name)).died("pixel", "it ended")
		if !strings.Contains(e.What, want.what) || e.Retry != want.retry || !e.Retry && e.Advice == "" {
			t.Errorf("%s: %+v, want %+v", name, e, want)
		}
	}
}

// The failure of an optional part of the emulator does not end a boot, but explains an exit.
func TestOptionalPartsMayFail(t *testing.T) {
	t.Parallel()
	g := logOf("ERROR        | bind: Address already in use\nINFO         | Boot completed in 1 ms")
	if f, ok := known(g.lines()[0]); !ok || !f.mayContinue {
		t.Errorf("%+v, %v", f, ok)
	}
	if e := g.died("a", "it ended"); !e.Retry || !strings.Contains(e.What, portsTaken) {
		t.Errorf("%+v", e)
	}
	g = logOf("ERROR        | bind: Address already in use\nFATAL        | Not enough disk space to run AVD 'a'. Exiting...")
	if e := g.died("a", "it ended"); e.Retry || !strings.Contains(e.What, "Not enough disk space") {
		t.Errorf("%+v, want what the emulator ends of for sure", e)
	}
}

// The output of a successful start contains no failure.
func TestRealSuccessfulStarts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"boot-ok-30.txt", "boot-ok-tail-33.txt", "snapshot-loaded.txt", "startup-35-windows-swiftshader.txt", "gpu-not-usable.txt", "gpu-vulkan-incompatible.txt", "kill-after-timeout-30.txt", "snapshot-failed-no-cache-device.txt"} {
		for _, l := range logOf(corpus(t, "emulator", name)).lines() {
			if f, ok := known(l); ok {
				t.Errorf("%s: %+v is taken for %q", name, l, f.matchAny)
			}
		}
	}
}

func TestRealOutputsOfTheEmulator(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"accel-check-haxm.txt": 0, "accel-check-kvm-ok.txt": 0, "accel-check-whpx.txt": 0, "accel-check-kvm-not-found.txt": 8, "accel-check-kvm-permission.txt": 11} {
		got := parseAccel(corpus(t, "emulator", name), -1)
		if got.code != want || got.text == "" || strings.Contains(got.text, "accel:") {
			t.Errorf("%s: %+v, want the code %d", name, got, want)
		}
	}
	if got := parseVersion(corpus(t, "emulator", "version-36.txt")); got != "36.4.10.0" {
		t.Errorf("version %q", got)
	}
	for name, want := range map[string]string{"list-avds-noise.txt": "Medium_Phone_API_36.1 Pixel_2_XL", "list-avds-two.txt": "Pixel_7_API_35 MAUI_Emulator Nexus_5X"} {
		if got := parseAVDs(corpus(t, "emulator", name)); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRealOutputsOfAvdmanager(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"create-bad-package.txt":    "Package path is not valid. Valid system image paths are:",
		"create-bad-tag.txt":        "Invalid --tag foo for the selected package. Valid tags are: google_apis",
		"create-exists.txt":         "Android Virtual Device 'test_avd2' already exists. Use --force if you want to replace it.",
		"create-no-package.txt":     "Package path (-k) not specified. Valid system image paths are: system-images;android-25;google_apis_playstore;x86",
		"create-unknown-device.txt": "No device found matching --device nonexistent_device_xyz.",
		"delete-missing.txt":        "There is no Android Virtual Device named 'Pixel_9'.",
		"create-ok.txt":             "",
	} {
		if got := parseManagerError(corpus(t, "avdmanager", name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRealINIs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"config.ini-nexus5x-api24.txt":       {"hw.lcd.density", "420"},
		"config.ini-pixel2-api28-studio.txt": {"skin.name", "pixel_2"},
		"config.ini-avdmanager-bare.txt":     {"image.sysdir.1", "system-images/android-28/google_apis/x86/"},
		"hardware-qemu.ini-head.txt":         {"hw.cpu.ncore", "4"},
		"avd.ini-nexus5x.txt":                {"path", "/Users/user/.android/avd/Nexus_5X_API_24.avd"},
		"pid-running-full.txt":               {"avd.id", "Pixel_9"},
	} {
		if got := parseINI(corpus(t, "avd-ini", name)).get(want[0]); got != want[1] {
			t.Errorf("%s: %s is %q, want %q", name, want[0], got, want[1])
		}
	}
}

// The options that are passed to an emulator are options of real ones.
func TestOptionsAreReal(t *testing.T) {
	t.Parallel()
	real := parseOptions(corpus(t, "emulator", "options-source.txt"))
	real["-no-metrics"] = true // in newer versions
	e := emulator{options: real}
	for _, arg := range e.commandLine(specOfEverything, "a", "apkgate-a", 5554) {
		if strings.HasPrefix(arg, "-") && !real[arg] {
			t.Errorf("no emulator has the option %s", arg)
		}
	}
}

func FuzzOutputs(f *testing.F) {
	f.Add("accel:\n0\nx\naccel\nINFO | Android emulator version 36.1.1\nError: x\ny\nkey = value\nERROR | Running multiple emulators with the same AVD")
	f.Fuzz(func(t *testing.T, text string) {
		if a := parseAccel(text, 1); len(a.summary()) > 4*201 {
			t.Errorf("a summary of %d bytes", len(a.summary()))
		}
		for _, name := range parseAVDs(text) {
			if !avdName.MatchString(name) {
				t.Errorf("the name %q", name)
			}
		}
		if v := parseVersion(text); v != "" && strings.Trim(v, "0123456789.") != "" {
			t.Errorf("the version %q", v)
		}
		parseManagerError(text)
		parseOptions(text)
		ini := parseINI(text)
		ini.set("key", "value")
		if again := parseINI(ini.String()); again.get("key") != "value" {
			t.Errorf("%q is not read back", ini)
		}
		g := logOf(text)
		if e := g.died("a", "it ended"); e.What == "" || len(e.What) > 4*700 {
			t.Errorf("%q", e.What)
		}
	})
}

// get returns a key's value, the last one if there are several; "" for none.
func (f ini) get(key string) (value string) {
	for _, line := range f.lines {
		if k, v, ok := split(line); ok && k == key {
			value = v
		}
	}
	return value
}
