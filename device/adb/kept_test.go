package adb_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
)

// ask runs a question, and fails the test where the answer differs.
func ask(t *testing.T, d *adb.Device, command, stdout string, code int) {
	t.Helper()
	out, err := d.Ask(testContext(t), command)
	if err != nil || string(out.Stdout) != stdout || out.ExitCode != code {
		t.Errorf("%s: %.80q, exit code %d, %v; want %.80q, %d", command, out.Stdout, out.ExitCode, err, stdout, code)
	}
}

// pidOf returns the process id of the kept shell.
func pidOf(t *testing.T, d *adb.Device) int {
	t.Helper()
	out, err := d.Ask(testContext(t), "echo $$")
	pid, notNumber := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil || notNumber != nil {
		t.Fatalf("the kept shell's process: %q, %v", out.Stdout, err)
	}
	return pid
}

// shells returns the number of kept shells that were started, and the other commands that were
// run.
func (p *testPhone) shells() (kept int, others []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.commands {
		if c == "" {
			kept++
		} else {
			others = append(others, c)
		}
	}
	return kept, others
}

// onShells runs a test on phones with each shell that this computer has; mksh is Android's.
func onShells(t *testing.T, test func(t *testing.T, phone *testPhone)) {
	for _, shell := range []string{"sh", "mksh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("there is no %s here", shell)
			}
			phone := newTestPhone(modernFeatures)
			phone.shell = shell
			test(t, phone)
		})
	}
}

