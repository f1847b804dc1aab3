package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/simulator"
)

// computer is a folder with a configuration and a home of its own, in which apkgate runs as a
// process.
type computer struct {
	t   *testing.T
	dir string
}

// quietApp draws so little that dumps need not be timely.
const quietApp = "apkgate-simulated-app/1\npackage com.example.demo\ncost 4ms\nscenario read-mail 2s\n  start 30\n  1s scroll 20\n"

// computerAt is a computer that measures on the phone.
func computerAt(t *testing.T, phone *simulator.Simulated) computer {
	t.Helper()
	l := clitest.NewLab(t, "demo-good", "")
	clitest.WriteFile(t, l.Path("demo-good.apk"), quietApp)
	clitest.WriteFile(t, l.Path("apkgate.yml"), strings.Replace(fmt.Sprintf(clitest.LabConfig, "demo-good", "wifi",
		"  - {address: \""+phone.Address()+"\", name: shelf}\n"), "timeout: 30s", "timeout: 10m", 1))
	return computer{t, l.Dir}
}

// apkgate starts a process, whose output is both streams.
func (c computer) apkgate(args ...string) (*exec.Cmd, io.Reader) {
	c.t.Helper()
	cmd := exec.Command("apkgate", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "XDG_CACHE_HOME="+c.dir, "LocalAppData="+c.dir)
	r, w, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	_ = w.Close()
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = r.Close()
	})
	return cmd, r
}

// says reads until a line contains the text, and returns what was read.
func says(r *bufio.Reader, text string) (read string, said bool) {
	for {
		line, err := r.ReadString('\n')
		read += line
		if strings.Contains(line, text) {
			return read, true
		}
		if err != nil {
			return read, false
		}
	}
}

// asked is the phone's answer to a direct connection.
func asked(t *testing.T, phone *simulator.Simulated, line string) string {
	t.Helper()
	var out strings.Builder
	phone.Phone.Start(t.Context(), line, nil, &out, &out)()
	return out.String()
}

// until waits until the phone has an answer to the command.
func until(t *testing.T, phone *simulator.Simulated, line string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); asked(t, phone, line) == ""; {
		if time.Now().After(deadline) {
			t.Fatalf("nothing ever comes of %s", line)
		}
		time.Sleep(time.Millisecond)
	}
}

const phonesState = "settings list system; settings list global; pm path com.example.demo; ls /data/local/tmp"

// A killed process leaves a phone that another process restores.
func TestRestoreAfterAKilledProcess(t *testing.T) {
	t.Parallel()
	phone, err := simulator.Start(clitest.FaultyPhone, 1, simulator.Options{Rate: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close() })
	before := asked(t, phone, phonesState)
	here := computerAt(t, phone)
	killed, _ := here.apkgate("collect", "--output", "runs.jsonl")
	until(t, phone, "pidof com.example.demo")
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if left := asked(t, phone, phonesState); !strings.Contains(left, "screen_off_timeout=86399000") || !strings.Contains(left, "package:") {
		t.Fatalf("it has changed nothing: %s", left)
	}
	restoring, out := here.apkgate("devices", "restore")
	said, _ := io.ReadAll(out)
	if err := restoring.Wait(); err != nil || !strings.Contains(string(said), "screen_off_timeout back to 60000") {
		t.Errorf("%v: %s", err, said)
	}
	if after := asked(t, phone, phonesState); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// Two processes with two homes, as on two computers, both finish on one phone, and the second
// reports who the first is.
func TestTwoProcessesTakeTurnsOnAPhone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("who waits looks every 15 s; TestTwoComputersTakeTurnsOnAPhone does the same on a faster clock")
	}
	phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{Rate: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close() })
	before := asked(t, phone, phonesState)
	first, out := computerAt(t, phone).apkgate("collect", "--output", "runs.jsonl")
	until(t, phone, "ls /data/local/tmp")
	second, out2 := computerAt(t, phone).apkgate("collect", "--output", "runs.jsonl")
	waited := bufio.NewReader(out2)
	who := fmt.Sprintf("(pid %d, com.example.demo/read-mail) since", first.Process.Pid)
	if said, ok := says(waited, who); !ok {
		t.Fatalf("the second was not told of %q: %s", who, said)
	}
	all, _ := io.ReadAll(out)
	if err := first.Wait(); err != nil {
		t.Errorf("the first: %v\n%s", err, all)
	}
	rest, _ := io.ReadAll(waited)
	if err := second.Wait(); err != nil {
		t.Errorf("the second: %v\n%s", err, rest)
	}
	if after := asked(t, phone, phonesState); after != before {
		t.Errorf("the phone was\n%s\nand is\n%s", before, after)
	}
}
