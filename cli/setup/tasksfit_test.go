package setup_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// One line says whether this phone and this build tell asynchronous tasks, and what would.
func TestDoctorShowsTasks(t *testing.T) {
	t.Parallel()
	const app, registered = "apkgate-simulated-app/1\npackage com.example.demo\n", "registers-perfetto\n"
	for name, c := range map[string]struct {
		profile, app, evidence string
		runs                   bool
		want, hint             string
	}{
		"Android 15":     {"pixel-7-android-15", app + registered, "", true, "are not in this Android's traces: the messages of loopers are since Android 16", "docs/tasks.md has other sources"},
		"the flag":       {"pixel-6-android-16", app + registered, "", true, "its flag perfetto_sdk_tracing_v2 is off", "aflags enable android.os.perfetto_sdk_tracing_v2"},
		"not registered": {"pixel-7-android-16", app, "", true, "the app's process has not registered with Perfetto", "registerWithPerfetto by reflection; or docs/tasks.md"},
		"not running":    {"pixel-7-android-16", app, "", false, "whether the app does is known once it runs", "registerWithPerfetto"},
		"exposed":        {"pixel-7-android-16", app + registered, "", true, "the app reports the messages of its loopers", "evidence.tasks records them"},
		"recorded":       {"pixel-7-android-16", app + registered, "evidence: {keep: worst, tasks: true}\n", true, "the app reports the messages of its loopers", ""},
	} {
		phone, err := simulator.Start(c.profile, 1, simulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { phone.Close() })
		if err := phone.Phone.Install([]byte(c.app)); err != nil {
			t.Fatal(err)
		}
		if c.runs {
			phone.Phone.Start(t.Context(), "am start com.example.demo/.MainActivity", nil, io.Discard, io.Discard)()
		}
		l := clitest.NewLab(t, "demo-good", "")
		clitest.WriteFile(t, l.Path("apkgate.yml"), "app: {package: com.example.demo}\nscenarios:\n  - name: s\n    workload: {monkey: {events: 10}}\n"+c.evidence+"devices: [{address: \""+phone.Address()+"\"}]\n")
		var stdout, stderr bytes.Buffer
		cli.Main(terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Clock: phone.Clock(),
			Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
		}, []string{"doctor", "--verbose", "--config", l.Path("apkgate.yml")})
		_, after, found := strings.Cut(stdout.String(), "ok   tasks ")
		line, rest, _ := strings.Cut(after, "\n")
		hint, _, _ := strings.Cut(rest, "\n")
		if !found || !strings.Contains(line, c.want) || strings.Contains(hint, "hint:") != (c.hint != "") || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: want %q and the hint %q in\n%s%s", name, c.want, c.hint, &stdout, &stderr)
		}
	}
}
