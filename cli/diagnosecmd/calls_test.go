package diagnosecmd_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/trace/art/arttest"
)

// message returns a method trace of a main thread that handles one message, which takes that many
// ms, most of them in the app's Feed.bind, which calls a library.
func message(took uint64) arttest.Trace {
	const ms = 1_000_000
	s := arttest.Trace{
		Methods: []string{
			"android.os.Handler\tdispatchMessage\t(Landroid/os/Message;)V\tHandler.java\n",
			"com.example.mail.Feed\tbind\t()V\tFeed.java\n",
			"org.json.JSONObject\t<init>\t(Ljava/lang/String;)V\tJSONObject.java\n",
		},
		Threads: map[uint32]string{100: "main"}, Order: []uint32{100},
	}
	for depth := range 3 {
		s.Events = append(s.Events, arttest.Event{Thread: 100, Method: depth, Wall: uint64(depth+1) * ms})
	}
	for depth := 2; depth >= 0; depth-- {
		s.Events = append(s.Events, arttest.Event{Thread: 100, Method: depth, Action: 1, Wall: (took + 1 - uint64(depth)) * ms})
	}
	return s
}

func TestDiagnoseAMethodTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "long.trace", string(message(1200).Text(3, "dual")))
	write(t, "short.trace", string(message(90).Streaming(3, "dual")))
	got := passes(t, "long.trace", "--package", "com.example.mail", "--json", "long.json")
	for _, want := range []string{
		"Main thread blocked: the main thread was busy for 1200 ms at a time; 1198 ms of that in com.example.mail.Feed.bind",
		"Traced", "3 calls in 1200 ms", "android.os.Handler.dispatchMessage → com.example.mail.Feed.bind →",
		"Methods of the main thread, by own time",
	} {
		if text := strings.Join(strings.Fields(got.Stdout), " "); !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, got.Stdout)
		}
	}
	got = passes(t, "short.trace", "--package", "com.example.mail")
	if text := strings.Join(strings.Fields(got.Stdout), " "); !strings.Contains(text, "In time: the main thread was busy for 90 ms at a time") {
		t.Errorf("a short message:\n%s", got.Stdout)
	}
	raw, err := os.ReadFile("long.json")
	var d saved.Diagnosis
	if err != nil || json.Unmarshal(raw, &d) != nil || d.Kind != "art" || d.Methods == nil || d.Methods.List[0].Name != "org.json.JSONObject.<init>" {
		t.Errorf("as JSON: %s, %v", raw, err)
	}
}

// The page has the longest work call by call: each box where its call began, and as wide as it took.
// The blamed call of 500 ms begins 400 ms after the message of 1,000 ms, and so is half as wide as the
// time axis and begins at four tenths of it: of 894 pixels from the fourth on, in a wide page, and of 340
// in a narrow one. Boxes are half a pixel smaller at each side.
func TestCallsOverTime(t *testing.T) {
	t.Chdir(t.TempDir())
	s := message(1000)
	s.Methods = append(s.Methods, "com.example.mail.Feed\tload\t()V\tFeed.java\n")
	s.Events = nil
	for _, e := range []struct {
		ms             uint64
		method, action int
	}{{10, 0, 0}, {110, 3, 0}, {210, 3, 1}, {410, 1, 0}, {460, 2, 0}, {860, 2, 1}, {910, 1, 1}, {1010, 0, 1}} {
		s.Events = append(s.Events, arttest.Event{Thread: 100, Method: e.method, Action: e.action, Wall: e.ms * 1_000_000})
	}
	write(t, "scroll.trace", string(s.Text(3, "dual")))
	passes(t, "scroll.trace", "--package", "com.example.mail", "--html", "why.html", "--json", "why.json")
	html, err := os.ReadFile("why.html")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(html), "\u00a0", " ")
	for what, want := range map[string]string{
		"the blamed call":         `<title>com.example.mail.Feed.bind: 500 ms, from 400 ms on</title><rect class="flame more much" x="362.1" y="20.5" width="446"`,
		"the blamed call, narrow": `<title>com.example.mail.Feed.bind: 500 ms, from 400 ms on</title><rect class="flame more much" x="140.5" y="20.5" width="169"`,
		"what it calls":           `org.json.JSONObject.&lt;init&gt;: 400 ms, from 450 ms on</title><rect class="flame same" x="406.8" y="40.5" width="356.6"`,
		"a call of another time":  `com.example.mail.Feed.load: 100 ms, from 100 ms on</title><rect class="flame same" x="93.9" y="20.5" width="88.4"`,
		"its words":               "The longest call of each row, the outermost first: android.os.Handler.dispatchMessage: 1000 ms, from 0 ms on; com.example.mail.Feed.bind: 500 ms",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: there is no %s", what, want)
		}
	}
	raw, err := os.ReadFile("why.json")
	var d saved.Diagnosis
	if err != nil || json.Unmarshal(raw, &d) != nil || d.Chart == nil || len(d.Chart.Calls) != 4 || d.Chart.Calls[2] != (saved.ChartedCall{Name: "com.example.mail.Feed.bind", Depth: 1, FromMS: 400, TookMS: 500}) {
		t.Errorf("as JSON: %s, %v", raw, err)
	}
}

// Traces that can't be explained are refused with the reason and advice.
func TestDiagnoseRefusesAMethodTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "order.trace", string(message(90).AllCalls(0)))
	write(t, "empty.trace", string(message(90).Text(2, "wall")[:300]))
	clitest.Refuses(t, clitest.Run(t, nil, "diagnose", "order.trace"), "it has the order of calls and no times", "apkgate inspect art")
	clitest.Refuses(t, clitest.Run(t, nil, "diagnose", "empty.trace"), "it has no calls of methods", "the file ends in")
}

// Real traces: an app that computes its picture on the main thread, and a browser's start.
func TestDiagnoseRealMethodTraces(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"yamp_legacy.trace":                  "the main thread was busy for 3050 ms at a time",
		"firefox_art-trace-regular.trace.gz": "the main thread was busy for 1170 ms at a time; 304 ms of that in androidx.fragment.app.FragmentManager.moveToState",
	} {
		got := passes(t, corpustest.Path(t, "arttrace", file))
		if text := strings.Join(strings.Fields(got.Stdout), " "); !strings.Contains(text, want) {
			t.Errorf("%s: there is no %q in\n%s", file, want, got.Stdout)
		}
	}
}
