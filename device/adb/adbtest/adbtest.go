// Package adbtest starts the real adb command's server for tests.
//
// It owns where tests find adb, with which environment, and on which port its server listens. The
// phones that are connected to it are package simulator's.
package adbtest

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Command returns the path of the adb command, or skips the test.
func Command(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("adb")
	if err != nil {
		t.Skip("the adb command is not installed: apt-get install adb")
	}
	return path
}

// Environment is this process's without adb's and Android's variables, and with the given home. A
// server is told to look for emulators on no port, since other tests may run some; adb 29 now and
// then looks all the same.
func Environment(home string) []string {
	env := []string{"HOME=" + home, "ADB_MDNS=0", "ADB_MDNS_AUTO_CONNECT=0", "ADB_LOCAL_TRANSPORT_MAX_PORT=5553"}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "A") && !strings.HasPrefix(v, "HOME=") {
			env = append(env, v)
		}
	}
	return env
}

// Server starts a server and returns its address. It inherits a socket that already listens, so no
// other process can take its port, and early connections wait.
func Server(t testing.TB) (addr string, process *exec.Cmd) {
	t.Helper()
	path := Command(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	cmd := exec.Command(path, "-L", "acceptfd:3", "server", "nodaemon")
	cmd.Env, cmd.ExtraFiles = Environment(t.TempDir()), []*os.File{socket}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return listener.Addr().String(), cmd
}
