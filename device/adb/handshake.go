package adb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// hostBanner identifies this side. A device offers a feature only to a host that lists it.
// Delayed acknowledgements, which change flow control, are not listed.
const hostBanner = "host::features=shell_v2,cmd"

// heldHint is the hint for a port that accepts connections and stays silent.
const heldHint = "an emulator answers one adb at a time: where `adb devices` lists it (emulator-5554), give its serial instead of its address, or stop that server (adb kill-server)"

const authorizeHint = "accept this computer's key on the device's screen, or put ~/.android/adbkey.pub where the device's image keeps its adb_keys; a key that the device knows already can be named in ADB_VENDOR_KEYS"

// minPayload is the smallest payload that a device may announce, in bytes.
const minPayload = 1 << 10

// handshake is the start of a connection to a device's own adb port: CNXN, and AUTH where the
// device wants to authenticate the host (protocol.md).
type handshake struct {
	conn    net.Conn
	r       *bufio.Reader
	options Options

	keys    []*Key
	tried   int  // keys that the device rejected
	offered bool // whether the public key was sent
}

func newHandshake(conn net.Conn, options Options) *handshake {
	return &handshake{conn: conn, r: bufio.NewReaderSize(conn, 64<<10), options: options}
}

// run returns the device's CNXN.
func (h *handshake) run() (wire.Message, error) {
	if err := h.wait(h.options.ConnectTimeout); err != nil {
		return wire.Message{}, err
	}
	err := h.send(wire.Message{
		Command: wire.CNXN, Arg0: wire.Version, Arg1: wire.MaxPayload, Payload: []byte(hostBanner),
	})
	for err == nil {
		var m wire.Message
		if m, err = h.read(); err != nil {
			break
		}
		switch m.Command {
		case wire.CNXN:
			return m, h.accept(m)
		case wire.AUTH:
			err = h.authenticate(m)
		case wire.STLS:
			err = withHint(errors.New("the device wants TLS, as wireless debugging does"), "pair with `adb pair`, connect with `adb connect`, and use the adb server")
		default: // protocol.md: messages before CNXN are ignored
		}
	}
	return wire.Message{}, err
}

func (h *handshake) read() (wire.Message, error) {
	m, err := wire.ReadMessage(h.r, wire.MaxPayload, wire.SumsIfGiven)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && h.offered:
		return m, h.unauthorized()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return m, withHint(fmt.Errorf("%w: %w to the connection", device.ErrGone, silence(h.options.ConnectTimeout)), heldHint)
	case errors.Is(err, io.EOF) && h.offered:
		return m, h.unauthorized()
	}
	return m, err
}

func (h *handshake) send(m wire.Message) error {
	_, err := h.conn.Write(m.Append(nil, wire.SumsRequired))
	return err
}

func (h *handshake) wait(d time.Duration) error { return h.conn.SetDeadline(time.Now().Add(d)) }

// accept validates the device's CNXN.
func (h *handshake) accept(m wire.Message) error {
	if m.Arg0 < wire.VersionMin || m.Arg1 < minPayload {
		return fmt.Errorf("%w: the device speaks version %#x and takes %d bytes", wire.ErrMalformed, m.Arg0, m.Arg1)
	}
	if kind := wire.ParseBanner(string(m.Payload)).Type; kind != StateDevice {
		return withHint(fmt.Errorf("%w: it says it is %q, want %q", device.ErrGone, kind, StateDevice), "let the device finish starting, or restart it")
	}
	return h.conn.SetDeadline(time.Time{})
}

// authenticate signs the device's token with one key after another, and finally sends it a
// public key for the user to accept.
func (h *handshake) authenticate(m wire.Message) error {
	if m.Arg0 != wire.AuthToken {
		return fmt.Errorf("%w: an AUTH message of type %d, want %d", wire.ErrMalformed, m.Arg0, wire.AuthToken)
	}
	if h.offered {
		return h.unauthorized()
	}
	if h.keys == nil {
		keys, err := h.options.Keys()
		if err != nil {
			return fmt.Errorf("%w: %w", device.ErrUnauthorized, err)
		}
		h.keys = keys
	}
	if h.tried < len(h.keys) {
		signature, err := h.keys[h.tried].sign(m.Payload)
		if err != nil {
			return err
		}
		h.tried++
		return h.send(wire.Message{Command: wire.AUTH, Arg0: wire.AuthSignature, Payload: signature})
	}
	return h.offer()
}

// offer sends the device the first public key.
func (h *handshake) offer() error {
	h.offered = true
	if len(h.keys) == 0 {
		return h.unauthorized()
	}
	public, err := h.keys[0].Public()
	if err != nil {
		return err
	}
	if err := h.wait(h.options.AuthorizeTimeout); err != nil {
		return err
	}
	return h.send(wire.Message{Command: wire.AUTH, Arg0: wire.AuthPublicKey, Payload: append([]byte(public), 0)})
}

func (h *handshake) unauthorized() error {
	return withHint(fmt.Errorf("%w: it turned down %d keys", device.ErrUnauthorized, h.tried), authorizeHint)
}
