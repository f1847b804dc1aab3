package adb_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/adbd"
)

// testPhone is a simulated phone whose shell is this computer's sh, whose files are in memory,
// and whose package manager accepts all but certain APKs.
type testPhone struct {
	features string
	shell    string // of this computer; "" means "sh"
	// keeps plays the nth shell, from 1, that is started without a command; nil runs the
	// shell.
	keeps func(nth int, stdin io.Reader, stdout, stderr io.Writer) int

	mu        sync.Mutex
	files     map[string]testFile
	installed map[string]string // the package manager's command line, by APK contents
	full      bool
	commands  []string
	hungUp    chan string // receives each command that was hung up
}

type testFile struct {
	contents []byte
	mode     fs.FileMode
	modified time.Time
}

// modernFeatures are those of Android 14, except for abb (binder without a process): this
// phone has no services.
const modernFeatures = "shell_v2,cmd,stat_v2,ls_v2,sendrecv_v2,sendrecv_v2_brotli,delayed_ack,fixed_push_mkdir"

func newTestPhone(features string) *testPhone {
	return &testPhone{
		features:  features,
		files:     map[string]testFile{},
		installed: map[string]string{},
		hungUp:    make(chan string, 100),
	}
}

func (p *testPhone) Banner() string {
	return "device::ro.product.name=test;ro.product.model=Test Phone;ro.product.device=tp;features=" + p.features
}

// Control refuses to become root, as a user build does.
func (p *testPhone) Control(string, string) (string, bool) {
	return "adbd cannot run as root in production builds\n", false
}

// legacyLine matches a command as sent without shell protocol 2.
var legacyLine = regexp.MustCompile(`(?s)^echo (\S+); \((.*)\n\) </dev/null; echo \S+\$\?$`)

// ownCommand matches the commands that the phone answers itself.
var ownCommand = regexp.MustCompile(`^(pm|rm|getprop|cmd|logcat) `)

func (p *testPhone) Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) func() int {
	p.mu.Lock()
	p.commands = append(p.commands, command)
	nth := 0
	for _, c := range p.commands {
		if c == "" {
			nth++
		}
	}
	p.mu.Unlock()
	if command == "" && p.keeps != nil {
		return func() int { return p.keeps(nth, stdin, stdout, stderr) }
	}
	if m := legacyLine.FindStringSubmatch(command); m != nil && ownCommand.MatchString(m[2]) {
		fmt.Fprintln(stdout, m[1])
		code := p.Start(ctx, m[2], stdin, stdout, stderr)()
		fmt.Fprintf(stdout, "%s%d\n", m[1], code)
		return func() int { return 0 }
	}
	if ownCommand.MatchString(command) {
		command = strings.ReplaceAll(command, "'", "") // adb quotes some words itself
	}
	words := strings.Fields(command)
	switch {
	case strings.HasPrefix(command, "cmd package install "):
		size, _ := strconv.Atoi(words[len(words)-1])
		apk := make([]byte, size)
		return func() int {
			if _, err := io.ReadFull(stdin, apk); err != nil {
				return 1
			}
			return p.install(command, apk, stdout)
		}
	case strings.HasPrefix(command, "pm install "):
		p.mu.Lock()
		apk, ok := p.files[words[len(words)-1]]
		p.mu.Unlock()
		if !ok {
			fmt.Fprintln(stdout, "Failure [INSTALL_FAILED_INVALID_URI]")
			return func() int { return 0 }
		}
		return func() int { return p.install(command, apk.contents, stdout) }
	case strings.HasPrefix(command, "pm path "):
		code := 1
		if words[2] == "com.example.there" {
			fmt.Fprintln(stdout, "package:/data/app/base.apk")
			code = 0
		}
		return func() int { return code }
	case strings.HasPrefix(command, "pm uninstall "):
		if words[2] == "com.example.removable" {
			fmt.Fprintln(stdout, "Success")
		} else {
			fmt.Fprintln(stdout, "Failure [DELETE_FAILED_INTERNAL_ERROR]")
		}
		return func() int { return 0 }
	case strings.HasPrefix(command, "rm -f "):
		p.mu.Lock()
		delete(p.files, words[2])
		p.mu.Unlock()
		return func() int { return 0 }
	case command == "getprop ro.build.version.sdk":
		fmt.Fprintln(stdout, "16")
		return func() int { return 0 }
	case strings.Contains(command, "logcat"):
		fmt.Fprintln(stdout, "--------- beginning of main")
		fmt.Fprintln(stdout, "    1.234  1000  1000 I apkgate : E1")
		return func() int { return 0 }
	}
	return p.sh(ctx, command, stdin, stdout, stderr)
}

