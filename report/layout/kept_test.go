package layout

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/reporttest"
	"github.com/apkgate/apkgate/run"
)

var digests = []string{strings.Repeat("0a1b2c3d", 8), strings.Repeat("9f8e7d6c", 8)}

// withTraces is a verdict on one run that kept a trace, which is in the artifact, and a dump that
// is missing.
func withTraces() Input {
	in := Input{
		Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Runs: []gate.RunVerdict{runVerdict("r", gate.Regression, upgraded[0])}},
		Runs: []run.Run{{ID: "r", Evidence: []run.Evidence{
			{Digest: digests[0], Kind: run.PerfettoTrace, Name: "open.pftrace", Bytes: 1_500_000, Repetition: 2, Event: "tap: open", Why: "a frame took 820 ms"},
			{Digest: digests[1], Kind: run.ThreadDump, Name: "traces.txt", Bytes: 12_000},
		}}},
	}
	in.Kept = map[string]KeptFile{digests[0]: {
		At: "evidence/0a1b2c3d-open.pftrace", Open: "apkgate inspect perfetto evidence/0a1b2c3d-open.pftrace --open --from-ms 5 --to-ms 9",
		OpenAt: "apkgate inspect perfetto evidence/0a1b2c3d-open.pftrace --open",
		Links:  document.Links{Page: "evidence/0a1b2c3d-open.pftrace", Comment: "https://github.example/octo/app/actions/runs/1#artifacts"},
	}}
	return in
}

func renderings(t *testing.T, in Input) (text, markdown, html string) {
	t.Helper()
	var a, b, c bytes.Buffer
	d := Verdict(in)
	for _, err := range []error{asText(&a, d, document.Options{Verbose: true}), asMarkdown(&b, d, 60_000), asHTML(&c, d)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return a.String(), b.String(), c.String()
}

func TestReportsLinkKeptFiles(t *testing.T) {
	text, markdown, html := renderings(t, withTraces())
	for name, c := range map[string]struct {
		got  string
		want []string
	}{
		"text":     {text, []string{"Kept with the runs", "a frame took 820 ms", "Perfetto trace 0a1b2c3d0a1b", "evidence/0a1b2c3d-open.pftrace", "--open", "thread dump 9f8e7d6c9f8e", "not here"}},
		"Markdown": {markdown, []string{"Kept with the runs", "](https://github.example/octo/app/actions/runs/1#artifacts)", "not here"}},
		"HTML":     {html, []string{"Kept with the runs", `<a href="evidence/0a1b2c3d-open.pftrace">`, "not here"}},
	} {
		plain := strings.Join(strings.Fields(strings.ReplaceAll(c.got, "\u00a0", " ")), " ")
		for _, want := range c.want {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: %q is not in it:\n%s", name, want, c.got)
			}
		}
	}
}

// Perfetto opens traces; a thread dump has a command of its own, with what it shows.
func TestDumpIsNotOpenedAsTrace(t *testing.T) {
	in := withTraces()
	slices.Reverse(in.Runs[0].Evidence)
	in.Runs[0].Evidence[0].Why = "the app did not respond"
	in.Kept[digests[1]] = KeptFile{At: "evidence/traces.txt", Open: "apkgate diagnose evidence/traces.txt"}
	text, _, _ := renderings(t, in)
	if plain := strings.Join(strings.Fields(text), " "); !strings.Contains(plain, "--from-ms 5 --to-ms 9 opens the first trace") || strings.Contains(plain, "traces.txt opens") {
		t.Errorf("it says\n%s", text)
	}
}

// Files that were kept because something went wrong come first, even where every repetition's trace
// is kept, and the command opens the first of them; its run is named by its device.
func TestAnomaliesComeFirst(t *testing.T) {
	in := withTraces()
	in.Verdict.Runs = []gate.RunVerdict{runVerdict("first", gate.Regression, upgraded[0]), runVerdict("r", gate.Regression, upgraded[1])}
	calm := run.Evidence{Digest: digests[1], Kind: run.PerfettoTrace, Name: "calm.pftrace", Repetition: 1}
	in.Runs[0].Evidence = []run.Evidence{calm, in.Runs[0].Evidence[0]}
	in.Runs[0].Evidence[1].Why = "the app did not respond: Input dispatching timed out (com.example/.Main)"
	in.Runs = []run.Run{{ID: "first", Evidence: []run.Evidence{calm}}, in.Runs[0]}
	in.Kept[digests[1]] = KeptFile{At: "evidence/calm.pftrace", Open: "apkgate inspect perfetto evidence/calm.pftrace --open"}
	l := keptSection(in).Body.(*document.List)
	if len(l.Items) != 4 || !strings.HasPrefix(l.Items[0].Text, "apkgate inspect perfetto evidence/0a1b2c3d-open.pftrace --open") {
		t.Fatalf("%d items, the first says %q: want the command for the trace of what went wrong", len(l.Items), l.Items[0].Text)
	}
	for _, want := range []string{runTitle(in.Verdict.Runs[1], in.Verdict), "the app did not respond: Input dispatching timed out (com.example/.Main)"} {
		if !strings.Contains(l.Items[1].Text, want) {
			t.Errorf("the first file is told as %q, want %q in it", l.Items[1].Text, want)
		}
	}
}

