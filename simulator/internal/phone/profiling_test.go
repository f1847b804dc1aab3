package phone

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/perfetto/tables/tablestest"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/arttasks"
)

const (
	artFile = "/data/local/tmp/a.trace"
	// calling is an app that binds three items after a tap, of 300 ms each, and in each of them
	// formats two texts of 20 ms.
	calling = still + `calls com.example.still.List.layout 10ms after tap
calls com.example.still.List.bind 260ms after tap times 3 from com.example.still.List.layout
calls com.example.still.Text.format 20ms after tap times 2 from com.example.still.List.bind
`
	newest = "pixel-7-android-16"
)

// profiledCalls plays the app's scenario, with am profile from 0.5 s to 5 s, and reads the file.
func profiledCalls(t *testing.T, p *Phone, start, stop string) (*art.Trace, []byte) {
	t.Helper()
	startApp(p)
	pass(t, p, 500*time.Millisecond)
	output(t, p, "am profile "+start)
	pass(t, p, 4500*time.Millisecond)
	output(t, p, "am profile "+stop)
	if size := len(output(t, p, "cat "+artFile)); size > 0 {
		t.Errorf("am profile stop has waited for the file: it has %d bytes", size)
	}
	pass(t, p, time.Second)
	raw := []byte(output(t, p, "cat "+artFile))
	trace, err := art.Read(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range trace.Warnings {
		t.Errorf("the reader doubts the recording: %s", w.Text)
	}
	return trace, raw
}

// startApp starts the app's test in the background.
func startApp(p *Phone) { start(p, instrument) }

// methodSums has the calls and the own time of each method, in milliseconds.
func methodSums(t *testing.T, raw []byte) map[string][2]float64 {
	t.Helper()
	_, record, err := art.Record(bytes.NewReader(raw), nil)
	if err != nil || record == nil {
		t.Fatalf("%v; record %v", err, record)
	}
	out := map[string][2]float64{}
	for _, m := range record.List {
		out[m.Name] = [2]float64{float64(m.Calls), m.SelfMS}
	}
	return out
}

// The file of each kind has the calls that the app's file states: one, three and six, whose own times
// have the shares 10, 780 and 120 of 910.
func TestProfilesHaveTheCalls(t *testing.T) {
	for name, options := range map[string]string{
		"text":      "",
		"wall":      "--clock-type wall ",
		"cpu":       "--clock-type thread-cpu ",
		"streaming": "--streaming ",
		"V2":        "--profiler-output-version 2 ",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhone(t, newest, calling)
			trace, raw := profiledCalls(t, p, "start "+options+"com.example.still "+artFile, "stop com.example.still")
			sums := methodSums(t, raw)
			whole := 0.0
			for _, m := range sums {
				whole = max(whole, m[1])
			}
			for method, want := range map[string][2]float64{
				"com.example.still.List.layout": {1, 10}, "com.example.still.List.bind": {3, 780}, "com.example.still.Text.format": {6, 120},
			} {
				got := sums[method]
				if want[1] *= whole / 780; got[0] != want[0] || got[1] < 0.98*want[1]-0.1 || got[1] > 1.02*want[1]+0.1 {
					t.Errorf("%s: %v calls of %v ms, want %v", method, got[0], got[1], want)
				}
			}
			if trace.PID == 0 || trace.Begin < time.Second {
				t.Errorf("PID %d, begun at %v", trace.PID, trace.Begin)
			}
		})
	}
}

