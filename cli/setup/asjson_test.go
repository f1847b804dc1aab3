package setup_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// What doctor finds is there for scripts too, with the same exit status.
func TestDoctorAsJSON(t *testing.T) {
	t.Parallel()
	phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{HotFor: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { phone.Close() })
	l := clitest.NewLab(t, "demo-good", "")
	clitest.WriteFile(t, l.Path("apkgate.yml"), "app: {package: com.example.demo, apk: demo-good.apk}\nscenarios: [{name: s, workload: {monkey: {events: 10}}}]\n"+
		"devices: [{address: \""+phone.Address()+"\", name: mine}]\n")
	var stdout, stderr bytes.Buffer
	status := cli.Main(terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Clock: phone.Clock(),
		Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
	}, []string{"doctor", "--format", "json", "--config", l.Path("apkgate.yml")})
	var got struct {
		Format   string
		Examined []struct {
			Name     string
			Fit      bool
			Findings []struct {
				Name, Detail string
				OK           bool
			}
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, &stdout)
	}
	if status != exit.StatusInfrastructure || got.Format != "apkgate.doctor/1" || len(got.Examined) != 1 {
		t.Fatalf("exit status %d, %+v\n%s", status, got, &stderr)
	}
	d := got.Examined[0]
	if d.Name != "mine" || d.Fit || len(d.Findings) < 5 {
		t.Fatalf("%+v", d)
	}
	// The two that come of heat are wrong, and come first.
	for i, f := range d.Findings {
		if hot := i < 2; f.OK == hot || hot && f.Name != []string{"temperature", "thermal"}[i] || f.Detail == "" {
			t.Errorf("%+v", f)
		}
	}
	if !strings.Contains(stderr.String(), "not fit to measure on: 1 of 1 device") {
		t.Errorf("stderr %s", &stderr)
	}
}

func TestDevicesAsJSON(t *testing.T) {
	socket := adbThatSees(t, "R58M-there\tdevice product:a54 model:SM_A546B transport_id:1\nR58M-new\tunauthorized transport_id:2\n")
	t.Setenv("HOME", t.TempDir())
	var stdout, stderr bytes.Buffer
	cli.Main(terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"ADB_SERVER_SOCKET": socket}[name] },
	}, []string{"devices", "--format", "json"})
	var seen struct {
		Format  string
		Devices []struct{ Serial, State, Model string }
		Booted  []any
	}
	if err := json.Unmarshal(stdout.Bytes(), &seen); err != nil {
		t.Fatalf("%v: %s%s", err, &stdout, &stderr)
	}
	if seen.Format != "apkgate.devices/1" || len(seen.Devices) != 2 || seen.Devices[0].Model != "SM_A546B" || seen.Devices[1].State != "unauthorized" || seen.Booted == nil {
		t.Errorf("%+v", seen)
	}
	got := clitest.Run(t, nil, "devices", "--simulated", "--format", "json")
	var simulated struct {
		Simulated []struct {
			Name string
			API  int
		}
	}
	if err := json.Unmarshal([]byte(got.Stdout), &simulated); err != nil || len(simulated.Simulated) != len(simulator.Profiles()) {
		t.Fatalf("%v: %s", err, got.Stdout)
	}
	if p := simulated.Simulated[0]; p.Name != simulator.Profiles()[0].Name || p.API != simulator.Profiles()[0].API {
		t.Errorf("%+v", p)
	}
	clitest.Refuses(t, clitest.Run(t, nil, "devices", "--format", "xml"), `--format is "xml", want one of text, json`)
}
