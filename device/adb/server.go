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

// Server is an adb server: the process behind the adb command, which owns the connections to
// devices. A Server keeps no connection of its own.
type Server struct {
	addr    string
	options Options
}

// NewServer returns the adb server at addr, "host:port" as returned by ServerAddress. It
// doesn't connect.
func NewServer(addr string, options Options) *Server {
	return &Server{addr: addr, options: options.withDefaults()}
}

// Device returns the device with the serial, which need not be connected yet.
func (s *Server) Device(serial string) *Device {
	return &Device{serial: serial, transport: &serverTransport{server: s, serial: serial}, options: s.options}
}

// Connect makes the server connect to a device's adb port, "host" or "host:port". The device's
// serial is then host:port. A device that is already connected is no error.
func (s *Server) Connect(ctx context.Context, hostport string) (*Device, error) {
	serial := DevicePort(hostport)
	answer, err := s.query(ctx, "host:connect:"+serial)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", serial, err)
	}
	// The server reports a failure as a success whose text describes the failure.
	if !strings.HasPrefix(answer, "connected to") && !strings.HasPrefix(answer, "already connected to") {
		return nil, fmt.Errorf("connecting to %s: %w: the adb server says %q", serial, device.ErrGone, strings.TrimSpace(answer))
	}
	return s.Device(serial), nil
}

// Disconnect makes the server drop a device that was connected with Connect.
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
	// State is "device" where the device can be used; otherwise "offline", "unauthorized", "no
	// permissions …", "recovery", ….
	State string
	// Product, Model and Name are ro.product.name, .model and .device, "" where the server
	// does not know them.
	Product, Model, Name string
}

// StateDevice is the state of a device that can be used.
const StateDevice = "device"

// Devices lists the connected devices, in whatever state.
func (s *Server) Devices(ctx context.Context) ([]Info, error) {
	text, err := s.query(ctx, "host:devices-l")
	if err != nil {
		return nil, fmt.Errorf("listing devices: %w", err)
	}
	return parseDevices(text), nil
}

// query sends a request that the server answers with one string.
func (s *Server) query(ctx context.Context, request string) (string, error) {
	c, err := s.ask(ctx, request)
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := wire.ReadHostString(c)
	return text, asLossIfSilent(err)
}

// ask connects to the server, sends the requests, and waits until each is accepted. The answer
// is read from the returned call, whose silence is limited by Options.ReplyTimeout.
func (s *Server) ask(ctx context.Context, requests ...string) (*call, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := newCall(ctx, conn, s.options.ReplyTimeout)
	for _, request := range requests {
		if err := roundTrip(c, request); err != nil {
			c.Close()
			return nil, deviceFailure(asLossIfSilent(err))
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
	c.setMaxSilence(0) // from here on the stream's user decides about silence
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
			return nil, nil // servers before 2016 have no features
		case try > 0: // the same answer twice is no accident
			return nil, err
		}
	}
}

// watch reads the server's list, which the server sends again whenever it changes (adb.cpp,
// device_tracker).
func (t *serverTransport) watch(ctx context.Context) error {
	c, err := t.server.ask(ctx, "host:track-devices")
	if err != nil {
		return err
	}
	defer c.Close()
	c.setMaxSilence(0) // it is silent while nothing changes
	for {
		text, err := wire.ReadHostString(c)
		if err != nil {
			return asLossIfSilent(err)
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

// parseDevices parses the long or the short list of devices.
func parseDevices(text string) []Info {
	var list []Info
	for line := range strings.Lines(text) {
		if info, ok := parseDevice(strings.TrimSpace(line)); ok {
			list = append(list, info)
		}
	}
	return list
}

// states are the one-word states of devices in a server's list (transport.cpp).
var states = []string{
	StateDevice, "offline", "unauthorized", "authorizing", "connecting", "recovery", "rescue",
	"sideload", "bootloader", "host", "detached", "unknown",
}

// parseDevice parses "SERIAL STATE [usb:…] [product:…] [model:…] [device:…] …". The serial may
// contain blanks, as that of a paired device whose name is taken ("adb-0123
// (2)._adb-tls-connect._tcp"), and so may the state: "no permissions (…); see [http…]".
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

// stateIn returns where in a line the device's state begins and ends, or -1 where there is
// none. Where no word is a known state, the state is the second word.
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
