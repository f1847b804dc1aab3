package demo

import (
	"os/exec"
	"time"

	"github.com/apkgate/apkgate/device"
)

// farewell says what to do next: first what has an answer at once.
func (d demo) farewell(keep bool, took time.Duration) {
	d.say("\nThat took %.1f s. A gate on pull request 41 would have failed (exit status 1).\n", took.Seconds())
	d.say("Its report with the pictures: %s\n", d.path("pull-41.html"))
	if keep {
		d.say(`
To play with what is in %s:
  cd %s
  apkgate check pull-41.jsonl                # the regression and its cause, without a device
  apkgate run                                # measure and gate build 1.5.0 again
  apkgate baseline list                      # what was measured, judged and accepted
  apkgate baseline trend --html trend.html   # each number over the nights
  apkgate compare --config energy.yml --base mail-1.4.0.apk --head mail-1.5.0.apk
`, d.dir, device.Quote(d.dir))
	} else {
		d.say("\nTo play with the history and the runs, keep them: apkgate demo --keep demo\n")
	}
	if _, err := exec.LookPath("apkgate"); err != nil {
		d.say("\nThe shell finds no apkgate yet: go install ./cmd/apkgate puts it into $(go env GOPATH)/bin.\n")
	}
	d.say(`
With your app, and a device or an emulator (adb devices shows it):
  apkgate init      # at the root of its Gradle project
  apkgate doctor
  apkgate run
`)
}
