package adbd

import (
	"crypto/rsa"
	"net"
	"sync"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// Drop closes every connection, as when the cable is pulled. New ones are accepted.
func (d *Daemon) Drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for conn := range d.connections {
		reset(conn)
	}
}

// Refuse closes new connections at once, while on. Existing ones stay.
func (d *Daemon) Refuse(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = on
}

// Hang freezes the daemon, while on: connections stay and new ones are accepted, but nothing
// is read or sent. Afterwards it resumes where it was.
func (d *Daemon) Hang(on bool) { d.freezer.set(on) }

// Offline closes every connection, and answers new ones like a phone that is not ready, while
// on.
func (d *Daemon) Offline(on bool) {
	d.mu.Lock()
	d.offline = on
	d.mu.Unlock()
	if on {
		d.Drop()
	}
}

func (d *Daemon) isOffline() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.offline
}

// RequireKey admits only clients with the private key of this public one, given as a line of
// adbkey.pub. "" admits all clients. Existing connections stay.
func (d *Daemon) RequireKey(public string) error {
	var key *rsa.PublicKey
	if public != "" {
		var err error
		if key, err = wire.DecodePublicKey(public); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.key = key
	return nil
}

// AcceptKeys makes the phone's user accept, while on, any key that is offered.
func (d *Daemon) AcceptKeys(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.accepting = on
}

// Exclusive makes the daemon serve one client at a time, like an emulator's port: others are
// accepted, and never answered.
func (d *Daemon) Exclusive(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.exclusive = on
}

// isTaken reports whether another client, connected before the one just admitted, has the
// daemon to itself. Connecting counts, since the CNXN comes later.
func (d *Daemon) isTaken() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.exclusive && len(d.connections) > 1
}

func (d *Daemon) acceptsKeys() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.accepting
}

func (d *Daemon) requiredKey() *rsa.PublicKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.key
}

// Drip sends the given number of bytes at a time, and more once the channel that next returned
// is closed. A nil next ends it.
func (d *Daemon) Drip(bytes int, next func() <-chan struct{}) { d.freezer.setDrip(bytes, next) }

// freezer pauses reads and writes on connections, or throttles writes.
type freezer struct {
	mu   sync.Mutex
	thaw chan struct{} // closed when the freeze ends; nil without one
	tap  tap
}

// tap throttles writes, if it has a next.
type tap struct {
	drop int // bytes
	next func() <-chan struct{}
	dry  chan struct{} // closed when throttling ends
}

func (f *freezer) setDrip(drop int, next func() <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tap.dry != nil {
		close(f.tap.dry)
	}
	f.tap = tap{}
	if next != nil {
		f.tap = tap{drop, next, make(chan struct{})}
	}
}

func (f *freezer) tapped() tap {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tap
}

func (f *freezer) set(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case on && f.thaw == nil:
		f.thaw = make(chan struct{})
	case !on && f.thaw != nil:
		close(f.thaw)
		f.thaw = nil
	}
}

func (f *freezer) state() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.thaw
}

func (f *freezer) wrap(conn net.Conn) net.Conn {
	return &freezable{Conn: conn, freezer: f, closed: make(chan struct{})}
}

// freezable is a connection that blocks while it is frozen.
type freezable struct {
	net.Conn
	freezer *freezer
	once    sync.Once
	closed  chan struct{}
}

// wait waits for the end of the freeze, or of the connection.
func (f *freezable) wait() error {
	for {
		thaw := f.freezer.state()
		if thaw == nil {
			return nil
		}
		select {
		case <-thaw:
		case <-f.closed:
			return net.ErrClosed
		}
	}
}

// Read holds back data that arrives during the freeze.
func (f *freezable) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if frost := f.wait(); frost != nil {
		return 0, frost
	}
	return n, err
}

func (f *freezable) Write(p []byte) (int, error) {
	if err := f.wait(); err != nil {
		return 0, err
	}
	written := 0
	for tap := f.freezer.tapped(); tap.next != nil && len(p)-written > tap.drop; tap = f.freezer.tapped() {
		n, err := f.Conn.Write(p[written : written+tap.drop])
		if written += n; err != nil {
			return written, err
		}
		select {
		case <-tap.next():
		case <-tap.dry:
		case <-f.closed:
			return written, net.ErrClosed
		}
	}
	n, err := f.Conn.Write(p[written:])
	return written + n, err
}

func (f *freezable) Close() error {
	f.once.Do(func() { close(f.closed) })
	return f.Conn.Close()
}