// A low-overhead recording has the calls that took longer than about 170 ms, without native ones, and
// nothing on a build whose code has no hooks.
func TestLowOverheadProfiles(t *testing.T) {
	const low = "lowoverhead start --longrunning --duration 60000 com.example.still"
	p := newPhone(t, newest, calling+"calls com.example.still.Codec.decode 500ms after swipe kind native\n")
	trace, raw := profiledCalls(t, p, low, "lowoverhead stop com.example.still "+artFile)
	got := slices.Sorted(maps.Keys(methodSums(t, raw)))
	if want := []string{"android.os.Handler.dispatchMessage", "com.example.still.List.bind", "com.example.still.List.layout"}; !slices.Equal(got, want) || trace.Format != art.LongOnes {
		t.Errorf("%s: the long calls are %q, want %q", trace.Format, got, want)
	}

	old := newPhone(t, "pixel-7-android-15", calling)
	startApp(old)
	pass(t, old, 500*time.Millisecond)
	if _, errs, code := run(t, old, "am profile "+low); code == 0 || !strings.Contains(errs, "not valid") {
		t.Errorf("Android 15: %d: %s", code, errs)
	}
	p.state.props[allowsProfileCode] = ""
	startApp(p)
	pass(t, p, 500*time.Millisecond)
	output(t, p, "am profile "+low)
	output(t, p, "am profile lowoverhead stop com.example.still "+artFile)
	pass(t, p, time.Second)
	if out := output(t, p, "cat "+artFile); out != "" {
		t.Errorf("a build without hooks wrote %d bytes", len(out))
	}
	has(t, output(t, p, "logcat -d"), "Low overhead tracing feature is not enabled")
}

// A recording of long calls ends by itself, and what it had is gone.
func TestLowOverheadProfileExpires(t *testing.T) {
	p := newPhone(t, newest, calling)
	startApp(p)
	pass(t, p, 500*time.Millisecond)
	output(t, p, "am profile lowoverhead start --longrunning com.example.still") // two seconds
	pass(t, p, 3*time.Second)
	output(t, p, "am profile lowoverhead stop com.example.still "+artFile)
	pass(t, p, time.Second)
	if out := output(t, p, "cat "+artFile); out != "" {
		t.Errorf("an expired recording wrote %d bytes", len(out))
	}
}

// ART's sampling sees which method runs, and neither the calls that fit between two samples nor how
// many there were.
func TestSampledProfile(t *testing.T) {
	p := newPhone(t, newest, calling+"calls com.example.still.Short.one 1us after swipe times 500\n")
	_, raw := profiledCalls(t, p, "start --sampling 10000 com.example.still "+artFile, "stop com.example.still")
	sums := methodSums(t, raw)
	if got := sums["com.example.still.List.bind"]; got[0] != 3 {
		t.Errorf("bind: %v", got)
	}
	if got := sums["com.example.still.Short.one"]; got[0] > 1 {
		t.Errorf("%v calls of a µs in samples of 10 ms", got[0])
	}
}

// The app handles am profile on its UI thread: while that is busy, nothing is written.
func TestProfileWaitsForTheUIThread(t *testing.T) {
	p := newPhone(t, newest, still+"jank 3s after tap\n")
	startApp(p)
	pass(t, p, 500*time.Millisecond)
	output(t, p, "am profile lowoverhead start --longrunning --duration 60000 com.example.still")
	pass(t, p, 1500*time.Millisecond) // in the middle of it
	output(t, p, "am profile lowoverhead stop com.example.still "+artFile)
	pass(t, p, time.Second)
	if out := output(t, p, "cat "+artFile); out != "" {
		t.Errorf("the busy app wrote %d bytes", len(out))
	}
	pass(t, p, 2*time.Second)
	if sums := methodSums(t, []byte(output(t, p, "cat "+artFile))); sums["com.example.still.MainActivity.onClick"][1] < 2900 {
		t.Errorf("it wrote %v once it was free", sums)
	}
}

// What refuses: an app that may not be profiled on a user build, and one that does not run.
func TestProfileRefusals(t *testing.T) {
	p := newPhone(t, newest, still+"unprofileable\n")
	p.options.Production = true
	if _, errs, code := run(t, p, "am profile start com.example.still "+artFile); code != 255 || !strings.Contains(errs, "Unknown process: com.example.still") {
		t.Errorf("%d: %s", code, errs)
	}
	startApp(p)
	pass(t, p, time.Second)
	if _, errs, code := run(t, p, "am profile start com.example.still "+artFile); code != 255 || !strings.Contains(errs, "not profileable by shell") {
		t.Errorf("%d: %s", code, errs)
	}
}

