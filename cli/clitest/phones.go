package clitest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

// PhoneRun is a run on one of so many phones, with so many UI events.
func PhoneRun(i, phones, events int) run.Run {
	r := run.Run{
		Format: run.Format, ID: fmt.Sprint("run", i), Started: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC),
		App: run.App{Package: "org.example.mail"}, Scenario: "open", Status: run.Complete,
		Context: map[string]string{"model": fmt.Sprint("phone", i%phones), "network": "wifi"},
	}
	for n := range 3 {
		ms := map[string]float64{"frames.duration_ms": 8 + float64(i%7)/10 + float64(n)/10, "cpu.time_ms": 100 + float64((i+n)%5)}
		it := run.Iteration{Metrics: ms}
		for e := range events {
			it.Events = append(it.Events, run.Bucket{Name: fmt.Sprint("E", e), Metrics: ms})
		}
		r.Iterations = append(r.Iterations, it)
	}
	return r
}

// PhoneRuns are n runs, cycling through so many phones.
func PhoneRuns(n, phones, events int) (runs []run.Run) {
	for i := range n {
		runs = append(runs, PhoneRun(i, phones, events))
	}
	return runs
}

// RecordsOf returns runs as a file of records.
func RecordsOf(t *testing.T, runs []run.Run) string {
	t.Helper()
	var b strings.Builder
	for _, r := range runs {
		data, err := run.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
		b.WriteByte('\n')
	}
	return b.String()
}
