package aws

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/farm"
)

// Where a Macrobenchmark writes its files, and how they are named.
const (
	dirArgument = "additionalTestOutputDir"
	resultEnd   = "benchmarkData.json"
)

// spec returns the test spec of an order: the commands for the computer to which Device Farm
// connects the phone. Only in this custom environment does a test receive arguments, and only
// from there are files other than Device Farm's own returned. The commands pass through a YAML
// parser, a log and a shell, so they are encoded in a form that none of these changes; the
// script is stored beside the results for inspection.
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

// script runs the test on the phone, where the farm has installed it, and copies the test's
// files to the farm's logs. am instrument exits with 0 whatever the result, so its output is
// parsed: status -1 and -2 belong to failed tests, code -1 to a regular end
// (android.app.Activity.RESULT_OK).
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
	if o.Runner == "" { // the first in the test's APK
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