// A killed process leaves nothing in its file, one that crashes ends its recording first.
func TestProfileOfAProcessThatEnds(t *testing.T) {
	for end, whole := range map[string]bool{"am force-stop com.example.still": false, "": true} {
		var faults []string
		if whole {
			faults = append(faults, "crash after tap at 2s")
		}
		p := newPhone(t, newest, calling, faults...)
		startApp(p)
		pass(t, p, 500*time.Millisecond)
		output(t, p, "am profile start com.example.still "+artFile)
		pass(t, p, 4*time.Second)
		if end != "" {
			output(t, p, end)
		}
		pass(t, p, time.Second)
		if got := len(output(t, p, "cat "+artFile)) > 0; got != whole {
			t.Errorf("%q: the file has something: %v, want %v", end, got, whole)
		}
	}
}

// A full buffer loses the end of what was called. 1 MiB has 74,896 events of 14 bytes.
func TestProfileFillsItsBuffer(t *testing.T) {
	p := newPhone(t, newest, still+"calls com.example.still.Short.one 5us after tap times 100000\n")
	output(t, p, "setprop debug.traceview-buffer-size-mb 1")
	startApp(p)
	pass(t, p, 500*time.Millisecond)
	output(t, p, "am profile start com.example.still "+artFile)
	pass(t, p, 4*time.Second)
	output(t, p, "am profile stop com.example.still")
	pass(t, p, time.Second)
	trace, err := art.Read(bytes.NewReader([]byte(output(t, p, "cat "+artFile))), nil)
	if err != nil || !trace.Full || trace.Events != 74_896 {
		t.Errorf("%v; full: %v, %d events", err, trace.Full, trace.Events)
	}
}

// An entry and an exit take 3,366 ns each (Table 2 of Hubble): 10,000 calls take 67 ms longer.
func TestProfileCosts(t *testing.T) {
	took := func(command string) time.Duration {
		p := newPhone(t, newest, still+"calls com.example.still.Short.one 20us after tap times 10000\n")
		startApp(p)
		pass(t, p, 500*time.Millisecond)
		if command != "" {
			output(t, p, "am profile "+command)
		}
		pass(t, p, 5*time.Second)
		longest := time.Duration(0)
		for _, f := range p.state.running["com.example.still"].Layers[0].Frames {
			longest = max(longest, f.Drawn()-f.Expected.From)
		}
		return longest
	}
	plain := took("")
	if more := took("start com.example.still "+artFile) - plain; more < 66*time.Millisecond || more > 69*time.Millisecond {
		t.Errorf("instrumented calls took %v longer, want 67.3 ms", more)
	}
	if more := took("lowoverhead start --longrunning com.example.still") - plain; more < 0 || more > time.Millisecond {
		t.Errorf("calls with low overhead took %v longer", more)
	}
}

// TestPerfettoReadsProfiles compares with Perfetto's own engine: it reads a file in text and a
// stream, and finds the calls that the app's file states.
func TestPerfettoReadsProfiles(t *testing.T) {
	for _, options := range []string{"", "--streaming "} {
		p := newPhone(t, newest, calling)
		_, raw := profiledCalls(t, p, "start "+options+"com.example.still "+artFile, "stop com.example.still")
		path := filepath.Join(t.TempDir(), "a.trace")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, row := range tablestest.Query(t, path, "select name, count(*) as calls from slice where name glob 'com.example*' group by name") {
			got[row["name"]] = row["calls"]
		}
		want := map[string]string{"com.example.still.List.layout: ()V": "1", "com.example.still.List.bind: ()V": "3", "com.example.still.Text.format: ()V": "6"}
		if !maps.Equal(got, want) {
			t.Errorf("%q: trace_processor finds %v, want %v", options, got, want)
		}
		ours, open := 0, 0
		calls := art.Calls{Each: func(c art.Call) {
			if ours++; c.Open {
				open++
			}
		}}
		if _, err := art.Read(bytes.NewReader(raw), calls.Add); err != nil {
			t.Fatal(err)
		}
		calls.Finish()
		if all := tablestest.Query(t, path, "select count(*) as n from slice")[0]["n"]; all != strconv.Itoa(ours) {
			t.Errorf("%q: trace_processor has %s slices, and we %d, %d of them open", options, all, ours, open)
		}
	}
}

