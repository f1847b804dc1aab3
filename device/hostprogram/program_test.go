//go:build unix

package hostprogram_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/hostprogram"
)

// asProgram is the environment variable that makes the test binary one of programs.
const asProgram = "PROGRAM_TEST"

// programs are the programs that the tests run. Each prints a line once it has reached the
// state to test.
var programs = map[string]func(){
	"tells": func() {
		text, _ := io.ReadAll(os.Stdin)
		dir, _ := os.Getwd()
		fmt.Printf("%s|%s|%s|%s", text, os.Args[1:], filepath.Base(dir), os.Getenv("TOLD"))
		fmt.Fprint(os.Stderr, "first\nError: \x1b[31mno such image\n")
		os.Exit(3)
	},
	"floods": func() {
		line := strings.Repeat("x", 1023) + "\n"
		for range 6 << 10 {
			os.Stdout.WriteString(line)
			os.Stderr.WriteString(line)
		}
		os.Stderr.WriteString("the last")
	},
	"waits": func() { fmt.Println("ready"); forEver() },
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		forEver()
	},
	"parent": func() { // starts a stubborn child in its group
		child := spawn("stubborn", nil)
		fmt.Println(child.Process.Pid)
		forEver()
	},
	"leaver": func() { // ends, and leaves a child that prints to the same output
		child := spawn("stubborn", os.Stdout)
		fmt.Println(child.Process.Pid)
	},
	"starter": func() { // starts a program, like apkgate
		out, in := io.Pipe()
		p, err := hostprogram.Start(command("waits", os.Args[1]), in, in)
		if err == nil {
			_, err = bufio.NewReader(out).ReadString('\n')
		}
		fmt.Println(p.ID(), err)
		forEver()
	},
	"killed": func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) },
}

func forEver() { time.Sleep(time.Hour) }

// spawn starts another of the programs and waits for its first line, unless its output goes
// elsewhere.
func spawn(name string, output *os.File) *exec.Cmd {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), asProgram+"="+name)
	if output != nil {
		cmd.Stdout = output
		cmd.Start()
		return cmd
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		panic(err)
	}
	return cmd
}

