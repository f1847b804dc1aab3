package console

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
	simulated "github.com/apkgate/apkgate/simulator/console"
)

// home sets a home directory with a token in it, "" for none.
func home(t *testing.T, token string) (tokenFile string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	file := filepath.Join(os.Getenv("HOME"), TokenFile)
	if token != "" {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// listen serves connections on a port of this computer.
func listen(t *testing.T, serve func(net.Listener)) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { defer close(over); serve(l) }()
	t.Cleanup(func() { l.Close(); <-over })
	return l.Addr().(*net.TCPAddr).Port
}

func play(t *testing.T, e *simulated.Emulator) *Console {
	t.Helper()
	c, err := Open(t.Context(), listen(t, func(l net.Listener) { _ = e.Serve(l) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestSetNetwork(t *testing.T) {
	var applied simulated.Network
	c := play(t, &simulated.Emulator{Name: "pixel", TokenFile: home(t, "s3cret"), OnNetwork: func(n simulated.Network) { applied = n }})
	want := Network{Up: 750_000, Down: 1_600_000, Least: 135 * time.Millisecond, Most: 165 * time.Millisecond}
	if err := c.SetNetwork(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := c.Network(t.Context())
	if err != nil || got != want {
		t.Errorf("the console reports %v, %v, want %v", got, err, want)
	}
	if applied.Up != 750_000 || applied.Down != 1_600_000 {
		t.Errorf("the emulator got %v up and %v down: want the upload first, as the console does", applied.Up, applied.Down)
	}
	if err := c.SetNetwork(t.Context(), Network{}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Network(t.Context()); err != nil || got != (Network{}) {
		t.Errorf("without limits the console reports %v, %v", got, err)
	}
}

func TestOpenWithoutAToken(t *testing.T) {
	home(t, "")
	c := play(t, &simulated.Emulator{Name: "pixel"})
	if name, err := c.Name(t.Context()); err != nil || name != "pixel" {
		t.Errorf("got the name %q, %v", name, err)
	}
}

func TestSetCapacityAndCharger(t *testing.T) {
	var applied simulated.Battery
	c := play(t, &simulated.Emulator{TokenFile: home(t, "s3cret"), OnBattery: func(b simulated.Battery) { applied = b }})
	if err := errors.Join(c.SetCapacity(t.Context(), 42), c.SetCharger(t.Context(), false)); err != nil {
		t.Fatal(err)
	}
	want := Power{AC: "offline", Status: "Discharging", Health: "Good", Present: "true", Capacity: "42"}
	if got, err := c.Power(t.Context()); err != nil || got != want {
		t.Errorf("the console reports %+v, %v, want %+v", got, err, want)
	}
	if applied.Capacity != 42 || applied.AC {
		t.Errorf("the emulator got %+v", applied)
	}
	if err := c.SetCharger(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Power(t.Context()); got.AC != "online" || got.Status != "Charging" {
		t.Errorf("plugged in, the console reports %+v", got)
	}
	if err := c.SetCapacity(t.Context(), 101); err == nil || !strings.Contains(err.Error(), "0 to 100") {
		t.Errorf("101 %%: %v, want what is allowed", err)
	}
}

func TestKill(t *testing.T) {
	killed := make(chan struct{})
	c := play(t, &simulated.Emulator{TokenFile: home(t, "s3cret"), OnKill: func() { close(killed) }})
	if err := c.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-killed:
	case <-t.Context().Done():
	}
}

func TestKillWhenTheEmulatorHangsUp(t *testing.T) {
	home(t, "")
	port := listen(t, answer("Android Console: type 'help' for a list of commands\r\nOK\r\n", 1))
	c, err := Open(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Kill(t.Context()); err != nil {
		t.Errorf("got %v, want that to count as its end", err)
	}
}

// answer sends the banner to each client, reads the number of lines and hangs up.
func answer(banner string, lines int) func(net.Listener) {
	return func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, banner)
			for buf := make([]byte, 1); lines > 0; {
				if _, err := conn.Read(buf); err != nil {
					break
				}
				if buf[0] == '\n' {
					lines--
				}
			}
			conn.Close()
		}
	}
}

// An OK alone does not prove that the setting took effect.
func TestSettingsAreVerified(t *testing.T) {
	home(t, "")
	yes := func(l net.Listener) {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "Android Console: type 'help' for a list of commands\r\nOK\r\n")
		for in := bufio.NewScanner(conn); in.Scan(); {
			text := map[string]string{
				"network status": "Current network status:\r\n  download speed: 0 bits/s\r\n  upload speed: 0 bits/s\r\n  minimum latency: 0 ms\r\n  maximum latency: 0 ms\r\n",
				"power display":  "capacity: 100\r\n",
			}[strings.TrimSpace(in.Text())]
			_, _ = io.WriteString(conn, text+"OK\r\n")
		}
	}
	c, err := Open(t.Context(), listen(t, yes))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetNetwork(t.Context(), Network{Down: 1000}); err == nil || !strings.Contains(err.Error(), "0:1000 bits/s") || !strings.Contains(err.Error(), "0:0 bits/s") {
		t.Errorf("a network that stays as it was: %v", err)
	}
	if err := c.SetCapacity(t.Context(), 42); err == nil || !strings.Contains(err.Error(), "42 %") || !strings.Contains(err.Error(), `"100"`) {
		t.Errorf("a battery that stays as it was: %v", err)
	}
}

func TestBrokenConnections(t *testing.T) {
	home(t, "")
	const banner = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
	c, err := Open(t.Context(), listen(t, answer(banner+"virtual device is", 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do(t.Context(), "avd status"); err == nil || !strings.Contains(err.Error(), `"avd status"`) || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("a reply that ends in its middle: %v", err)
	}
	for _, port := range []int{0, -1, 65536} {
		if _, err := Open(t.Context(), port); err == nil || !strings.Contains(err.Error(), "1 to 65535") {
			t.Errorf("port %d: %v", port, err)
		}
	}
	// A cancelled caller has not seen the emulator end.
	c, err = Open(t.Context(), listen(t, answer(banner, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Kill(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a kill that nobody waited for: %v", err)
	}
}

func TestRefusedError(t *testing.T) {
	c := play(t, &simulated.Emulator{TokenFile: home(t, "s3cret")})
	_, err := c.Do(t.Context(), "network speed quick")
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "invalid <speed> argument") || !strings.Contains(err.Error(), `"network speed quick"`) {
		t.Errorf("got %v, want the command and why it is refused", err)
	}
	if _, err := c.Do(t.Context(), "network"); !errors.As(err, &refused) || refused.Answer != "missing sub-command" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Do(t.Context(), "ping"); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
	if _, err := c.Do(t.Context(), "ping\nkill"); err == nil {
		t.Error("two commands in one were taken")
	}
}

func TestOpenWithoutTheUsersToken(t *testing.T) {
	theirs := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(theirs, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	port := listen(t, func(l net.Listener) { _ = (&simulated.Emulator{TokenFile: theirs}).Serve(l) })

	home(t, "mine")
	_, err := Open(t.Context(), port)
	if err == nil || !strings.Contains(err.Error(), "does not match") || strings.Contains(err.Error(), "mine") {
		t.Errorf("got %v, want that it does not match, and no token in it", err)
	}
	home(t, "")
	if _, err := Open(t.Context(), port); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("without a token of ours: %v", err)
	}
	home(t, "two words")
	if _, err := Open(t.Context(), port); err == nil || !strings.Contains(err.Error(), "want one word") {
		t.Errorf("with a broken one: %v", err)
	}
}

func TestOpenRejectsOtherPrograms(t *testing.T) {
	home(t, "s3cret")
	for name, c := range map[string]struct {
		banner string
		lines  int
		want   string
	}{
		"another server":   {"220 mail ready\r\nOK\r\n", 0, "no emulator's console"},
		"hangs up":         {"", 0, "EOF"},
		"never ends":       {strings.Repeat("x", mostText+10), 0, "more than"},
		"escape sequences": {"\x1b[2J\r\nOK\r\n", 0, `\x1b`},
	} {
		port := listen(t, answer(c.banner, c.lines))
		_, err := Open(t.Context(), port)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	port := listen(t, func(net.Listener) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Open(t.Context(), l.Addr().(*net.TCPAddr).Port); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody on the port: %v", err)
	}
	// A silent server is waited for until the caller gives up.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := Open(ctx, port); !errors.Is(err, context.Canceled) {
		t.Errorf("who says nothing: %v", err)
	}
}

func TestPortOf(t *testing.T) {
	for serial, want := range map[string]int{"emulator-5554": 5554, "emulator-": 0, "emulator-x": 0, "emulator-70000": 0, "127.0.0.1:5555": 0, "R5CT": 0} {
		if got := PortOf(serial); got != want {
			t.Errorf("%s: port %d, want %d", serial, got, want)
		}
	}
}

func TestReadNetworkRejectsAnIncompleteStatus(t *testing.T) {
	if _, err := ReadNetwork("Current network status:\n  download speed: 0 bits/s (0.0 KB/s)\n"); err == nil || !strings.Contains(err.Error(), "upload") {
		t.Errorf("got %v, want what is missing", err)
	}
}

func TestReadNetworkOfARealEmulator(t *testing.T) {
	for file, want := range map[string]Network{
		"network-status-rendered.txt":      {},
		"network-status-edge-rendered.txt": {Up: 473_600, Down: 473_600, Least: 80 * time.Millisecond, Most: 400 * time.Millisecond},
	} {
		raw, err := os.ReadFile(corpustest.Path(t, "labs", "emulator-console", file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadNetwork(string(raw)); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", file, got, err, want)
		}
	}
}
