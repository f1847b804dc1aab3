package baselinecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// aSession adds a session's runs, one on each model, and returns their ids.
func aSession(t *testing.T, s runstore.Store, name, commit, ref string, at time.Time, models ...string) []string {
	t.Helper()
	var ids []string
	for i, model := range models {
		id := fmt.Sprintf("%s-%d-%s", name, i, model)
		_, err := s.Add(t.Context(), run.Run{
			Format: run.Format, ID: id, Started: at.Add(time.Duration(i) * time.Minute), App: run.App{Package: "com.example.mail", Version: "2.1"},
			Source: run.Source{Commit: commit, Ref: ref}, Scenario: "scroll", Session: name, Status: run.Complete, Warnings: []run.Warning{},
			Context:    map[string]string{"manufacturer": "Google", "model": model, "sdk": "34"},
			Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 600}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func said(t *testing.T, s runstore.Store, outcome string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.Judge(t.Context(), map[string]run.Judged{id: {Outcome: outcome}}); err != nil {
			t.Fatal(err)
		}
	}
}

func marked(t *testing.T, s runstore.Store, state runstore.State, ids ...string) {
	t.Helper()
	if err := s.Mark(t.Context(), ids, runstore.Mark{State: state}); err != nil {
		t.Fatal(err)
	}
}

func printed(t *testing.T, s runstore.Store, format output.Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := listSessions(context.Background(), terminal.Console{Stdout: &out}, s, runstore.Filter{}, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const mainCommit = "4f2a91c0000000000000000000000000000000aa"

// TestListBySession: a line says when, of what, where, what the gate said last and what was
// decided, as they differ: a red pull request, its rounds, a night that was accepted in part, runs
// that were not judged.
func TestListBySession(t *testing.T) {
	s := memory.New(nil)
	night := time.Date(2026, 1, 31, 22, 0, 0, 0, time.UTC)
	aSession(t, s, "lab", "", "", night.Add(-time.Hour), "Pixel 7")
	ids := aSession(t, s, "night", mainCommit, "refs/heads/main", night, "Pixel 7", "Pixel 5", "Pixel 4")
	said(t, s, "pass", ids...)
	said(t, s, "inconclusive", ids[2])
	marked(t, s, runstore.Accepted, ids[:2]...)
	ids = aSession(t, s, "red", "0000000", "refs/pull/12/merge", night.Add(time.Hour), "Pixel 7", "Pixel 5")
	said(t, s, "regression", ids[0])
	said(t, s, "pass", ids[1])
	marked(t, s, runstore.Rejected, ids...)
	aSession(t, s, "red rounds", "0000000", "refs/pull/12/merge", night.Add(2*time.Hour), "Pixel 7")
	want := []string{
		"when|commit|ref|build|devices|outcome|state",
		"2026-02-01 00:00|0000000|pull/12|2.1|Pixel 7|rounds|unmarked",
		"2026-01-31 23:00|0000000|pull/12|2.1|2 devices|regression|rejected",
		"2026-01-31 22:00|4f2a91c|main|2.1|3 devices|inconclusive|2/3 accepted",
		"2026-01-31 21:00|||2.1|Pixel 7|not judged|unmarked",
	}
	found, err := sessions(t.Context(), s, runstore.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for i, cells := range sessionTable(found, 80) {
		if got := strings.Join(cells, "|"); got != want[i] {
			t.Errorf("line %d is %q, want %q", i, got, want[i])
		}
	}
	lines := strings.Split(strings.TrimSpace(printed(t, s, output.FormatJSON)), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines of JSON, want 4", len(lines))
	}
	var red listedSession
	if err := json.Unmarshal([]byte(lines[1]), &red); err != nil || red.Session != "red" || red.Outcome != "regression" || len(red.Runs) != 2 ||
		red.States["rejected"] != 2 || red.Sources[0].Ref != "refs/pull/12/merge" || red.Devices[0] != "Google Pixel 5 34" {
		t.Errorf("JSON of the red session: %+v, %v", red, err)
	}
}

// TestSessionsFitATerminal: however long the names are, no line is wider than 80 columns, and when,
// outcome and state are complete.
func TestSessionsFitATerminal(t *testing.T) {
	s := memory.New(nil)
	at := time.Date(2026, 1, 31, 22, 0, 0, 0, time.UTC)
	long := strings.Repeat("世界", 60)
	for i, name := range []string{"one", "two", "three"} {
		ids := aSession(t, s, name+long, mainCommit+long, "refs/heads/feature/"+long, at.Add(time.Duration(i)*time.Hour), long+name, "Pixel 7", "Pixel 6", "Pixel 5")
		said(t, s, "inconclusive", ids...)
		marked(t, s, runstore.Rebaselined, ids[0])
	}
	aSession(t, s, "four", mainCommit, "refs/heads/feature/"+long, at, long)
	var narrow bytes.Buffer
	if err := listSessions(t.Context(), terminal.Console{Stdout: &narrow, Width: 66}, s, runstore.Filter{}, output.FormatText); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(narrow.String()) {
		if w := twwidth.Width(strings.TrimSuffix(line, "\n")); w > 66 {
			t.Errorf("a line of %d columns on a terminal of 66: %s", w, line)
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(printed(t, s, output.FormatText)), "\n") {
		if w := twwidth.Width(line); w > 80 {
			t.Errorf("a line of %d columns: %s", w, line)
		}
		if i > 0 && i < 4 && (!strings.HasPrefix(line, "2026-0") || !strings.Contains(line, "inconclusive  1/4 ")) {
			t.Errorf("line %d says neither when nor what came of it: %s", i, line)
		}
	}
}

// TestRunsWithoutASessionStandAlone: runs without a session were not measured together.
func TestRunsWithoutASessionStandAlone(t *testing.T) {
	s := memory.New(nil)
	at := time.Date(2026, 1, 31, 22, 0, 0, 0, time.UTC)
	aSession(t, s, "", "c1", "", at, "Pixel 7", "Pixel 5")
	if got := strings.Count(printed(t, s, output.FormatText), "2026-01-31"); got != 2 {
		t.Errorf("%d lines, want one for each run", got)
	}
	// Names of sessions are an app's own.
	for _, app := range []string{"com.example.notes", "com.example.files"} {
		_, err := s.Add(t.Context(), run.Run{Format: run.Format, ID: app, Started: at, App: run.App{Package: app}, Scenario: "s", Session: "night", Status: run.Complete,
			Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 600}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	got := printed(t, s, output.FormatText)
	if strings.Count(got, "mail") != 2 || strings.Count(got, "notes") != 1 || strings.Count(got, "files") != 1 || strings.Count(got, "\n") != 5 {
		t.Errorf("of several apps each line names its own, want 4:\n%s", got)
	}
}
