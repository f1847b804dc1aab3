package measurement

import (
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// The console of an emulator is on the computer of the adb server that names it.
func TestConsoleOfAnEmulator(t *testing.T) {
	for server, want := range map[string]int{"": 5556, "127.0.0.1": 5556, "localhost": 5556, "10.0.0.7": 0, "elsewhere": 0} {
		c := terminal.Console{Getenv: func(name string) string {
			if name == "ANDROID_ADB_SERVER_ADDRESS" {
				return server
			}
			return ""
		}}
		for _, spec := range []config.Device{{Serial: "emulator-5556"}, {Serial: "R5CT"}, {Address: "127.0.0.1:5555"}} {
			want := want
			if spec.Serial != "emulator-5556" {
				want = 0
			}
			d, err := connected(c, spec)
			if err != nil {
				t.Fatal(err)
			}
			var job collect.Job
			if d.bind(&job); job.Console != want {
				t.Errorf("adb server at %q: the console of %s%s is on port %d, want %d", server, spec.Serial, spec.Address, job.Console, want)
			}
		}
	}
}
