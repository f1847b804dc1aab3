package clitest

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

// ADBServer starts Debian's adb server and returns its address. The server inherits a socket that
// already listens, so no other process can take its port, and early connections wait.
func ADBServer(t *testing.T) (addr string, process *exec.Cmd) {
	t.Helper()
	path, err := exec.LookPath("adb")
	if err != nil {
		t.Skip("the adb command is not installed: apt-get install adb")
	}
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
	cmd.Env = []string{"HOME=" + t.TempDir(), "ADB_MDNS=0", "ADB_MDNS_AUTO_CONNECT=0", "ADB_LOCAL_TRANSPORT_MAX_PORT=5553"}
	cmd.ExtraFiles = []*os.File{socket}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return listener.Addr().String(), cmd
}
