package adbd_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/adb/wire"
	"github.com/apkgate/apkgate/simulator/adbd"
)

const limit = time.Minute

// mute is a phone without any commands.
type mute struct {
	adbd.Phone
	started chan context.Context // receives the context of each command, if there is room
}

func (mute) Banner() string {
	return "device::ro.product.model=M;features=cmd,shell_v2,delayed_ack,abb_exec,sendrecv_v2_zstd,stat_v2;last=1"
}

func (m mute) Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) func() int {
	select {
	case m.started <- ctx:
	default:
	}
	io.WriteString(stdout, "ran "+command)
	return func() int { return 0 }
}

// Control answers with the request, and restarts for TCP.
func (mute) Control(service, argument string) (string, bool) {
	return service + " " + argument + "\n", service == "tcpip"
}

// host is a host's end of a connection, played message by message.
type host struct {
	t    *testing.T
	conn net.Conn
	sums wire.Sums
}

func serve(t *testing.T) (*adbd.Daemon, string) {
	t.Helper()
	return servePhone(t, mute{})
}

func servePhone(t *testing.T, phone adbd.Phone) (*adbd.Daemon, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := adbd.New(phone)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- d.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(limit):
			t.Error("Serve goes on after its context ended")
		}
	})
	return d, listener.Addr().String()
}

func connect(t *testing.T, addr string) *host {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(limit))
	t.Cleanup(func() { conn.Close() })
	return &host{t: t, conn: conn, sums: wire.SumsRequired}
}

func (h *host) send(c wire.Command, arg0, arg1 uint32, payload string) {
	m := wire.Message{Command: c, Arg0: arg0, Arg1: arg1, Payload: []byte(payload)}
	h.conn.Write(m.Append(nil, h.sums)) // an error is found by the next read
}

func (h *host) read() (wire.Message, error) {
	return wire.ReadMessage(h.conn, wire.MaxPayload, wire.SumsIfGiven)
}

func (h *host) want(c wire.Command) wire.Message {
	h.t.Helper()
	m, err := h.read()
	if err != nil || m.Command != c {
		h.t.Fatalf("%v, %v, want %v", m.Command, err, c)
	}
	return m
}

func TestBannerWithholdsUnservedFeatures(t *testing.T) {
	_, addr := serve(t)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	got := string(h.want(wire.CNXN).Payload)
	if want := "device::ro.product.model=M;features=cmd,shell_v2,abb_exec,stat_v2;last=1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A host of the first version gets checksums, and pieces of the size that it announced.
func TestOldHost(t *testing.T) {
	_, addr := serve(t)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.VersionMin, 4096, "host::")
	if m, err := wire.ReadMessage(h.conn, 4096, wire.SumsRequired); err != nil || m.Command != wire.CNXN {
		t.Fatalf("%v, %v", m.Command, err)
	}
	h.send(wire.OPEN, 1, 0, "shell:"+strings.Repeat("x", 4000)+"\x00")
	m, err := wire.ReadMessage(h.conn, 4096, wire.SumsRequired)
	if err != nil || m.Command != wire.OKAY {
		t.Fatalf("%v, %v", m.Command, err)
	}
	m, err = wire.ReadMessage(h.conn, 4096, wire.SumsRequired)
	if err != nil || m.Command != wire.WRTE || !bytes.HasPrefix(m.Payload, []byte("ran xxx")) {
		t.Fatalf("%v, %.20q, %v", m.Command, m.Payload, err)
	}
}

// A shell's stream is closed right after the exit code, and the phone notices when its client
// has closed the stream as well.
func TestShellStreamClosesAfterTheExitCode(t *testing.T) {
	phone := mute{started: make(chan context.Context, 1)}
	_, addr := servePhone(t, phone)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	h.want(wire.CNXN)
	h.send(wire.OPEN, 7, 0, "shell,v2,raw:x\x00")
	id := h.want(wire.OKAY).Arg0
	if m := h.want(wire.WRTE); !strings.HasSuffix(string(m.Payload), "ran x") {
		t.Fatalf("%q, want what the command printed", m.Payload)
	}
	h.send(wire.OKAY, 7, id, "")
	if m := h.want(wire.WRTE); string(m.Payload) != "\x03\x01\x00\x00\x00\x00" {
		t.Fatalf("%q, want the exit code 0", m.Payload)
	}
	h.want(wire.CLSE) // although the exit code was not acknowledged
	ctx := <-phone.started
	if ctx.Err() != nil {
		t.Error("the phone takes it that its client knows, which has not said so")
	}
	h.send(wire.CLSE, 7, id, "")
	select {
	case <-ctx.Done():
	case <-time.After(limit):
		t.Error("the phone does not hear that its client knows")
	}
}

func TestProtocolErrorsDisconnect(t *testing.T) {
	_, addr := serve(t)
	for name, first := range map[string]string{
		"HTTP":           "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"OPEN before it": string(wire.Message{Command: wire.OPEN, Arg0: 1, Payload: []byte("shell:")}.Append(nil, wire.SumsRequired)),
		"version 0":      string(wire.Message{Command: wire.CNXN, Arg1: 4096}.Append(nil, wire.SumsRequired)),
	} {
		h := connect(t, addr)
		io.WriteString(h.conn, first)
		if m, err := h.read(); err == nil {
			t.Errorf("%s: answered with %v", name, m.Command)
		} else if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
			t.Errorf("%s: left hanging", name)
		}
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

func TestRefusedServices(t *testing.T) {
	_, addr := serve(t)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.VersionMin, 4096, "host::")
	h.want(wire.CNXN)
	for i, service := range []string{"tcp:80", "jdwp:1", "abb:package", "sink:5", ""} {
		id := uint32(i + 1)
		h.send(wire.OPEN, id, 0, service)
		if m := h.want(wire.CLSE); m.Arg0 != 0 || m.Arg1 != id {
			t.Errorf("%q: CLSE from %d to %d, want from 0 to %d", service, m.Arg0, m.Arg1, id)
		}
	}
}

