// Package standin plays, for tests, the programs that boot virtual devices or use a farm and
// that are not on the machines where apkgate is made: avdmanager, emulator, sdkmanager,
// gmsaas, gmtool, gcloud and aws. What
// they boot are simulated phones in processes of their own, which real adb servers and
// apkgate itself speak to.
//
// The binary of a test that imports this package is all of these programs: started under
// the name of one, it plays it and is no test. It owns the lab of a test: the folder of
// programs, an adb server, and the end of everything. What each program prints is in
// packages of its own below. It takes a stand: nothing that a lab has started is there
// when its test is over, whatever has been killed; and nothing of the machine is used that
// others use, no adb server of the user's, no home, no folder of AVDs.
package standin

import (
	"io"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/simulator/standin/avd"
	"github.com/apkgate/apkgate/simulator/standin/aws"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/genymotion"
	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// program is what a stand-in does; it returns the exit status.
type program func(folder state.Folder, args []string, stdout, stderr io.Writer) int

// programs are those that are played, by name.
var programs = map[string]program{
	"avdmanager": avd.Manager,
	"aws":        aws.AWS,
	"emulator":   avd.Emulator,
	"gcloud":     firebase.GCloud,
	"gmsaas":     genymotion.SaaS,
	"gmtool":     genymotion.Desktop,
	"sdkmanager": avd.SDKManager,
}

// A test's binary is not a test where it was started under another name.
func init() {
	name := filepath.Base(os.Args[0])
	if name == instance.Detached {
		os.Exit(instance.Main(os.Args[1:]))
	}
	if play, ok := programs[name]; ok {
		os.Exit(run(name, play))
	}
}

func run(name string, play program) int {
	folder, err := state.FromEnvironment()
	if err == nil {
		err = folder.Note(state.Call{Program: name, Args: os.Args[1:]})
	}
	if err != nil {
		_, _ = io.WriteString(os.Stderr, name+": "+err.Error()+"\n")
		return 126
	}
	return play(folder, os.Args[1:], os.Stdout, os.Stderr)
}
