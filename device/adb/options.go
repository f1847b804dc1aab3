package adb

import (
	"os"
	"time"
)

// Options say how long a connection may take, and by which keys it is made. The
// zero value is good for use.
type Options struct {
	// ConnectTimeout bounds connecting and the answer to the first message.
	// 0 means 10 s.
	ConnectTimeout time.Duration
	// ReplyTimeout bounds what adb itself answers without a command being run:
	// the server's lists, the acceptance of a stream.
	// 0 means 30 s.
	ReplyTimeout time.Duration
	// SilenceTimeout bounds how long Exec, Push and Pull wait while not a byte
	// comes or goes. Install waits five times as long, for devices compile what
	// they install. What Start started may be silent for ever. 0 means 2 min;
	// less than 0 means for ever.
	SilenceTimeout time.Duration
	// AuthorizeTimeout bounds how long Dial waits for somebody to accept this
	// computer's key on the device's screen. 0 means 10 s.
	AuthorizeTimeout time.Duration
	// Keys are asked for once a device wants to know who connects. nil means
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
