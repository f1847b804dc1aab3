package faulttest_test

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// TestRunIsKilledAtAnyInstant kills apkgate run at random instants: from before it has opened the
// history to well into the storing of its runs.
func TestRunIsKilledAtAnyInstant(t *testing.T) {
	t.Parallel()
	kills := 12
	if testing.Short() {
		kills = 4
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	l := clitest.NewLab(t, "demo-good", "")
	versions := l.OnePhoneOfEachVersion()
	reported := 0
	for k := range kills {
		before := l.Export()
		after := 0
		if k%2 == 1 {
			after = 2 + random.IntN(len(versions)-2)
		}
		phones := runUntilKilled(l, after, random)
		reported += len(phones)
		added := l.Kept(before)
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
	if got := l.Apkgate("run"); got.Status != exit.StatusPass {
		t.Errorf("after all the kills: %+v", got)
	}
}

// runUntilKilled runs apkgate, kills it some time after it has reported so many runs, and returns
// the phones whose runs it has reported.
func runUntilKilled(l clitest.Lab, after int, random *rand.Rand) []string {
	l.T.Helper()
	cmd, said := clitest.Start(l.T, "run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db"), "--parallel", "2")
	enough, result := make(chan struct{}), make(chan []string, 1)
	go func() { result <- reportedPhones(said, after, enough) }()
	select {
	case <-enough:
	case <-time.After(time.Minute):
		l.T.Error("apkgate has not reported enough within a minute")
	}
	<-time.After(time.Duration(random.IntN(150_000)) * time.Microsecond)
	_ = cmd.Process.Kill() // it may have ended
	phones := <-result
	_ = cmd.Wait()
	return phones
}

// reportedPhones reads lines such as "run 3 of 9: NAME, read-mail, 2 repetitions" to the end. A
// line truncated by the kill does not count. enough is closed after so many, or at the end.
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
