package action_test

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
)

// A build that leaves sensors registered takes more joules than one session can prove: a second one
// proves it, and the report names the component that took them. An emulator's joules are modelled,
// with its sensors' stated currents.
func TestActionFindsLeakedSensors(t *testing.T) {
	w := newWorkspace(t)
	modelled := func(build string) {
		w.build(build)
		w.write("apkgate.yml", strings.Replace(w.read("apkgate.yml"), "pixel-7-android-14", "sdk-gphone64-x86-android-14", 1)+"energy: {source: auto}\n")
	}
	good := w.read("demo-good.apk")
	const leak = "sensor proximity from open-list for 10m\nsensor light from open-list for 10m\n"
	w.write("demo-leaking.apk", strings.Replace(good, "\nscenario ", "\n"+leak+"\nscenario ", 1))
	modelled("demo-good")
	w.history()
	w.want(w.apkgate("action", "run", "--comment=false"), exit.StatusPass)
	modelled("demo-leaking")
	w.want(w.apkgate("action", "run", "--comment=false"), exit.StatusRegression)
	contains(t, "the summary", w.read("summary"), "Regression", "energy", "the part sensors +", "modelled (reference-phone)")
}
