package measure_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/state"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
	"github.com/apkgate/apkgate/usecase/openstore"
)

// newScrollingFarm has a benchmark that scrolls. A frame of the base build takes 7 ms, one of the
// head 19, of which it measures 12 longer, as the traces that each test leaves show.
func newScrollingFarm(t *testing.T, traces int, more string) farmTest {
	t.Helper()
	f := newFarm(t, 7, 19, 60)
	made := map[string][]byte{}
	for app, longer := range map[string]time.Duration{"7": 0, "19": 12 * time.Millisecond} {
		var trace bytes.Buffer
		if err := (tracetest.Scroll{Longer: longer}).Write(&trace); err != nil {
			t.Fatal(err)
		}
		made[app] = trace.Bytes()
	}
	f.service.Config.Handler = firebase.ServiceOf(f.Folder, firebase.Leaves{
		Results: firebase.Scrolls, Traces: traces, Trace: func(app string) []byte { return made[app] },
	})
	one := strings.Replace(fmt.Sprintf(onFarm, 60.0), ", {model: MediumPhone.arm, version: 34}", "", 1)
	f.file("apkgate.yml", strings.Replace(one, "com.example.mail", tracetest.App, 1)+more)
	return f
}

// A regression on a farm names its cause: four of the traces of each build's benchmark are fetched,
// of as many rounds, and no more. They show which work grew.
func TestFarmRegressionIsExplained(t *testing.T) {
	t.Parallel()
	f := newScrollingFarm(t, 3, "")
	stdout, stderr := f.compare(1, "--rounds", "12", "--verbose")
	wants(t, stderr, "fetching traces of start on oriole 33 to explain what got worse; they judge nothing")
	wants(t, stdout, "4 traces of the base build and 4 of the head, which the Macrobenchmark of start recorded on oriole 33, show the causes that are given; they judge nothing.",
		"16 that were not fetched lie still on Firebase Test Lab.", // one of each round's matrix
		"main thread works 12 ms more per frame in measure", "in 4 repetitions, compared with 4 of the base build")
	stdout, _ = f.compare(1, "--rounds", "12", "--why", "0")
	if strings.Contains(stdout, "traces") {
		t.Errorf("traces are fetched, though --why says not to:\n%s", stdout)
	}
}

// If evidence is kept, a run's traces are fetched, kept and read, up to the limit; missing ones are
// a warning.
func TestTracesOfAFarmAreKept(t *testing.T) {
	t.Parallel()
	f := newScrollingFarm(t, 12, "evidence: {keep: all}\n")
	f.run(0, "collect", "--farm", "--output", "runs.jsonl")
	r := f.runsIn("runs.jsonl")[0]
	var of []int
	for _, e := range r.Evidence {
		if _, _, here := openstore.Kept(filepath.Join(f.dir, "runs.jsonl")).Place(e.Digest); !here || e.Kind != run.PerfettoTrace {
			t.Errorf("%+v: it is not here, or no trace", e)
		}
		of = append(of, e.Repetition)
	}
	if want := []int{1, 2, 3, 0, 0, 0, 0, 0, 0, 0}; !slices.Equal(of, want) { // of the three iterations that it has, and others
		t.Errorf("traces are kept of the repetitions %v, want %v", of, want)
	}
	wants(t, fmt.Sprint(r.Warnings), "2 traces of the Macrobenchmark are not fetched, as 10 of a test are at most: they lie in gs://test-lab-stand-in/")
	late := 0
	for _, g := range r.Frames.Groups {
		if g.Class == run.SlowFrames && g.Event == "scroll" {
			late += g.Frames
		}
	}
	if late != 3*40 {
		t.Errorf("%d late frames are known of, want 40 of each of 3 iterations", late)
	}
	f.Breaks(firebase.LostTraces, state.Always)
	f.run(0, "collect", "--farm", "--output", "runs.jsonl")
	if r := f.runsIn("runs.jsonl")[0]; len(r.Evidence) > 0 || r.Frames != nil || r.Status != run.Complete {
		t.Errorf("%d files are kept of what is not there, and the run is %s", len(r.Evidence), r.Status)
	} else {
		wants(t, fmt.Sprint(r.Warnings), "10 of the Macrobenchmark's 10 traces could not be fetched: the service answered 404 notFound")
	}
	f.file("apkgate.yml", strings.Replace(f.read("apkgate.yml"), "keep: all", "keep: none", 1))
	stdout, _ := f.run(1, "run", "--farm", "--base", "base.apk", "--format", "text")
	wants(t, stdout, "No trace of start on oriole 33 was available to explain it.", "Fetching ended with: the service answered 404 notFound")
}
