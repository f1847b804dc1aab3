package diagnosis

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/html"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/report/reporttest"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/text"
	"github.com/apkgate/apkgate/run"
)

func path(kind, what string, ms float64) []run.PathStep {
	return []run.PathStep{{Thread: "main", Kind: kind, What: what, ToMS: ms}}
}

// scrolling is a trace of 100 frames, 3 of which were late.
func scrolling() saved.Diagnosis {
	times := func(n int, ms float64) run.Spread {
		return run.Spread{Count: n, MeanMS: ms, QuantilesMS: []float64{ms - 1, ms, ms + 1}}
	}
	part := func(kind, what string, n int, ms float64) run.FramePart {
		return run.FramePart{Name: kind, What: what, Spread: times(n, ms)}
	}
	return saved.Diagnosis{File: "scroll.pftrace", Kind: "perfetto", Package: "com.example.mail", Frames: &run.Frames{
		Source: "frametimeline",
		Groups: []run.FrameGroup{
			{Class: run.NormalFrames, Frames: 95, Took: times(95, 8), Waits: []run.FramePart{part("running", "", 95, 8)}, Path: []run.FramePart{part("running", "layout", 95, 8)}},
			{Class: run.SlowFrames, Frames: 2, Took: times(2, 40), Waits: []run.FramePart{part("binder", "", 2, 30), part("running", "", 2, 10)}, Path: []run.FramePart{part("binder", "feed IFeed::get", 2, 30), part("running", "layout", 2, 10)}},
			{Class: run.FrozenFrames, Frames: 1, Took: times(1, 900)},
			{Class: run.BufferedFrames, Frames: 2, Took: times(2, 20)},
		},
		Worst: []run.LateFrame{{Repetition: 1, AtMS: 5_000, DurationMS: 900, DeadlineMS: 16, Path: path("binder", "feed IFeed::get", 900)}},
		Usual: []run.LateFrame{{Event: "E1", DurationMS: 7, Path: path("running", "wrong event", 7)}, {DurationMS: 8, Path: path("running", "layout", 8)}},
	}}
}

func asText(t *testing.T, in Input, o document.Options) string {
	t.Helper()
	var b bytes.Buffer
	o.Width = 120
	if err := text.Render(&b, Document(in), o); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "\u00a0", " ")), " ")
}

func TestDocumentOfTrace(t *testing.T) {
	got := asText(t, Input{Diagnosis: scrolling()}, document.Options{})
	for _, want := range []string{
		"Late frames: 3 of 100 frames late, 1 of them frozen",
		"95 in time, 2 late, 1 frozen; 2 late unnoticed, since a buffer drawn before was ready (by frametimeline)",
		"Late frame: 900 ms, due after 16 ms", "main waits for binder: feed IFeed::get", "Usual frame: 8 ms",
		"whole run: late 2 40 ms 41 ms 75 % binder feed IFeed::get",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "wrong event") {
		t.Error("the worst frame stands beside one of another event")
	}
	d := Document(Input{Diagnosis: scrolling()})
	if d.Title != "com.example.mail in scroll.pftrace" {
		t.Errorf("the title is %q", d.Title)
	}
	if got := tones(d); !slices.Equal(got, []document.Tone{document.Neutral, document.Worse, document.Worse, document.Neutral}) {
		t.Errorf("the rows of frames in time, late, frozen and not seen are %q, want the second and the third worse", got)
	}
	calm := scrolling()
	calm.Frames.Groups, calm.Frames.Worst = calm.Frames.Groups[:1], nil
	calm.Package = ""
	d = Document(Input{Diagnosis: calm})
	if d.Title != "scroll.pftrace" {
		t.Errorf("without a package the title is %q", d.Title)
	}
	if d.Answer.Outcome != document.Pass || d.Headline() != "In time: none of 95 frames was seen late" {
		t.Errorf("of frames in time it says %s: %q", d.Answer.Outcome, d.Headline())
	}
}

// tones returns those of the table of frames.
func tones(d document.Document) (out []document.Tone) {
	for _, s := range d.Sections {
		if t, ok := s.Body.(*document.Table); ok && s.ID == "frames" {
			for _, r := range t.Rows {
				out = append(out, r.Tone)
			}
		}
	}
	return out
}

// A cause draws its own frame, and links to it in the trace.
func TestCauseOfTrace(t *testing.T) {
	in := Input{Diagnosis: scrolling(), Open: func(from, to float64) string {
		if from != 5_000 || to != 5_900 {
			t.Errorf("the part that is opened is from %g to %g, want 5000 to 5900", from, to)
		}
		return "apkgate inspect …"
	}}
	in.Causes = []diagnose.Cause{{
		Kind: "sky.rain", Metric: "frames.slow", Direction: gate.ToRegression, Sentence: diagnose.Say("it waited for rain"),
		Picture:  diagnose.PictureOfFrames("Rain", in.Frames.Worst[0], nil, nil),
		Evidence: []diagnose.Link{{Digest: strings.Repeat("0", 64), FromMS: 5_000, ToMS: 5_900}},
	}}
	got := asText(t, in, document.Options{})
	if !strings.Contains(got, "it waited for rain") || !strings.Contains(got, "To look at it: apkgate inspect …") || strings.Count(got, "Late frame: 900 ms") != 1 || strings.Contains(got, "(repetition") {
		t.Errorf("of a trace with a cause it says\n%s", got)
	}
}

