package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file that init writes loads, matches the schema, and has the options.
func TestInitIsLoadable(t *testing.T) {
	s := compiledSchema(t)
	for name, o := range map[string]InitOptions{
		"nothing asked": {},
		"a test": {
			Package: "com.example.mail", APK: "out/mail app.apk", TestAPK: "out/test.apk", Scenario: "open: message #1",
			Class: "com.example.OpenTest#openMessage",
		},
		"a lab": {
			Package: "com.example.mail", APK: "a.apk", Scenario: "null", Networks: []string{"wifi", "3g"},
			Devices: []Device{
				{Simulated: "nexus-4", Name: "- the first", Context: map[string]string{"floor": "2", "room": "yes"}, Count: 1},
				{Address: "10.0.0.7:5555", Name: "10.0.0.7:5555", Count: 1},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := Init(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(t, s, src); err != nil {
				t.Errorf("the schema refuses it: %v", err)
			}
			c, err := Load(FileName, src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(new(DefaultEnergy()), c.Energy); diff != "" {
				t.Errorf("energy (-want +got):\n%s", diff)
			}
			if o.Package == "" {
				return
			}
			if c.App.Package != o.Package || c.App.APK != o.APK || c.App.TestAPK != o.TestAPK || c.Scenarios[0].Name != o.Scenario {
				t.Errorf("app %+v, scenario %q: want %+v", c.App, c.Scenarios[0].Name, o)
			}
			if diff := cmp.Diff(o.Devices, c.Devices); diff != "" {
				t.Errorf("devices (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(o.Networks, c.Networks); diff != "" {
				t.Errorf("networks (-want +got):\n%s", diff)
			}
		})
	}
}

// The example devices of a new file are valid as they are.
func TestInitDevicesAreValid(t *testing.T) {
	src, err := Init(InitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before, offered, ok := strings.Cut(string(src), "\n# devices:\n")
	if !ok {
		t.Fatalf("no devices are offered:\n%s", src)
	}
	offered, after, _ := strings.Cut(offered, "\n\n")
	offered = strings.ReplaceAll("\n"+offered, "\n#", "\n")
	c, err := Load(FileName, []byte(before+"\ndevices:"+offered+"\n\n"+after), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Devices) != 3 || !c.Devices[2].Booted() {
		t.Errorf("the devices are %+v, want three of which the last is booted by apkgate", c.Devices)
	}
}

func TestInitChoosesTheWorkload(t *testing.T) {
	for name, test := range map[string]struct {
		o    InitOptions
		want Workload
	}{
		"no test": {InitOptions{}, Workload{Startup: &Startup{Mode: StartCold}}},
		"a test APK": {
			InitOptions{Package: "a.b", TestAPK: "t.apk"},
			Workload{Instrumentation: &Instrumentation{TestPackage: "a.b.test", Runner: DefaultRunner}},
		},
		"a test package": {
			InitOptions{TestPackage: "a.tests", Class: "a.T"},
			Workload{Instrumentation: &Instrumentation{TestPackage: "a.tests", Runner: DefaultRunner, Class: "a.T"}},
		},
	} {
		src, err := Init(test.o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c, err := Load(FileName, src, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, c.Scenarios[0].Workload); diff != "" {
			t.Errorf("%s: workload (-want +got):\n%s", name, diff)
		}
	}
}

// It is short, and editors find the schema on its first line.
func TestInitIsReadable(t *testing.T) {
	src, err := Init(InitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(src), "\n"); n > 52 {
		t.Errorf("%d lines, want at most 52", n)
	}
	if !strings.HasPrefix(string(src), "# yaml-language-server: $schema=https://raw.githubusercontent.com/apkgate/apkgate/main/docs/apkgate.schema.json\n") {
		t.Errorf("the first line does not name the schema:\n%s", src)
	}
}

// An invalid value is rejected, and can't add keys to the file.
func TestInitRejectsWhatLoadRejects(t *testing.T) {
	for _, o := range []InitOptions{
		{Package: "mail"},
		{Package: "com.example.mail\nstore: {sqlite: /tmp/x}"},
		{APK: "a\x00b.apk"},
		{Scenario: "open\u2028message"},
		{Scenario: "\xff"},
		{Devices: []Device{{Name: "no way to it"}}},
		{Networks: []string{"wifi", "wifi"}},
	} {
		if src, err := Init(o); err == nil {
			t.Errorf("%+v was taken:\n%s", o, src)
		}
	}
}
