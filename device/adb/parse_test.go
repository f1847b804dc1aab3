package adb

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestServerAddress(t *testing.T) {
	for _, test := range []struct {
		vars map[string]string
		want string // "" for an error
	}{
		{nil, "127.0.0.1:5037"},
		{map[string]string{"ADB_SERVER_SOCKET": "tcp:6000"}, "127.0.0.1:6000"},
		{map[string]string{"ADB_SERVER_SOCKET": "tcp:host:6000"}, "host:6000"},
		{map[string]string{"ADB_SERVER_SOCKET": "tcp:[::1]:6000"}, "[::1]:6000"},
		{map[string]string{"ADB_SERVER_SOCKET": "tcp:7000", "ANDROID_ADB_SERVER_PORT": "6000"}, "127.0.0.1:7000"},
		{map[string]string{"ANDROID_ADB_SERVER_PORT": "6000"}, "127.0.0.1:6000"},
		{map[string]string{"ANDROID_ADB_SERVER_ADDRESS": "host", "ANDROID_ADB_SERVER_PORT": "6000"}, "host:6000"},
		{map[string]string{"ADB_SERVER_SOCKET": "localfilesystem:/tmp/adb"}, ""},
		{map[string]string{"ADB_SERVER_SOCKET": "tcp:host:"}, ""},
		{map[string]string{"ADB_SERVER_SOCKET": "tcp:0"}, ""},
		{map[string]string{"ANDROID_ADB_SERVER_PORT": "65536"}, ""},
	} {
		got, err := ServerAddress(env(test.vars))
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%v: %q, %v, want %q", test.vars, got, err, test.want)
		}
	}
}

func TestDevicePort(t *testing.T) {
	for given, want := range map[string]string{
		"10.0.0.7": "10.0.0.7:5555", "10.0.0.7:1": "10.0.0.7:1", "phone": "phone:5555", "::1": "[::1]:5555", "[::1]": "[::1]:5555",
	} {
		if got := DevicePort(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestParseDevices(t *testing.T) {
	got := parseDevices("emulator-5554          device product:sdk model:Android_SDK device:generic transport_id:1\n" +
		"0123\tunauthorized\n" +
		"4567 no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:2\n" +
		"adb-0123-jr888A (2)._adb-tls-connect._tcp device product:lynx model:Pixel_7a device:lynx transport_id:2426\n" +
		"adb-4567 (2)._adb-tls-connect._tcp\toffline\n" +
		"89 no permissions\n" +
		"ab a-state-of-tomorrow usb:1-1\n" +
		"10.0.0.7:5555 offline\n\nnothing-more\n")
	want := []Info{
		{Serial: "emulator-5554", State: "device", Product: "sdk", Model: "Android_SDK", Name: "generic"},
		{Serial: "0123", State: "unauthorized"},
		{Serial: "4567", State: "no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html]"},
		{Serial: "adb-0123-jr888A (2)._adb-tls-connect._tcp", State: "device", Product: "lynx", Model: "Pixel_7a", Name: "lynx"},
		{Serial: "adb-4567 (2)._adb-tls-connect._tcp", State: "offline"},
		{Serial: "89", State: "no permissions"},
		{Serial: "ab", State: "a-state-of-tomorrow"},
		{Serial: "10.0.0.7:5555", State: "offline"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseDevices(f *testing.F) {
	f.Add("a no permissions ]")
	f.Add("serial state key:value")
	f.Fuzz(func(t *testing.T, text string) {
		for _, info := range parseDevices(text) {
			if info.Serial == "" {
				t.Errorf("a device without a serial in %q", text)
			}
		}
	})
}

func TestInstallVerdict(t *testing.T) {
	for _, test := range []struct {
		answer string
		want   *InstallError // nil for success
	}{
		{"Success\n", nil},
		{"\tpkg: /data/local/tmp/a.apk\r\nSuccess\r\n", nil},
		{"Failure [INSTALL_FAILED_OLDER_SDK]\n", &InstallError{APK: "a", Code: "INSTALL_FAILED_OLDER_SDK"}},
		{"Failure [INSTALL_FAILED_X: why: because]\n", &InstallError{APK: "a", Code: "INSTALL_FAILED_X", Detail: "why: because"}},
		{"Error: Unknown option: -g\nusage: pm\n", &InstallError{APK: "a", Detail: "Error: Unknown option: -g"}},
		{"", &InstallError{APK: "a", Detail: "it answered nothing"}},
	} {
		err := installVerdict("a", test.answer)
		var got *InstallError
		if errors.As(err, &got); err != nil && got == nil {
			t.Fatalf("%q: %v", test.answer, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q:\n%s", test.answer, diff)
		}
	}
	if !errors.Is(installVerdict("a", "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]"), ErrNoSpace) {
		t.Error("a full device is not distinguished")
	}
}
