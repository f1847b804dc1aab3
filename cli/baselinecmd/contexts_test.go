package baselinecmd_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
)

// Six phones on two networks, five runs each: the phones differ by a third and more, the networks
// by nothing in frame times and by half in joules.
func TestContexts(t *testing.T) {
	t.Chdir(t.TempDir())
	var runs []run.Run
	for phone := range 6 {
		for n, network := range []string{"wifi", "3g"} {
			for i := range 5 {
				ms := 8 * math.Pow(1.4, float64(phone)) * (1 + 0.01*float64((i+n+phone)%5))
				runs = append(runs, run.Run{
					ID: fmt.Sprintf("%d-%s-%d", phone, network, i), App: run.App{Package: "com.example.mail"}, Scenario: "open", Status: run.Complete,
					Started:    time.Date(2026, 11, 1+i, phone, n, 0, 0, time.UTC),
					Context:    map[string]string{"model": fmt.Sprint("phone ", phone), "sdk": fmt.Sprint(30 + phone), "network": network, "energy_from": "rails"},
					Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.duration_ms": ms, "energy.total_j": 5 * (1 + 0.5*float64(n)) * (1 + 0.02*float64((i+phone)%5))}}},
				})
			}
		}
	}
	if err := os.WriteFile("runs.jsonl", []byte(clitest.RecordsOf(t, runs)), 0o644); err != nil {
		t.Fatal(err)
	}
	passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")

	text := passes(t, "baseline", "contexts", "--store", "h.db").Stdout
	for _, want := range []string{
		"com.example.mail, open: 60 accepted runs of 12 contexts",
		"network time per frame", "network energy", "model, sdk time per frame", "count as 1.", "runs of its own at most", "hardly count",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var found struct {
		Format    string
		Scenarios []struct {
			Runs, Contexts int
			Shares         []struct {
				Properties    []string
				Metric        string
				Pairs, Values int
				Share         *float64
				Low           *float64 `json:"share_low"`
				High          *float64 `json:"share_high"`
				Worth         *float64
			}
		}
	}
	if err := json.Unmarshal([]byte(passes(t, "baseline", "contexts", "--store", "h.db", "--format", "json", "--scenario", "open").Stdout), &found); err != nil {
		t.Fatal(err)
	}
	if found.Format != "apkgate.contexts/1" || len(found.Scenarios) != 1 || found.Scenarios[0].Runs != 60 || found.Scenarios[0].Contexts != 12 {
		t.Fatalf("%+v", found)
	}
	for _, s := range found.Scenarios[0].Shares {
		name := strings.Join(s.Properties, "+") + " " + s.Metric
		want, known := map[string][2]float64{
			"network frames.duration_ms":   {0, 0.3},
			"network energy.total_j":       {0.9, 1},
			"model+sdk frames.duration_ms": {0.9, 1},
			"model+sdk energy.total_j":     {0, 0.5},
		}[name]
		if !known || s.Share == nil || *s.Share < want[0] || *s.Share > want[1] || *s.Low > *s.Share || *s.High < *s.Share {
			t.Errorf("%s: %+v, want a share of %v", name, s, want)
		}
	}
	if n := len(found.Scenarios[0].Shares); n != 4 {
		t.Errorf("%d shares, want of two metrics by two sets of properties", n)
	}
	if got := passes(t, "baseline", "contexts", "--store", "h.db", "--scenario", "other").Stdout; got != "there is no accepted run\n" {
		t.Errorf("of another scenario: %q", got)
	}
	if got := clitest.Run(t, nil, "baseline", "contexts", "--store", "h.db", "--format", "xml"); got.Status != 2 {
		t.Errorf("an unknown format ends with %d", got.Status)
	}
}

// A single context has no differences, and the effect of two that were measured once is unknown.
func TestContextsWithTooFewRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name string, contexts ...string) {
		var runs []run.Run
		for i, network := range contexts {
			runs = append(runs, run.Run{
				ID: fmt.Sprint(name, i), App: run.App{Package: "com.example.mail"}, Scenario: name, Status: run.Complete, Started: time.Date(2026, 11, 1+i, 0, 0, 0, 0, time.UTC),
				Context: map[string]string{"network": network}, Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.duration_ms": 8 + float64(i)}}},
			})
		}
		if err := os.WriteFile(name+".jsonl", []byte(clitest.RecordsOf(t, runs)), 0o644); err != nil {
			t.Fatal(err)
		}
		passes(t, "baseline", "import", "--store", "h.db", name+".jsonl")
	}
	write("alone", "wifi", "wifi", "wifi")
	write("two", "wifi", "wifi", "3g", "3g")
	text := passes(t, "baseline", "contexts", "--store", "h.db").Stdout
	for _, want := range []string{
		"com.example.mail, alone: 3 accepted runs of 1 context\nNo two contexts with enough runs differ in anything.\n",
		"unknown: 1 pair, 2 values", "don't count: too few show what it makes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
