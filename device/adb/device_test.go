package adb_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
)

// limit is the timeout for anything that should happen at once. It allows for a busy computer.
const limit = time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// connection is one way to connect to a simulated phone.
type connection struct {
	name     string
	features string
	connect  func(t *testing.T, addr string) *adb.Device
}

// connections returns all ways to connect to a device.
func connections() []connection {
	direct := func(t *testing.T, addr string) *adb.Device {
		d, err := adb.Dial(testContext(t), addr, adb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	server := func(t *testing.T, addr string) *adb.Device {
		d, err := realServer(t).Connect(testContext(t), addr)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return []connection{
		{"direct, Android 7 and later", modernFeatures, direct},
		{"direct, Android 6 and earlier", "", direct},
		{"real adb server, Android 7 and later", modernFeatures, server},
		{"real adb server, Android 6 and earlier", "", server},
	}
}

// onEveryConnection runs the test on a phone of its own for each way to connect.
func onEveryConnection(t *testing.T, test func(t *testing.T, phone *testPhone, d *adb.Device)) {
	for _, w := range connections() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			phone := newTestPhone(w.features)
			_, addr := serve(t, phone)
			test(t, phone, w.connect(t, addr))
		})
	}
}

func TestExec(t *testing.T) {
	binary := strings.Repeat("\r\n\r\r\n\x00\xff", 100_000)
	tests := []struct {
		name, command string
		stdout        string
		stderr        string
		code          int
	}{
		{"output", "echo hello", "hello\n", "", 0},
		{"no line end", "printf %s hello", "hello", "", 0},
		{"nothing", "true", "", "", 0},
		{"exit code", "echo a; exit 42", "a\n", "", 42},
		{"exit code of the last of a pipe", "echo a | grep b", "", "", 1},
		{"standard error", "echo oops >&2; exit 3", "", "oops\n", 3},
		{"comment at the end", "echo a # and so on", "a\n", "", 0},
		{"several lines", "echo a\necho b", "a\nb\n", "", 0},
		{"quoted", device.Quote("printf", "%s", `it's "$HOME"`), `it's "$HOME"`, "", 0},
		{"standard input is empty", "cat; echo end", "end\n", "", 0},
		{"much", "head -c 3000000 /dev/zero | tr '\\0' x", strings.Repeat("x", 3_000_000), "", 0},
		{"binary", `i=0; while [ $i -lt 100000 ]; do printf '\r\n\r\r\n\000\377'; i=$((i+1)); done`, binary, "", 0},
		{"not there", "apkgate-no-such-command 2>/dev/null", "", "", 127},
	}
	onEveryConnection(t, func(t *testing.T, _ *testPhone, d *adb.Device) {
		features, err := d.Features(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range tests {
			out, err := d.Exec(testContext(t), test.command)
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			stdout, stderr := test.stdout, test.stderr
			if len(features) == 0 {
				stdout, stderr = stdout+stderr, "" // a terminal has only one output
			}
			if got := string(out.Stdout); got != stdout {
				t.Errorf("%s: standard output %d bytes %.80q, want %d bytes %.80q", test.name, len(got), got, len(stdout), stdout)
			}
			if got := string(out.Stderr); got != stderr {
				t.Errorf("%s: standard error %q, want %q", test.name, got, stderr)
			}
			if out.ExitCode != test.code {
				t.Errorf("%s: exit code %d, want %d", test.name, out.ExitCode, test.code)
			}
		}
	})
}

func TestExecIsBounded(t *testing.T) {
	for name, command := range map[string]string{"output": "yes", "errors": "yes >&2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			phone := newTestPhone(modernFeatures)
			_, addr := serve(t, phone)
			_, err := dial(t, addr, adb.Options{}).Exec(testContext(t), command)
			if err == nil || !strings.Contains(err.Error(), "more than 64 MiB") || errors.Is(err, device.ErrGone) {
				t.Errorf("%v, want that it is too much", err)
			}
			select {
			case <-phone.hungUp:
			case <-time.After(limit):
				t.Error("the command is still running on the phone")
			}
		})
	}
}

func TestStartStreams(t *testing.T) {
	onEveryConnection(t, func(t *testing.T, _ *testPhone, d *adb.Device) {
		// Each line is written only after the previous one was read here.
		fifo := filepath.Join(t.TempDir(), "fifo")
		p, err := d.Start(testContext(t), device.Quote("mkfifo", fifo)+fmt.Sprintf("; echo 1; read x <%s; echo 2; exit 5", fifo))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		lines := bufio.NewScanner(p.Stdout())
		if !lines.Scan() || lines.Text() != "1" {
			t.Fatalf("first line %q, %v", lines.Text(), lines.Err())
		}
		if err := os.WriteFile(fifo, []byte("go on\n"), 0); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || lines.Text() != "2" {
			t.Fatalf("second line %q, %v", lines.Text(), lines.Err())
		}
		if code, err := p.Wait(); code != 5 || err != nil {
			t.Errorf("ended with %d, %v, want 5", code, err)
		}
	})
}