func (p *testPhone) install(command string, apk []byte, out io.Writer) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.Contains(string(apk), "too old") {
		fmt.Fprintln(out, "Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code 1 is older than current 2]")
		return 1
	}
	p.installed[string(apk)] = command
	fmt.Fprintln(out, "Success")
	return 0
}

// sh runs the command in this computer's shell, and kills it and all its children when ctx
// ends.
func (p *testPhone) sh(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) func() int {
	args := []string{"-c", command}
	if command == "" {
		args = []string{"-"} // shell_service.cpp
	}
	cmd := exec.Command(cmp.Or(p.shell, "sh"), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return func() int { return 127 }
	}
	go func() {
		io.Copy(input, stdin)
		input.Close()
	}()
	stop := context.AfterFunc(ctx, func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		p.hungUp <- command
	})
	return func() int {
		defer stop()
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 0
	}
}

type testInfo struct {
	name string
	testFile
}

func (i testInfo) Name() string       { return i.name }
func (i testInfo) Size() int64        { return int64(len(i.contents)) }
func (i testInfo) Mode() fs.FileMode  { return i.mode }
func (i testInfo) ModTime() time.Time { return i.modified }
func (i testInfo) IsDir() bool        { return i.mode.IsDir() }
func (i testInfo) Sys() any           { return nil }

func (p *testPhone) Stat(name string) (fs.FileInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.files[name]; ok {
		return testInfo{path.Base(name), f}, nil
	}
	for other := range p.files {
		if strings.HasPrefix(other, name+"/") || name == "/" || name == "/data/local/tmp" {
			return testInfo{path.Base(name), testFile{mode: fs.ModeDir | 0o771, modified: time.Unix(1000, 0)}}, nil
		}
	}
	if name == "/data/local/tmp" {
		return testInfo{path.Base(name), testFile{mode: fs.ModeDir | 0o771, modified: time.Unix(1000, 0)}}, nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (p *testPhone) List(name string) ([]fs.FileInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []fs.FileInfo
	for other, f := range p.files {
		if path.Dir(other) == name {
			list = append(list, testInfo{path.Base(other), f})
		}
	}
	return list, nil
}

func (p *testPhone) Open(name string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return io.NopCloser(bytes.NewReader(f.contents)), nil
}

type testWriter struct {
	bytes.Buffer
	close func(contents []byte) error
}

func (w *testWriter) Close() error { return w.close(w.Bytes()) }

func (p *testPhone) Create(name string, mode fs.FileMode, modified time.Time) (io.WriteCloser, error) {
	return &testWriter{close: func(contents []byte) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.full {
			return adbd.ErrNoSpace
		}
		p.files[name] = testFile{contents, mode, modified}
		return nil
	}}, nil
}

func (p *testPhone) put(name, contents string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[name] = testFile{[]byte(contents), 0o644, time.Unix(1_600_000_000, 0)}
}

func (p *testPhone) file(name string) (testFile, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.files[name]
	return f, ok
}

// serve serves the phone on a free port until the test ends.
func serve(t testing.TB, phone *testPhone) (*adbd.Daemon, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	daemon := adbd.New(phone)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- daemon.Serve(ctx, listener) }()
	t.Cleanup(func() {
		daemon.Hang(false)
		cancel()
		if err := <-served; err != nil {
			t.Errorf("the simulated phone's daemon: %v", err)
		}
	})
	return daemon, listener.Addr().String()
}
