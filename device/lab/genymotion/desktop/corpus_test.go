package desktop

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/corpustest"
)

// outputs has, for each collected output of gmtool, what apkgate reads in it, or why it reads
// nothing.
var outputs = map[string]corpustest.Reading{
	"admin-list-3.10-off-and-on.txt": {Reads: lists(
		machine{"Off", "", "aaaa1111-2222-3333-4444-555566667777", "Pixel Tablet"},
		machine{"On", "127.0.0.1:6557", "bbbb1111-2222-3333-4444-555566667777", "Pixel 9 Pro"})},
	"admin-list-3.10-one-on.txt":   {Reads: lists(machine{"On", "127.0.0.1:6555", "ed811e5e-df4d-46d8-ab1f-4250058e57e3", "Google Pixel 9"})},
	"admin-list-3.10-starting.txt": {Reads: lists(machine{"Starting", "127.0.0.1:6559", "cccc1111-2222-3333-4444-555566667777", "Pixel 9 Booting"})},
	"admin-list-cloud.txt":         {Reads: lists(machine{"On", "localhost:56789", "01283849-3c02-4a38-831e-23e2b2d7adb2", "randomDevice"})},
	"admin-list-one-running.txt":   {Reads: lists(machine{"On", "192.168.56.101:5555", "01283849-3c02-4a38-831e-23e2b2d7adb2", "randomDevice"})},
	"admin-list-three.txt": {Reads: lists(
		machine{"Off", "", "d600d7e5-fce0-489e-8e18-3b14895eb25b", "stoppedDevice1"},
		machine{"On", "192.168.56.101:5555", "01283849-3c02-4a38-831e-23e2b2d7adb2", "randomDevice"},
		machine{"Off", "", "290ed5b4-8f6b-4a1e-9742-92d0420cdfc7", "stoppedDevice2"})},
	"admin-list-two-off.txt": {Reads: lists(
		machine{"Off", "", "d600d7e5-fce0-489e-8e18-3b14895eb25b", "stoppedDevice1"},
		machine{"Off", "", "290ed5b4-8f6b-4a1e-9742-92d0420cdfc7", "stoppedDevice2"})},
	"admin-list-cake.txt":           {Reads: readsListWithNoise},
	"admin-templates-full.txt":      {Reads: offers("Sony Xperia Z", "4.3", "Sony Xperia Z - 4.3 - API 18 - 1080x1920")},
	"admin-templates-cake.txt":      {Reads: offers("Custom Phone", "4.2.2", "Custom Phone - 4.2.2 - API 17 - 768x1280")},
	"version-2.4.5.txt":             {Reads: version("2.4.5")},
	"version-3.10.txt":              {Reads: version("3.10.0")},
	"license-info.txt":              {Reads: has("License Type", "Indie")},
	"admin-details-on.txt":          {Reads: has("ADB Serial", "192.168.56.101")},
	"admin-details-cloud.txt":       {Reads: has("ADB Serial", "localhost:56789")},
	"error-launch-failed-code3.txt": {Reads: readsLaunchFailed},
	"exit-codes-gradle-plugin.txt":  {Reads: readsPluginCodes},
	"exit-codes-vendor-doc.txt":     {Reads: readsVendorCodes},
	"admin-create.txt":              {Not: "that it worked is told by the exit code"},
	"admin-factoryreset.txt":        {Not: "apkgate resets no device: one that is created is new"},
	"admin-startdisposable.txt":     {Not: "of the cloud before gmsaas"},
	"commands-vendor-doc.txt":       {Not: "a manual"},
	"config-print.txt":              {Not: "apkgate reads no settings of Genymotion"},
	"device-flash.txt":              {Not: "apkgate speaks adb with a device"},
	"device-install.txt":            {Not: "apkgate speaks adb with a device"},
	"device-logcatclear.txt":        {Not: "apkgate speaks adb with a device"},
	"device-logcatdump.txt":         {Not: "apkgate speaks adb with a device"},
	"device-pull.txt":               {Not: "apkgate speaks adb with a device"},
	"device-push.txt":               {Not: "apkgate speaks adb with a device"},
	"license-validity.txt":          {Not: "a number of days; license info tells more"},
}

// The collected outputs of gmtool are parsed, and none of them is left out.
func TestGatheredOutputs(t *testing.T) {
	corpustest.Readings(t, outputs, 20, "labs", "gmtool")
}

