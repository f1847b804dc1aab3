package simapp

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseShippedApps(t *testing.T) {
	for _, name := range Shipped() {
		data, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		app, err := Parse(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(string(data), "imulated") {
			t.Errorf("%s does not say that it is simulated", name)
		}
		for _, tc := range app.TestCases {
			if _, ok := app.Scenario(tc.Scenario); !ok && app.Tests == "" {
				t.Errorf("%s: test %s plays %q, which is not there", name, tc.Class, tc.Scenario)
			}
		}
	}
}

// The paper's section 8.4: 20 events in 102 s, janks after events 3, 7, 16, 17.
func TestMutatedExoPlayerMatchesThePaper(t *testing.T) {
	data, err := Open("exoplayer-mutated")
	if err != nil {
		t.Fatal(err)
	}
	app, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	sc := app.Scenarios[0]
	if len(sc.Events) != 20 || sc.Duration != 102*time.Second {
		t.Fatalf("%d events in %v, want 20 in 1m42s", len(sc.Events), sc.Duration)
	}
	want := []string{sc.Events[2].Name, sc.Events[6].Name, sc.Events[15].Name, sc.Events[16].Name}
	if got := app.Janks[0].After; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("janks after %q, want after %q", got, want)
	}
}

func TestParseReadsEveryStatement(t *testing.T) {
	app, err := Parse([]byte(`apkgate-simulated-app/1
# a comment
package com.example.a
version 2.1 21
build worse
activity .Main
cost 6ms
think 500us
startup 300ms
touch 12
memory 50000
noise session 4% frame 0.2 tail 1%x4
network 3g delay 500ms spread 50% lag 60ms@4%
lag 40ms@1%
slow sdk>=5.0 x18
slow api<24 x2 after tap
jank 350ms after tap,swipe recover 40%
fault crash after tap repetition 3
events silent
scenario main 5s
  start 30
  1s tap 40 opens
  2500ms swipe 60 loads # and another comment
test com.example.a.MainTest#runs main
`))
	if err != nil {
		t.Fatal(err)
	}
	if app.Version != "2.1" || app.VersionCode != 21 || app.Cost != 6*time.Millisecond || !app.Silent {
		t.Errorf("read %+v", app)
	}
	if n := app.Noise; n.Session != 0.04 || n.Frame != 0.2 || n.Tail != 0.01 || n.TailFactor != 4 {
		t.Errorf("noise %+v", n)
	}
	if n := app.Networks["3g"]; n.Delay != 500*time.Millisecond || n.Spread != 0.5 || n.Lag != (Lag{0.04, 60 * time.Millisecond}) {
		t.Errorf("network %+v", n)
	}
	if len(app.Slow) != 2 || app.Slow[0].Factor != 18 || app.Slow[1].After[0] != "tap" {
		t.Errorf("slow %+v", app.Slow)
	}
	if f := app.Faults[0]; f.Kind != Crash || f.After != "tap" || f.Repetition != 3 {
		t.Errorf("fault %+v", f)
	}
	sc := app.Scenarios[0]
	if sc.Start != 30 || len(sc.Events) != 2 || !sc.Events[0].Opens || !sc.Events[1].Loads || sc.Events[1].At != 2500*time.Millisecond {
		t.Errorf("scenario %+v", sc)
	}
	if tc := app.TestCases[0]; tc != (TestCase{Class: "com.example.a.MainTest", Method: "runs", Scenario: "main"}) {
		t.Errorf("test %+v", tc)
	}
}

