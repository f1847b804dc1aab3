package energycmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// powerTrace is the Perfetto configuration of a user who measures manually.
const powerTrace = `echo 'buffers { size_kb: 4096 } data_sources { config { name: "android.power" android_power_config { battery_poll_ms: 250 collect_power_rails: true battery_counters: BATTERY_COUNTER_CURRENT } } }' | perfetto --txt -c - -o /data/misc/perfetto-traces/p --background-wait`

// recordByHand plays the demo's worse build on a simulated phone and records it as a user would
// over adb shell: a Perfetto trace of power and a simpleperf recording. It returns the files.
func recordByHand(t *testing.T) (perf, power string) {
	t.Helper()
	phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer phone.Close()
	ctx := t.Context()
	dev, err := adb.Dial(ctx, phone.Address(), adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	dir := t.TempDir()
	shell := func(line string) string {
		out, err := dev.Exec(ctx, line)
		if err != nil || out.ExitCode != 0 {
			t.Fatalf("%s: %v, exit %d: %s%s", line, err, out.ExitCode, out.Stdout, out.Stderr)
		}
		return strings.TrimSpace(string(out.Stdout))
	}
	for _, name := range []string{"demo-worse", "demo-test"} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		apk := filepath.Join(dir, name+".apk")
		if err := os.WriteFile(apk, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := dev.Install(ctx, apk); err != nil {
			t.Fatal(err)
		}
	}
	pid := shell(powerTrace)
	recording, err := dev.Start(ctx, "simpleperf record --app com.example.demo -e task-clock -f 1000 --call-graph dwarf --clockid monotonic -o /data/local/tmp/perf.data --duration 9")
	if err != nil {
		t.Fatal(err)
	}
	test, err := dev.Start(ctx, "am instrument -w -r -e class com.example.demo.ReadMailTest#readsMail com.example.demo.test/androidx.test.runner.AndroidJUnitRunner")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	for _, p := range []device.Process{test, recording} {
		go func() {
			_, err := p.Wait()
			ended <- err
		}()
	}
	if err := phone.Clock().Sleep(ctx, 12*time.Second); err != nil {
		t.Fatal(err)
	}
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	shell("kill " + pid)
	if err := phone.Clock().Sleep(ctx, time.Second); err != nil {
		t.Fatal(err)
	}
	pull := func(path, name string) string {
		var b bytes.Buffer
		if err := dev.Pull(ctx, path, &b); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return pull("/data/local/tmp/perf.data", "perf.data"), pull("/data/misc/perfetto-traces/p", "power.pftrace")
}

// The method whose own code uses the energy leads the table, not the one that begins every call
// chain; a useless mapping is doubted, and doubts are reported with CSV too.
func TestEnergySortsByOwnCode(t *testing.T) {
	perf, power := recordByHand(t)
	mapping := clitest.WriteFile(t, filepath.Join(t.TempDir(), "mapping.txt"), "com.example.other.Page -> a.b:\n    1:1:void show():3:3 -> c\n")
	for format, out := range map[string]func(clitest.Result) string{
		"text": func(r clitest.Result) string { return r.Stdout },
		"csv":  func(r clitest.Result) string { return r.Stderr },
		"json": func(r clitest.Result) string { return r.Stdout },
	} {
		got := clitest.Run(t, nil, "energy", perf, "--power", power, "--mapping", mapping, "--format", format, "--top", "1")
		if want := mapping + ": it renames none of the methods"; got.Status != 0 || !strings.Contains(out(got), want) {
			t.Errorf("as %s: exit status %d, and no %q in\n%s%s", format, got.Status, want, got.Stdout, got.Stderr)
		}
		if format == "text" && (!strings.Contains(got.Stdout, "MessageView.decodeImages") || strings.Contains(got.Stdout, "__libc_init") || !strings.Contains(got.Stdout, "CPU ms")) {
			t.Errorf("the first method is not the hungriest, or its numbers bear no units:\n%s", got.Stdout)
		}
		// Rails that are read every 250 ms are slower than a method of milliseconds.
		if format == "text" && (strings.Count(got.Stdout, "≈") < 2 || !strings.Contains(got.Stdout, "≈ the sensor is slower than these methods, which run for less than its 250 ms at a time: their power is separated")) {
			t.Errorf("no word of a sensor that is slower than the methods:\n%s", got.Stdout)
		}
		if format == "json" && (!strings.Contains(got.Stdout, `"power": "split"`) || !strings.Contains(got.Stdout, `"read_low_j"`) || !strings.Contains(got.Stdout, `"blurred": true`) || !strings.Contains(got.Stdout, `"time_share"`)) {
			t.Errorf("the JSON does not say how the joules came about:\n%.2000s", got.Stdout)
		}
	}
}

// Manual recordings name the method that uses the energy, in every format; files that do not fit
// together are rejected with advice.
func TestEnergyOfManualRecordings(t *testing.T) {
	perf, power := recordByHand(t)
	dir := t.TempDir()
	csv, pprof := filepath.Join(dir, "methods.csv"), filepath.Join(dir, "methods.pb.gz")

	got := clitest.Run(t, nil, "energy", perf, "--power", power, "--package", "com.example.demo",
		"--battery-capacity-mah", "4355", "--csv", csv, "--pprof", pprof)
	if got.Status != 0 || !strings.Contains(got.Stdout, "measured by rails") || !strings.Contains(got.Stdout, "com.example.demo.MessageView.decodeImages") {
		t.Errorf("exit status %d, and this:\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	if table, err := os.ReadFile(csv); err != nil || !strings.HasPrefix(string(table), "method,file,kind,") {
		t.Errorf("the table: %v, %.80q", err, table)
	}
	if profile, err := os.ReadFile(pprof); err != nil || !bytes.HasPrefix(profile, []byte{0x1f, 0x8b}) {
		t.Errorf("the profile: %v, %.10q, want gzip", err, profile)
	}

	// Recordings are kept with gzip.
	packed := map[string]string{}
	for _, path := range []string{perf, power} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		packed[path] = clitest.WriteFile(t, filepath.Join(dir, filepath.Base(path)+".gz"), clitest.Gzipped(t, string(data)))
	}
	if unpacked, again := clitest.Run(t, nil, "energy", perf, "--power", power), clitest.Run(t, nil, "energy", packed[perf], "--power", packed[power]); again.Status != 0 || again.Stdout != unpacked.Stdout {
		t.Errorf("of recordings in gzip: %+v\nwant\n%s", again, unpacked.Stdout)
	}

	got = clitest.Run(t, nil, "energy", perf, "--power", power, "--package", "com.example.demo", "--format", "json", "--source", "rails")
	var document struct {
		Format string
		Energy struct {
			Source  string
			Methods struct {
				List []struct {
					Name  string
					Local struct{ EnergyJ float64 }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(got.Stdout), &document); err != nil || document.Format != "apkgate.energy/1" || document.Energy.Source != "rails" || len(document.Energy.Methods.List) < 5 {
		t.Errorf("as JSON: %v, %+v\n%s", err, document, got.Stderr)
	}

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no power":        {[]string{perf}, "--power names no trace"},
		"another app":     {[]string{perf, "--power", power, "--package", "com.example.other"}, "no sample is of com.example.other: the recording holds "},
		"charger unknown": {[]string{perf, "--power", power, "--source", "battery"}, "--on-battery"},
		"no voltage":      {[]string{perf, "--power", power, "--source", "battery", "--on-battery"}, "reports no plausible voltage"}, // as before Android 15
		"no recording":    {[]string{power, "--power", power}, "no samples of"},
		"no trace":        {[]string{perf, "--power", perf}, "neither power rails nor battery counters are in it: "},
		"two for three":   {[]string{perf, perf, perf, "--power", power, "--power", power}, "2 traces of power for 3 recordings"},
		"one as two":      {[]string{perf, filepath.Join(filepath.Dir(perf), ".", "perf.data"), "--power", power}, "is given twice"},
		"empty recording": {[]string{clitest.WriteFile(t, filepath.Join(dir, "empty.data"), ""), "--power", power}, "the file is empty"},
		"no capacity":     {[]string{perf, "--power", power, "--battery-capacity-mah", "NaN"}, "200 to 60000"},
		"bad source":      {[]string{perf, "--power", power, "--source", "model"}, `"model"`},
	} {
		got := clitest.Run(t, nil, append([]string{"energy"}, c.args...)...)
		if got.Status != 2 || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%s: exit status %d and %q, want 2 and %q", name, got.Status, got.Stderr, c.want)
		}
	}
}
