package adbd

import (
	"bufio"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device/adb/mux"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// Daemon serves one phone. Its methods may be called concurrently.
type Daemon struct {
	phone   Phone
	freezer freezer

	mu          sync.Mutex
	refuse      bool
	offline     bool
	key         *rsa.PublicKey         // the only accepted key, nil for all
	accepting   bool                   // the user accepts unknown keys
	exclusive   bool                   // one client at a time
	connections map[net.Conn]*forwards // nil until the client has sent its CNXN
}

// New returns a daemon for the phone.
func New(phone Phone) *Daemon {
	return &Daemon{phone: phone, connections: map[net.Conn]*forwards{}}
}

// Serve accepts connections from the listener until ctx ends, and returns nil after all are
// closed. Several listeners may be served at once.
func (d *Daemon) Serve(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { listener.Close() })
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("taking connections for a simulated phone: %w", err)
		}
		running.Go(func() { d.serve(ctx, conn) })
	}
}

// handshakeTime limits how long a client may take to send its CNXN.
const handshakeTime = 30 * time.Second

func (d *Daemon) serve(ctx context.Context, conn net.Conn) {
	conn = d.freezer.wrap(conn)
	if !d.admit(conn) {
		reset(conn)
		return
	}
	defer d.forget(conn)
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if d.isTaken() {
		io.Copy(io.Discard, conn) // read and never answered
		return
	}

	h := &hello{daemon: d, conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}
	conn.SetReadDeadline(time.Now().Add(handshakeTime))
	peer, err := h.run()
	if err != nil {
		return // a client that breaks the protocol is disconnected
	}
	conn.SetReadDeadline(time.Time{})
	ports := &forwards{}
	ready := make(chan struct{})
	ports.session = mux.New(conn, h.r, mux.Config{
		PeerVersion:    peer.Arg0,
		PeerMaxPayload: peer.Arg1,
		Accept: func(service string, stream *mux.Stream) {
			<-ready
			defer stream.Close()
			d.serveStream(ctx, service, ports, stream)
		},
	})
	d.greet(conn, ports)
	close(ready)
	<-ports.session.Done()
}

// greet registers a client after its CNXN.
func (d *Daemon) greet(conn net.Conn, ports *forwards) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connections[conn] = ports
}

// admit registers a connection, unless connections are refused.
func (d *Daemon) admit(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse {
		return false
	}
	d.connections[conn] = nil
	return true
}

func (d *Daemon) forget(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.connections, conn)
}

// hello is the start of a connection.
type hello struct {
	daemon *Daemon
	conn   net.Conn
	r      *bufio.Reader
	sums   wire.Sums // for outgoing messages
}

// run sends the phone's banner and returns the client's CNXN.
func (h *hello) run() (wire.Message, error) {
	peer, err := wire.ReadMessage(h.r, wire.MaxPayloadV1, wire.SumsIfGiven)
	if err != nil {
		return peer, err
	}
	if peer.Command != wire.CNXN || peer.Arg0 < wire.VersionMin || peer.Arg1 == 0 {
		return peer, fmt.Errorf("%w: a connection that starts with %v", wire.ErrMalformed, peer.Command)
	}
	h.sums = wire.SumsAt(wire.Version, peer.Arg0)
	if key := h.daemon.requiredKey(); key != nil {
		if err := h.authenticate(key); err != nil {
			return peer, err
		}
	}
	return peer, h.send(wire.Message{
		Command: wire.CNXN, Arg0: wire.Version, Arg1: wire.MaxPayload, Payload: []byte(h.daemon.banner()),
	})
}

// authenticate sends tokens until one is signed with the required key, or the user accepts a
// key that the client offers.
func (h *hello) authenticate(key *rsa.PublicKey) error {
	for {
		token := make([]byte, wire.TokenSize)
		if _, err := rand.Read(token); err != nil {
			return err
		}
		if err := h.send(wire.Message{Command: wire.AUTH, Arg0: wire.AuthToken, Payload: token}); err != nil {
			return err
		}
		answer, err := h.readAuth()
		if err != nil {
			return err
		}
		if answer.Arg0 == wire.AuthPublicKey {
			return nil
		}
		if rsa.VerifyPKCS1v15(key, crypto.SHA1, token, answer.Payload) == nil {
			return nil
		}
	}
}

// readAuth reads the next signature, or a public key that the user accepts. Other keys are
// ignored: the dialog on the phone stays unanswered.
func (h *hello) readAuth() (wire.Message, error) {
	for {
		m, err := wire.ReadMessage(h.r, wire.MaxPayloadV1, wire.SumsIfGiven)
		if err != nil {
			return m, err
		}
		switch {
		case m.Command != wire.AUTH:
			return m, fmt.Errorf("%w: %v instead of AUTH", wire.ErrMalformed, m.Command)
		case m.Arg0 == wire.AuthSignature, m.Arg0 == wire.AuthPublicKey && h.daemon.acceptsKeys():
			return m, nil
		case m.Arg0 != wire.AuthPublicKey:
			return m, fmt.Errorf("%w: an AUTH message of type %d", wire.ErrMalformed, m.Arg0)
		}
	}
}

func (h *hello) send(m wire.Message) error {
	_, err := h.conn.Write(m.Append(nil, h.sums))
	return err
}

// served are the features that this daemon implements. It leaves out newer phones' compression,
// delayed acknowledgements, which a phone offers to clients that ask for them, and features
// that only Android Studio uses.
var served = map[string]bool{
	wire.FeatureShell2:             true,
	wire.FeatureCmd:                true,
	wire.FeatureStat2:              true,
	wire.FeatureList2:              true,
	wire.FeatureSendRecv2:          true,
	wire.FeatureAbb:                true,
	wire.FeatureAbbExec:            true,
	"apex":                         true,
	"fixed_push_mkdir":             true,
	"fixed_push_symlink_timestamp": true,
	"remount_shell":                true,
}

// banner returns the phone's banner without the features that are not served.
func (d *Daemon) banner() string {
	before, list, ok := strings.Cut(d.phone.Banner(), "features=")
	if ok {
		list, rest, more := strings.Cut(list, ";")
		var kept []string
		for _, feature := range wire.ParseFeatures(list) {
			if served[feature] {
				kept = append(kept, feature)
			}
		}
		before += "features=" + strings.Join(kept, ",")
		if more {
			before += ";" + rest
		}
	}
	if d.isOffline() {
		_, rest, _ := strings.Cut(before, ":")
		return "offline:" + rest
	}
	return before
}

// has reports whether the phone's own daemon has a feature.
func (d *Daemon) has(feature string) bool {
	return wire.ParseBanner(d.phone.Banner()).Has(feature)
}

// reset closes a connection like a port on which nothing listens.
func reset(conn net.Conn) {
	if f, ok := conn.(*freezable); ok {
		if tcp, ok := f.Conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
	conn.Close()
}
