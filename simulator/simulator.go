// Package simulator runs simulated Android devices: a phone (package phone) behind an adb
// daemon (package adbd) on a loopback port, so that the code that drives a real device also
// drives a simulated one.
//
// It owns how a device is started and the list of devices. It measures nothing. The output of
// a simulated device is determined by its seed, its profile, the app and the commands sent to
// it, never by the time of day or by chance. All of its output is marked as simulated.
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

// Simulated is a running simulated device.
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

// Start starts a simulated device on a free loopback port. Two devices with the same profile,
// seed and options behave identically.
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

// StartAt is Start with a listener of the caller's for adb. The device closes it.
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

// Address returns the address of its adb daemon, "127.0.0.1:40123".
func (s *Simulated) Address() string { return s.address }

// Clock returns the device's own clock. Sleeping on it advances the device's time.
func (s *Simulated) Clock() device.Clock { return s.Phone.Clock() }

// Close stops the daemon and the phone.
func (s *Simulated) Close() error {
	s.close.Do(func() {
		s.Daemon.Hang(false)
		s.stop()
		s.Phone.Close()
		<-s.done
	})
	return nil
}

// Profiles returns the profiles of all simulated devices.
func Profiles() []profile.Profile { return profile.All() }