// talk opens a service, and returns its output until it is closed.
func (h *host) talk(id uint32, service string) string {
	h.t.Helper()
	h.send(wire.OPEN, id, 0, service)
	remote := h.want(wire.OKAY).Arg0
	var said strings.Builder
	for {
		m, err := h.read()
		switch {
		case err != nil:
			h.t.Fatalf("%q: %v after %q", service, err, said.String())
		case m.Command == wire.CLSE:
			h.send(wire.CLSE, id, remote, "")
			return said.String()
		case m.Command == wire.WRTE:
			said.Write(m.Payload)
			h.send(wire.OKAY, id, remote, "")
		}
	}
}

func TestAbb(t *testing.T) {
	_, addr := serve(t)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	h.want(wire.CNXN)
	if got := h.talk(1, "abb_exec:package\x00install\x00a b"); got != "ran cmd package install 'a b'" {
		t.Errorf("%q", got)
	}
}

// A request that restarts the daemon ends the connection, after the answer.
func TestControlRestartsTheDaemon(t *testing.T) {
	_, addr := serve(t)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	h.want(wire.CNXN)
	if got := h.talk(1, "root:"); got != "root \n" {
		t.Errorf("root: %q", got)
	}
	if got := h.talk(2, "tcpip:5555"); got != "tcpip 5555\n" {
		t.Errorf("tcpip: %q", got)
	}
	if m, err := h.read(); err == nil || isTimeout(err) {
		t.Errorf("%v, %v, want the end of the connection", m, err)
	}
}

// The messages and their order are those of handle_forward_request in AOSP's adb.cpp.
func TestDialReverse(t *testing.T) {
	d, addr := serve(t)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	h.want(wire.CNXN)
	for i, c := range []struct{ request, want string }{
		{"forward:tcp:8080;tcp:9000", "OKAY00048080"},
		{"forward:norebind:tcp:8080;tcp:9001", "FAIL001dcannot rebind existing socket"},
		{"forward:localabstract:x;tcp:9002", "OKAY"},
		{"forward:tcp:0;tcp:9003", "OKAY000534001"},
		{"forward:tcp:x;tcp:9004", "FAIL001bbad forward: tcp:x;tcp:9004"},
		{"killforward:tcp:1", "FAIL001alistener 'tcp:1' not found"},
		{"killforward:tcp:34001", "OKAY"},
		{"list-forward", "0039host-1 tcp:8080 tcp:9000\nhost-1 localabstract:x tcp:9002\n"},
	} {
		if got := h.talk(uint32(i+1), "reverse:"+c.request); got != c.want {
			t.Errorf("%s: %q, want %q", c.request, got, c.want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	dialled := make(chan error, 1)
	go func() {
		app, err := d.DialReverse(ctx, "tcp:8080")
		if err == nil {
			_, err = io.WriteString(app, "hello")
		}
		dialled <- err
	}()
	open := h.want(wire.OPEN)
	if string(open.Payload) != "tcp:9000\x00" {
		t.Errorf("opens %q", open.Payload)
	}
	h.send(wire.OKAY, 99, open.Arg0, "")
	if m := h.want(wire.WRTE); string(m.Payload) != "hello" {
		t.Errorf("%q comes", m.Payload)
	}
	if err := <-dialled; err != nil {
		t.Error(err)
	}
	if _, err := d.DialReverse(ctx, "tcp:34001"); err == nil {
		t.Error("what is forwarded no more still leads somewhere")
	}
}

func TestRefuse(t *testing.T) {
	d, addr := serve(t)
	d.Refuse(true)
	conn, err := net.Dial("tcp", addr)
	if err == nil { // closed at once, or a little later
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(limit))
		if _, err = conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("%v, want to be cut off", err)
		}
	}
	d.Refuse(false)
	h := connect(t, addr)
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	h.want(wire.CNXN)
}

// With Drip all data arrives, in small pieces.
func TestDrip(t *testing.T) {
	d, addr := serve(t)
	h := connect(t, addr)
	fall, asked := make(chan struct{}), make(chan struct{}, 1)
	d.Drip(16, func() <-chan struct{} {
		select {
		case asked <- struct{}{}:
		default:
		}
		return fall
	})
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	<-asked
	if n, err := io.ReadFull(h.conn, make([]byte, 16)); err != nil {
		t.Fatalf("the first drop: %d bytes, %v", n, err)
	}
	h.conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := h.conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes more come before the next drop falls", n)
	}
	h.conn.SetReadDeadline(time.Now().Add(limit))
	d.Drip(0, nil)
	if _, err := io.ReadFull(h.conn, make([]byte, 24)); err != nil {
		t.Errorf("the rest, once it no longer drips: %v", err)
	}
}

func TestServeEndsWhileHanging(t *testing.T) {
	d, addr := serve(t) // its cleanup waits for Serve
	h := connect(t, addr)
	h.send(wire.CNXN, wire.Version, wire.MaxPayload, "host::")
	h.want(wire.CNXN)
	d.Hang(true)
	h.send(wire.OPEN, 1, 0, "shell:x")
}
