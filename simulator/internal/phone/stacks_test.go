package phone

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// dumped is one thread in a dump of stacks.
type dumped struct {
	name, status, state string
	tid, core           int
	cpu                 time.Duration // in jiffies
	ran                 time.Duration
	stack               string
}

// threadBlock matches one thread in ART's format: its name and status, its number, state and
// CPU times, and its frames.
var threadBlock = regexp.MustCompile(`(?m)^"([^"]+)" .*prio=\d+ tid=\d+ (\w+)\n  \| group=.*\n  \| sysTid=(\d+) nice=.*\n  \| state=(\w) schedstat=\( (\d+) \d+ \d+ \) utm=(\d+) stm=(\d+) core=(\d+) HZ=100\n((?:  .+\n)*)\n`)

// jiffy is the unit of CPU times in a dump, for HZ = 100.
const jiffy = 10 * time.Millisecond

var dumpBegins = regexp.MustCompile(`^----- pid (\d+) at (\S+ \S+) -----\n`)

// readStacks parses a dump: its time on the phone's clock, and the threads by number.
func readStacks(t *testing.T, text string) (time.Duration, map[int]dumped) {
	t.Helper()
	begins := dumpBegins.FindStringSubmatch(text)
	if begins == nil || !strings.HasSuffix(text, fmt.Sprintf("\n----- end %s -----\n", begins[1])) {
		t.Fatalf("a dump is %q", text)
	}
	wall, err := time.Parse("2006-01-02 15:04:05.000000000-0700", begins[2])
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]dumped{}
	for _, m := range threadBlock.FindAllStringSubmatch(text, -1) {
		n := func(i int) int {
			v, err := strconv.Atoi(m[i])
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		out[n(3)] = dumped{name: m[1], status: m[2], tid: n(3), state: m[4], ran: time.Duration(n(5)), cpu: time.Duration(n(6)+n(7)) * jiffy, core: n(8), stack: m[9]}
	}
	if want := fmt.Sprintf("DALVIK THREADS (%d):", len(out)); !strings.Contains(text, want) {
		t.Fatalf("%d threads are read of %q", len(out), text)
	}
	return wall.Sub(clock.Wall(0)), out
}

// A dump of stacks and a trace of the same moment agree on each thread: whether it runs, on
// which CPU, and for how long it has run. Its stack fits its state.
func TestStacksAgreeWithTheTrace(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-5-android-11", hungry) // the compact format lacks the first run on each CPU
	pid := strings.TrimSpace(output(t, p, "echo '"+kernelConfig+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
	begun := p.clock.Now()
	start(p, instrument)
	for p.clock.Now() < begun+7*time.Second {
		pass(t, p, 13*time.Millisecond)
		p.mu.Lock()
		if pr := p.state.running["com.example.still"]; pr != nil {
			p.dumpThreads(pr)
		}
		p.mu.Unlock()
	}
	r := readKernel(t, p, pid, begun)
	p.files.Root = true
	at := map[string]int{} // counts the UI thread's states
	for _, path := range p.files.List(storage.Threads) {
		text, err := p.files.Read(storage.Threads + "/" + path)
		if err != nil {
			t.Fatal(err)
		}
		when, all := readStacks(t, string(text))
		for tid, d := range all {
			state, core, ran := tracedAt(r, tid, when+clock.Slept)
			if state == "" { // it has not run yet
				continue
			}
			if state != d.state || state == "R" && core != d.core {
				t.Fatalf("%v: %s is %s on CPU %d in the dump, %s on %d in the trace", when, d.name, d.state, d.core, state, core)
			}
			if off := ran - d.cpu; off < -jiffy || off > jiffy || d.ran-ran < -50*time.Microsecond || d.ran-ran > 50*time.Microsecond {
				t.Fatalf("%v: %s ran for %v (%v in ticks) by the dump, for %v by the trace", when, d.name, d.ran, d.cpu, ran)
			}
			if (d.status == "Runnable") != (d.state == "R") && !strings.Contains(d.stack, "native: #00") {
				t.Errorf("%v: %s is %s, state %s: %s", when, d.name, d.status, d.state, d.stack)
			}
			if strings.HasPrefix(d.name, "Binder:") && !strings.Contains(d.stack, "ioctl") {
				t.Errorf("%s is at %s", d.name, d.stack)
			}
			if top, _, _ := strings.Cut(d.stack[strings.Index(d.stack, "at ")+3:], "("); d.name == "main" {
				at[d.state+" "+top]++
			}
		}
	}
	for _, what := range []string{"R com.example.still.Feed.bind", "S android.os.MessageQueue.nativePollOnce", "S android.graphics.HardwareRenderer.nSyncAndDrawFrame"} {
		if at[what] == 0 {
			t.Errorf("the UI thread is never %s: %v", what, at)
		}
	}
}

// tracedAt returns a thread's state at a time by the trace: R if it had a CPU or waited for
// one, S if not, "" if it has not run by then; also its last CPU, and how long it ran.
func tracedAt(r recording, tid int, at time.Duration) (state string, core int, ran time.Duration) {
	for _, turn := range r.sched.Turns.Rows {
		if r.threads.Threads[turn.Thread].TID != int32(tid) || turn.At >= at {
			continue
		}
		end := turn.At + turn.For
		if turn.For < 0 || end >= at {
			state, end = "R", at
		} else if state = "S"; strings.HasPrefix(r.sched.Names[turn.End], "R") {
			state = "R"
		}
		core, ran = int(turn.CPU), ran+end-turn.At
	}
	return state, core, ran
}
