package avd

import (
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
)

// In has the lab keep its AVDs in a folder of the test's own, and gives it other
// times: so long for a boot, and so long for each step of an end.
func (l *Lab) In(homes string, boot, end time.Duration) *Lab {
	l.homes = homes
	l.patience.boot = boot
	l.patience.end, l.patience.term, l.patience.forget = end, end, 10*end
	return l
}

// Held is how many emulators the lab still holds.
func (l *Lab) Held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running)
}

// specOfEverything has all that changes an emulator's command line.
var specOfEverything = boot.Spec{Existing: "a", RAMMiB: 1, Cores: 1, GPU: "auto", Snapshot: "b"}
