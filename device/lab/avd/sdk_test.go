package avd

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// tree creates files in a folder of the test's.
func tree(t *testing.T, paths ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// labWith returns a lab with only these environment variables.
func labWith(variables map[string]string) *Lab {
	return New(Computer{Getenv: func(name string) string { return variables[name] }})
}

// The SDK's own programs take precedence over those of the PATH, and the newest over older
// ones.
func TestSDK(t *testing.T) {
	t.Parallel()
	root := tree(t, "emulator/emulator", "platform-tools/adb", "cmdline-tools/9.0/bin/avdmanager", "cmdline-tools/12.0/bin/avdmanager", "tools/bin/avdmanager")
	bin := tree(t, "emulator", "avdmanager", "adb")
	home := tree(t, "Android/Sdk/emulator/emulator", "Android/Sdk/cmdline-tools/latest/bin/avdmanager", "Android/Sdk/cmdline-tools/99.0/bin/avdmanager")
	old := tree(t, "tools/bin/avdmanager")
	for name, c := range map[string]struct {
		variables map[string]string
		want      sdk
	}{
		"ANDROID_HOME": {map[string]string{"ANDROID_HOME": root, "ANDROID_SDK_ROOT": old, "PATH": bin}, sdk{root, root + "/emulator/emulator", root + "/cmdline-tools/12.0/bin/avdmanager", root + "/platform-tools/adb"}},
		"ANDROID_SDK_ROOT, as ANDROID_HOME is no folder": {map[string]string{"ANDROID_HOME": root + "/none", "ANDROID_SDK_ROOT": old, "PATH": bin}, sdk{old, bin + "/emulator", old + "/tools/bin/avdmanager", bin + "/adb"}},
		"where installers put it":                        {map[string]string{"HOME": home, "PATH": "relative:" + bin}, sdk{home + "/Android/Sdk", home + "/Android/Sdk/emulator/emulator", home + "/Android/Sdk/cmdline-tools/latest/bin/avdmanager", bin + "/adb"}},
		"nowhere":                                        {map[string]string{"HOME": t.TempDir(), "PATH": t.TempDir()}, sdk{}},
	} {
		if got := labWith(c.variables).sdk(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// If only the PATH leads to the SDK, the SDK is the folder around the program.
	links := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "emulator", "emulator"), filepath.Join(links, "emulator")); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	if got := labWith(map[string]string{"PATH": links, "HOME": links}).sdk(); got.root != real {
		t.Errorf("%+v, want the folder %s", got, real)
	}
}

func TestInstalledImages(t *testing.T) {
	t.Parallel()
	s := sdk{root: tree(t, "system-images/android-34/google_apis/x86_64/package.xml", "system-images/android-30/default/x86/package.xml", "system-images/android-33/google_apis/x86_64/half.zip")}
	if got := s.installed(); !slices.Equal(got, []string{"system-images;android-30;default;x86", "system-images;android-34;google_apis;x86_64"}) {
		t.Errorf("%q", got)
	}
	image := imagePackage(boot.Spec{Android: "34-ext8", Image: "google_atd", ABI: "arm64-v8a"})
	if image != "system-images;android-34-ext8;google_atd;arm64-v8a" || s.has(image) || !s.has("system-images;android-30;default;x86") {
		t.Errorf("%q", image)
	}
	if e := (sdk{root: t.TempDir()}).lacks(image); !strings.Contains(e.What, "installed: none is") || !strings.Contains(e.Advice, `sdkmanager "`+image+`"`) {
		t.Errorf("%+v", e)
	}
}

// The processes that are stopped are the emulator's, its engine's and avdmanager's, and no
// others with a lease's name on their command line.
func TestIsSDKs(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"/sdk/emulator/emulator -avd apkgate-a":                                           true,
		"emulator -avd apkgate-a":                                                         true,
		"/bin/sh /sdk/emulator/emulator -avd apkgate-a":                                   true,
		"/sdk/emulator/qemu/linux-x86_64/qemu-system-x86_64-headless -avd apkgate-a":      true,
		"/sdk/emulator/emulator-headless @apkgate-a":                                      true,
		"/bin/bash /sdk/cmdline-tools/latest/bin/avdmanager create avd -n apkgate-a":      true,
		"java -classpath x com.android.sdklib.tool.AvdManagerCli create avd -n apkgate-a": true,
		"vim apkgate-a.json":                   false,
		"grep -r apkgate-a /sdk/emulator":      false,
		"tail -f log emulator apkgate-a":       false,
		"/usr/bin/my-emulator -avd apkgate-a":  false,
		"apkgate devices clean apkgate-a":      false,
		"adb -s emulator-5554 shell apkgate-a": false,
		"":                                     false,
	} {
		if got := isSDKs(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if isSDKs([]string{"bash", "-c", "/sdk/emulator/emulator -avd apkgate-a"}) {
		t.Error("a shell with a script of its own is taken for the emulator")
	}
}

func TestConsolePort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"5554": 5554, "5682": 5682, "5553": 0, "5683": 0, "80": 0, "": 0, "x": 0, "-5554": 0} {
		if got := consolePort(lease.Lease{Detail: map[string]string{notePort: text}}); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Unset fields add no arguments, and unsupported options are not passed.
func TestCommandLineWithDefaults(t *testing.T) {
	t.Parallel()
	got := strings.Join(emulator{}.commandLine(boot.Spec{}, "apkgate-a", "apkgate-a", 5556), " ")
	if want := "-avd apkgate-a -port 5556 -no-window -no-audio -no-boot-anim -accel on -no-snapshot"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	all := emulator{options: map[string]bool{"-id": true, "-no-metrics": true}}
	got = strings.Join(all.commandLine(boot.Spec{GPU: "host", RAMMiB: 2048, Cores: 2}, "apkgate-a", "apkgate-a", 5556), " ")
	if want := "-avd apkgate-a -port 5556 -no-window -no-audio -no-boot-anim -accel on -id apkgate-a -no-metrics -gpu host -no-snapshot"; got != want {
		t.Errorf("%s, want %s: an AVD of our own has RAM and cores in its config.ini", got, want)
	}
}

// A spec changes the AVD's settings that it names, and no others.
func TestConfigure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec boot.Spec
		want string
	}{
		"nothing":        {boot.Spec{}, "hw.lcd.width=1080\nhw.ramSize=1536\nshowDeviceFrame=no\n"},
		"density":        {boot.Spec{Density: 320}, "hw.lcd.width=1080\nhw.ramSize=1536\nhw.lcd.density=320\nshowDeviceFrame=no\n"},
		"half a screen":  {boot.Spec{Width: 720}, "hw.lcd.width=1080\nhw.ramSize=1536\nshowDeviceFrame=no\n"},
		"memory":         {boot.Spec{RAMMiB: 4096}, "hw.lcd.width=1080\nhw.ramSize=4096\nshowDeviceFrame=no\n"},
		"gpu":            {boot.Spec{GPU: "host"}, "hw.lcd.width=1080\nhw.ramSize=1536\nhw.gpu.enabled=yes\nhw.gpu.mode=host\nshowDeviceFrame=no\n"},
		"a whole screen": {boot.Spec{Width: 720, Height: 1280}, "hw.ramSize=1536\nhw.lcd.width=720\nhw.lcd.height=1280\nskin.name=720x1280\nskin.path=_no_skin\nskin.dynamic=yes\nshowDeviceFrame=no\n"},
	} {
		m := machine{name: "a", home: tree(t, "a.avd/config.ini")}
		path := filepath.Join(m.home, "a.avd", "config.ini")
		if err := os.WriteFile(path, []byte("hw.lcd.width=1080\nhw.ramSize=1536\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := m.configure(c.spec); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	if err := (machine{name: "a", home: t.TempDir()}).configure(boot.Spec{}); err == nil || !strings.Contains(err.(*boot.Error).Advice, "ANDROID_AVD_HOME") {
		t.Errorf("an AVD that avdmanager has put elsewhere: %v", err)
	}
}

// A pair of ports of which one is in use is skipped.
func TestFreeNeedsBothPorts(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	if (&port{console: taken}).free() || (&port{console: taken - 1}).free() {
		t.Errorf("the port %d is taken for free", taken)
	}
}
