package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// A test that needs other processes starts this binary again as a writer: it adds runs to the
// history of the first variable, with the second in their names, and prints what was acknowledged.
// The third is the number of runs; "" is forever.
const (
	writerPath  = "APKGATE_TEST_WRITER_PATH"
	writerName  = "APKGATE_TEST_WRITER_NAME"
	writerCount = "APKGATE_TEST_WRITER_COUNT"
)

func TestMain(m *testing.M) {
	storetest.Serve(func(ctx context.Context, path, _ string, now func() time.Time) (runstore.Store, error) {
		return Open(ctx, path, Options{Now: now})
	})
	if path := os.Getenv(writerPath); path != "" {
		if err := writeRuns(path, os.Getenv(writerName), os.Getenv(writerCount)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(readerPath); path != "" {
		if err := readAll(path); err != nil {
			fmt.Println("error:", err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeRuns adds three runs at a time, prints "+id" for each, accepts the first
// and prints "=id" for that.
func writeRuns(path, name, count string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	for i := 0; count == "" || strconv.Itoa(i) != count; i++ {
		var batch []run.Run
		for j := range 3 {
			batch = append(batch, writtenRun(fmt.Sprintf("%s-%d-%d", name, i, j)))
		}
		added, err := s.Add(ctx, batch...)
		if err != nil {
			return err
		}
		fmt.Printf("+%s\n", strings.Join(added, "\n+"))
		if err := s.Mark(ctx, added[:1], runstore.Mark{State: runstore.Accepted}); err != nil {
			return err
		}
		fmt.Printf("=%s\n", added[0])
	}
	return s.Close()
}

// readerPath makes this binary a reader of the history at that path, which prints
// what it finds.
const readerPath = "APKGATE_TEST_READER_PATH"

func readAll(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	refs, err := s.References(ctx, runstore.Query{Package: "org.example.mail", Scenario: "open-message"})
	if err != nil {
		return err
	}
	fmt.Println("references:", len(refs))
	if _, err := exportAll(ctx, s); err != nil {
		return err
	}
	damage, err := s.Verify(ctx)
	if err != nil {
		return err
	}
	fmt.Println("damage:", damage)
	n, err := s.Prune(ctx, runstore.Retention{Keep: 1, DryRun: true}, nil)
	if err != nil {
		return err
	}
	fmt.Println("to be pruned:", n)
	return s.Close()
}

func exportAll(ctx context.Context, s *Store) (n int, err error) {
	for _, err := range s.Export(ctx, runstore.Filter{}) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// writtenRun returns a run whose content follows from its id.
func writtenRun(id string) run.Run {
	return run.Run{
		Format: run.Format, ID: id, Started: time.Date(2026, 1, 1, 0, 0, len(id), 0, time.UTC),
		App: run.App{Package: "org.example.mail"}, Scenario: "open-message", Session: id,
		Context: map[string]string{"model": id[len(id)-2:]}, Status: run.Complete, Warnings: []run.Warning{{Text: id}},
		Iterations: []run.Iteration{{
			Metrics: map[string]float64{"frames.count": float64(len(id))},
			Events:  []run.Bucket{{Name: "event " + id, Metrics: map[string]float64{"frames.count": 1}}},
		}},
	}
}

// startWriter starts a writer and returns it and its output.
func startWriter(t *testing.T, path, name, count string) (*exec.Cmd, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), writerPath+"="+path, writerName+"="+name, writerCount+"="+count)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// acknowledged reads the output of a writer up to its end. A line that was cut by the kill does not
// count. first is closed at the first line.
func acknowledged(out io.Reader, first chan<- struct{}) (lines []string) {
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return lines
		}
		if lines = append(lines, strings.TrimSuffix(line, "\n")); len(lines) == 1 {
			close(first)
		}
	}
}

// TestKilledAtAnyInstant kills writers at random instants, from before they have opened the file to
// well into their writing. A kill is no power cut: SQLite and the kernel ensure that the disk has
// the data (synchronous = FULL).
func TestKilledAtAnyInstant(t *testing.T) {
	const histories = 4 // in parallel, as killing is mostly waiting
	kills := 20         // of each
	if testing.Short() {
		kills = 5
	}
	acknowledged := make([]int, histories)
	t.Run("histories", func(t *testing.T) {
		for h := range histories {
			t.Run(fmt.Sprint(h), func(t *testing.T) {
				t.Parallel()
				acknowledged[h] = killWriters(t, kills)
			})
		}
	})
	total := 0
	for _, n := range acknowledged {
		total += n
	}
	t.Logf("%d writers killed, %d acknowledgements kept", histories*kills, total)
	if total < histories*kills/2 {
		t.Errorf("%d acknowledgements before %d kills: the test has seen next to nothing", total, histories*kills)
	}
}

// killWriters kills writers of one history in turn, and returns how many changes they had
// acknowledged.
func killWriters(t *testing.T, kills int) (acknowledged int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), rand.Uint64()))
	path := filepath.Join(t.TempDir(), "history.db")
	for k := range kills {
		lines := writeUntilKilled(t, path, fmt.Sprint("kill-", k), k%2 == 1, random)
		acknowledged += len(lines)
		checkAcknowledged(t, path, lines, k == kills-1)
	}
	return acknowledged
}

// writeUntilKilled starts a writer, kills it some time after its start or after
// its first acknowledgement, and returns what it acknowledged.
func writeUntilKilled(t *testing.T, path, name string, afterFirst bool, random *rand.Rand) []string {
	t.Helper()
	cmd, out := startWriter(t, path, name, "")
	first, result := make(chan struct{}), make(chan []string, 1)
	go func() { result <- acknowledged(out, first) }()
	delay := time.Duration(random.IntN(80_000)) * time.Microsecond
	if afterFirst {
		delay /= 2
		select {
		case <-first:
		case <-time.After(time.Minute):
			t.Error("the writer has acknowledged nothing within a minute")
		}
	}
	<-time.After(delay)
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("the writer ended by itself: %v", err)
	}
	lines := <-result
	cmd.Wait() //nolint:errcheck // it was killed
	return lines
}