func TestAskUsesOneShell(t *testing.T) {
	onShells(t, func(t *testing.T, phone *testPhone) {
		_, addr := serve(t, phone)
		d := dial(t, addr, adb.Options{})
		if !d.KeepsShell(testContext(t)) {
			t.Fatal("no shell is kept")
		}
		file := func(text string) string {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		bytes := make([]byte, 300_000)
		for i := range bytes {
			bytes[i] = byte(i * i >> 3)
		}
		lookalike := "apkgate-0123456789abcdef01234567\napkgate-0123456789abcdef012345670\n"
		pid := pidOf(t, d)
		for range 2 {
			ask(t, d, "echo one; echo 'two  three'", "one\ntwo  three\n", 0)
			ask(t, d, "cat "+file("no end of line"), "no end of line", 0)
			ask(t, d, "cat "+file(string(bytes)), string(bytes), 0)
			ask(t, d, "cat "+file(lookalike), lookalike, 0)
			ask(t, d, "cat "+file("\n\n"), "\n\n", 0)
			ask(t, d, "cat", "", 0) // its standard input must not be the next question
			ask(t, d, "cat /none/such 2>/dev/null || echo missing", "missing\n", 0)
			ask(t, d, "echo x >/dev/null", "", 0)
		}
		out, err := d.Ask(testContext(t), "echo first; cat /none/such")
		if err != nil || string(out.Stdout) != "first\n" || !strings.Contains(string(out.Stderr), "/none/such") || out.ExitCode == 0 {
			t.Errorf("%q, %q, exit code %d, %v", out.Stdout, out.Stderr, out.ExitCode, err)
		}
		if after := pidOf(t, d); after != pid {
			t.Errorf("the kept shell was process %d and is %d", pid, after)
		}
		if kept, others := phone.shells(); kept != 1 || len(others) > 0 {
			t.Errorf("%d shells were kept, and run beside them %q", kept, others)
		}
	})
}

// A line that could change the shell, read its input, or outlive its end mark runs in a
// process of its own, and works there.
func TestAskRunsUnsafeLinesInTheirOwnProcess(t *testing.T) {
	onShells(t, func(t *testing.T, phone *testPhone) {
		_, addr := serve(t, phone)
		d := dial(t, addr, adb.Options{})
		pid := pidOf(t, d)
		lines := []string{
			"exit 7", "cd /; set -e; false; echo no", "exec cat /none/such", "PATH=/none; echo x", "echo() { :; }; echo no",
			"(echo sub)", "sleep 0.01 && echo late &", "echo `echo nested`", "echo $(echo nested)", "echo $PATH", "echo 'not closed", "echo x >" + filepath.Join(t.TempDir(), "file"),
			"cat <<end\nx\nend", "echo a\necho b", "trap 'echo no' 0", "read x; echo read", "echo x;", "|| echo x", "{ echo x; }", "alias echo=false", "unset PATH",
		}
		for _, line := range lines {
			want, err := d.Exec(testContext(t), line)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Ask(testContext(t), line)
			if err != nil || string(got.Stdout) != string(want.Stdout) || got.ExitCode != want.ExitCode {
				t.Errorf("%s: asked %q, exit code %d, %v; run %q, %d", line, got.Stdout, got.ExitCode, err, want.Stdout, want.ExitCode)
			}
			ask(t, d, "echo still", "still\n", 0)
		}
		if after := pidOf(t, d); after != pid {
			t.Errorf("the kept shell was process %d and is %d", pid, after)
		}
		if kept, others := phone.shells(); kept != 1 || len(others) != 2*len(lines) {
			t.Errorf("%d shells were kept, and %d commands were run beside them, want 1 and %d", kept, len(others), 2*len(lines))
		}
	})
}

// rude is a shell that reads a question and then misbehaves.
type rude func(mark string, stdout, stderr io.Writer, question *bufio.Reader) int

func (r rude) run(_ int, stdin io.Reader, stdout, stderr io.Writer) int {
	questions := bufio.NewReader(stdin)
	line, _ := questions.ReadString('\n')
	mark, _, _ := strings.Cut(strings.TrimPrefix(line, "echo "), ";")
	return r(mark, stdout, stderr, questions)
}

// whole writes the complete answer "wrong", except for the end line.
func whole(mark, end string, stdout, stderr io.Writer) {
	fmt.Fprintf(stderr, "%[1]s\n%[1]s\n", mark)
	fmt.Fprintf(stdout, "%s\nwrong\n%s", mark, end)
}

// hangs plays a shell that stays silent until it is hung up.
func hangs(questions *bufio.Reader) int {
	_, _ = io.Copy(io.Discard, questions)
	return 129
}

// Whatever the kept shell does, no answer is wrong, truncated, or that of another question:
// the question is run again in a process of its own.
func TestAskRejectsAnswersOfAMisbehavingShell(t *testing.T) {
	t.Parallel()
	for name, shell := range map[string]rude{
		"killed before it answers": func(string, io.Writer, io.Writer, *bufio.Reader) int { return 137 },
		"killed behind the first mark": func(mark string, stdout, _ io.Writer, _ *bufio.Reader) int {
			fmt.Fprintf(stdout, "%s\n", mark)
			return 137
		},
		"killed in its answer": func(mark string, stdout, stderr io.Writer, _ *bufio.Reader) int {
			fmt.Fprintf(stderr, "%[1]s\n%[1]s\n", mark)
			fmt.Fprintf(stdout, "%s\nwro", mark)
			return 137
		},
		"killed in its last line": func(mark string, stdout, stderr io.Writer, _ *bufio.Reader) int {
			whole(mark, mark+"0", stdout, stderr)
			return 9
		},
		"says nothing": func(_ string, _, _ io.Writer, questions *bufio.Reader) int { return hangs(questions) },
		"says half": func(mark string, stdout, _ io.Writer, questions *bufio.Reader) int {
			fmt.Fprintf(stdout, "%s\nwrong\n%s0\n", mark, mark)
			return hangs(questions)
		},
		"answers a question before": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			whole(strings.Repeat("x", len(mark)), strings.Repeat("x", len(mark))+"0\n", stdout, stderr)
			return hangs(questions)
		},
		"is overtaken by what is late": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			fmt.Fprint(stdout, "late\n")
			whole(mark, mark+"0\n", stdout, stderr)
			return hangs(questions)
		},
		"is overtaken by an error": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			fmt.Fprint(stderr, "WARNING: linker\n")
			whole(mark, mark+"0\n", stdout, stderr)
			return hangs(questions)
		},
		"says more than it was asked": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			whole(mark, mark+"0\nmore\n", stdout, stderr)
			return hangs(questions)
		},
		"has no exit code": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			whole(mark, mark+"\n", stdout, stderr)
			return hangs(questions)
		},
		"has a large exit code": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			whole(mark, mark+"256\n", stdout, stderr)
			return hangs(questions)
		},
		"has a long exit code": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			whole(mark, mark+"0000000000", stdout, stderr)
			return hangs(questions)
		},
		"has an exit code in its errors": func(mark string, stdout, stderr io.Writer, questions *bufio.Reader) int {
			fmt.Fprintf(stderr, "%[1]s\n%[1]s0\n", mark)
			fmt.Fprintf(stdout, "%[1]s\nwrong\n%[1]s0\n", mark)
			return hangs(questions)
		},
		"is another program": func(_ string, stdout, _ io.Writer, questions *bufio.Reader) int {
			fmt.Fprint(stdout, "# ")
			return hangs(questions)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			phone := newTestPhone(modernFeatures)
			phone.keeps = shell.run
			_, addr := serve(t, phone)
			d := dial(t, addr, adb.Options{SilenceTimeout: 200 * time.Millisecond})
			ask(t, d, "echo right", "right\n", 0)
			ask(t, d, "echo again; cat /none/such 2>/dev/null", "again\n", 1)
			if kept, others := phone.shells(); kept != 2 || len(others) != 2 {
				t.Errorf("%d shells were kept and %d commands run beside them, want 2 of each", kept, len(others))
			}
		})
	}
}

