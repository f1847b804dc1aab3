package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// Server is an adb server: the process behind the adb command, which holds the
// connections to devices. A Server keeps no connection of its own.
type Server struct {
	addr    string
	options Options
}

// NewServer names the adb server at addr, "host:port" as ServerAddress gives it.
// It doesn't connect.
func NewServer(addr string, options Options) *Server {
	return &Server{addr: addr, options: options.withDefaults()}
}

// Device is the device with the serial, which need not be connected yet.
func (s *Server) Device(serial string) *Device {
	return &Device{serial: serial, transport: &serverTransport{server: s, serial: serial}, options: s.options}
}

// Connect has the server connect to a device's adb port, "host" or "host:port".
// The device's serial is then host:port. It is no error if it is connected already.
func (s *Server) Connect(ctx context.Context, hostport string) (*Device, error) {
	serial := DevicePort(hostport)
	answer, err := s.query(ctx, "host:connect:"+serial)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", serial, err)
	}
	// The server reports failure in words, and as a success.
	if !strings.HasPrefix(answer, "connected to") && !strings.HasPrefix(answer, "already connected to") {
		return nil, fmt.Errorf("connecting to %s: %w: the adb server says %q", serial, device.ErrGone, strings.TrimSpace(answer))
	}
	return s.Device(serial), nil
}

// Disconnect has the server let go of a device that it was told to connect to.
func (s *Server) Disconnect(ctx context.Context, hostport string) error {
	serial := DevicePort(hostport)
	if _, err := s.query(ctx, "host:disconnect:"+serial); err != nil {
		return fmt.Errorf("disconnecting from %s: %w", serial, err)
	}
	return nil
}

// Info is one line of the server's list of devices.
type Info struct {
	Serial string
	// State is "device" where it can be used; else "offline", "unauthorized",
	// "no permissions …", "recovery", …
	State string
	// Product, Model and Name are ro.product.name, .model and .device, "" where
	// the server doesn't know them.
	Product, Model, Name string
}

// StateDevice is the state of a device that can be used.
const StateDevice = "device"

// Devices lists what is connected, whatever its state.
func (s *Server) Devices(ctx context.Context) ([]Info, error) {
	text, err := s.query(ctx, "host:devices-l")
	if err != nil {
		return nil, fmt.Errorf("listing devices: %w", err)
	}
	return parseDevices(text), nil
}

// query asks the server for something that it answers with one string.
func (s *Server) query(ctx context.Context, request string) (string, error) {
	c, err := s.ask(ctx, request)
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := wire.ReadHostString(c)
	return text, unanswered(err)
}

// ask connects to the server, sends the requests, and waits for each to be
// granted. What follows is read from the call, whose silence is bounded by
// Options.ReplyTimeout.
func (s *Server) ask(ctx context.Context, requests ...string) (*call, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := newCall(ctx, conn, s.options.ReplyTimeout)
	for _, request := range requests {
		if err := roundTrip(c, request); err != nil {
			c.Close()
			return nil, deviceFailure(unanswered(err))
		}
	}
	return c, nil
}

func roundTrip(rw io.ReadWriter, request string) error {
	frame, err := wire.AppendHostString(nil, request)
	if err != nil {
		return err
	}
	if _, err := rw.Write(frame); err != nil {
		return err
	}
	return wire.ReadHostStatus(rw)
}

func (s *Server) connect(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: s.options.ConnectTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", s.addr)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, withHint(
			serverLost{fmt.Errorf("%w listens at %s", ErrNoServer, s.addr)},
			"start it with `adb start-server`, name another with ADB_SERVER_SOCKET=tcp:HOST:PORT, or connect straight to the device's own adb port")
	}
	return nil, serverLost{fmt.Errorf("reaching the adb server at %s: %w", s.addr, err)}
}

// serverTransport reaches one device through an adb server.
type serverTransport struct {
	server *Server
	serial string
}

