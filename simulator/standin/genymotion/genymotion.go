// Package genymotion is what the stand-ins play of Genymotion: gmtool of the Desktop, and
// gmsaas of the cloud.
//
// It owns what the two print and what they remember of devices and instances, as the
// sources of gmsaas and the vendor's documents and test data of gmtool have it; the phones
// behind them are package instance's, in processes of their own. It takes a stand: what it
// does not know it refuses with the tool's own usage error, so that a command line that
// only a stand-in understands passes no test.
package genymotion

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// Held is the failure that leaves a command where it is: "holds before admin create",
// "holds after instances start". It goes on when the lab ends, or is killed.
func Held(when, command string) string { return "holds " + when + " " + command }

// HoldsAt is the file of the lab's folder that says that a command is held.
const HoldsAt = "held"

// hold waits for ever where the lab has the command held.
func hold(folder state.Folder, when, command string) {
	if !folder.Fails(Held(when, command)) {
		return
	}
	_ = folder.Save(HoldsAt, Held(when, command))
	for !folder.Gone() {
		time.Sleep(20 * time.Millisecond)
	}
}

// newUUID is a random one (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// endPatience is how long a phone has to end before it is killed.
const endPatience = 5 * time.Second

// portOf is where a phone that runs listens for adb; 0 where it doesn't.
func portOf(folder state.Folder, name string) int {
	r, err := instance.Find(folder, name)
	if err != nil {
		return 0
	}
	return r.ADB
}
