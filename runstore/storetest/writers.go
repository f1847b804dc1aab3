package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// The variables that make a test's program a writer: the history's address, a folder of its own,
// and the offset of its clock.
const (
	writerAddress = "APKGATE_TEST_WRITER_ADDRESS"
	writerFolder  = "APKGATE_TEST_WRITER_FOLDER"
	writerClock   = "APKGATE_TEST_WRITER_CLOCK"
)

// Serve is for a test's TestMain: where the program was started as a writer of Writers, it executes
// its commands and exits.
func Serve(open func(ctx context.Context, address, folder string, now func() time.Time) (runstore.Store, error)) {
	address := os.Getenv(writerAddress)
	if address == "" {
		return
	}
	off, err := time.ParseDuration(os.Getenv(writerClock))
	if err == nil {
		err = serve(open, address, off)
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(open func(context.Context, string, string, func() time.Time) (runstore.Store, error), address string, off time.Duration) error {
	ctx := context.Background()
	s, err := open(ctx, address, os.Getenv(writerFolder), func() time.Time { return time.Now().Add(off) })
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if err := obey(ctx, s, strings.Fields(in.Text())); err != nil {
			return err
		}
		fmt.Println("done")
	}
	return s.Close()
}

// obey executes a line: "add ID …", or "STATE NOTE ID …".
func obey(ctx context.Context, s runstore.Store, words []string) error {
	if words[0] == "add" {
		var runs []run.Run
		for _, id := range words[1:] {
			runs = append(runs, writersRun(id))
		}
		_, err := s.Add(ctx, runs...)
		return err
	}
	return s.Mark(ctx, words[2:], runstore.Mark{State: runstore.State(words[0]), Note: words[1]})
}

// writersRun returns a run whose content follows from its id.
func writersRun(id string) run.Run {
	r := newRun(id, day(1+len(id)), map[string]string{"model": id[:1]}, float64(id[len(id)-1]))
	r.Session, r.Warnings = id, []run.Warning{}
	return r
}

// Writers lets processes fill one history together, each with a clock that is ten minutes off that
// of the next, and kills them all the time. A command whose writer was killed is repeated, as a
// restarted job does. In the end each run is there once, as it was added, and marked as by the last
// command about it: each run is added by one writer, then accepted by it, rejected by another, and
// decided on by a third.
type Writers struct {
	Address string
	Open    func(t *testing.T) runstore.Store // to read the result
	// Start prepares a writer's process; nil: nothing to prepare.
	Start func(*exec.Cmd)
	// Kill ends it; nil: SIGKILL for it alone.
	Kill func(cmd *exec.Cmd, random *rand.Rand)

	Processes int // writers
	Runs      int // of each
	Batch     int // runs of one command
}

// job is a command, and its successors.
type job struct {
	words []string // as for obey, without the ids
	ids   []string
	step  int
	owner int
}

// steps are the commands for a batch of the owner's runs: by the writer that many places after the
// owner. All end with the third.
var steps = []struct {
	words string
	after int
}{{"add", 0}, {"accepted first", 0}, {"rejected second", 1}, {"", 5}}

// last returns the last command about a batch: the third writer's decision.
func last(ids []string) string {
	if (ids[0][0]+ids[0][4])%2 == 0 { // the owner's letter, and the last digit of the batch
		return "rejected third"
	}
	return "accepted third"
}

// session is one run of the test.
type session struct {
	Writers
	t      *testing.T
	queues []chan job
	open   sync.WaitGroup // of batches
	kills  atomic.Int64
	done   atomic.Int64
}

// Run runs the writers and checks the result.
func (w Writers) Run(t *testing.T) {
	s := &session{Writers: w, t: t, queues: make([]chan job, w.Processes)}
	want := map[string]string{} // state and note by id
	var first []job
	for p := range w.Processes {
		s.queues[p] = make(chan job, w.Processes*w.Runs*len(steps)) // nobody waits for a writer to take it
		for b := 0; b < w.Runs; b += w.Batch {
			j := job{owner: p}
			for i := b; i < min(b+w.Batch, w.Runs); i++ {
				j.ids = append(j.ids, fmt.Sprintf("%c-%03d-%d", 'a'+p, b, i-b))
			}
			for _, id := range j.ids {
				want[id] = last(j.ids)
			}
			first = append(first, j)
		}
	}
	s.open.Add(len(first))
	for _, j := range first {
		s.give(j)
	}
	began := time.Now()
	var writers sync.WaitGroup
	for p := range w.Processes {
		folder := t.TempDir()
		writers.Go(func() { s.writer(p, folder) })
	}
	s.open.Wait()
	for _, q := range s.queues {
		close(q)
	}
	writers.Wait()
	t.Logf("%d writers, %d runs each: %d commands acknowledged, %d writers killed, %.0f s",
		w.Processes, w.Runs, s.done.Load(), s.kills.Load(), time.Since(began).Seconds())
	if s.kills.Load() == 0 {
		t.Error("nobody was killed: the test has seen nothing")
	}
	checkWritten(t, w.Open(t), want)
}

// give passes a job to the writer whose turn it is, or counts its batch as done.
func (s *session) give(j job) {
	if j.step == len(steps) {
		s.open.Done()
		return
	}
	words := steps[j.step].words
	if words == "" {
		words = last(j.ids)
	}
	j.words = strings.Fields(words)
	s.queues[(j.owner+steps[j.step].after)%s.Processes] <- j
}

// oneIn is how often a writer is killed while it works on a command, and mostKills how often at one
// command.
const (
	oneIn     = 4
	mostKills = 3
)

// writer runs one of the writers: a process that is restarted when it was killed.
func (s *session) writer(p int, folder string) {
	random := rand.New(rand.NewPCG(uint64(p), uint64(time.Now().UnixNano())))
	var child *process
	hit := false
	usual := 50 * time.Millisecond // duration of a command
	for j := range s.queues[p] {
		for kills := 0; ; kills++ {
			if child == nil {
				child = s.start(p, folder)
			}
			began := time.Now()
			var killer *time.Timer
			if kills < mostKills && (!hit || random.IntN(oneIn) == 0) {
				after, cmd := time.Duration(random.Int64N(int64(2*usual))), child.cmd
				if !hit { // at once, so that no writer gets away
					after, hit = 0, true
				}
				killer = time.AfterFunc(after, func() { s.kill(cmd, random) })
			}
			answer := child.tell(strings.Join(slices.Concat(j.words, j.ids), " "))
			killed := killer != nil && !killer.Stop()
			if killed {
				s.kills.Add(1)
				child.end()
				child = nil
			}
			if answer == "done" {
				usual = max(time.Since(began), time.Millisecond)
				break
			}
			if !killed {
				s.t.Errorf("writer %d, %q: %q", p, j.words, answer)
				break
			}
		}
		s.done.Add(1)
		j.step++
		s.give(j)
	}
	if child == nil { // it waits for what a killed one has left running
		child = s.start(p, folder)
	}
	child.end()
}

func (s *session) kill(cmd *exec.Cmd, random *rand.Rand) {
	if s.Kill != nil {
		s.Kill(cmd, random)
		return
	}
	cmd.Process.Kill() //nolint:errcheck // it may have ended
}

// process is a writer's process.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (s *session) start(p int, folder string) *process {
	self, err := os.Executable()
	if err != nil {
		panic(err) // a test's program has a path
	}
	cmd := exec.Command(self)
	off := time.Duration(p-s.Processes/2) * 10 * time.Minute
	cmd.Env = append(os.Environ(), writerAddress+"="+s.Address, writerFolder+"="+folder, writerClock+"="+off.String())
	cmd.Stderr = os.Stderr
	if s.Start != nil {
		s.Start(cmd)
	}
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		panic(fmt.Sprintf("start a writer: %v", err)) // not in the test's goroutine, and impossible to continue
	}
	return &process{cmd, in, bufio.NewReader(out)}
}

