package measure_test

import (
	"encoding/json"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// inQueues is an app whose message and hits are shown by tasks in pools of one, and which removes a
// query that it has put off when its screen goes.
const inQueues = `apkgate-simulated-app/1
package com.example.mail
noise session 0.5% repetition 1% phone x0.2 frame 14% tail 0.4%x3
unit saver thread-pool size 1 wrapped
unit sender thread-pool size 1 wrapped
unit finder thread-pool size 1 wrapped
task sync on sender after open runs 30ms network 700ms traces Sync.run
task show on saver after open at 20ms runs 20ms network 40ms shows 18 traces Message.show
task query on finder after search at 500ms delay 400ms runs 10ms network 900ms until open cancels traces Query.run
task find on finder after open at 150ms runs 10ms network 20ms shows 18 traces Hits.show
scenario read 4s
  start 10
  0.5s search 12
  1.3s open 12
  3.5s back 6
test com.example.mail.ReadTest#reads read
`

const queuesConfig = `app: {package: com.example.mail, apk: base.apk}
scenarios:
  - name: read
    repetitions: 5
    workload: {instrumentation: {test-package: com.example.mail}}
devices: [{simulated: pixel-7-android-14}]
store: {sqlite: history.db}
gate: {metrics: [frames.smooth_ratio, frames.late, events.settled_ms]}
evidence: {keep: worst, tasks: true}
`

// Four pull requests: each format of the report has the same cause, once among its first lines, and
// so has a check of the record that is made a week later. What only a load made slower has none.
func TestOneCauseInEachFormatAndAWeekLater(t *testing.T) {
	t.Parallel()
	p := &pullRequests{t: t, dir: t.TempDir()}
	clitest.WriteFile(t, p.path("base.apk"), inQueues)
	clitest.WriteFile(t, p.path("apkgate.yml"), queuesConfig)
	p.accept(6)
	clitest.Run(t, nil, "baseline", "export", "--store", p.path("history.db"), "--state", "accepted", "-o", p.path("accepted.jsonl"))
	for i, c := range []struct {
		name, from, to, load string
		kind, subject        string
		says                 []string // in order
	}{
		{
			name: "a pool of one delays a picture", from: "task sync on sender", to: "task sync on saver", kind: "tasks.sequential", subject: "show: Message.show",
			says: []string{"Cause of late tasks", "time until an event's last frame: show: Message.show waits up to ", " in saver, which runs one task at a time", "behind 1 task of ", ": sync: Sync.run", "of the slowdown", "5 of 5 repetitions"},
		},
		{
			name: "an obsolete query", from: " until open cancels", to: " until open", kind: "tasks.obsolete", subject: "query: Query.run",
			says: []string{"Cause of late tasks", "time until an event's last frame: find: Hits.show waits up to ", " in finder", ": 5 of 5 runs of query: Query.run end after their screen has gone", "of the slowdown"},
		},
		{
			name: "a method once per tap", from: "scenario read", to: "work layout 220ms after open every 1000 from 1 of Badge.update\nscenario read", kind: "render.layout", subject: "Badge.update",
			says: []string{"Cause of slow frames", "main thread works ", " ms more per repetition in Badge.update while views are laid out", "of the slowdown"},
		},
		{name: "load alone", load: "\n    load: {cpu: 80%, memory: 80%, storage: 2}"},
	} {
		clitest.WriteFile(t, p.path("head.apk"), strings.Replace(inQueues, c.from, c.to, 1))
		clitest.WriteFile(t, p.path("apkgate.yml"), strings.Replace(queuesConfig, "repetitions: 5", "repetitions: 5"+c.load, 1))
		got := p.run("head", 21+i, "--base", p.path("base.apk"), "--json", p.path("v.json"), "--html", p.path("v.html"), "--markdown", p.path("v.md"))
		if want := map[bool]int{true: exit.StatusRegression, false: exit.StatusPass}[c.kind != ""]; got.Status != want {
			t.Errorf("%s: exit status %d\n%s%s", c.name, got.Status, got.Stdout, got.Stderr)
			continue
		}
		record := recordOf(t, p.path("history.db"), c.name, p.path("v.json"))
		later := clitest.Run(t, nil, "check", "--config", p.path("apkgate.yml"), "--history", p.path("accepted.jsonl"), "--run", record, "--json", p.path("later.json"))
		for format, text := range map[string]string{
			"terminal": got.Stdout, "comment": clitest.ReadFile(t, p.path("v.md")), "page": clitest.ReadFile(t, p.path("v.html")), "a week later": later.Stdout,
		} {
			text = plainText(text)
			if n := strings.Count(text, "Cause of "); n != min(len(c.says), 1) {
				t.Errorf("%s, %s: %d causes among the first lines\n%s", c.name, format, n, text)
			}
			rest, ok := text, true
			for _, want := range c.says {
				if _, rest, ok = strings.Cut(rest, want); !ok {
					t.Errorf("%s, %s: there is no %q in\n%s", c.name, format, want, text)
					break
				}
			}
		}
		for _, file := range []string{"v.json", "later.json"} {
			if kind, subject := mainCause(t, p.path(file)); kind != c.kind || subject != c.subject {
				t.Errorf("%s: the first cause of %s is %s, %q, want %s, %q", c.name, file, kind, subject, c.kind, c.subject)
			}
		}
	}
}

// recordOf returns a file with the record of the first run of a verdict.
func recordOf(t *testing.T, history, name, verdict string) string {
	t.Helper()
	var v struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal([]byte(clitest.ReadFile(t, verdict)), &v); err != nil || len(v.Runs) != 1 {
		t.Fatalf("%s: %v, %d runs", name, err, len(v.Runs))
	}
	all := filepath.Join(t.TempDir(), "all.jsonl")
	clitest.Run(t, nil, "baseline", "export", "--store", history, "-o", all)
	for line := range strings.Lines(clitest.ReadFile(t, all)) {
		if strings.Contains(line, `"id":"`+v.Runs[0].ID+`"`) {
			return clitest.WriteFile(t, filepath.Join(t.TempDir(), "run.json"), line)
		}
	}
	t.Fatalf("%s: there is no record of run %s", name, v.Runs[0].ID)
	return ""
}

// mainCause returns the kind and the subject of the first cause of a verdict, "" for none.
func mainCause(t *testing.T, path string) (kind, subject string) {
	t.Helper()
	var v struct {
		Causes []struct {
			Kind    string
			Subject struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(clitest.ReadFile(t, path)), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Causes) == 0 {
		return "", ""
	}
	return v.Causes[0].Kind, v.Causes[0].Subject.Name
}

// ofMarkup are tags, scripts and styles of a page, and the marks and invisible characters of a comment.
var ofMarkup = regexp.MustCompile("(?s)<(style|script).*?</(style|script)>|<[^>]*>|[*`\u2060\\\\]")

// plainText returns what a report says, with one space between words.
func plainText(report string) string {
	return strings.Join(strings.Fields(html.UnescapeString(ofMarkup.ReplaceAllString(report, " "))), " ")
}
