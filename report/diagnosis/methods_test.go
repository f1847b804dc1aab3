package diagnosis

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
)

// traced is a method trace of a main thread with two messages, and of a worker.
func traced() saved.Diagnosis {
	return saved.Diagnosis{File: "scroll.trace", Kind: "art", Package: "com.example.mail", Methods: &run.MethodTraces{
		Source: "art", Clock: run.WallClock, Windows: []run.TraceWindow{{FromMS: 100, ToMS: 2100, Calls: 40, Lost: 1}},
		Chains: []run.CallChain{
			{Thread: "Loader", Methods: []string{"java.io.InputStream.read"}, MS: []float64{1900}},
			{Thread: "main", AtMS: 300, Methods: []string{"android.os.Handler.dispatchMessage", "com.example.mail.Feed.show", "com.example.mail.Feed.bind", "org.json.JSONObject.<init>", "org.json.JSONTokener.next", "org.json.JSONTokener.read"},
				MS: []float64{800, 700, 650, 600, 300, 200}},
			{Thread: "main", AtMS: 1500, Methods: []string{"android.os.Handler.dispatchMessage"}, MS: []float64{40}},
		},
		List: []run.TracedMethod{
			{Name: "java.io.InputStream.read", Thread: "Loader", Calls: 1, SelfMS: 1900, TotalMS: 1900, LongestMS: 1900},
			{Name: "org.json.JSONTokener.next", Thread: "main", Calls: 30, SelfMS: 290, TotalMS: 300, LongestMS: 12},
		},
	}}
}

func TestAMethodTraceInWords(t *testing.T) {
	in := Input{Diagnosis: traced()}
	got := asText(t, in, document.Options{})
	for _, want := range []string{
		"Main thread blocked: the main thread was busy for 800 ms at a time; 650 ms of that in com.example.mail.Feed.bind",
		"40 calls in 2000 ms; 1 more has no begin or no end in it",
		"What kept the main thread", "android.os.Handler.dispatchMessage → … → com.example.mail.Feed.bind → org.json.JSONObject.<init>",
		"Methods of the main thread, by own time", "org.json.JSONTokener.next main 30 290 ms 300 ms 12 ms",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	// A call of a quarter of the message, and another thread.
	for _, no := range []string{"JSONTokener.read", "java.io.InputStream.read", "processor time"} {
		if strings.Contains(got, no) {
			t.Errorf("there is %q in\n%s", no, got)
		}
	}
	if d := Document(in); d.Answer.Outcome != document.Regression {
		t.Errorf("the outcome is %v", d.Answer.Outcome)
	}
}

func TestTheAnswerOfAMethodTrace(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*saved.Diagnosis)
		want    string
		outcome document.Outcome
	}{
		"of another app": {
			func(d *saved.Diagnosis) { d.Package = "com.example" }, "; 650 ms of that in com.example.mail.Feed.bind", document.Regression,
		},
		"of many short calls": {
			func(d *saved.Diagnosis) {
				d.Methods.Tree = []run.TracedCall{
					{Parent: -1, Name: "android.os.Handler.dispatchMessage", Thread: "main", Repetitions: []int{2}, RepetitionsMS: []float64{840}},
					{Parent: 0, Name: "com.example.mail.Feed.show", Repetitions: []int{1}, RepetitionsMS: []float64{700}},
					{Parent: 1, Name: "com.example.mail.Row.bind", Repetitions: []int{60}, RepetitionsMS: []float64{680}},
				}
				c := &d.Methods.Chains[1]
				c.Repetition, c.Methods, c.MS = 1, c.Methods[:2], c.MS[:2]
			}, "busy for 800 ms at a time; 680 ms of that in com.example.mail.Row.bind", document.Regression,
		},
		"without a package": {
			func(d *saved.Diagnosis) { d.Package = "" }, "; 300 ms of that in org.json.JSONTokener.next", document.Regression,
		},
		"whose package is in no call": {
			func(d *saved.Diagnosis) { d.Package = "com.example.mai" }, "; 300 ms of that in org.json.JSONTokener.next", document.Regression,
		},
		"of one call": {
			func(d *saved.Diagnosis) { d.Methods.Chains = d.Methods.Chains[2:] },
			"In time: the main thread was busy for 40 ms at a time, in android.os.Handler.dispatchMessage", document.Pass,
		},
		"of 700 ms": {
			func(d *saved.Diagnosis) { d.Methods.Chains[1].MS[0] = 700 }, "Main thread blocked: the main thread was busy for 700 ms", document.Regression,
		},
		"of less": {
			func(d *saved.Diagnosis) { d.Methods.Chains[1].MS[0] = 699 }, "In time: the main thread was busy for 699 ms", document.Pass,
		},
		"of processor time": {
			func(d *saved.Diagnosis) { d.Methods.Clock = run.CPUClock }, "(processor time: what it waited for is not in it)", document.Regression,
		},
		"without a main thread": {
			func(d *saved.Diagnosis) { d.Methods.Chains = d.Methods.Chains[:1]; d.Methods.List = d.Methods.List[:1] },
			"Not known: the trace has no call of a thread that is called main", document.Inconclusive,
		},
	} {
		d := traced()
		c.change(&d)
		in := Input{Diagnosis: d}
		if got := asText(t, in, document.Options{}); !strings.Contains(got, c.want) {
			t.Errorf("a trace %s: there is no %q in\n%s", name, c.want, got)
		}
		if got := Document(in).Answer.Outcome; got != c.outcome {
			t.Errorf("a trace %s: the outcome is %v, want %v", name, got, c.outcome)
		}
	}
	d := traced()
	d.Methods.Chains, d.Methods.Windows[0].Lost = d.Methods.Chains[:1], 0
	got := asText(t, Input{Diagnosis: d}, document.Options{})
	for _, want := range []string{"What kept the threads", "Methods by the time of their own", "java.io.InputStream.read", "40 calls in 2000 ms "} {
		if !strings.Contains(got, want) {
			t.Errorf("without a main thread there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "in it") {
		t.Errorf("nothing is lost, and said to be:\n%s", got)
	}
}

// What kept a thread for 700 ms is marked.
func TestLongPiecesOfWorkAreMarked(t *testing.T) {
	table := Input{Diagnosis: traced()}.pieces().Body.(*document.Table)
	if len(table.Rows) != 2 || table.Rows[0].Tone != document.Worse || table.Rows[1].Tone != document.Neutral {
		t.Errorf("rows are %+v", table.Rows)
	}
}