// A shell that was killed, as for lack of memory, is detected by the next question or the one
// in progress, and replaced.
func TestAKilledShellIsReplaced(t *testing.T) {
	onShells(t, func(t *testing.T, phone *testPhone) {
		_, addr := serve(t, phone)
		d := dial(t, addr, adb.Options{})
		killed := pidOf(t, d)
		if err := syscall.Kill(-killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		ask(t, d, "echo right", "right\n", 0)
		if pid := pidOf(t, d); pid == killed {
			t.Error("its process is the one that was killed")
		}

		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		killed = pidOf(t, d)
		var answer device.Output
		var err error
		var asked sync.WaitGroup
		asked.Go(func() { answer, err = d.Ask(testContext(t), "cat "+pipe+"; echo end") })
		w, failed := os.OpenFile(pipe, os.O_WRONLY, 0) // blocks until it is read
		if failed != nil {
			t.Fatal(failed)
		}
		fmt.Fprint(w, "wrong")
		if err := errors.Join(os.Remove(pipe), os.WriteFile(pipe, []byte("right"), 0o600), syscall.Kill(-killed, syscall.SIGKILL)); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		asked.Wait()
		if err != nil || string(answer.Stdout) != "rightend\n" {
			t.Errorf("%q, %v", answer.Stdout, err)
		}
		if kept, _ := phone.shells(); kept != 2 {
			t.Errorf("%d shells were kept by then, want 2", kept)
		}
	})
}

// The kept shell runs one question at a time. Concurrent questions run in processes of their
// own, and a cancelled question ends the shell.
func TestAskCancelled(t *testing.T) {
	onShells(t, func(t *testing.T, phone *testPhone) {
		_, addr := serve(t, phone)
		d := dial(t, addr, adb.Options{})
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		why := errors.New("no time left")
		ctx, cancel := context.WithCancelCause(testContext(t))
		failed := make(chan error, 1)
		go func() {
			_, err := d.Ask(ctx, "cat "+pipe)
			failed <- err
		}()
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		ask(t, d, "echo meanwhile", "meanwhile\n", 0)
		cancel(why)
		if err := <-failed; !errors.Is(err, why) {
			t.Errorf("the question that was given up: %v", err)
		}
		if hungUp := <-phone.hungUp; hungUp != "" {
			t.Errorf("%q was hung up, want the kept shell", hungUp)
		}
		ask(t, d, "echo after", "after\n", 0)
		if kept, others := phone.shells(); kept != 2 || !slices.Equal(others, []string{"echo meanwhile"}) {
			t.Errorf("%d shells were kept, and run beside them %q", kept, others)
		}
	})
}

func TestCloseEndsTheKeptShell(t *testing.T) {
	t.Parallel()
	phone := newTestPhone(modernFeatures)
	daemon, addr := serve(t, phone)
	d := dial(t, addr, adb.Options{})
	ask(t, d, "echo before", "before\n", 0)
	daemon.Drop()
	<-phone.hungUp
	ask(t, d, "echo behind", "behind\n", 0)
	if kept, _ := phone.shells(); kept < 1 || kept > 2 {
		t.Errorf("%d shells were kept", kept)
	}
	ask(t, d, "echo kept", "kept\n", 0)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if hungUp := <-phone.hungUp; hungUp != "" {
		t.Errorf("%q was hung up, want the kept shell", hungUp)
	}
	if _, err := d.Ask(testContext(t), "echo closed"); err == nil {
		t.Error("a closed device answers")
	}
}

// Close ends the kept shell even where an adb server keeps the connection open.
func TestCloseEndsTheKeptShellOverAServer(t *testing.T) {
	t.Parallel()
	server := realServer(t)
	phone := newTestPhone(modernFeatures)
	_, addr := serve(t, phone)
	ctx := testContext(t)
	if _, err := server.Connect(ctx, addr); err != nil {
		t.Fatal(err)
	}
	d := server.Device(addr)
	one, cancel := context.WithCancel(ctx)
	if out, err := d.Ask(one, "echo one"); err != nil || string(out.Stdout) != "one\n" {
		t.Fatalf("%q, %v", out.Stdout, err)
	}
	cancel() // this context was only the question's
	ask(t, d, "echo two", "two\n", 0)
	if kept, others := phone.shells(); kept != 1 || len(others) > 0 {
		t.Errorf("%d shells were kept, and run beside them %q", kept, others)
	}
	_ = d.Close()
	select {
	case hungUp := <-phone.hungUp:
		if hungUp != "" {
			t.Errorf("%q was hung up, want the kept shell", hungUp)
		}
	case <-ctx.Done():
		t.Error("the kept shell is still running")
	}
}

func TestOldPhonesKeepNoShell(t *testing.T) {
	t.Parallel()
	phone := newTestPhone("")
	_, addr := serve(t, phone)
	d := dial(t, addr, adb.Options{})
	if d.KeepsShell(testContext(t)) {
		t.Error("a phone without shell protocol 2 keeps a shell")
	}
	ask(t, d, "echo old; cat /none/such 2>/dev/null", "old\n", 1)
	if kept, _ := phone.shells(); kept > 0 {
		t.Errorf("%d shells were kept", kept)
	}
}

func TestAskLimitsTheAnswer(t *testing.T) {
	t.Parallel()
	phone := newTestPhone(modernFeatures)
	_, addr := serve(t, phone)
	d := dial(t, addr, adb.Options{})
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	if out, err := d.Ask(testContext(t), "cat "+file); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("%d bytes, %v", len(out.Stdout), err)
	}
	if err := os.Truncate(file, 64<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := d.Ask(testContext(t), "cat "+file); err != nil || !bytes.Equal(out.Stdout, make([]byte, 64<<20)) {
		t.Errorf("%d bytes, %v", len(out.Stdout), err)
	}
}
