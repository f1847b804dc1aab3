package why_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// A message with the picture stands behind a sync: no frame is late, the event's own time got worse,
// and the recording after the verdict names what the picture waited for.
func TestQueueOfOneDelaysThePicture(t *testing.T) {
	t.Parallel()
	const app = `apkgate-simulated-app/1
package com.example.mail
registers-perfetto
unit saver handler-thread
unit sender handler-thread
task sync on sender after open code 7 runs 30ms network 700ms traces Sync.run
task show on saver after open at 20ms code 8 runs 20ms network 40ms shows 18 traces Message.show
scenario read 3s
  start 10
  0.5s open 12
  2.5s back 6
test com.example.mail.ReadTest#reads read
`
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	clitest.WriteFile(t, at("good.apk"), app)
	clitest.WriteFile(t, at("worse.apk"), strings.Replace(app, "task sync on sender", "task sync on saver", 1))
	clitest.WriteFile(t, at("apkgate.yml"), `app: {package: com.example.mail, apk: worse.apk}
scenarios:
  - name: read
    repetitions: 1
    workload: {instrumentation: {test-package: com.example.mail}}
devices: [{simulated: pixel-7-android-16}]
gate: {metrics: [frames.smooth_ratio, events.settled_ms]}
`)
	got := clitest.Run(t, nil, "compare", "--config", at("apkgate.yml"), "--base", at("good.apk"), "--head", at("worse.apk"), "--why", "10m", "--json", at("compare.json"), "--verbose")
	if got.Status != exit.StatusRegression {
		t.Fatalf("exit status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	text := strings.Join(strings.Fields(got.Stdout), " ")
	for _, want := range []string{
		"Cause of late tasks", "open: time until an event's last frame: message 8: Message.show from main waits up to ", "in saver, which handles one message at a time", "message 7: Sync.run from main", "seen in 4 of 4 repetitions",
		"The source has no stacks",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, got.Stdout)
		}
	}
	if strings.Contains(text, "Cause of slow frames") || strings.Contains(text, "smooth ratio worse") {
		t.Errorf("frames are blamed:\n%s", got.Stdout)
	}
	raw, err := os.ReadFile(at("compare.json"))
	if err != nil || !strings.Contains(string(raw), `"kind":"tasks.`) && !strings.Contains(string(raw), `"kind": "tasks.`) {
		t.Errorf("no cause of tasks as JSON: %v", err)
	}
}