// The methods that DiagDroid hooks are in a recording of all calls, with the stack that schedules a
// task in the app's file: which waited, and behind what, is read from it.
func TestProfilesHaveTheTasks(t *testing.T) {
	p := newPhone(t, newest, still+`unit images async-task
unit io thread-pool size 2
task sync on images after tap runs 5ms io 600ms of com.example.still.Sync$1 from com.example.still.Sync.start(Sync.java:31),com.example.still.Inbox.open(Inbox.java:9)
task show on images after tap at 200ms runs 30ms of com.example.still.Inbox$2 from com.example.still.Inbox.show(Inbox.java:80)
task save on io after tap at 300ms runs 20ms of com.example.still.Store$1 from com.example.still.Store.save(Store.java:12)
`)
	_, raw := profiledCalls(t, p, "start com.example.still "+artFile, "stop com.example.still")
	list, err := arttasks.Read(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]time.Duration{}
	for _, task := range list.Tasks {
		for _, frame := range task.Context {
			if strings.HasPrefix(frame, "com.example.still.") {
				name, _, _ := strings.Cut(frame, "(")
				got[name], _ = task.Queued()
				if task.Started == tasks.Unknown {
					got[name] = -1
				}
				break
			}
		}
	}
	// show is scheduled 200 ms after sync, which takes 600 ms and some.
	for frame, want := range map[string]time.Duration{"com.example.still.Sync.start": 0, "com.example.still.Inbox.show": 400 * time.Millisecond, "com.example.still.Store.save": 0} {
		if waited, known := got[frame]; !known || waited < want || waited > want+30*time.Millisecond {
			t.Errorf("%s: waited %v, known: %v, want %v; of all: %v %v", frame, waited, known, want, got, list.Warnings)
		}
	}
}

// What the UI thread schedules at one time it schedules one after the other, each to its own pool; and
// a task that is removed was queued, and started no worker.
func TestProfilesHaveTasksOfOneTime(t *testing.T) {
	p := newPhone(t, newest, still+`unit one thread-pool size 1
unit two thread-pool size 1
unit ask thread-pool size 1
task a on one after tap runs 5ms network 50ms of com.example.still.A$1 from com.example.still.A.go(A.java:1)
task b on two after tap runs 5ms network 50ms of com.example.still.B$1 from com.example.still.B.go(B.java:1)
task ask on ask after tap at 300ms count 3 every 10ms replaces runs 5ms network 100ms of com.example.still.Ask$1 from com.example.still.Ask.go(Ask.java:1)
`)
	_, raw := profiledCalls(t, p, "start com.example.still "+artFile, "stop com.example.still")
	list, err := arttasks.Read(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	known, never := map[string]int{}, 0
	for _, task := range list.Tasks {
		unit := list.Units[task.Unit].Name
		if waited, ok := task.Queued(); ok && waited < 2*time.Millisecond {
			at := slices.IndexFunc(task.Context, func(frame string) bool { return strings.HasPrefix(frame, "com.example.") })
			known[unit+" "+task.Context[max(at, 0)]]++
		}
		if task.Started == tasks.Unknown {
			never++
		}
	}
	want := map[string]int{"one-thread com.example.still.A.go(A.java)": 1, "two-thread com.example.still.B.go(B.java)": 1, "ask-thread com.example.still.Ask.go(Ask.java)": 1}
	if !maps.Equal(known, want) || never != 2 {
		t.Errorf("tasks with their scheduling are %v, want %v; %d have not started, want one of the second and the third, it is unknown which: %+v", known, want, never, list.Tasks)
	}
}
