// Package genymotion simulates Genymotion's programs: gmtool of the Desktop, and gmsaas of the
// cloud.
//
// It owns their output and their state of devices and instances, by the sources of gmsaas and
// the vendor's documents and test data of gmtool; the phones belong to package instance, in
// processes of their own. An unknown command line is refused with the tool's own usage error,
// so that one that only a stand-in accepts fails the test.
package genymotion

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// Held returns the failure that blocks a command: "holds before admin create", "holds after
// instances start". The command is blocked until the lab ends, or it is killed.
func Held(when, command string) string { return "holds " + when + " " + command }

// HoldsAt is the file in the lab's folder that exists while a command is blocked.
const HoldsAt = "held"

// hold blocks for ever if the lab blocks the command.
func hold(folder state.Folder, when, command string) {
	if !folder.Fails(Held(when, command)) {
		return
	}
	_ = folder.Save(HoldsAt, Held(when, command))
	for !folder.Gone() {
		time.Sleep(20 * time.Millisecond)
	}
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// endPatience is how long a phone has to end before it is killed.
const endPatience = 5 * time.Second

// portOf returns the adb port of a running phone; 0 if it is not running.
func portOf(folder state.Folder, name string) int {
	r, err := instance.Find(folder, name)
	if err != nil {
		return 0
	}
	return r.ADB
}