func checkAcknowledged(t *testing.T, path string, lines []string, verify bool) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, line := range lines {
		e, err := s.Get(t.Context(), line[1:])
		if err != nil {
			t.Fatalf("%s was acknowledged: %v", line, err)
		}
		if d := cmp.Diff(writtenRun(line[1:]), e.Run); d != "" {
			t.Fatalf("run %s (-written +read):\n%s", line[1:], d)
		}
		if line[0] == '=' && e.Mark.State != runstore.Accepted {
			t.Fatalf("run %s was accepted, but is %q", line[1:], e.Mark.State)
		}
	}
	if !verify {
		return
	}
	if damage, err := s.Verify(t.Context()); err != nil || len(damage) > 0 {
		t.Fatalf("Verify: %v, %v", damage, err)
	}
}

// TestSeveralProcesses has four processes create and fill one history together.
func TestSeveralProcesses(t *testing.T) {
	const writers, batches = 4, 25
	path := filepath.Join(t.TempDir(), "history.db")
	var cmds []*exec.Cmd
	var outs []chan []string
	for w := range writers {
		cmd, out := startWriter(t, path, fmt.Sprint("writer-", w), strconv.Itoa(batches))
		lines := make(chan []string, 1)
		go func() { lines <- acknowledged(out, make(chan struct{})) }()
		cmds, outs = append(cmds, cmd), append(outs, lines)
	}
	var all []string
	for w, cmd := range cmds {
		all = append(all, <-outs[w]...)
		if err := cmd.Wait(); err != nil {
			t.Errorf("writer %d: %v", w, err)
		}
	}
	if len(all) != writers*batches*4 {
		t.Errorf("%d acknowledgements, want %d", len(all), writers*batches*4)
	}
	checkAcknowledged(t, path, slices.Compact(slices.Sorted(slices.Values(all))), true)
}

// See storetest.Writers.
func TestKilledWritersWithOtherClocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	w := storetest.Writers{Address: path, Open: func(t *testing.T) runstore.Store { return openTest(t, path) }}
	w.Processes, w.Runs, w.Batch = storetest.Sizes(1)
	w.Run(t)
}