// tell sends a command and returns the answer, "" where the writer has exited.
func (p *process) tell(command string) string {
	if _, err := io.WriteString(p.in, command+"\n"); err != nil {
		return ""
	}
	line, err := p.out.ReadString('\n')
	if err != nil { // a line that was cut by the kill is no answer
		return ""
	}
	return strings.TrimSuffix(line, "\n")
}

// end waits until the writer has exited: it does at the end of its input.
func (p *process) end() {
	p.in.Close()
	p.cmd.Wait() //nolint:errcheck // it was killed, perhaps
}

// checkWritten checks that each run is there once, complete, and marked correctly.
func checkWritten(t *testing.T, s runstore.Store, want map[string]string) {
	t.Helper()
	defer s.Close()
	got := map[string]string{}
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := got[e.Run.ID]; twice {
			t.Errorf("run %s is there twice", e.Run.ID)
		}
		got[e.Run.ID] = fmt.Sprint(e.Mark.State, " ", e.Mark.Note)
		whole, err := s.Get(t.Context(), e.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(writersRun(e.Run.ID), whole.Run); d != "" {
			t.Errorf("run %s (-added +there):\n%s", e.Run.ID, d)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the runs' marks (-as decided last +there):\n%s", d)
	}
	if damage, err := s.Verify(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("Verify says %v, %v", damage, err)
	}
}

// Sizes returns how many writers with how many runs of which batch a test uses: few with -short, as
// many as a large team has with APKGATE_FULL=1.
func Sizes(batch int) (processes, runs, perCommand int) {
	switch {
	case os.Getenv("APKGATE_FULL") == "1":
		return 12, 50, batch
	case testing.Short():
		return 3, 4, 2
	}
	return 4, 6, batch
}
