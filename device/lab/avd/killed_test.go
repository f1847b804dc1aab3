package avd_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/avd"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator/standin"
)

// asApkgate is the environment variable that makes the test binary an apkgate that boots a
// device on the computer in the given folder, and keeps it until it is killed.
const asApkgate = "AVD_TEST_APKGATE"

// bootUntilKilled is that apkgate. It prints its progress.
func bootUntilKilled(folder string) {
	held, err := lease.Take(filepath.Join(folder, "leases"), avd.Kind, "")
	if err == nil {
		lab := avd.New(avd.Computer{Getenv: os.Getenv}).In(filepath.Join(folder, "homes"), time.Minute, time.Minute)
		_, err = lab.Boot(context.Background(), spec(), held, func(line string) { fmt.Println(line) })
	}
	fmt.Println("booted:", err)
	io.Copy(io.Discard, os.Stdin)
	fmt.Println(held.ID())
}

// Whenever apkgate is killed, the device that it booted is found by its lease and stopped, and
// nothing of it is left.
func TestKilledAtAnyInstant(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	killings := 12
	if testing.Short() {
		killings = 4
	}
	for i := range killings {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(c.Environment(), asApkgate+"="+string(c.Folder))
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := make(chan string, 100)
		go func() {
			for scan := bufio.NewScanner(out); scan.Scan(); {
				lines <- scan.Text()
			}
			close(lines)
		}()
		last := untilKilled(cmd, lines, i)
		stdin.Close()
		all, err := lease.List(c.Path("leases"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			if l.InUse {
				t.Fatalf("killed after %q: the lease %s is said to be in use", last, l.ID)
			}
			h, err := lease.Reclaim(c.Path("leases"), l.ID)
			if err != nil {
				t.Fatal(err)
			}
			c.stopped(c.avd, h.Lease())
			if err := h.Release(); err != nil {
				t.Error(err)
			}
		}
		if t.Failed() {
			t.Fatalf("it was killed after %q", last)
		}
	}
}

// untilKilled kills the process: in the first calls after its first line, its second line and
// so on, and later after a random time.
func untilKilled(cmd *exec.Cmd, lines <-chan string, i int) (last string) {
	const steps = 5 // at least the number of lines that a boot prints
	longest := time.Minute
	if i >= steps {
		longest = time.Duration(rand.IntN(3000)) * time.Millisecond
	}
	timer := time.After(longest)
	for said, over := 0, false; !over && (i >= steps || said <= i); said++ {
		select {
		case line, ok := <-lines:
			if !ok {
				return last
			}
			last = line
		case <-timer:
			over = true
		}
	}
	cmd.Process.Kill()
	for range lines { // until its end
	}
	cmd.Wait()
	return last
}

// An emulator that was started, but whose process was not noted any more, is found by the
// lease's name. A search for that name is not killed.
func TestStopFindsAnEmulatorThatWasNotNoted(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	b, h := c.boot(spec())
	l := h.Lease()
	delete(l.Detail, "process")
	search := exec.Command("sh", "-c", "echo ready; read line", "emulators", l.ID)
	stdin, err := search.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := search.StdoutPipe()
	if err == nil {
		err = search.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(out).ReadString('\n')
	c.Breaks("never-ends", -1)
	lab := c.another(time.Minute, 300*time.Millisecond)
	if err := lab.Stop(t.Context(), l, c.tell); err != nil {
		t.Error(err)
	}
	<-b.Died
	if found, err := hostprogram.Find(l.ID); err != nil || len(found) != 1 || found[0].PID != search.Process.Pid {
		t.Errorf("%v, %v; want only the search running", found, err)
	}
	stdin.Close()
	if err := search.Wait(); err != nil && !strings.Contains(err.Error(), "exit status") {
		t.Errorf("the search ended with %v", err)
	}
	c.stopped(c.avd, h.Lease())
}

// A lease may be forged: only processes and folders of the lab are killed or deleted.
func TestStopIgnoresForgedLeases(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	_, h := c.boot(spec()) // an emulator of another lease
	folder := filepath.Join(c.t.TempDir(), "work")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	me, err := hostprogram.IDOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const id = "apkgate-hostile"
	for name, l := range map[string]lease.Lease{
		"a folder":              {ID: id, Kind: avd.Kind, Detail: map[string]string{"avd-home": folder}},
		"a folder by a detour":  {ID: id, Kind: avd.Kind, Detail: map[string]string{"avd-home": folder + "/" + id + "/.."}},
		"a relative folder":     {ID: id, Kind: avd.Kind, Detail: map[string]string{"avd-home": id}},
		"another lab's":         {ID: id, Kind: "genymotion"},
		"a process that is not": {ID: id, Kind: avd.Kind, Detail: map[string]string{"process": strconv.Itoa(os.Getpid()) + " since 1"}},
		"this test's process":   {ID: id, Kind: avd.Kind, Detail: map[string]string{"process": me.String()}},
		"another's port":        {ID: id, Kind: avd.Kind, Detail: map[string]string{"console-port": h.Lease().Detail["console-port"], "avd-home": folder}},
		"a process's old port":  {ID: id, Kind: avd.Kind, Detail: map[string]string{"console-port": h.Lease().Detail["console-port"]}},
		"no port":               {ID: id, Kind: avd.Kind, Detail: map[string]string{"console-port": "80", "avd-home": folder}},
	} {
		err := c.another(time.Minute, 100*time.Millisecond).Stop(t.Context(), l, c.tell)
		if _, statErr := os.Stat(folder); statErr != nil {
			t.Fatalf("%s: the folder is gone", name)
		}
		if fine := strings.Contains(name, "process"); (err == nil) != fine {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(c.Instances()) != 1 {
		t.Error("an emulator of another lease was stopped")
	}
	c.stopped(c.avd, h.Lease())
}

// A device on another computer is not looked for here.
func TestALeaseOfAnotherComputer(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{WithoutADB: true})
	h := c.take()
	l := h.Lease()
	home := c.Path("homes", l.ID)
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	l.Owner.Host, l.Detail = "build-7", map[string]string{"avd-home": home, "console-port": "5554"}
	if err := c.avd.Stop(t.Context(), l, c.tell); err == nil || !strings.Contains(err.Error(), "build-7") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(home); err != nil {
		t.Error("its AVD was deleted here")
	}
}
