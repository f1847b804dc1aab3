package why_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// slow waits for another process while it scrolls.
const slow = "\nblocks binder com.example.backend IFeed::query 24ms after scroll every 4\n"

// place is a folder with a good and a slow build, a phone, and what commands need to find them.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t, clitest.SimulatedBuilds(t, "pixel-7-android-14")}
	good := p.read("demo-good.apk")
	clitest.WriteFile(t, p.at("demo-slow.apk"), strings.NewReplacer("\nscenario ", slow+"\nscenario ", "version 1.4.0 140", "version 1.5.0 150").Replace(good))
	return p
}

func (p place) at(name string) string { return filepath.Join(p.dir, name) }

func (p place) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.at(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// in runs a command line with the place's configuration.
func (p place) in(session int, args ...string) clitest.Result {
	p.t.Helper()
	return clitest.InSession(p.t, session, append(args, "--config", p.at("apkgate.yml"))...)
}

// history accepts six sessions of the good build.
func (p place) history() {
	p.t.Helper()
	for n := range 6 {
		if got := p.in(n+1, "run", "--accept", "--apk", p.at("demo-good.apk")); got.Status != exit.StatusPass {
			p.t.Fatalf("session %d: status %d\n%s", n, got.Status, got.Stderr)
		}
	}
}

// onOneLine is what a terminal shows, without line breaks.
func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var named = regexp.MustCompile(`apkgate why (run-\S+|'compare [^']+')`)

// session is that of the command in the report.
func (p place) session(report string) string {
	p.t.Helper()
	found := named.FindStringSubmatch(onOneLine(report))
	if found == nil {
		p.t.Fatalf("no command explains it:\n%s", report)
	}
	return strings.Trim(found[1], "'")
}

// verdict is a saved verdict without its explanations, and their number.
func (p place) verdict(name string) (saved.Verdict, int) {
	p.t.Helper()
	v, err := saved.ReadVerdict(strings.NewReader(p.read(name)))
	if err != nil {
		p.t.Fatal(err)
	}
	n := len(v.Causes)
	v.Causes, v.CausesTotal = nil, 0
	return v, n
}

// A regression by rounds, of a build that was not recorded, is explained automatically. If that is
// disabled the report ends with the command that explains the same verdict: its exit status is its
// own, the reports are rewritten, and the history is unchanged.
func TestWhyOfARegression(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.history()
	run := []string{"run", "--apk", p.at("demo-slow.apk"), "--base", p.at("demo-good.apk"), "--session", "pull 7"}
	explained := p.in(7, append(run, "--json", p.at("explained.json"))...)
	if explained.Status != exit.StatusRegression || !strings.Contains(onOneLine(explained.Stdout), "ms more per frame for com.example.backend IFeed::query (binder)") {
		t.Fatalf("status %d\n%s%s", explained.Status, explained.Stdout, explained.Stderr)
	}
	before := len(clitest.Run(t, nil, "baseline", "export", "--config", p.at("apkgate.yml")).Stdout)

	got := p.in(7, append(run[:len(run)-2:len(run)-2], "--why", "0", "--json", p.at("plain.json"))...)
	if got.Status != exit.StatusRegression || strings.Contains(got.Stderr, "recording 4 rounds") || strings.Contains(got.Stdout, "IFeed") {
		t.Fatalf("turned off: status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	name := p.session(got.Stdout)
	plain, n := p.verdict("plain.json")
	with, causes := p.verdict("explained.json")
	if plain.Verdict.Verdict != with.Verdict.Verdict || n != 0 || causes == 0 {
		t.Errorf("%s with %d causes and %s with %d: one verdict is another", plain.Verdict.Verdict, n, with.Verdict.Verdict, causes)
	}

	stored := clitest.Run(t, nil, "baseline", "export", "--config", p.at("apkgate.yml")).Stdout
	later := p.in(8, "why", name)
	if later.Status != exit.StatusPass || !strings.Contains(onOneLine(later.Stdout), "ms more per frame for com.example.backend IFeed::query (binder)") || !strings.HasPrefix(later.Stdout, "Regression: ") {
		t.Fatalf("why: status %d\n%s%s", later.Status, later.Stdout, later.Stderr)
	}
	again, causes := p.verdict("plain.json")
	if !reflect.DeepEqual(again, plain) || causes == 0 {
		t.Errorf("the verdict is another, or has %d causes", causes)
	}
	if !strings.Contains(p.read("report-of-run.html"), "IFeed::query") {
		t.Error("the page was not written anew")
	}
	if now := clitest.Run(t, nil, "baseline", "export", "--config", p.at("apkgate.yml")).Stdout; now != stored || len(now) <= before || strings.Contains(now, `"explains"`) || strings.Contains(now, " why") {
		t.Error("the history has what was recorded to explain")
	}
}

// Without a base build the report says that one is needed, and the session is explained with it.
// Whatever is missing is named, with advice.
func TestWhyNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.history()
	got := p.in(7, "run", "--apk", p.at("demo-slow.apk"))
	if got.Status != exit.StatusRegression || !strings.Contains(onOneLine(got.Stdout), "--base OLD.apk, with the build before the change, records both") {
		t.Fatalf("status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	name := p.session(got.Stdout)
	clitest.Refuses(t, p.in(8, "why", name), "has kept no base build", "--base FILE.apk")
	clitest.Refuses(t, p.in(8, "why", "nothing"), `there is no session "nothing"`, name)
	clitest.Refuses(t, p.in(8, "why", name, "--base", p.at("demo-good.apk"), "--why", "soon"), "--why is \"soon\"")
	if got := p.in(8, "why", name, "--base", p.at("demo-good.apk")); got.Status != exit.StatusPass || !strings.Contains(got.Stdout, "IFeed::query") {
		t.Errorf("with a base build: status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	gone := clitest.WithFaults(t, "pixel-7-android-14: die at 1s", "why", name, "--base", p.at("demo-good.apk"), "--config", p.at("apkgate.yml"))
	if gone.Status != exit.StatusInfrastructure || gone.Stdout != "" || !strings.Contains(gone.Stderr, "the device is gone") {
		t.Errorf("without the phone: status %d\n%s%s", gone.Status, gone.Stdout, gone.Stderr)
	}
	if err := os.Remove(p.at(".apkgate/why/session-" + name + "/head.apk")); err != nil {
		t.Fatal(err)
	}
	clitest.Refuses(t, p.in(8, "why", name, "--base", p.at("demo-good.apk")), "the head build of session "+name+" is gone", "--head FILE.apk")
	clitest.WriteFile(t, p.at("apkgate.yml"), strings.Replace(p.read("apkgate.yml"), "pixel-7-android-14", "pixel-5-android-11", 1))
	clitest.Refuses(t, p.in(8, "why", name, "--base", p.at("demo-good.apk"), "--head", p.at("demo-slow.apk")), "the configuration no longer has: read-mail on pixel-7-android-14")
}

// A comparison of two builds is explained automatically and later, and the last sessions are kept.
func TestWhyOfAComparison(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	compare := []string{"compare", "--base", p.at("demo-good.apk"), "--head", p.at("demo-slow.apk"), "--json", p.at("compare.json")}
	if got := p.in(1, compare...); got.Status != exit.StatusRegression || !strings.Contains(got.Stdout, "IFeed::query") || !strings.Contains(onOneLine(got.Stdout), "recorded after the verdict; they judge nothing") {
		t.Fatalf("status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	got := p.in(2, append(compare, "--why", "0s")...)
	name := p.session(got.Stdout)
	plain := p.read("compare.json")
	if later := p.in(3, "why", name); got.Status != exit.StatusRegression || strings.Contains(got.Stdout, "IFeed") || later.Status != exit.StatusPass || !strings.Contains(later.Stdout, "IFeed::query") {
		t.Errorf("status %d, then %d\n%s%s%s", got.Status, later.Status, got.Stdout, later.Stdout, later.Stderr)
	}
	var was, is saved.Comparison
	if err := json.NewDecoder(bytes.NewBufferString(plain)).Decode(&was); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(strings.NewReader(p.read("compare.json"))).Decode(&is); err != nil {
		t.Fatal(err)
	}
	if len(was.Causes) != 0 || len(is.Causes) == 0 || !reflect.DeepEqual(was.Verdict, is.Verdict) {
		t.Errorf("%d causes became %d, or the verdict another", len(was.Causes), len(is.Causes))
	}
	if kept, err := filepath.Glob(p.at(".apkgate/why/*/session.json")); err != nil || len(kept) != 2 {
		t.Errorf("%q are kept, %v", kept, err)
	}
}

// A rise in joules whose methods were not sampled is explained by the method.
func TestWhyNamesTheMethod(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	clitest.WriteFile(t, p.at("apkgate.yml"), p.read("apkgate.yml")+"energy: {source: auto}\ngate: {metrics: [energy.total_j]}\n")
	got := p.in(1, "compare", "--base", p.at("demo-good.apk"), "--head", p.at("demo-worse.apk"))
	if got.Status != exit.StatusRegression || !strings.Contains(got.Stderr, "recording 5 rounds of both builds") || !strings.Contains(onOneLine(got.Stdout), "Energy cause com.example.demo.MessageView.decodeImages") {
		t.Errorf("status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
}

// The reports are written to their files before anything is recorded.
func TestReportsAreWrittenBeforeRecording(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	there := ""
	var stdout bytes.Buffer
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Now: time.Now, Getenv: func(string) string { return "" },
		Stderr: writer(func(said []byte) {
			if bytes.Contains(said, []byte("recording 4 rounds")) {
				there = p.read("compare.json")
			}
		}),
	}
	status := cli.Main(c, []string{"compare", "--config", p.at("apkgate.yml"), "--base", p.at("demo-good.apk"), "--head", p.at("demo-slow.apk"), "--json", p.at("compare.json")})
	if status != exit.StatusRegression || !strings.Contains(there, `"verdict": "regression"`) || strings.Contains(there, "IFeed") || !strings.Contains(p.read("compare.json"), "IFeed") {
		t.Errorf("status %d, and while it is recorded the file says\n%.500s", status, there)
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
