package aws

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/device/farm"
)

// phoneAtTheHost is adb as a test spec finds it: a phone whose shell is this computer's, with
// stand-ins for Android's tools.
const phoneAtTheHost = `#!/bin/sh
[ "$1 $2" = "-s UDID" ] || exit 9
shift 2
case "$1" in
shell) shift; PATH="$PHONE:$PATH"; eval "$*" ;;
pull) cp "$2" "$3" ;;
install) echo "$*" > "$PHONE/installed" ;;
esac
`

// am writes a result and a trace to the requested folder, and prints SAYS.
const am = `#!/bin/sh
printf '%s\n' "$@" > "$PHONE/arguments"
dir=
while [ $# -gt 0 ]; do
  if [ "$1 $2" = "-e additionalTestOutputDir" ]; then dir=$3; fi
  shift
done
echo '{"benchmarks": []}' > "$dir/com.example.benchmark-benchmarkData.json"
echo trace > "$dir/Start_iter000.perfetto-trace"
cat "$SAYS"
`

const pm = `#!/bin/sh
case "$*" in
"list instrumentation")
  printf 'instrumentation:com.example.benchmarker/a.B (target=com.example.mail)\r\n'
  printf 'instrumentation:com.example.benchmark/androidx.test.runner.AndroidJUnitRunner (target=com.example.benchmark)\r\n' ;;
path*) [ -e "$PHONE/there" ] && printf 'package:/data/app/base.apk\r\n' ;;
esac
`

// run runs the phases of the test spec, like the farm's computer, and returns the folder of
// its logs, the test's arguments, and whether the test passed.
func run(t *testing.T, o farm.Order, says string, there bool) (logs, arguments string, passed bool) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"host/adb": phoneAtTheHost, "phone/am": am, "phone/pm": pm, "logs/device.log": "", "says": says, "phone/there": ""} {
		if name == "phone/there" && !there {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // executables
			t.Fatal(err)
		}
	}
	var parsed struct {
		Version string
		Host    string `yaml:"android_test_host"`
		Phases  struct {
			PreTest struct{ Commands []string } `yaml:"pre_test"`
			Test    struct{ Commands []string }
		}
		Artifacts []string
	}
	if err := yaml.Unmarshal([]byte(spec(o)), &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed.Version != "0.1" || parsed.Host != "amazon_linux_2" || len(parsed.Artifacts) != 1 || parsed.Artifacts[0] != "$DEVICEFARM_LOG_DIR" {
		t.Errorf("%+v, want version 0.1 on Amazon Linux 2, and the logs' folder kept", parsed)
	}
	logs = filepath.Join(dir, "logs")
	passed = true
	for _, command := range append(parsed.Phases.PreTest.Commands, parsed.Phases.Test.Commands...) {
		cmd := exec.Command("sh", "-c", command)
		cmd.Env = []string{"PATH=" + filepath.Join(dir, "host") + ":" + os.Getenv("PATH"), "DEVICEFARM_DEVICE_UDID=UDID", "DEVICEFARM_LOG_DIR=" + logs,
			"DEVICEFARM_TEST_PACKAGE_PATH=/tmp/test.apk", "PHONE=" + filepath.Join(dir, "phone"), "SAYS=" + filepath.Join(dir, "says")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("%v: %s", err, out)
			passed = false
			break
		}
	}
	_, err := os.Stat(filepath.Join(dir, "phone", "installed"))
	if installed := err == nil; installed == there {
		t.Errorf("installed: %v, though it was there: %v", installed, there)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "phone", "arguments"))
	return logs, string(text), passed
}

const good = "INSTRUMENTATION_STATUS: numtests=1\r\nINSTRUMENTATION_STATUS_CODE: 1\r\nINSTRUMENTATION_STATUS_CODE: 0\r\nINSTRUMENTATION_RESULT: stream=\r\n\r\nOK (1 test)\r\n\r\nINSTRUMENTATION_CODE: -1\r\n"