// A deadlock names the threads in it, and Android's reason ends without its period.
func TestDeadlockOfDump(t *testing.T) {
	waits := func(name string, critical bool) run.ANRThread {
		return run.ANRThread{Name: name, State: "Blocked", WaitsFor: "lock a.Store held by b", Critical: critical, Stack: []string{"a.B.c(B.java:1)"}}
	}
	dead := saved.Diagnosis{Kind: "anr", ANRs: []run.ANR{{
		Kind: "input", Process: "com.example.mail", Reason: "Input dispatching timed out.", Cycle: true,
		Threads: []run.ANRThread{waits("main", false), waits("sync", true), waits("index", true)},
	}}}
	if want, got := "Not responding: the threads sync and index of com.example.mail wait for each other; Input dispatching timed out", Document(Input{Diagnosis: dead}).Headline(); got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
}

// frozen is a dump of an app that waits for a lock.
func frozen() saved.Diagnosis {
	return saved.Diagnosis{File: "anr_1", Kind: "anr", ANRs: []run.ANR{{
		Kind: "input", Process: "com.example.mail", Reason: "Input dispatching timed out", Threads: []run.ANRThread{
			{Name: "main", State: "Blocked", WaitsFor: "lock a.Store held by sync"},
			{Name: "sync", Process: "com.example.sync", State: "Sleeping", WaitsFor: "sleep", Critical: true, Stack: []string{"java.lang.Thread.sleep(Native method)", "a.Sync.run(Sync.java:4)"}},
		},
	}}}
}

func TestDocumentOfDump(t *testing.T) {
	got := asText(t, Input{Diagnosis: frozen()}, document.Options{})
	for _, want := range []string{
		"Not responding: the main thread of com.example.mail waits for thread sync of com.example.sync, in a.Sync.run(Sync.java:4); Input dispatching timed out",
		"main of com.example.mail (Blocked) waits for lock a.Store held by sync sync of com.example.sync (Sleeping, keeps the others waiting)",
		"Stack of sync java.lang.Thread.sleep(Native method) a.Sync.run(Sync.java:4)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Stack of main") {
		t.Error("the stack of a thread that keeps nobody waiting is listed")
	}
	bars := frozen()
	bars.Causes = []diagnose.Cause{{Kind: "sky.rain", Direction: gate.ToRegression, Picture: &diagnose.Picture{Kind: diagnose.BarsPicture}}, {Kind: "sky.rain", Direction: gate.ToRegression}}
	bars.ANRs[0].Threads[0].Stack = []string{"a.List.show(List.java:8)"}
	if got := asText(t, Input{Diagnosis: bars}, document.Options{}); !strings.Contains(got, "Who waited for whom") || strings.Contains(got, "Stack of main") {
		t.Errorf("where no cause draws the chain it says\n%s", got)
	}
	alone := frozen()
	alone.ANRs[0].Reason, alone.ANRs[0].Threads = "", alone.ANRs[0].Threads[1:]
	alone.ANRs = append(alone.ANRs, run.ANR{})
	if want, got := "Not responding: thread sync of com.example.sync in a.Sync.run(Sync.java:4); and 1 more", Document(Input{Diagnosis: alone}).Headline(); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// Every name in a recording is untrusted.
func TestHostileNamesOfRecording(t *testing.T) {
	for _, bad := range reporttest.Hostile {
		d, dump := scrolling(), frozen()
		d.File, d.Package, d.ANRs = bad, bad, dump.ANRs
		d.Frames.Groups[0].Event, d.Frames.Groups[0].Class, d.Frames.Groups[0].Path[0].What, d.Frames.Source = bad, bad, bad, bad
		d.Frames.Worst[0].Path = path(bad, bad, 900)
		a := &d.ANRs[0]
		a.Process, a.Reason, a.Threads[0].Name, a.Threads[1].Name, a.Threads[1].Stack = bad, bad, bad, bad, []string{bad}
		d.Warnings = []run.Warning{{Line: 3, Text: bad}}
		for name, render := range map[string]func(*bytes.Buffer) error{
			"text": func(b *bytes.Buffer) error {
				return text.Render(b, Document(Input{Diagnosis: d}), document.Options{Width: 80})
			},
			"markdown": func(b *bytes.Buffer) error {
				return markdown.Render(b, Document(Input{Diagnosis: d}), document.Options{})
			},
			"html": func(b *bytes.Buffer) error { return html.Render(b, Document(Input{Diagnosis: d}), document.Options{}) },
		} {
			var b bytes.Buffer
			if err := render(&b); err != nil {
				t.Fatal(err)
			}
			broken := []string{"\x1b", "\n::error::"}
			if name != "text" {
				broken = append(broken, "<script>alert", "<img src=x", "</style><style>")
			}
			if i := slices.IndexFunc(broken, func(s string) bool { return strings.Contains(b.String(), s) }); i >= 0 {
				t.Errorf("%s lets %q through", name, broken[i])
			}
		}
	}
}