func TestMain(m *testing.M) {
	if run := programs[os.Getenv(asProgram)]; run != nil {
		run()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func command(name string, args ...string) hostprogram.Command {
	return hostprogram.Command{Path: os.Args[0], Args: args, Env: []string{asProgram + "=" + name}}
}

func TestRun(t *testing.T) {
	t.Parallel()
	c := command("tells", "a b", "c")
	c.Stdin, c.Dir = "no", t.TempDir()
	c.Env = append(c.Env, "TOLD=1")
	r, err := hostprogram.Run(t.Context(), c)
	if want := "no|[a b c]|" + filepath.Base(c.Dir) + "|1"; err != nil || string(r.Stdout) != want || r.ExitCode != 3 || r.Cut {
		t.Errorf("%q, exit code %d, %v; want %q and 3", r.Stdout, r.ExitCode, err, want)
	}
	if r.Said() != "first Error: [31mno such image" {
		t.Errorf("said %q", r.Said())
	}
	if said := (hostprogram.Result{Stdout: []byte("\n done \n"), Stderr: []byte(" \n")}).Said(); said != "done" {
		t.Errorf("without an error: %q", said)
	}
}

// Output to a file is written by the program itself.
func TestStartWithAFileAsOutput(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := hostprogram.Start(command("tells"), file, file)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	said, err := os.ReadFile(file.Name())
	if err != nil || !strings.Contains(string(said), "no such image") || !strings.Contains(string(said), "|") || p.ExitCode() != 3 {
		t.Errorf("%q, %v, exit code %d; want both outputs, and 3", said, err, p.ExitCode())
	}
}

func TestRunLimitsTheOutput(t *testing.T) {
	t.Parallel()
	r, err := hostprogram.Run(t.Context(), command("floods"))
	if err != nil || !r.Cut || len(r.Stdout) != 4<<20 || len(r.Stderr) != 64<<10 || !strings.HasSuffix(string(r.Stderr), "x\nthe last") {
		t.Errorf("%v, cut %v, %d and %d bytes; want the first 4 MiB, and the last 64 KiB", err, r.Cut, len(r.Stdout), len(r.Stderr))
	}
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	if _, err := hostprogram.Run(t.Context(), hostprogram.Command{Path: filepath.Join(t.TempDir(), "avdmanager")}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "start avdmanager") {
		t.Errorf("not there: %v", err)
	}
	if _, err := hostprogram.Run(t.Context(), command("killed")); err == nil || !strings.Contains(err.Error(), `the signal "killed"`) {
		t.Errorf("killed: %v", err)
	}
	slow := command("waits", t.Name())
	slow.Timeout = 200 * time.Millisecond
	if _, err := hostprogram.Run(t.Context(), slow); !errors.Is(err, hostprogram.ErrTimeout) || !strings.Contains(err.Error(), "200ms") {
		t.Errorf("too slow: %v", err)
	}
	none(t, t.Name())
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("an interrupt")
	cancel(why)
	if _, err := hostprogram.Run(ctx, command("waits", t.Name())); !errors.Is(err, why) {
		t.Errorf("interrupted before: %v", err)
	}
}

// none fails the test if the command line of any process contains the word.
func none(t *testing.T, word string) {
	t.Helper()
	found, err := hostprogram.Find(word)
	if err != nil || len(found) != 0 {
		t.Errorf("%v, %v; want that no process of %s is left", found, err, word)
	}
}

// An interrupt stops a program and its children, even if they ignore SIGTERM.
func TestRunCancelledStopsTheWholeGroup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := hostprogram.Run(ctx, command("parent", t.Name()))
		ended <- err
	}()
	for found := []hostprogram.Found(nil); len(found) < 2; { // the parent and its child
		var err error
		if found, err = hostprogram.Find(t.Name()); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	none(t, t.Name())
}

// started starts a program and waits for its first line.
func started(t *testing.T, name string, args ...string) (*hostprogram.Process, string) {
	t.Helper()
	out, in := io.Pipe()
	p, err := hostprogram.Start(command(name, args...), in, in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines)
	return p, strings.TrimSpace(line)
}

func TestStopWaitsForTheWholeGroup(t *testing.T) {
	t.Parallel()
	p, child := started(t, "parent", t.Name())
	var pid int
	fmt.Sscan(child, &pid)
	id, err := hostprogram.IDOf(pid)
	if err != nil || !id.Alive() || !p.ID().Alive() {
		t.Fatalf("%v, %v, %v", id, p.ID(), err)
	}
	if err := p.Stop(50 * time.Millisecond); err != nil || id.Alive() || p.ID().Alive() {
		t.Errorf("%v, the child lives: %v, the program lives: %v", err, id.Alive(), p.ID().Alive())
	}
	<-p.Done()
	if got := p.Ending(); got != `it was ended by the signal "terminated"` {
		t.Errorf("%q, want that it went when it was asked to", got)
	}
	if err := p.Stop(0); err != nil {
		t.Errorf("stopped once more: %v", err)
	}

	p, _ = started(t, "stubborn", t.Name())
	if err := p.Stop(50 * time.Millisecond); err != nil || p.ID().Alive() || p.Ending() != `it was ended by the signal "killed"` {
		t.Errorf("one that doesn't want to: %v, %s", err, p.Ending())
	}
	none(t, t.Name())
}

func TestEnding(t *testing.T) {
	t.Parallel()
	p, err := hostprogram.Start(command("tells"), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := p.Ending(); got != "it ended with the exit code 3" || p.ID().Alive() {
		t.Errorf("%q, alive: %v", got, p.ID().Alive())
	}
}

// A child that a program leaves running (as gmtool leaves its player) neither delays Run nor
// dies for lack of a reader.
func TestRunLeavesAChildRunning(t *testing.T) {
	t.Parallel()
	p, line := started(t, "leaver", t.Name())
	if line == "ready" { // whichever came first
		found, err := hostprogram.Find(t.Name())
		if err != nil || len(found) == 0 {
			t.Fatalf("%v, %v", found, err)
		}
	}
	<-p.Done()
	found, err := hostprogram.Find(t.Name())
	if err != nil || len(found) != 1 || found[0].PID == p.ID().PID {
		t.Fatalf("%v, %v; want the child alone", found, err)
	}
	if err := p.Stop(0); err != nil || found[0].Alive() {
		t.Errorf("%v; stopped with the program's group: %v", err, !found[0].Alive())
	}
}

// A process of another parent is found by its command line and stopped by its ID in a lease.
func TestFindAndStop(t *testing.T) {
	t.Parallel()
	starter := exec.Command(os.Args[0], t.Name())
	starter.Env = append(os.Environ(), asProgram+"=starter")
	out, err := starter.StdoutPipe()
	if err == nil {
		err = starter.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { starter.Process.Kill(); starter.Wait() }()
	line, _ := bufio.NewReader(out).ReadString('\n')
	id, err := hostprogram.ParseID(strings.TrimSuffix(line, " <nil>\n"))
	if err != nil || !id.Alive() {
		t.Fatalf("%q: %v, %v", line, id, err)
	}
	found, err := hostprogram.Find(t.Name())
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, %v; want the starter and its program", found, err)
	}
	for _, f := range found {
		if f.ID != id && f.PID != starter.Process.Pid || f.Args[0] != os.Args[0] || f.Args[len(f.Args)-1] != t.Name() {
			t.Errorf("found %v", f)
		}
	}
	reused := hostprogram.ID{PID: id.PID, Began: id.Began + "0"}
	if err := reused.Stop(0); err != nil || reused.Alive() || !id.Alive() {
		t.Errorf("a process that has got another's number: %v, alive: %v, and the real one: %v", err, reused.Alive(), id.Alive())
	}
	if err := id.Stop(time.Minute); err != nil || id.Alive() {
		t.Errorf("%v, alive: %v", err, id.Alive())
	}
	if err := id.Stop(0); err != nil {
		t.Errorf("stopped once more: %v", err)
	}
}

// A program does not survive apkgate, since it would create resources that no process cleans
// up.
func TestAProgramDiesWithApkgate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a program with its parent")
	}
	t.Parallel()
	starter := exec.Command(os.Args[0], t.Name())
	starter.Env = append(os.Environ(), asProgram+"=starter")
	out, err := starter.StdoutPipe()
	if err == nil {
		err = starter.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	id, err := hostprogram.ParseID(strings.TrimSuffix(line, " <nil>\n"))
	if err != nil || !id.Alive() {
		t.Fatalf("%q: %v, %v", line, id, err)
	}
	starter.Process.Kill()
	starter.Wait()
	for until := time.Now().Add(time.Minute); id.Alive(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			id.Stop(0)
			t.Fatal("it lives on")
		}
	}
}

func TestParseIDErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "4711", "4711 since ", "x since 1", "-1 since 1", "0 since 1", "1 since 1", "99999999999999999999 since 1"} {
		if id, err := hostprogram.ParseID(text); err == nil {
			t.Errorf("%q is read as %v", text, id)
		}
	}
	me, err := hostprogram.IDOf(os.Getpid())
	if err != nil || !me.Alive() {
		t.Fatal(me, err)
	}
	if back, err := hostprogram.ParseID(me.String()); err != nil || back != me {
		t.Errorf("%v, %v; want %v", back, err, me)
	}
	if _, err := hostprogram.IDOf(1 << 30); !errors.Is(err, hostprogram.ErrNoProcess) {
		t.Errorf("a number that no process has: %v", err)
	}
	if (hostprogram.ID{PID: os.Getpid()}).Alive() {
		t.Error("a process with an unknown start time is taken for this one")
	}
}