// The test spec runs the test with its arguments, whatever they contain, keeps the results but
// not the traces, and reports a failed test as failed.
func TestSpec(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says   string
		runner string
		passes bool
	}{
		"it passes":                 {good, "", true},
		"with a runner of its own":  {good, "com.example.Runner", true},
		"a test fails":              {strings.Replace(good, "CODE: 0", "CODE: -2", 1), "", false},
		"the summary says so":       {strings.Replace(good, "OK (1 test)", "FAILURES!!!", 1), "", false},
		"its process crashed":       {"INSTRUMENTATION_RESULT: shortMsg=Process crashed.\r\nINSTRUMENTATION_CODE: 0\r\n", "", false},
		"the output ends too early": {"INSTRUMENTATION_STATUS_CODE: 1\r\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := farm.Order{Package: "com.example.benchmark", Runner: c.runner, Class: "com.example.A,com.example.B$C",
				Args: map[string]string{"note": `it's "$HOME" # 'x'`, dirArgument: filepath.Join(t.TempDir(), "out put")}}
			logs, arguments, passed := run(t, o, c.says, c.passes)
			if passed != c.passes {
				t.Errorf("passed: %v, want %v", passed, c.passes)
			}
			component := "com.example.benchmark/androidx.test.runner.AndroidJUnitRunner"
			if c.runner != "" {
				component = "com.example.benchmark/" + c.runner
			}
			for _, line := range []string{"class\ncom.example.A,com.example.B$C\n", "note\nit's \"$HOME\" # 'x'\n", "androidx.benchmark.enabledRules\nMacrobenchmark\n", "-w\n-r\n"} {
				if !strings.Contains(arguments, line) {
					t.Errorf("am did not get %q, but %q", line, arguments)
				}
			}
			if !strings.HasSuffix(arguments, "\n"+component+"\n") {
				t.Errorf("%q, want the component %s at the end", arguments, component)
			}
			kept, err := filepath.Glob(filepath.Join(logs, "apkgate", "*"))
			if err != nil || len(kept) != 2 || filepath.Base(kept[0]) != "com.example.benchmark-benchmarkData.json" || filepath.Base(kept[1]) != "instrumentation.txt" {
				t.Errorf("%q was kept, %v", kept, err)
			}
		})
	}
}

// packed returns an archive of the files.
func packed(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for name, text := range files {
		entry, err := archive.Create(name)
		if err == nil {
			_, err = entry.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// An archive that expands beyond the limit is not unpacked.
func TestUnpackLimitsTheArchive(t *testing.T) {
	t.Parallel()
	bomb := packed(t, map[string]string{"a/x-benchmarkData.json": strings.Repeat(" ", mostFile+1)})
	if files, err := unpack("Customer Artifacts", bomb); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("%d files, %v, of %d bytes", len(files), err, len(bomb))
	}
	many := map[string]string{}
	for i := range mostResults + 1 {
		many[strings.Repeat("x", i)+resultEnd] = ""
	}
	if files, err := unpack("Customer Artifacts", packed(t, many)); err == nil || !strings.Contains(err.Error(), "more than 20 files") {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// Whatever an archive contains, the files taken from it are limited.
func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, map[string]string{"Host_Machine_Files/$DEVICEFARM_LOG_DIR/x-benchmarkData.json": "{}", "../y": ""}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := unpack("x", data)
		total := 0
		for _, file := range files {
			total += len(file.Data)
		}
		if err == nil && (total > mostFile || len(files) > mostResults) {
			t.Errorf("%d files of %d bytes", len(files), total)
		}
	})
}

// Whatever aws prints, it is reported in a line of limited length.
func FuzzRefusal(f *testing.F) {
	f.Add("\nAn error occurred (ThrottlingException) when calling the GetRun operation (reached max retries: 2): Rate exceeded\n")
	f.Add("\nUnable to locate credentials. You can configure credentials by running \"aws configure\".\n")
	f.Fuzz(func(t *testing.T, said string) {
		if parsed := refusal("aws devicefarm get-run", said, 254).Error(); strings.ContainsAny(parsed, "\r\n") || len(parsed) > 1000 {
			t.Errorf("%q", parsed)
		}
	})
}
