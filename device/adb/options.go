package adb

import (
	"os"
	"time"
)

// Options are the timeouts of a connection, and the keys to authenticate with. The zero value
// is ready for use.
type Options struct {
	// ConnectTimeout limits connecting and the answer to the first message. 0 means 10 s.
	ConnectTimeout time.Duration
	// ReplyTimeout limits the answers that adb gives without running a command: the server's
	// lists, the acceptance of a stream. 0 means 30 s.
	ReplyTimeout time.Duration
	// SilenceTimeout limits how long Exec, Push and Pull wait without a byte transferred.
	// Install waits five times as long, because devices compile what they install. A process
	// started by Start may be silent without limit. 0 means 2 min; less than 0 means no limit.
	SilenceTimeout time.Duration
	// AuthorizeTimeout limits how long Dial waits for the user to accept this computer's key
	// on the device's screen. 0 means 10 s.
	AuthorizeTimeout time.Duration
	// Keys is called once a device wants to authenticate the host. nil means
	// UserKeys(os.Getenv).
	Keys func() ([]*Key, error)
}

func (o Options) withDefaults() Options {
	setDefault(&o.ConnectTimeout, 10*time.Second)
	setDefault(&o.ReplyTimeout, 30*time.Second)
	setDefault(&o.SilenceTimeout, 2*time.Minute)
	setDefault(&o.AuthorizeTimeout, 10*time.Second)
	if o.Keys == nil {
		o.Keys = func() ([]*Key, error) { return UserKeys(os.Getenv) }
	}
	return o
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}
