package adb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/adb/adbtest"
	"github.com/apkgate/apkgate/device/adb/wire"
	"github.com/apkgate/apkgate/simulator/adbd"
)

// realServer starts a real adb server on a port of its own, with a home of its own.
func realServer(t testing.TB) *adb.Server {
	t.Helper()
	server, _, _ := realServerProcess(t)
	return server
}

func realServerProcess(t testing.TB) (_ *adb.Server, port string, _ *exec.Cmd) {
	t.Helper()
	addr, cmd := adbtest.Server(t)
	server := adb.NewServer(addr, adb.Options{})
	if _, err := server.Devices(testContext(t)); err != nil {
		t.Fatalf("the real adb server does not come up: %v", err)
	}
	_, port, _ = net.SplitHostPort(addr)
	return server, port, cmd
}

func TestServerListsDevices(t *testing.T) {
	t.Parallel()
	server := realServer(t)
	ctx := testContext(t)
	if list, err := connected(ctx, server); len(list) != 0 || err != nil {
		t.Errorf("before anything is connected: %+v, %v", list, err)
	}
	_, addr := serve(t, newTestPhone(modernFeatures))
	if _, err := server.Connect(ctx, addr); err != nil {
		t.Fatal(err)
	}
	list, err := connected(ctx, server)
	want := adb.Info{Serial: addr, State: adb.StateDevice, Product: "test", Model: "Test_Phone", Name: "tp"}
	if err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("%+v, %v, want %+v", list, err, want)
	}
}

func TestServerIsKilled(t *testing.T) {
	for _, features := range []string{modernFeatures, ""} {
		t.Run("features "+features, func(t *testing.T) {
			t.Parallel()
			server, _, process := realServerProcess(t)
			_, addr := serve(t, newTestPhone(features))
			d, err := server.Connect(testContext(t), addr)
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.Start(testContext(t), "echo begun; sleep 1000")
			if err != nil {
				t.Fatal(err)
			}
			line := make([]byte, len("begun\n"))
			if _, err := io.ReadFull(p.Stdout(), line); err != nil {
				t.Fatal(err)
			}
			process.Process.Kill()
			if _, err := p.Wait(); !errors.Is(err, device.ErrGone) {
				t.Errorf("%v, want the loss of the device", err)
			}
			process.Wait()
			_, err = d.Exec(testContext(t), "true")
			if !errors.Is(err, device.ErrGone) || !errors.Is(err, adb.ErrNoServer) || hint(err) == "" {
				t.Errorf("afterwards: %v, want that no server is there, with a hint", err)
			}
		})
	}
}

func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func TestServerWithoutTheDevice(t *testing.T) {
	t.Parallel()
	server := realServer(t)
	ctx := testContext(t)
	if _, err := server.Device("no-such-serial").Exec(ctx, "true"); !errors.Is(err, device.ErrGone) {
		t.Errorf("an unknown serial: %v", err)
	}
	if _, err := server.Connect(ctx, "127.0.0.1:1"); !errors.Is(err, device.ErrGone) {
		t.Errorf("connecting to where nothing listens: %v", err)
	}
}

// connected returns the devices that were connected with Connect. The server may have found
// emulators by itself: those of other tests on this computer.
func connected(ctx context.Context, server *adb.Server) ([]adb.Info, error) {
	list, err := server.Devices(ctx)
	return slices.DeleteFunc(list, func(i adb.Info) bool { return strings.HasPrefix(i.Serial, "emulator-") }), err
}

func TestServerListsUnauthorizedDevices(t *testing.T) {
	t.Parallel()
	server := realServer(t)
	daemon, addr := serve(t, newTestPhone(modernFeatures))
	if err := daemon.RequireKey(otherPublicKey(t)); err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	server.Connect(ctx, addr) // whether it succeeds is in the list
	list, err := connected(ctx, server)
	if err != nil || len(list) != 1 || list[0].State != "unauthorized" {
		t.Fatalf("%+v, %v, want one unauthorized device", list, err)
	}
	_, err = server.Device(addr).Exec(ctx, "true")
	if !errors.Is(err, device.ErrUnauthorized) || hint(err) == "" {
		t.Errorf("%v, want that it is unauthorized, with a hint", err)
	}
}

