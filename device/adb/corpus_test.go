package adb

import (
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// Lists of devices that real servers printed around the boot of an emulator, without the lines
// that the adb command prints first.
func TestParseDevicesOfRealServers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"devices-l-mixed-states.txt":       "041234567892009a=unauthorized KABCDABCDA1513=device emulator-5554=device emulator-5556=offline",
		"devices-l-no-model.txt":           "emulator-5554=device",
		"devices-l-none.txt":               "",
		"devices-l-genymotion-desktop.txt": "127.0.0.1:6555=device",
		"emulator-offline-then-gone.txt":   "emulator-5554=offline",
		"states-vocabulary.txt":            "emulator-5554=device emulator-5556=offline emulator-5558=unauthorized R58M12345=authorizing RECOV1=recovery SIDE1=sideload emulator-5560=connecting ????????????????=no permissions",
	} {
		raw, err := os.ReadFile(corpustest.Path(t, "labs", "adb", name))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, info := range parseDevices(strings.ReplaceAll(string(raw), "List of devices attached", "")) {
			state, _, _ := strings.Cut(info.State, " usb:") // where a server can't open it
			got = append(got, info.Serial+"="+state)
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%s: %s, want %s", name, all, want)
		}
	}
}
