package baselinecmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
)

// One fault has three ANRs in two runs, another has one, and another app has one.
func TestANRsOf(t *testing.T) {
	t.Chdir(t.TempDir())
	at := func(method string, line int) run.ANR {
		return run.ANR{Kind: run.ANRInput, Process: "com.example.mail", Repetition: 1, Signature: fmt.Sprintf("%04x", line), Threads: []run.ANRThread{{
			Name: "main", Kind: run.WaitRunning, Critical: true, Stack: []string{fmt.Sprintf("com.example.mail.%s(Source.java:%d)", method, line), "android.os.Looper.loop(Looper.java:1)"},
		}}}
	}
	made := func(id, pkg string, day int, anrs ...run.ANR) run.Run {
		return run.Run{
			ID: id, App: run.App{Package: pkg, Version: "1." + id}, Scenario: "open", Status: run.Complete, Started: time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC),
			Source: run.Source{Commit: strings.Repeat(id, 40)}, Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 1}}}, ANRs: anrs,
		}
	}
	records := clitest.RecordsOf(t, []run.Run{
		made("a", "com.example.mail", 2, at("Feed.parse", 1)), made("b", "com.example.mail", 3), made("c", "com.example.mail", 4, at("Feed.parse", 2), at("Feed.parse", 3), at("Store.load", 4)),
		made("d", "com.example.game", 5, run.ANR{Kind: run.ANRBroadcast, Repetition: 1}),
	})
	if err := os.WriteFile("runs.jsonl", []byte(records), 0o644); err != nil {
		t.Fatal(err)
	}
	passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")
	passes(t, "baseline", "reject", "--store", "h.db", strings.Repeat("c", 1))
	text := strings.Join(strings.Fields(passes(t, "baseline", "anrs", "--store", "h.db").Stdout), " ")
	for _, want := range []string{
		"com.example.game: 1 fault", "unknown broadcast 1 1", "com.example.mail: 2 faults",
		"work com.example.mail.Feed.parse 3 2 2026-11-02 aaaaaaaaaaa… accepted 2026-11-04 ccccccccccc… rejected",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var found struct {
		Format string
		Apps   []struct {
			Package string
			Faults  []struct {
				Kind, Subject, Sure, Sentence string
				Times, Runs                   int
				Accepted                      bool
				First, Last                   struct{ Run, Version, State string }
				Signatures                    []string
			}
		}
	}
	if err := json.Unmarshal([]byte(passes(t, "baseline", "anrs", "--store", "h.db", "--package", "com.example.mail", "--format", "json").Stdout), &found); err != nil {
		t.Fatal(err)
	}
	if found.Format != "apkgate.anrs/1" || len(found.Apps) != 1 || len(found.Apps[0].Faults) != 2 {
		t.Fatalf("%+v", found)
	}
	f := found.Apps[0].Faults[0]
	if f.Kind != "anr.work" || f.Sure != "seen" || f.Times != 3 || f.Runs != 2 || f.First.Run != "a" || f.Last.Run != "c" || f.First.Version != "1.a" || f.Last.State != "rejected" ||
		f.Sentence != "the main thread of com.example.mail did not respond: it was busy, not blocked, in com.example.mail.Feed.parse" {
		t.Errorf("the first fault is %+v", f)
	}
	if d := cmp.Diff([]string{"0001", "0002", "0003"}, f.Signatures); d != "" {
		t.Errorf("signatures (-want +got):\n%s", d)
	}
	if text := passes(t, "baseline", "anrs", "--store", "h.db", "--package", "com.example.none").Stdout; text != "the history has no ANR of com.example.none\n" {
		t.Errorf("of an app that is not there: %q", text)
	}
}
