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

// An emulator's console is on an even port, and adb's on the odd one behind it
// (-help-port). Each pair is an emulator for adb servers, too.
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

// serial is how adb calls the emulator.
func (p *port) serial() string { return serialOf(p.console) }

func serialOf(console int) string { return "emulator-" + strconv.Itoa(console) }

// free reports whether nobody listens on either.
func (p *port) free() bool { return isFree(p.console) && isFree(p.adb()) }

// leave gives the ports free for others.
func (p *port) leave() { _ = p.lock.Close() }

// takePort finds a pair of ports on which nobody listens and which adb does not show as
// an emulator, and locks it until it is left: the emulator opens its ports some time after
// it was started. Those in passed are no good.
func (l *Lab) takePort(ctx context.Context, w way, passed map[int]bool) (*port, error) {
	if err := os.MkdirAll(l.locks, 0o700); err != nil {
		return nil, failure("choose the emulator's ports: "+err.Error(), "")
	}
	shown := w.shown(ctx)
	for console := firstPort; console <= lastPort; console += 2 {
		if passed[console] || shown[serialOf(console)] {
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
	return nil, passing(fmt.Sprintf("choose the emulator's ports: all from %d to %d are taken", firstPort, lastPort+1), "see what `adb devices` lists, and close emulators that nobody uses")
}

// isFree reports whether nobody listens on the port.
func isFree(number int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(number)))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}

// shown are the serials that adb lists, whatever their state: one that is gone may be shown
// as offline for a while.
func (w way) shown(ctx context.Context) map[string]bool {
	out := map[string]bool{}
	if w.server == nil {
		return out
	}
	infos, err := w.server.Devices(ctx)
	if err != nil {
		return out // it is asked again when the device is to be reached
	}
	for _, info := range infos {
		out[info.Serial] = true
	}
	return out
}

// stateOf is how adb shows a device, "" where it doesn't.
func stateOf(infos []adb.Info, serial string) string {
	for _, info := range infos {
		if info.Serial == serial {
			return info.State
		}
	}
	return ""
}
