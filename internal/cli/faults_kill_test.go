package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/simlab"
)

// A test that needs apkgate as a process starts this binary again with the
// command line in this variable, one word a line.
const commandLine = "APKGATE_TEST_COMMAND_LINE"

func init() {
	if words := os.Getenv(commandLine); words != "" {
		os.Exit(Process().Main(strings.Split(words, "\n")))
	}
}

// startApkgate starts apkgate as a process, and returns what it says on its
// standard error.
func startApkgate(t *testing.T, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), commandLine+"="+strings.Join(args, "\n"))
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}

// onePhoneOfEachVersion makes the lab one phone of each version of Android, and
// returns the versions by the phone's name.
func (l faultLab) onePhoneOfEachVersion() map[string]string {
	l.t.Helper()
	versions, seen := map[string]string{}, map[string]bool{}
	var phones strings.Builder
	for _, p := range simlab.Profiles() {
		if !seen[p.SDK] {
			seen[p.SDK] = true
			versions[p.Name] = p.SDK
			fmt.Fprintf(&phones, "  - simulated: %s\n", p.Name)
		}
	}
	l.configurePhones("demo-good", &phones, "wifi")
	return versions
}

// TestRunIsKilledAtAnyInstant kills apkgate run at random instants: from before
// it has opened the history to well into the storing of its runs.
func TestRunIsKilledAtAnyInstant(t *testing.T) {
	t.Parallel()
	kills := 12
	if testing.Short() {
		kills = 4
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	l := newFaultLab(t, "demo-good", "")
	versions := l.onePhoneOfEachVersion()
	reported := 0
	for k := range kills {
		before := l.export()
		after := 0
		if k%2 == 1 {
			after = 2 + random.IntN(len(versions)-2)
		}
		phones := runUntilKilled(l, after, random)
		reported += len(phones)
		added := l.kept(before)
		for _, phone := range phones {
			if status := added[versions[phone]+" wifi"]; status != "complete" {
				t.Errorf("kill %d: the run of %s was reported, and is %q in the history", k, phone, status)
			}
		}
	}
	t.Logf("%d times killed, %d runs reported before", kills, reported)
	if reported < kills/2 { // each second kill waits for two
		t.Errorf("%d runs were reported before %d kills: the test has seen next to nothing", reported, kills)
	}
	if got := l.apkgate("run"); got.status != exitPass {
		t.Errorf("after all the kills: %+v", got)
	}
}

// runUntilKilled runs apkgate, kills it some time after it has reported so many
// runs, and returns the phones whose runs it has reported.
func runUntilKilled(l faultLab, after int, random *rand.Rand) []string {
	l.t.Helper()
	cmd, said := startApkgate(l.t, "run", "--config", l.path("apkgate.yml"), "--store", l.path("history.db"), "--parallel", "2")
	enough, result := make(chan struct{}), make(chan []string, 1)
	go func() { result <- reportedPhones(said, after, enough) }()
	select {
	case <-enough:
	case <-time.After(time.Minute):
		l.t.Error("apkgate has not reported enough within a minute")
	}
	<-time.After(time.Duration(random.IntN(150_000)) * time.Microsecond)
	_ = cmd.Process.Kill() // it may have ended
	phones := <-result
	_ = cmd.Wait()
	return phones
}

// reportedPhones reads lines such as "run 3 of 9: NAME, read-mail, 2 repetitions"
// to the end. A line that the kill has cut short does not count. enough is closed
// after so many, or at the end.
func reportedPhones(said io.Reader, after int, enough chan<- struct{}) (phones []string) {
	var closed bool
	signal := func() {
		if !closed {
			closed = true
			close(enough)
		}
	}
	defer signal()
	in := bufio.NewReader(said)
	for {
		if len(phones) >= after {
			signal()
		}
		line, err := in.ReadBytes('\n')
		if err != nil {
			return phones
		}
		if _, rest, ok := bytes.Cut(line, []byte(": ")); ok && bytes.HasPrefix(line, []byte("run ")) {
			name, _, _ := strings.Cut(string(rest), ",")
			phones = append(phones, name)
		}
	}
}
