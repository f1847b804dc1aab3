// Package simulator runs simulated Android devices: a phone (package phone) behind
// an adb daemon (package adbd) on a loopback port, so that what drives it is the
// code that drives a real device.
//
// It owns how a device is started and which labs there are. It does not measure
// anything. It takes a stand: what a simulated device prints follows from its
// seed, its profile, the app and what was asked of it, never from the time of
// day or from luck; and everything about it says that it is simulated.
package simulator

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator/adbd"
	"github.com/apkgate/apkgate/simulator/internal/phone"
	"github.com/apkgate/apkgate/simulator/profile"
)

// Simulated is a simulated device that runs.
type Simulated struct {
	Profile profile.Profile
	Phone   *phone.Phone
	// Daemon breaks the connection: Drop, Hang, Offline, RequireKey.
	Daemon *adbd.Daemon

	address string
	close   sync.Once
	stop    context.CancelFunc
	done    chan error
}

// Start starts a simulated device on a free loopback port. Two of the same
// profile, seed and options behave alike.
func Start(profileName string, seed uint64, o Options) (*Simulated, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for adb to the simulated %s: %w", profileName, err)
	}
	s, err := StartAt(listener, profileName, seed, o)
	if err != nil {
		_ = listener.Close()
	}
	return s, err
}

// StartAt is Start with adb on a listener of the caller's, which the device closes.
func StartAt(listener net.Listener, profileName string, seed uint64, o Options) (*Simulated, error) {
	p, err := profile.Find(profileName)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Simulated{address: listener.Addr().String(), Profile: p, Phone: phone.New(p, seed, o), stop: stop, done: make(chan error, 1)}
	s.Daemon = adbd.New(s.Phone)
	s.Phone.Attach(s.Daemon)
	go func() { s.done <- s.Daemon.Serve(ctx, listener) }()
	return s, nil
}

// Address is where its adb daemon listens, "127.0.0.1:40123".
func (s *Simulated) Address() string { return s.address }

// Clock is the device's own clock; to sleep on it is what moves its time.
func (s *Simulated) Clock() device.Clock { return s.Phone.Clock() }

// Close ends the daemon and the phone.
func (s *Simulated) Close() error {
	s.close.Do(func() {
		s.Daemon.Hang(false)
		s.stop()
		s.Phone.Close()
		<-s.done
	})
	return nil
}

// Profiles are all simulated devices that can be started.
func Profiles() []profile.Profile { return profile.All() }