func TestHangUp(t *testing.T) {
	for _, how := range []string{"context", "close"} {
		t.Run(how, func(t *testing.T) {
			onEveryConnection(t, func(t *testing.T, phone *testPhone, d *adb.Device) {
				ctx, cancel := context.WithCancel(testContext(t))
				defer cancel()
				p, err := d.Start(ctx, "echo begun; sleep 1000")
				if err != nil {
					t.Fatal(err)
				}
				if line, err := bufio.NewReader(p.Stdout()).ReadString('\n'); line != "begun\n" {
					t.Fatalf("first line %q, %v", line, err)
				}
				if how == "context" {
					cancel()
				} else {
					p.Close()
				}
				_, err = p.Wait()
				if err == nil {
					t.Error("a command that was hung up ended well")
				}
				if errors.Is(err, device.ErrGone) {
					t.Errorf("hanging up looks like the loss of the device: %v", err)
				}
				if how == "context" && !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want the context's error", err)
				}
				select {
				case <-phone.hungUp:
				case <-time.After(limit):
					t.Error("the command is still running on the phone")
				}
				if out, err := d.Exec(testContext(t), "echo next"); err != nil || string(out.Stdout) != "next\n" {
					t.Errorf("afterwards: %q, %v", out.Stdout, err)
				}
			})
		})
	}
}

func TestPushAndPull(t *testing.T) {
	contents := make([]byte, 5_000_001)
	rand.NewChaCha8([32]byte{1}).Read(contents)
	modified := time.Unix(1_500_000_000, 0)
	onEveryConnection(t, func(t *testing.T, phone *testPhone, d *adb.Device) {
		ctx := testContext(t)
		const path = "/data/local/tmp/a dir/it's, really.bin"
		if err := d.Push(ctx, bytes.NewReader(contents), path, 0o640, modified); err != nil {
			t.Fatal(err)
		}
		f, ok := phone.file(path)
		if !ok || !bytes.Equal(f.contents, contents) {
			t.Fatalf("the phone has %d bytes there, want %d", len(f.contents), len(contents))
		}
		if f.mode != 0o640 || !f.modified.Equal(modified) {
			t.Errorf("mode %v, modified %v; want 0640, %v", f.mode, f.modified, modified)
		}
		var back bytes.Buffer
		if err := d.Pull(ctx, path, &back); err != nil || !bytes.Equal(back.Bytes(), contents) {
			t.Errorf("%d bytes came back, %v", back.Len(), err)
		}
		if err := d.Push(ctx, strings.NewReader(""), "/empty", 0o600, modified); err != nil {
			t.Errorf("an empty file: %v", err)
		}
	})
}

func TestFileErrors(t *testing.T) {
	onEveryConnection(t, func(t *testing.T, phone *testPhone, d *adb.Device) {
		ctx := testContext(t)
		if err := d.Pull(ctx, "/none", io.Discard); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("pulling what is not there: %v", err)
		}
		phone.mu.Lock()
		phone.full = true
		phone.mu.Unlock()
		err := d.Push(ctx, strings.NewReader("x"), "/full", 0o600, time.Time{})
		if !errors.Is(err, adb.ErrNoSpace) || errors.Is(err, device.ErrGone) {
			t.Errorf("pushing to a full phone: %v", err)
		}
		if err := d.Push(ctx, strings.NewReader("x"), "/"+strings.Repeat("x", 2000), 0o600, time.Time{}); err == nil {
			t.Error("a path of 2,000 bytes was taken")
		}
	})
}

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	write := func(name, contents string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := strings.Repeat("an APK, more or less ", 100_000)
	goodFile, oldFile, emptyFile := write("good.apk", good), write("old.apk", "too old"), write("empty.apk", "")
	onEveryConnection(t, func(t *testing.T, phone *testPhone, d *adb.Device) {
		ctx := testContext(t)
		if err := d.Install(ctx, goodFile); err != nil {
			t.Fatal(err)
		}
		phone.mu.Lock()
		how := phone.installed[good]
		phone.mu.Unlock()
		if !strings.Contains(how, " install -r -t ") {
			t.Errorf("installed with %q, want -r and -t", how)
		}
		if left, err := phone.List("/data/local/tmp"); len(left) != 0 || err != nil {
			t.Errorf("left on the phone: %+v, %v", left, err)
		}
		err := d.Install(ctx, oldFile)
		var refused *adb.InstallError
		if !errors.As(err, &refused) || refused.Code != "INSTALL_FAILED_VERSION_DOWNGRADE" || refused.Hint() == "" {
			t.Errorf("installing an old version: %v", err)
		}
		for _, file := range []string{emptyFile, filepath.Join(dir, "none.apk")} {
			if err := d.Install(ctx, file); err == nil || errors.Is(err, device.ErrGone) {
				t.Errorf("installing %s: %v", filepath.Base(file), err)
			}
		}
	})
}

func TestUninstall(t *testing.T) {
	onEveryConnection(t, func(t *testing.T, _ *testPhone, d *adb.Device) {
		ctx := testContext(t)
		for _, pkg := range []string{"com.example.removable", "com.example.not.there"} {
			if err := d.Uninstall(ctx, pkg); err != nil {
				t.Errorf("%s: %v", pkg, err)
			}
		}
		if err := d.Uninstall(ctx, "com.example.there"); err == nil {
			t.Error("a package that stays was reported as uninstalled")
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	onEveryConnection(t, func(t *testing.T, _ *testPhone, d *adb.Device) {
		ctx := testContext(t)
		// A stream that is never read must not block the others.
		stuck, err := d.Start(ctx, "yes")
		if err != nil {
			t.Fatal(err)
		}
		defer stuck.Close()
		errs := make(chan error)
		const n = 20
		for i := range n {
			go func() {
				want := fmt.Sprintf("%d\n", i)
				out, err := d.Exec(ctx, fmt.Sprintf("sleep 0.0%d; echo %d; exit %d", i, i, i))
				if err == nil && (string(out.Stdout) != want || out.ExitCode != i) {
					err = fmt.Errorf("command %d: %q, exit code %d", i, out.Stdout, out.ExitCode)
				}
				errs <- err
			}()
		}
		for range n {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}