func TestParseErrors(t *testing.T) {
	const head = "apkgate-simulated-app/1\npackage a.b\n"
	for _, tt := range []struct{ text, want string }{
		{"hello", `line 1: want "apkgate-simulated-app/1"`},
		{"apkgate-simulated-app/2\n", "line 1: want"},
		{"apkgate-simulated-app/1\n", "names no package"},
		{head + "speed 3\n", `line 3: "speed" is not one of activity, allocates, benchmark, blocks, build, calls, cost`},
		{head + "cost 7\n", `line 3: "7" is not a duration`},
		{head + "cost 7ms 8ms\n", "line 3: want one value, have 2"},
		{head + "cost -7ms\n", "line 3"},
		{head + "cost 2h\n", "at most 1m0s"},
		{head + "slow sdk>5 18\n", `line 3: "18" is not a factor such as x18`},
		{head + "slow ram>5 x2\n", "is not a condition such as"},
		{head + "slow always xNaN\n", "is not a factor"},
		{head + "noise frame NaN\n", "is not a share"},
		{head + "noise frame\n", `"frame" has no value`},
		{head + "jank 3ms after a,,b\n", "is not an event's name"},
		{head + "fault explode\n", `"explode" is not one of crash, anr`},
		{head + "fault crash at 3\n", "line 3: at: "},
		{head + "fault crash when tuesday\n", `line 3: when: "tuesday" is not a condition`},
		{head + "1s tap 3\n", "line 3: this belongs below a scenario"},
		{head + "scenario s 5s\n6s tap 3\n", "is after the scenario's end at 5s"},
		{head + "scenario s 5s\n2s tap 3\n1s tap 3\n", "want them in order"},
		{head + "scenario s 5s\n1s tap 3 shakes\n", `"shakes" is not one of opens, opens for DURATION, loads`},
		{head + "scenario s 5s\n1s tap 3 for 2s\n", `"for" is not one of opens, opens for DURATION, loads`},
		{head + "scenario s 5s\n1s tap 3 opens for\n", `"for" is not one of opens, opens for DURATION, loads`},
		{head + "scenario s 5s\n1s tap 3 opens for 0s\n", `never there`},
		{head + "scenario s 5s\nscenario s 5s\n", "is there twice"},
		{head + "scenario s 5s\njank 3ms after nope\n", "no scenario has that event"},
		{head + "test a.T nope\n", `there is no scenario "nope"`},
		{head + "package a.b;rm\n", "is not a package name"},
		{head + "\xff\n", "not UTF-8"},
		{head + strings.Repeat("#", MaxBytes), "larger than 256 KiB"},
	} {
		_, err := Parse([]byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60q: error %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestConditions(t *testing.T) {
	in := Context{SDK: "5.1.0", API: 22, Network: "3g"}
	for text, want := range map[string]bool{
		"sdk>=5.0": true, "sdk>=5.1.0": true, "sdk>=5.1.1": false, "sdk<10": true, "sdk=5.1": true,
		"api>=21": true, "api<21": false, "network=3g": true, "network=wifi": false, "always": true,
	} {
		c, err := condition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := c.Holds(in); got != want {
			t.Errorf("%s holds on Android 5.1.0 with 3g: %v, want %v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Shipped() {
		data, _ := Open(name)
		f.Add(data)
	}
	f.Add([]byte(base + "method a.b 5% from a.c\nmethod a.c jank\nload 5ms after tap in a.b\ntraffic 5 after tap\nwakelock w from tap for 1s\ndebuggable\n"))
	f.Add([]byte("apkgate-simulated-app/1\npackage a.b\nfault anr kind job because binder a.b a.I::m through c.d a.J::n lock T\nlayers a.V id v\nlayers a.W in v at 0,0-5,5 bare gone\n"))
	f.Add([]byte("apkgate-simulated-app/1\npackage a.b\nfault anr for 6s\nevents silent\ntouch 3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		app, err := Parse(data)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		if app.Package == "" || !Is(data) {
			t.Fatalf("accepted a file without a package or a first line: %q", data)
		}
		for i := range app.Power.Methods {
			if chain := app.Power.Chain(i); len(chain) > len(app.Power.Methods) {
				t.Fatalf("the callers of method %d have no end: %v", i, chain)
			}
		}
		if again, err := Parse([]byte(app.Plain)); err == nil && (len(again.Power.Methods) > 0 || again.Plain != app.Plain) {
			t.Fatalf("what chance sees of the file tells of power: %q", app.Plain)
		}
		for _, sc := range app.Scenarios {
			for i, e := range sc.Events {
				if e.At > sc.Duration || i > 0 && e.At < sc.Events[i-1].At {
					t.Fatalf("event %q at %v is out of order", e.Name, e.At)
				}
			}
		}
	})
}

// The example in the document is valid.
func TestParseTheDocumentedExample(t *testing.T) {
	doc, err := os.ReadFile("../../docs/format/simulated-app.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "## An example\n")
	example, _, ok := strings.Cut(rest, "\n## ")
	var text strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(example), "\n") {
		text.WriteString(strings.TrimPrefix(line, "    ") + "\n")
	}
	app, err := Parse([]byte(text.String()))
	if !ok || err != nil || len(app.Scenarios) != 1 {
		t.Errorf("the example in the document: %v", err)
	}
	for _, name := range Shipped() {
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("the document does not name %s", name)
		}
	}
	for statement := range statements {
		if !strings.Contains(string(doc), "| `"+statement+" ") && !strings.Contains(string(doc), "| `"+statement+"` ") {
			t.Errorf("the document does not explain %s", statement)
		}
	}
	for statement := range powerStatements {
		if !strings.Contains(string(doc), "| `"+statement+" ") && !strings.Contains(string(doc), "| `"+statement+"` ") {
			t.Errorf("the document does not explain %s", statement)
		}
	}
}
