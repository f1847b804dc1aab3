// Package standin simulates, for tests, the programs that boot virtual devices or use a farm
// and that are not installed where apkgate is built: avdmanager, emulator, sdkmanager, gmsaas,
// gmtool, gcloud and aws. The devices that they boot are simulated phones in processes of
// their own, to which real adb servers and apkgate itself connect.
//
// The binary of a test that imports this package is all of these programs: started under the
// name of one, it acts as that program instead of a test. The package owns the lab of a test:
// the folder of programs, an adb server, and the cleanup. The programs' output is in its
// subpackages. Nothing that a lab has started outlives its test, whatever was killed; and the
// lab uses no shared resources of the computer: no adb server of the user's, no home, no
// folder of AVDs.
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

// program is a stand-in's main function; it returns the exit status.
type program func(folder state.Folder, args []string, stdout, stderr io.Writer) int

// programs are the simulated programs, by name.
var programs = map[string]program{
	"avdmanager": avd.Manager,
	"aws":        aws.AWS,
	"emulator":   avd.Emulator,
	"gcloud":     firebase.GCloud,
	"gmsaas":     genymotion.SaaS,
	"gmtool":     genymotion.Desktop,
	"sdkmanager": avd.SDKManager,
}

// A test's binary acts as a program if it was started under that program's name.
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