// A phone's faults through a real server: the loss of the device is reported at once, and so
// is its return. One lost answer must not make a device count as Android 6, without exit
// codes, for good.
func TestFeaturesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answers []string // the last one is repeated
		want    string   // the features
		fails   bool
	}{
		{[]string{"FAIL0006closed", "OKAY000cshell_v2,cmd"}, "shell_v2 cmd", false},
		{[]string{"FAIL0014unknown host service"}, "", false}, // adb before 2016
		{[]string{"FAIL0006closed"}, "", true},
	} {
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
				wire.ReadHostString(conn)
				io.WriteString(conn, c.answers[min(n, len(c.answers)-1)])
				conn.Close()
			}
		}()
		d := adb.NewServer(listener.Addr().String(), adb.Options{}).Device("x")
		features, err := d.Features(testContext(t))
		if strings.Join(features, " ") != c.want || (err != nil) != c.fails {
			t.Errorf("%q: features %v, %v; want %q, an error: %v", c.answers, features, err, c.want, c.fails)
		}
	}
}

func TestServerLosesTheDevice(t *testing.T) {
	for name, fault := range map[string]func(d *adbd.Daemon, on bool){
		"dropped": func(d *adbd.Daemon, on bool) {
			d.Refuse(on)
			if on {
				d.Drop()
			}
		},
		"offline": func(d *adbd.Daemon, on bool) { d.Offline(on) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := realServer(t)
			daemon, addr := serve(t, newTestPhone(modernFeatures))
			d, err := server.Connect(testContext(t), addr)
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.Start(testContext(t), "echo begun; sleep 1000")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(p.Stdout(), make([]byte, len("begun\n"))); err != nil {
				t.Fatal(err)
			}
			lost := make(chan error, 1)
			d.OnLoss(testContext(t), func(err error) { lost <- err })
			fault(daemon, true)
			if err := <-lost; !errors.Is(err, device.ErrGone) {
				t.Errorf("the watcher: %v, want the loss of the device", err)
			}
			if _, err := p.Wait(); !errors.Is(err, device.ErrGone) {
				t.Errorf("the command: %v, want the loss of the device", err)
			}
			// A server that has not yet detected the loss may still accept the command, and
			// answer "closed".
			if _, err := d.Exec(testContext(t), "true"); err == nil || !errors.Is(err, device.ErrGone) && !strings.Contains(err.Error(), `says "closed"`) {
				t.Errorf("the next one: %v, want the loss of the device", err)
			}
			fault(daemon, false)
			disconnect(t, server, addr)
			if d, err = server.Connect(testContext(t), addr); err != nil {
				t.Fatalf("when the device is back: %v", err)
			}
			await(t, server, addr, adb.StateDevice)
			if _, err := d.Exec(testContext(t), "true"); err != nil {
				t.Errorf("when the device is back: %v", err)
			}
		})
	}
}

// disconnect makes the server drop a device, and waits until it has: a device that is being
// dropped still counts as connected.
func disconnect(t *testing.T, server *adb.Server, serial string) {
	t.Helper()
	server.Disconnect(testContext(t), serial) // an error where the server has already dropped it
	await(t, server, serial, "")
}

// await waits until the server lists the device in the state, or not at all for "".
func await(t *testing.T, server *adb.Server, serial, state string) {
	t.Helper()
	for ctx := testContext(t); ; time.Sleep(10 * time.Millisecond) {
		list, err := server.Devices(ctx)
		if err != nil {
			t.Fatal(err)
		}
		now := ""
		for _, info := range list {
			if info.Serial == serial {
				now = info.State
			}
		}
		if now == state {
			return
		}
	}
}

// An adb server that accepts connections and stays silent, as a hanging one does, is given up
// within the timeout, whatever the request.
func TestServerSilence(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // clients wait to be accepted
	const short = 300 * time.Millisecond
	s := adb.NewServer(listener.Addr().String(), adb.Options{ConnectTimeout: short, ReplyTimeout: short, SilenceTimeout: short})
	for what, ask := range map[string]func() error{
		"its devices":      func() error { _, err := s.Devices(t.Context()); return err },
		"a connection":     func() error { _, err := s.Connect(t.Context(), "127.0.0.1:5555"); return err },
		"a command":        func() error { _, err := s.Device("emulator-5554").Exec(t.Context(), "true"); return err },
		"a file":           func() error { return s.Device("emulator-5554").Pull(t.Context(), "/system/build.prop", io.Discard) },
		"to disconnect":    func() error { return s.Disconnect(t.Context(), "127.0.0.1:5555") },
		"a command's flow": func() error { _, err := s.Device("emulator-5554").Start(t.Context(), "true"); return err },
	} {
		began := time.Now()
		err := ask()
		if took := time.Since(began); took > 30*short {
			t.Errorf("%s: it took %v, where %v is waited", what, took, short)
		}
		if !errors.Is(err, adb.ErrSilent) || !strings.Contains(err.Error(), "300ms") {
			t.Errorf("%s: %v, want that it was silent, and for how long", what, err)
		}
	}
}
