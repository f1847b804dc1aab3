package standin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/avd"
	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// Lab is a computer with the programs that boot devices, for one test.
type Lab struct {
	state.Folder        // of the programs' state
	Bin          string // the programs, for the PATH
	Home         string // the user's home, empty at first
	// ADB is the port of the lab's own adb server; 0 if this computer has no adb.
	ADB int

	t testing.TB
}

// Options of a lab. The zero value has an adb server, in real time.
type Options struct {
	Rate  float64       // phone seconds per second of this computer; 1 by default
	Boots time.Duration // how long a phone takes to boot by its own clock; 1 s by default
	Phone string        // the simulated phone; an emulator's by default
	// Images are the installed system images; Image by default.
	Images []string
	// WithoutADB omits the adb server: phones are reached at their own ports.
	WithoutADB bool
}

// Image is the system image of a lab's SDK.
const Image = "system-images;android-34;google_apis;x86_64"

// New returns a lab that ends with the test: its phones, programs and adb server are then
// killed, whatever state the test's own programs have left.
func New(t testing.TB, o Options) *Lab {
	t.Helper()
	dir, err := os.MkdirTemp("", "apkgate-standin-") // t.TempDir's path may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	l := &Lab{Folder: state.Folder(dir), t: t}
	t.Cleanup(l.end)
	owner, err := l.Own()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close() })
	l.Bin, l.Home = l.Path("bin"), l.Path("home")
	if o.Images == nil {
		o.Images = []string{Image}
	}
	l.fill(o.Images)
	l.configure(o)
	if !o.WithoutADB {
		l.startADB()
	}
	return l
}

// fill creates the folders, and the programs as links to the test's binary.
func (l *Lab) fill(images []string) {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, dir := range []string{l.Home, l.Path("instances"), l.Path("cache"), l.Path("avd"), l.Path("tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			l.t.Fatal(err)
		}
	}
	tools := l.SDK("cmdline-tools", "latest", "bin")
	links := map[string]string{
		filepath.Join(l.Bin, instance.Detached): self,
		filepath.Join(tools, "avdmanager"):      self,
		filepath.Join(tools, "sdkmanager"):      self,
		l.SDK("emulator", "emulator"):           self,
	}
	if adb, err := exec.LookPath("adb"); err == nil {
		links[l.SDK("platform-tools", "adb")] = adb
	}
	for name := range programs {
		links[filepath.Join(l.Bin, name)] = self
	}
	for link, to := range links {
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(to, link)); err != nil {
			l.t.Fatal(err)
		}
	}
	for _, image := range images {
		if err := avd.Install(l.SDK(), image); err != nil {
			l.t.Fatal(err)
		}
	}
}

// SDK returns the path of a file in the lab's Android SDK.
func (l *Lab) SDK(names ...string) string { return l.Path(append([]string{"sdk"}, names...)...) }

// configure writes the lab's settings for the programs.
func (l *Lab) configure(o Options) {
	l.t.Helper()
	settings := state.Settings{Rate: o.Rate, Boots: o.Boots, Profile: o.Phone}
	if err := l.Configure(settings); err != nil {
		l.t.Fatal(err)
	}
}

// Environment returns the environment of the lab's user: this process's, except for the
// programs, the home, the caches, the AVDs and the adb server, which are the lab's.
func (l *Lab) Environment() []string {
	env := os.Environ()
	for name, value := range l.Variables() {
		env = append(env, name+"="+value)
	}
	return env
}

// Variables returns the variables that differ between the lab's environment and this
// process's.
func (l *Lab) Variables() map[string]string {
	variables := map[string]string{
		"PATH":             l.Bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME":             l.Home,
		"XDG_CACHE_HOME":   l.Path("cache"),
		"XDG_RUNTIME_DIR":  l.Path("tmp"),
		"ANDROID_AVD_HOME": l.Path("avd"),
		"ANDROID_HOME":     l.SDK(),
		"ANDROID_SDK_ROOT": l.SDK(),
		state.Variable:     string(l.Folder),
	}
	if l.ADB > 0 {
		variables["ANDROID_ADB_SERVER_PORT"] = strconv.Itoa(l.ADB)
		variables["ADB_LOCAL_TRANSPORT_MAX_PORT"] = noScan
	}
	return variables
}

// noScan keeps an adb server from looking for emulators by itself, which would find those of
// other tests: it is a port below the first one.
const noScan = "5553"

// startADB starts an adb server on a free port, if this computer has adb.
func (l *Lab) startADB() {
	l.t.Helper()
	adb, err := exec.LookPath("adb")
	if err != nil {
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	l.ADB = listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	log, err := os.Create(l.Path("adb.log"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(adb, "-L", "tcp:localhost:"+strconv.Itoa(l.ADB), "server", "nodaemon")
	cmd.Env, cmd.Stdout, cmd.Stderr = l.Environment(), log, log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	l.t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(l.ADB))
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("no adb server listens: %v", err)
		}
	}
}

// Breaks makes the named failure happen the given number of times from now on; state.Always:
// until the lab ends.
func (l *Lab) Breaks(word string, times int) {
	l.t.Helper()
	if err := l.Fail(word, times); err != nil {
		l.t.Fatal(err)
	}
}

// Instances returns the running phones.
func (l *Lab) Instances() []instance.Running {
	l.t.Helper()
	list, err := instance.List(l.Folder)
	if err != nil {
		l.t.Fatal(err)
	}
	return list
}

// Called returns the command lines with which a program was called, each as its words with
// blanks between them.
func (l *Lab) Called(program string) (lines []string) {
	l.t.Helper()
	calls, err := l.Calls()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, c := range calls {
		if c.Program == program {
			lines = append(lines, strings.Join(c.Args, " "))
		}
	}
	return lines
}

// end kills everything that is still running, and removes the lab.
func (l *Lab) end() {
	list, err := instance.List(l.Folder)
	if err != nil {
		l.t.Error(err)
	}
	for _, r := range list {
		r.Kill()
	}
	if err := os.RemoveAll(string(l.Folder)); err != nil {
		l.t.Error(fmt.Errorf("remove the lab: %w", err))
	}
}
