package avd

import (
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
)

// In makes the lab keep its AVDs in the given folder, and sets the timeouts of a boot and of
// each step of a stop.
func (l *Lab) In(homes string, boot, end time.Duration) *Lab {
	l.homes = homes
	l.patience.boot = boot
	l.patience.end, l.patience.term, l.patience.forget = end, end, 10*end
	return l
}

// Held returns how many emulators the lab still holds.
func (l *Lab) Held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running)
}

// specOfEverything sets every field that changes an emulator's command line.
var specOfEverything = boot.Spec{Existing: "a", RAMMiB: 1, Cores: 1, GPU: "auto", Snapshot: "b"}