func TestRunsWithoutKeptFiles(t *testing.T) {
	in := withTraces()
	in.Runs[0].Evidence = nil
	text, markdown, html := renderings(t, in)
	for _, got := range []string{text, markdown, html} {
		if strings.Contains(got, "Kept with") {
			t.Errorf("a report without kept files tells of them:\n%s", got)
		}
	}
}

// linked matches a link of Markdown that runs something.
var linked = regexp.MustCompile(`(^|[^\\])\]\(javascript`)

// Names from the app and its test stay text, and a link leads only to a file or an address.
func TestHostileKeptFiles(t *testing.T) {
	for _, name := range reporttest.Hostile {
		in := withTraces()
		in.Runs[0].ID, in.Verdict.Runs[0].ID = name, name
		e := &in.Runs[0].Evidence[0]
		e.Event, e.Why, e.Kind = name, name, run.EvidenceKind(name)
		in.Kept[digests[0]] = KeptFile{At: name, Open: name, Links: document.Links{Page: "javascript:alert(1)", Comment: "javascript:alert(1)"}}
		text, markdown, html := renderings(t, in)
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%.40q reaches the terminal as it is", name)
		}
		if reporttest.Mention.MatchString(markdown) || linked.MatchString(markdown) {
			t.Errorf("%.40q acts in Markdown:\n%s", name, markdown)
		}
		if strings.Contains(html, `href="javascript`) || strings.Contains(html, "<script>alert") || strings.Contains(html, "<img src=x") {
			t.Errorf("%.40q acts in HTML", name)
		}
	}
}

func TestManyKeptFilesAreCounted(t *testing.T) {
	in := withTraces()
	for len(in.Runs[0].Evidence) < run.MaxEvidence {
		in.Runs[0].Evidence = append(in.Runs[0].Evidence, in.Runs[0].Evidence[1])
	}
	in.Runs = append(in.Runs, in.Runs[0])
	_, _, html := renderings(t, in)
	if n := strings.Count(html, "not here"); n > 200 {
		t.Errorf("a page tells of %d files", n)
	}
	if !strings.Contains(html, "more kept files") {
		t.Error("what is left out is not counted")
	}
}

// A cause links to the moment that shows it, with a command that can be pasted.
func TestCauseLinksToItsMoment(t *testing.T) {
	const inspect = "apkgate inspect perfetto evidence/0a1b2c3d-open.pftrace --open"
	for _, c := range []struct {
		name string
		link diagnose.Link
		want string
	}{
		{"a moment", diagnose.Link{Digest: digests[0], FromMS: 12000.7, ToMS: 12082.1}, "To look at it: " + inspect + " --from-ms 12000 --to-ms 12083"},
		{"all of the file", diagnose.Link{Digest: digests[0]}, "To look at it: " + inspect + " --from-ms 5 --to-ms 9"},
		{"what is not here", diagnose.Link{Digest: digests[1], FromMS: 1, ToMS: 2}, ""},
	} {
		in := withTraces()
		in.Causes = []diagnose.Cause{{
			Run: "r", Event: "E1", Metric: "frames.count", Kind: "sky.rain", Direction: gate.ToRegression,
			Sentence: diagnose.Say("it rained"), Evidence: []diagnose.Link{c.link},
		}}
		text, markdown, html := renderings(t, in)
		for format, got := range map[string]string{"text": text, "Markdown": strings.ReplaceAll(markdown, "&#8203;", ""), "HTML": html} {
			plain := strings.Join(strings.Fields(strings.ReplaceAll(got, "\u00a0", " ")), " ")
			if c.want != "" && !strings.Contains(plain, c.want) || c.want == "" && strings.Contains(plain, "To look at it") {
				t.Errorf("%s, %s: want %q in\n%s", c.name, format, c.want, got)
			}
		}
	}
}

// The description has first what of the run a file shows, then what it is with the first twelve
// digits of its digest, and where it is.
func TestKeptFilesInWords(t *testing.T) {
	trace := run.Evidence{Digest: digests[0], Kind: run.PerfettoTrace, Bytes: 1_500_000}
	all := trace
	all.Event, all.Repetition, all.Why = "tap: open", 2, "a frame took 820 ms"
	short := trace
	short.Digest, short.Why, short.Kind = "0a1b", "it stopped", run.LogExtract
	here := KeptFile{At: "evidence/open.pftrace"}
	for _, c := range []struct {
		of    run.Evidence
		file  KeptFile
		title string
		want  string
	}{
		{trace, here, "", "Perfetto trace 0a1b2c3d0a1b, 1.5 MB, evidence/open.pftrace"},
		{trace, KeptFile{}, "Pixel 7", "Pixel 7 · Perfetto trace 0a1b2c3d0a1b, 1.5 MB, not here"},
		{all, here, "Pixel 7", "Pixel 7, tap: open, repetition 2: a frame took 820 ms · Perfetto trace 0a1b2c3d0a1b, 1.5 MB, evidence/open.pftrace"},
		{short, here, "", "it stopped · log 0a1b, 1.5 MB, evidence/open.pftrace"},
	} {
		if got := strings.ReplaceAll(keptText(keptFile{Evidence: c.of}, c.file, c.title), "\u00a0", " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