func (t *serverTransport) open(ctx context.Context, service string) (io.ReadWriteCloser, error) {
	c, err := t.server.ask(ctx, "host:transport:"+t.serial, service)
	if err != nil {
		return nil, err
	}
	c.allow(0) // from here on silence is the stream's user to judge
	return c, nil
}

func (t *serverTransport) features(ctx context.Context) ([]string, error) {
	for try := 0; ; try++ {
		text, err := t.server.query(ctx, "host-serial:"+t.serial+":features")
		var failure *wire.HostFailure
		switch {
		case !errors.As(err, &failure), errors.Is(err, device.ErrGone), errors.Is(err, device.ErrUnauthorized):
			return wire.ParseFeatures(text), err
		case strings.Contains(failure.Text, "unknown host service"):
			return nil, nil // servers before 2016 know of no features
		case try > 0: // what was said twice was no mishap
			return nil, err
		}
	}
}

// watch reads the server's list, which it sends anew whenever something in it changes
// (adb.cpp, device_tracker).
func (t *serverTransport) watch(ctx context.Context) error {
	c, err := t.server.ask(ctx, "host:track-devices")
	if err != nil {
		return err
	}
	defer c.Close()
	c.allow(0) // it says nothing for as long as nothing changes
	for {
		text, err := wire.ReadHostString(c)
		if err != nil {
			return unanswered(err)
		}
		list := parseDevices(text)
		at := slices.IndexFunc(list, func(i Info) bool { return i.Serial == t.serial })
		switch {
		case at < 0:
			return fmt.Errorf("%w: the adb server no longer lists it", device.ErrGone)
		case list[at].State != StateDevice:
			return fmt.Errorf("%w: the adb server lists it as %q", device.ErrGone, list[at].State)
		}
	}
}

func (t *serverTransport) close() error { return nil }

// parseDevices reads the long or the short list of devices.
func parseDevices(text string) []Info {
	var list []Info
	for line := range strings.Lines(text) {
		if info, ok := parseDevice(strings.TrimSpace(line)); ok {
			list = append(list, info)
		}
	}
	return list
}

// states are those that a server may list a device in, of one word (transport.cpp).
var states = []string{
	StateDevice, "offline", "unauthorized", "authorizing", "connecting", "recovery", "rescue",
	"sideload", "bootloader", "host", "detached", "unknown",
}

// parseDevice reads "SERIAL STATE [usb:…] [product:…] [model:…] [device:…] …". The
// serial may have blanks, as that of a paired device whose name another one has
// ("adb-0123 (2)._adb-tls-connect._tcp"), and the state be of several words: "no
// permissions (…); see [http…]".
func parseDevice(line string) (Info, bool) {
	line = strings.ReplaceAll(line, "\t", " ")
	at, end := stateIn(line)
	if at < 0 {
		return Info{}, false
	}
	info := Info{Serial: strings.TrimSpace(line[:at]), State: line[at:end]}
	rest := line[end:]
	for field := range strings.FieldsSeq(rest) {
		key, value, _ := strings.Cut(field, ":")
		switch key {
		case "product":
			info.Product = value
		case "model":
			info.Model = value
		case "device":
			info.Name = value
		}
	}
	return info, true
}

// stateIn is where in a line the state of the device begins and ends, at -1 where
// there is none. Without a state that is known it is the second word.
func stateIn(line string) (at, end int) {
	if i := strings.Index(line, " no permissions"); i > 0 {
		if close := strings.Index(line[i:], "]"); close >= 0 {
			return i + 1, i + close + 1
		}
		return i + 1, len(line)
	}
	at = strings.IndexByte(line, ' ')
	if at <= 0 {
		return -1, -1
	}
	at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
	for i := at; i < len(line); i++ {
		word, _, _ := strings.Cut(line[i:], " ")
		if line[i-1] != ' ' || word == "" {
			continue
		}
		if strings.Contains(word, ":") {
			break
		}
		if slices.Contains(states, word) {
			at = i
		}
	}
	word, _, _ := strings.Cut(line[at:], " ")
	return at, at + len(word)
}
