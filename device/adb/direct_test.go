package adb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/adb/adbtest"
	"github.com/apkgate/apkgate/device/adb/mux"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// keysIn returns options that use the keys under a home of the test's own.
func keysIn(home string) adb.Options {
	return adb.Options{
		AuthorizeTimeout: 500 * time.Millisecond,
		Keys: func() ([]*adb.Key, error) {
			return adb.UserKeys(func(name string) string {
				return map[string]string{"HOME": home, "USER": "tester"}[name]
			})
		},
	}
}

func otherPublicKey(t *testing.T) string {
	t.Helper()
	keys, err := keysIn(t.TempDir()).Keys()
	if err != nil {
		t.Fatal(err)
	}
	public, err := keys[0].Public()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	daemon, addr := serve(t, newTestPhone(modernFeatures))
	home := t.TempDir()
	options := keysIn(home)
	if err := daemon.RequireKey(otherPublicKey(t)); err != nil {
		t.Fatal(err)
	}
	_, err := adb.Dial(testContext(t), addr, options)
	if !errors.Is(err, device.ErrUnauthorized) || hint(err) == "" {
		t.Fatalf("with a strange key: %v, want that it is unauthorized, with a hint", err)
	}

	// A user accepts the key on the screen.
	daemon.AcceptKeys(true)
	accepted, err := adb.Dial(testContext(t), addr, options)
	if err != nil {
		t.Fatalf("with a key that is accepted: %v", err)
	}
	defer accepted.Close()
	for range 50 { // each stream is closed right after its exit code
		if out, err := accepted.Exec(testContext(t), "exit 3"); err != nil || out.ExitCode != 3 {
			t.Fatalf("%+v, %v, want exit code 3", out, err)
		}
	}
	daemon.AcceptKeys(false)

	// The key that was created for the connection is now accepted.
	private := filepath.Join(home, ".android", "adbkey")
	if info, err := os.Stat(private); err != nil || info.Mode() != 0o600 {
		t.Fatalf("the private key: %v, %v, want mode 0600", info, err)
	}
	public, err := os.ReadFile(private + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(public), " tester@") {
		t.Errorf("public key %q, want it to say whose it is", public)
	}
	if err := daemon.RequireKey(string(public)); err != nil {
		t.Fatal(err)
	}
	d, err := adb.Dial(testContext(t), addr, options)
	if err != nil {
		t.Fatalf("with the right key: %v", err)
	}
	defer d.Close()
	if out, err := d.Exec(testContext(t), "echo in"); err != nil || string(out.Stdout) != "in\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

// The real adb and this package can use each other's keys.
func TestShared(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, newTestPhone(modernFeatures))
	own, err := adb.Dial(testContext(t), addr, keysIn(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if server := adb.NewServer("127.0.0.1:1", adb.Options{}).Device(addr); own.Shared() || !server.Shared() {
		t.Errorf("shared with others: %v if dialled, %v of an adb server", own.Shared(), server.Shared())
	}
}

func TestKeysOfTheRealAdb(t *testing.T) {
	t.Parallel()
	path := adbtest.Command(t)
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".android"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, ".android", "adbkey")
	keygen := exec.Command(path, "keygen", file)
	keygen.Env = adbtest.Environment(home)
	if out, err := keygen.CombinedOutput(); err != nil {
		t.Fatalf("adb keygen: %v\n%s", err, out)
	}
	theirs, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keysIn(home).Keys()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := keys[0].Public()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := strings.Fields(ours)[0], strings.Fields(string(theirs))[0]; a != b {
		t.Errorf("public key\n%s\nwant adb's\n%s", a, b)
	}

	// In the other direction, adb reads the public key from this package's private one.
	home = t.TempDir()
	keys, err = keysIn(home).Keys()
	if err != nil {
		t.Fatal(err)
	}
	ours, _ = keys[0].Public()
	pubkey := exec.Command(path, "pubkey", filepath.Join(home, ".android", "adbkey"))
	pubkey.Env = adbtest.Environment(home)
	out, err := pubkey.Output()
	if err != nil {
		t.Skipf("this adb has no pubkey command: %v", err)
	}
	if a, b := strings.Fields(ours)[0], strings.Fields(string(out))[0]; a != b {
		t.Errorf("adb reads our key as\n%s\nwant\n%s", b, a)
	}
}

func dial(t *testing.T, addr string, options adb.Options) *adb.Device {
	t.Helper()
	d, err := adb.Dial(testContext(t), addr, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestDialLosesTheDevice(t *testing.T) {
	t.Parallel()
	daemon, addr := serve(t, newTestPhone(modernFeatures))
	d := dial(t, addr, adb.Options{})
	p, err := d.Start(testContext(t), "echo begun; sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p.Stdout(), make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	d.OnLoss(ctx, func(err error) { t.Errorf("who no longer watches it is called with %v", err) })
	lost := make(chan error, 1)
	d.OnLoss(testContext(t), func(err error) { lost <- err })
	daemon.Refuse(true)
	daemon.Drop()
	if err := <-lost; !errors.Is(err, device.ErrGone) {
		t.Errorf("the watcher: %v, want the loss of the device", err)
	}
	if _, err := p.Wait(); !errors.Is(err, device.ErrGone) {
		t.Errorf("the command: %v, want the loss of the device", err)
	}
	if _, err := d.Exec(testContext(t), "true"); !errors.Is(err, device.ErrGone) {
		t.Errorf("the next one: %v, want the loss of the device", err)
	}
	daemon.Refuse(false)
	if _, err := d.Exec(testContext(t), "true"); err != nil {
		t.Errorf("when the device is back: %v", err)
	}
}

func TestOffline(t *testing.T) {
	t.Parallel()
	daemon, addr := serve(t, newTestPhone(modernFeatures))
	d := dial(t, addr, adb.Options{})
	daemon.Offline(true)
	_, err := d.Exec(testContext(t), "true")
	for ; err == nil; _, err = d.Exec(testContext(t), "true") {
	}
	if !errors.Is(err, device.ErrGone) {
		t.Errorf("%v, want the loss of the device", err)
	}
	_, err = adb.Dial(testContext(t), addr, adb.Options{})
	if !errors.Is(err, device.ErrGone) || !strings.Contains(err.Error(), "offline") {
		t.Errorf("connecting: %v, want that it is offline", err)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	daemon, addr := serve(t, newTestPhone(modernFeatures))
	short := 2 * time.Second // long enough for a busy computer
	d := dial(t, addr, adb.Options{ConnectTimeout: short, ReplyTimeout: short, SilenceTimeout: short})

	if _, err := d.Exec(testContext(t), "sleep 1000"); !errors.Is(err, adb.ErrSilent) || errors.Is(err, device.ErrGone) {
		t.Errorf("a silent command: %v, want ErrSilent", err)
	}
	if out, err := d.Exec(testContext(t), "for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done"); err != nil {
		t.Errorf("a command that speaks: %q, %v", out.Stdout, err)
	}
	daemon.Hang(true)
	if _, err := d.Exec(testContext(t), "true"); !errors.Is(err, adb.ErrSilent) || !errors.Is(err, device.ErrGone) {
		t.Errorf("a device that hangs: %v, want ErrSilent and the loss of the device", err)
	}
	if _, err := adb.Dial(testContext(t), addr, adb.Options{ConnectTimeout: short}); !errors.Is(err, device.ErrGone) {
		t.Errorf("connecting to a device that hangs: %v", err)
	}
	ctx, cancel := context.WithTimeout(testContext(t), short)
	defer cancel()
	if _, err := adb.Dial(ctx, addr, adb.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connecting under a context that ends: %v", err)
	}
	daemon.Hang(false)
	if _, err := d.Exec(testContext(t), "true"); err != nil {
		t.Errorf("when the device answers again: %v", err)
	}
}

// A connection on which nothing arrives any more (a dropped NAT entry, a frozen emulator) is
// replaced like a broken one.
func TestDialReplacesADeadConnection(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for n := 0; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn, n > 0)
		}
	}()
	d := dial(t, listener.Addr().String(), adb.Options{ReplyTimeout: 300 * time.Millisecond})
	if _, err := d.Exec(testContext(t), "true"); !errors.Is(err, adb.ErrSilent) || !errors.Is(err, device.ErrGone) {
		t.Errorf("on a dead connection: %v, want silence and the loss of the device", err)
	}
	if out, err := d.Exec(testContext(t), "true"); err != nil || out.ExitCode != 7 {
		t.Errorf("the next one: %+v, %v, want the device's answer on a new connection", out, err)
	}
}

// answer is a device that accepts a connection and, where alive, ends each command with exit
// code 7.
func answer(conn net.Conn, alive bool) {
	hello, err := wire.ReadMessage(conn, wire.MaxPayload, wire.SumsIfGiven)
	if err != nil {
		return
	}
	welcome := wire.Message{Command: wire.CNXN, Arg0: wire.Version, Arg1: wire.MaxPayload, Payload: []byte("device::features=shell_v2")}
	conn.Write(welcome.Append(nil, wire.SumsRequired))
	if !alive {
		io.Copy(io.Discard, conn)
		return
	}
	mux.New(conn, conn, mux.Config{PeerVersion: hello.Arg0, PeerMaxPayload: hello.Arg1, Accept: func(_ string, s *mux.Stream) {
		s.Write(wire.AppendShellPacket(nil, wire.ShellExit, []byte{7}))
		s.Close() // right after the exit code, as adbd does
	}})
}

// An interrupt does not wait for a connection that is being made.
func TestCloseEndsConnecting(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	first, connecting := make(chan net.Conn), make(chan net.Conn)
	go func() {
		for _, taken := range []chan net.Conn{first, connecting} {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			taken <- conn
		}
	}()
	lost := make(chan net.Conn, 1)
	go func() {
		conn := <-first
		lost <- conn
		answer(conn, false)
	}()
	d := dial(t, listener.Addr().String(), adb.Options{ConnectTimeout: time.Hour})
	(<-lost).Close()
	ended, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		var err error
		for !errors.Is(err, net.ErrClosed) {
			_, err = d.Exec(context.Background(), "true")
		}
		ended <- err
	}()
	defer (<-connecting).Close()
	go func() { closed <- d.Close() }()
	for what, end := range map[string]chan error{"closing": closed, "what was under way": ended} {
		select {
		case err := <-end:
			if what == "closing" && err != nil {
				t.Errorf("closing: %v", err)
			}
		case <-testContext(t).Done():
			t.Fatalf("%s waits for an unused connection", what)
		}
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		func() error { _, err := adb.Dial(testContext(t), "127.0.0.1:1", adb.Options{}); return err }(),
		func() error {
			_, err := adb.NewServer("127.0.0.1:1", adb.Options{}).Devices(testContext(t))
			return err
		}(),
	} {
		if !errors.Is(err, device.ErrGone) || hint(err) == "" {
			t.Errorf("%v, want the loss of the device and a hint", err)
		}
	}
}

// A peer that does not speak adb is an error at once, and does not hang.
func TestStrangeProtocol(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"web server": "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
		"nothing":    "",
		"bad magic":  strings.Repeat("\x00\xff", 50),
		"huge":       "CNXN\x01\x00\x00\x01\x00\x00\x10\x00\xff\xff\xff\xff\x00\x00\x00\x00\xbc\xb1\xa7\xb1",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				io.WriteString(conn, says)
				conn.Close()
			}
		}()
		addr := listener.Addr().String()
		if _, err := adb.Dial(testContext(t), addr, adb.Options{}); !errors.Is(err, device.ErrGone) {
			t.Errorf("%s for a device: %v", name, err)
		}
		if _, err := adb.NewServer(addr, adb.Options{}).Devices(testContext(t)); !errors.Is(err, device.ErrGone) {
			t.Errorf("%s for a server: %v", name, err)
		}
	}
}