func lists(want ...machine) func(*testing.T, []byte) {
	return func(t *testing.T, text []byte) {
		if got, err := readList(string(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
}

// A test of another project has text before the table.
func readsListWithNoise(t *testing.T, text []byte) {
	got, err := readList(string(text))
	if err != nil || len(got) != 7 {
		t.Fatalf("%+v, %v", got, err)
	}
	if first := got[0]; first.Serial != "123.123.123.123:5555" || first.off() || first.Name != "Google Nexus 6 - 6.0.0 - API 23 - 1440x2560" {
		t.Errorf("the first is %+v", first)
	}
	if last := got[6]; last.State != "Aborted" || !last.off() || last.Serial != "" {
		t.Errorf("the last is %+v", last)
	}
}

func offers(model, android, want string) func(*testing.T, []byte) {
	return func(t *testing.T, text []byte) {
		if got, doubt := genymotion.Choose("template", readTemplates(string(text)), model, android); doubt != nil || got.ID != want {
			t.Errorf("%+v, %+v; want %q", got, doubt, want)
		}
	}
}

func version(want string) func(*testing.T, []byte) {
	return func(t *testing.T, text []byte) {
		if got := readVersion(string(text)); got != want {
			t.Errorf("version %q, want %q", got, want)
		}
	}
}

func has(key, want string) func(*testing.T, []byte) {
	return func(t *testing.T, text []byte) {
		if blocks := readBlocks(string(text)); len(blocks) != 1 || blocks[0][key] != want {
			t.Errorf("%+v, want %s to be %q", blocks, key, want)
		}
	}
}

func readsLaunchFailed(t *testing.T, text []byte) {
	e := refused("start nexus9", codeFailed, "", string(text))
	if !strings.HasSuffix(e.Failed.What, "launch virtual device: nexus9 (exit code 3)") || !e.Failed.Retry || strings.Contains(e.Failed.What, "vboxnet") {
		t.Errorf("%+v", e.Failed)
	}
}

// ours are the exit codes that this package distinguishes, named as in the vendor's plugin.
var ours = map[string]int{
	"NO_SUCH_ACTION": codeNoAction, "BAD_PARAM_VALUE": codeBadValue, "COMMAND_FAILED": codeFailed, "VMENGINE_ERROR": codeEngine,
	"DEVICE_NOT_FOUND": codeNoDevice, "CANT_LOGIN": codeLogin, "CANT_REGISTER_LICENSE": codeRegister, "CANT_ACTIVATE_LICENSE": codeActivate,
	"NO_ACTIVATED_LICENSE": codeNotActivated, "INVALID_LICENSE": codeBadLicense, "MISSING_ARGUMENTS": codeMissing,
	"VM_NOT_STOPPED": codeNotStopped, "LICENSE_REQUIRED": codeStartOr,
	"NO_ERROR": 0, "COMMAND_NOT_FOUND_UNIX": 127, "SIGTERM": 143, // of the shell
}

func readsPluginCodes(t *testing.T, text []byte) {
	for line := range strings.Lines(string(text)) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if n, err := strconv.Atoi(number); err != nil || ours[name] != n {
			t.Errorf("%q: this package has %d", line, ours[name])
		}
	}
}

// Each code of the vendor's reference has a hint that fits its meaning.
func readsVendorCodes(t *testing.T, text []byte) {
	n := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(line, "|")
		code, err := strconv.Atoi(strings.TrimSpace(f[min(1, len(f)-1)]))
		if err != nil {
			continue
		}
		n++
		meaning := strings.TrimSpace(f[2])
		advice, retry := judge(code, meaning)
		if advice == "" {
			t.Errorf("no hint for %q", meaning)
		}
		aboutLicense := strings.Contains(strings.ToLower(meaning), "licen")
		if got := advice == adviceLicense; got != aboutLicense || aboutLicense && retry {
			t.Errorf("%d, %q: the advice is %q, retry %v", code, meaning, advice, retry)
		}
	}
	if n != 10 {
		t.Errorf("%d codes, want 10", n)
	}
}

// The output of gmtool contains untrusted names.
func FuzzOutput(f *testing.F) {
	f.Add(" State  |   ADB Serial    | UUID | Name\n--+--+--+--\n On | 127.0.0.1:6555 |u| a | b\n Off | 0.0.0.0 |v| c\n")
	f.Add("Name : a : b\nAndroid Version : 5.0\n\nVersion : 3\n")
	f.Add("[Warning] [x] y\nFailed: z\x1b[2J\n")
	f.Fuzz(func(t *testing.T, text string) {
		machines, err := readList(text)
		for _, m := range machines {
			if err != nil || m.State == "" || m.Name == "" || m.Name != strings.TrimSpace(m.Name) {
				t.Errorf("%+v beside %v", m, err)
			}
			if m.Serial != "" && (strings.ContainsAny(m.Serial, " /\n") || !strings.Contains(m.Serial, ":")) {
				t.Errorf("serial %q", m.Serial)
			}
		}
		for _, o := range readTemplates(text) {
			if o.Name == "" || o.Android == "" {
				t.Errorf("%+v", o)
			}
		}
		e := refused("do", codeFailed, "", text)
		if strings.ContainsAny(e.Failed.What, "\n\r\x1b") || len([]rune(e.Failed.What)) > 500 {
			t.Errorf("what is said is %q", e.Failed.What)
		}
		spelled(text, "Google Pixel 3", strings.EqualFold)
	})
}
