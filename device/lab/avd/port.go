package avd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/internal/filelock"
)

// An emulator's console is on an even port, and adb on the next, odd one (-help-port). adb
// servers also take each pair for an emulator.
const (
	firstPort = 5554
	lastPort  = 5682
)

// port is a pair of ports that this process has locked against other apkgates.
type port struct {
	console int
	lock    *os.File
}

func (p *port) adb() int { return p.console + 1 }

// serial returns the emulator's serial in adb.
func (p *port) serial() string { return serialOf(p.console) }

func serialOf(console int) string { return "emulator-" + strconv.Itoa(console) }

// free reports whether neither port is in use.
func (p *port) free() bool { return isFree(p.console) && isFree(p.adb()) }

// leave releases the ports.
func (p *port) leave() { _ = p.lock.Close() }

// takePort finds a pair of ports on which nothing listens and which adb does not list as an
// emulator, and locks it until leave: the emulator opens its ports some time after it was
// started. The ports in passed are skipped.
func (l *Lab) takePort(ctx context.Context, w way, passed map[int]bool) (*port, error) {
	if err := os.MkdirAll(l.locks, 0o700); err != nil {
		return nil, failure("choose the emulator's ports: "+err.Error(), "")
	}
	listedSerials := w.listedSerials(ctx)
	for console := firstPort; console <= lastPort; console += 2 {
		if passed[console] || listedSerials[serialOf(console)] {
			continue
		}
		file, err := filelock.Lock(filepath.Join(l.locks, strconv.Itoa(console)+".lock"))
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		if err != nil {
			return nil, failure("choose the emulator's ports: "+err.Error(), "")
		}
		p := &port{console, file}
		if p.free() {
			return p, nil
		}
		p.leave()
	}
	return nil, retryable(fmt.Sprintf("choose the emulator's ports: all from %d to %d are taken", firstPort, lastPort+1), "see what `adb devices` lists, and close unused emulators")
}

// isFree reports whether nothing listens on the port.
func isFree(number int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(number)))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}

// listedSerials returns the serials that adb lists, whatever their state: an emulator that has ended
// may be listed as offline for a while.
func (w way) listedSerials(ctx context.Context) map[string]bool {
	out := map[string]bool{}
	if w.server == nil {
		return out
	}
	infos, err := w.server.Devices(ctx)
	if err != nil {
		return out // a failure is reported when the device is connected
	}
	for _, info := range infos {
		out[info.Serial] = true
	}
	return out
}

// stateOf returns the state in which adb lists a device, "" if it does not.
func stateOf(infos []adb.Info, serial string) string {
	for _, info := range infos {
		if info.Serial == serial {
			return info.State
		}
	}
	return ""
}
