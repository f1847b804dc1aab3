package aws

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/farm"
)

// Where a Macrobenchmark leaves its files, and what they are called.
const (
	dirArgument = "additionalTestOutputDir"
	resultEnd   = "benchmarkData.json"
)

// spec is the test spec of an order: what is done on the computer that Device Farm has the
// phone at. Only in this, the custom environment, does a test get arguments, and only there
// is anything else kept of the phone than what Device Farm knows by itself. Its commands pass
// a YAML parser, a log and a shell, so that what they run is in a form that none of them
// changes; the script is beside the results for whoever looks.
func spec(o farm.Order) string {
	const file = `"$DEVICEFARM_LOG_DIR/apkgate.sh"`
	return `version: 0.1
android_test_host: amazon_linux_2
phases:
  pre_test:
    commands:
      - 'echo ` + base64.StdEncoding.EncodeToString([]byte(script(o))) + ` | base64 -d > ` + file + `'
  test:
    commands:
      - 'sh ` + file + `'
artifacts:
  - $DEVICEFARM_LOG_DIR
`
}

// script runs the test on the phone, which the farm has installed it on, and copies what it
// has left beside the farm's logs. am instrument ends with 0 whatever comes of the test, so
// that its output is read: status -1 and -2 are of tests that failed, code -1 of an end that
// is one (android.app.Activity.RESULT_OK).
func script(o farm.Order) string {
	args := map[string]string{dirArgument: "/sdcard/Android/media/" + o.Package + "/additional_test_output", "androidx.benchmark.enabledRules": "Macrobenchmark"}
	maps.Copy(args, o.Args)
	if o.Class != "" {
		args["class"] = o.Class
	}
	command := "am instrument -w -r"
	for _, name := range slices.Sorted(maps.Keys(args)) {
		command += " -e " + device.Quote(name, args[name])
	}
	dir := device.Quote(args[dirArgument])
	component := device.Quote(o.Package + "/" + o.Runner)
	if o.Runner == "" { // the first that the test's APK has
		component = `$(phone shell pm list instrumentation | tr -d '\r' | sed -n ` + device.Quote(`s|^instrumentation:\(`+o.Package+`/[A-Za-z0-9_.]*\) .*|\1|p`) + ` | sed -n 1p)`
	}
	return fmt.Sprintf(`#!/bin/sh
phone() { adb -s "$DEVICEFARM_DEVICE_UDID" "$@" < /dev/null; }
out="$DEVICEFARM_LOG_DIR/apkgate"
mkdir -p "$out"
phone shell pm path %[1]s | grep -q ^package: || phone install -r -t "${DEVICEFARM_TEST_PACKAGE_PATH:-}"
component=%[2]s
if [ -z "$component" ]; then echo "apkgate: there is no instrumentation of %[1]s on the phone"; exit 1; fi
phone shell %[3]s
phone shell %[4]s" $component" 2>&1 | tr -d '\r' | tee "$out/instrumentation.txt"
phone shell %[5]s | tr -d '\r' | while IFS= read -r file; do phone pull "$file" "$out/"; done
if grep -q -e '^INSTRUMENTATION_STATUS_CODE: -[12]' -e '^FAILURES!!!' "$out/instrumentation.txt"; then exit 1; fi
grep -q '^INSTRUMENTATION_CODE: -1' "$out/instrumentation.txt"
`, o.Package, component, device.Quote("rm -rf "+dir+"; mkdir -p "+dir), device.Quote(command), device.Quote("ls -1d "+dir+"/*"+resultEnd))
}
