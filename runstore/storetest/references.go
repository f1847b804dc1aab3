package storetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// paperExample is Table 1 of the paper: T1 and T3 share three properties with
// T4, T2 shares one.
func paperExample(t *testing.T, s runstore.Store) {
	device := func(sdk, maker, model, cpu, network string) map[string]string {
		return map[string]string{"sdk": sdk, "manufacturer": maker, "model": model, "cpu": cpu, "network": network}
	}
	accept(t, s,
		newRun("T1", day(1), device("4.1", "samsung", "S3", "x86", "wifi"), 148),
		newRun("T2", day(2), device("4.2", "samsung", "S4", "arm", "wifi"), 150),
		newRun("T3", day(3), device("4.1", "htc", "One", "x86", "wifi"), 149))
	q := query(device("4.1", "lg", "G4", "x86", "wifi"))
	wantEqual(t, "references", ids(references(t, s, q)), []string{"T3", "T1", "T2"})
	q.Use = []string{"network", "model"}
	wantEqual(t, "by network and model alone", ids(references(t, s, q)), []string{"T3", "T2", "T1"})
	q.Use = nil
	q.Limit = 2
	wantEqual(t, "the nearest two", ids(references(t, s, q)), []string{"T3", "T1"})
}

func onlyAcceptedAreReferences(t *testing.T, s runstore.Store) {
	otherApp, otherScenario := newRun("app", day(1), nil, 1), newRun("scenario", day(2), nil, 1)
	otherApp.App.Package, otherScenario.Scenario = "org.example.game", "scroll"
	accept(t, s, otherApp, otherScenario, newRun("yes", day(3), nil, 1), newRun("no-more", day(4), nil, 1))
	add(t, s, newRun("undecided", day(5), nil, 1), newRun("rejected", day(6), nil, 1))
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "rejected", "no-more")
	wantEqual(t, "references", ids(references(t, s, query(nil))), []string{"yes"})
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "no-more")
	wantEqual(t, "references", ids(references(t, s, query(nil))), []string{"no-more", "yes"})
	q := query(nil)
	q.Package = "org.example.none"
	wantEqual(t, "references of an unknown app", ids(references(t, s, q)), []string{})
}

// referencesAreOfTheContext has runs of one session: the gate knows which of them are no evidence
// for another, so that the answer is the same for all runs of a context.
func referencesAreOfTheContext(t *testing.T, s runstore.Store) {
	a, b, c, none := newRun("a", day(1), nil, 1), newRun("b", day(2), nil, 1), newRun("c", day(3), nil, 1), newRun("none", day(4), nil, 1)
	a.Session, b.Session, c.Session = "s1", "s2", "s2"
	accept(t, s, a, b, c, none)
	for _, r := range []run.Run{c, none} {
		refs := references(t, s, runstore.For(r))
		wantEqual(t, "references of "+r.ID, ids(refs), []string{"none", "c", "b", "a"})
		wantEqual(t, "session of b", refs[2].Session, "s2")
	}
}

// nearestAsTheGateCountsThem has a phone that was charged and another phone on battery: a property
// that does not describe the device makes no run nearer.
func nearestAsTheGateCountsThem(t *testing.T, s runstore.Store) {
	with := func(model, powered, level, from string) map[string]string {
		return map[string]string{"model": model, "powered": powered, "battery": level, "energy_from": from}
	}
	accept(t, s,
		newRun("its own", day(1), with("S3", "usb", "80-100%", "rails"), 1),
		newRun("another", day(2), with("G4", "battery", "0-19%", "model x"), 1))
	q := query(with("S3", "battery", "0-19%", "model x"))
	q.Limit = 1
	wantEqual(t, "the nearest", ids(references(t, s, q)), []string{"its own"})
	q.Use = []string{"powered", "model", "battery"}
	wantEqual(t, "the nearest by what is named", ids(references(t, s, q)), []string{"another"})
}

// nearestCommitsFirst has the base branch's commits m1 to m3, of which m2 is the merge base, and
// runs of none of them.
func nearestCommitsFirst(t *testing.T, s runstore.Store) {
	at := func(id string, d int, commit, model string) run.Run {
		r := newRun(id, day(d), map[string]string{"model": model}, float64(d))
		r.Source.Commit = commit
		return r
	}
	accept(t, s,
		at("m1", 1, "m1", "S3"), at("m1-again", 9, "m1", "S3"), at("m2", 2, "m2", "S3"), at("m3", 3, "m3", "S3"),
		at("none", 4, "", "S3"), at("other", 5, "x", "S3"), at("far-m2", 6, "m2", "G4"), at("far-m3", 7, "m3", "G4"))
	add(t, s, at("undecided", 8, "m2", "S3"))
	q := query(map[string]string{"model": "S3"})
	wantEqual(t, "without commits", ids(references(t, s, q)), []string{"m1-again", "other", "none", "m3", "m2", "m1", "far-m3", "far-m2"})
	q.Commits = []string{"m2", "m1", "m2", "gone", ""}
	wantEqual(t, "from the merge base on", ids(references(t, s, q)), []string{"m2", "m1-again", "m1", "other", "none", "m3", "far-m2", "far-m3"})
	q.Limit = 2
	wantEqual(t, "two of them", ids(references(t, s, q)), []string{"m2", "m1-again"})
	q.Limit = 4
	wantEqual(t, "four of them", ids(references(t, s, q)), []string{"m2", "m1-again", "m1", "other"})
	mark(t, s, runstore.Mark{State: runstore.Rebaselined, Since: day(4)}, "other")
	q = query(map[string]string{"model": "S3"})
	q.Commits = []string{"m2", "m1"}
	wantEqual(t, "of a new level", ids(references(t, s, q)), []string{"m1-again", "other", "none", "far-m2", "far-m3"})
	q.Commits = make([]string, runstore.MaxCommits+1)
	if _, err := s.References(t.Context(), q); err == nil {
		t.Error("a query with endless commits was answered")
	}
}

// referencesAsTheGate: runs that the gate never compares are not among the nearest, and properties
// that it sets aside make no context nearer.
func referencesAsTheGate(t *testing.T, s runstore.Store) {
	phone := func(more ...string) map[string]string {
		c := map[string]string{"model": "S3", "network": "wifi"}
		for i := 0; i < len(more); i += 2 {
			c[more[i]] = more[i+1]
		}
		return c
	}
	accept(t, s,
		newRun("simulated", day(9), phone(devctx.Simulated, "true"), 1),
		newRun("macrobenchmark", day(8), phone(devctx.MeasuredBy, "macrobenchmark"), 1),
		newRun("deadline", day(7), phone(metric.FramesBy, "deadline"), 1),
		newRun("low battery", day(3), phone(devctx.Battery, "0-19%", devctx.Powered, "usb"), 1),
		newRun("plain", day(2), phone(), 1),
		newRun("same charge, other network", day(6), map[string]string{
			"model": "S3", "network": "3g", devctx.Battery: "80-100%", devctx.Powered: "battery", metric.EnergyFrom: "rails",
		}, 1))
	q := query(phone(devctx.Battery, "80-100%", devctx.Powered, "battery", metric.EnergyFrom, "rails"))
	wantEqual(t, "references", ids(references(t, s, q)), []string{"deadline", "low battery", "plain", "same charge, other network"})
	q.Limit = 3
	wantEqual(t, "the nearest three", ids(references(t, s, q)), []string{"deadline", "low battery", "plain"})
	q.Use, q.Limit = []string{devctx.Battery}, 1
	wantEqual(t, "the nearest by the battery alone", ids(references(t, s, q)), []string{"same charge, other network"})
	wantEqual(t, "of a simulated phone", ids(references(t, s, query(phone(devctx.Simulated, "true")))), []string{"simulated"})
	wantEqual(t, "of an unknown tool", ids(references(t, s, query(phone(devctx.MeasuredBy, "x")))), []string{})
	wantEqual(t, "of a tool and a kind of frame", ids(references(t, s, query(phone(devctx.MeasuredBy, "macrobenchmark", metric.FramesBy, "deadline")))), []string{"macrobenchmark"})
}

// referencesSumUp has three iterations, one of which is far off.
func referencesSumUp(t *testing.T, s runstore.Store) {
	r := newRun("a", day(1), nil, 0)
	r.Iterations, r.Source.Commit = nil, "c0ffee"
	for _, frames := range []float64{10, 20, 90} {
		r.Iterations = append(r.Iterations, run.Iteration{
			Metrics: map[string]float64{"frames.count": frames},
			Events:  []run.Bucket{{Name: "tap", Metrics: map[string]float64{"frames.count": frames / 10}}, {Name: "tap", Metrics: map[string]float64{"frames.count": 7}}},
		})
	}
	accept(t, s, r)
	for centre, want := range map[run.Centre]map[run.Cell]float64{
		"":         {{Metric: "frames.count"}: 20, {Event: "tap", Metric: "frames.count"}: 2, {Event: "tap#2", Metric: "frames.count"}: 7},
		run.Median: {{Metric: "frames.count"}: 20, {Event: "tap", Metric: "frames.count"}: 2, {Event: "tap#2", Metric: "frames.count"}: 7},
		run.Mean:   {{Metric: "frames.count"}: 40, {Event: "tap", Metric: "frames.count"}: 4, {Event: "tap#2", Metric: "frames.count"}: 7},
	} {
		q := query(nil)
		q.Centre = centre
		found := references(t, s, q)[0]
		wantEqual(t, "cells by "+string(centre), found.Cells.Map(), want)
		// For 10, 20 and 90 the means of pairs are 10, 15, 20, 50, 55 and 90.
		said, _ := found.Repeated(run.Cell{Metric: "frames.count"})
		wantEqual(t, "repetitions by "+string(centre), fmt.Sprintf("%d about %g, %.3f apart", said.N, said.Centre, said.SD), "3 about 35, 43.589 apart")
		wantEqual(t, "commit", found.Commit, "c0ffee")
	}
}

// referencesAsPlain compares with runstore.Index on random histories: few and many contexts, runs
// that started together, limits and exclusions.
func referencesAsPlain(t *testing.T, s runstore.Store) {
	random := rand.New(rand.NewPCG(1, 2))
	context := func() map[string]string {
		c := map[string]string{}
		for _, name := range []string{"sdk", "model", "network", "cpu"} {
			if n := random.IntN(4); n > 0 {
				c[name] = strconv.Itoa(n)
			}
		}
		return c
	}
	runs := numbered(800, func(i int) run.Run {
		// Half of the runs share one context, so that one cluster fills many pages.
		r := newRun(fmt.Sprintf("%04d", random.IntN(10_000)*10_000+i), day(1).Add(time.Duration(random.IntN(500))*time.Minute), nil, float64(i))
		r.Session, r.Source.Commit = strconv.Itoa(random.IntN(50)), strconv.Itoa(random.IntN(30))
		for range random.IntN(6) { // repetitions of times, some of which have no logarithm
			r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{
				"frames.count": float64(random.IntN(60)), "cpu.time_ms": 10 * max(random.NormFloat64()+2, 0),
			}})
		}
		if r.Context = context(); i%2 == 0 {
			r.Context = map[string]string{"sdk": "1", "model": "1"}
		}
		return r
	})
	accept(t, s, runs...)
	for range 25 {
		q := query(context())
		q.Limit = 1 + random.IntN(1000)
		if random.IntN(2) == 0 {
			q.Use = []string{"sdk", "network"}
		}
		if random.IntN(2) == 0 {
			q.Commits = []string{strconv.Itoa(random.IntN(40)), strconv.Itoa(random.IntN(40)), strconv.Itoa(random.IntN(40))}
		}
		want := plain(t, runs, q)
		if d := cmp.Diff(want, references(t, s, q), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%+v (-plain +store):\n%s", q, d)
		}
	}
}

// plain answers the query from the runs, which are all accepted.
func plain(t *testing.T, runs []run.Run, q runstore.Query) []run.Summary {
	t.Helper()
	ix := runstore.NewIndex(q.Centre)
	for _, r := range runs {
		if _, err := ix.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	want, err := ix.References(q)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// levelsOfSubjectsApart rebaselines runs of three subjects in one call, and one subject more than
// once.
func levelsOfSubjectsApart(t *testing.T, s runstore.Store) {
	for d := range 5 {
		mail, scroll, game := newRun(fmt.Sprint("mail-", d), day(d), nil, 1), newRun(fmt.Sprint("scroll-", d), day(d), nil, 1), newRun(fmt.Sprint("game-", d), day(d), nil, 1)
		scroll.Scenario, game.App.Package = "scroll", "org.example.game"
		accept(t, s, mail, scroll, game)
	}
	of := func(pkg, scenario string) []string {
		q := query(nil)
		q.Package, q.Scenario = pkg, scenario
		return ids(references(t, s, q))
	}
	mark(t, s, runstore.Mark{State: runstore.Rebaselined}, "mail-3", "mail-4", "scroll-2", "game-1")
	wantEqual(t, "mail", of("org.example.mail", "open-message"), []string{"mail-4", "mail-3"})
	wantEqual(t, "the other scenario", of("org.example.mail", "scroll"), []string{"scroll-4", "scroll-3", "scroll-2"})
	wantEqual(t, "the other app", of("org.example.game", "open-message"), []string{"game-4", "game-3", "game-2", "game-1"})
	mark(t, s, runstore.Mark{State: runstore.Rebaselined, Since: day(4)}, "game-1")
	mark(t, s, runstore.Mark{State: runstore.Rebaselined, Since: day(2)}, "game-3")
	wantEqual(t, "of two levels the later", of("org.example.game", "open-message"), []string{"game-4"})
}

// manyContextsAsPlain has a unique property in each run, such as a temperature or a serial number,
// so that there are as many contexts as runs.
func manyContextsAsPlain(t *testing.T, s runstore.Store) {
	runs := numbered(1_200, func(i int) run.Run {
		r := newRun(fmt.Sprintf("%04d", i), day(1).Add(time.Duration(i*7%500)*time.Minute), map[string]string{"serial": strconv.Itoa(i)}, float64(i))
		r.Source.Commit = strconv.Itoa(i % 100)
		if i%20 > 0 {
			r.Context["model"] = "S3"
		}
		return r
	})
	accept(t, s, runs...)
	for _, limit := range []int{1, 700, 1_150, 2_000} {
		for _, commits := range [][]string{nil, {"7", "3"}} {
			q := query(map[string]string{"model": "S3", "serial": "none"})
			q.Limit, q.Commits = limit, commits
			want := plain(t, runs, q)
			if d := cmp.Diff(want, references(t, s, q), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%+v (-plain +store):\n%s", q, d)
			}
		}
	}
	mark(t, s, runstore.Mark{State: runstore.Rebaselined, Since: day(1).Add(400 * time.Minute)}, "0058") // it started at 406
	found := references(t, s, query(map[string]string{"model": "S3"}))
	level := 0
	for _, r := range runs {
		if !r.Started.Before(day(1).Add(400 * time.Minute)) {
			level++
		}
	}
	wantEqual(t, "references of the new level", len(found), level)
}

func rebaselineStartsALevel(t *testing.T, s runstore.Store) {
	other := newRun("other", day(1), nil, 1)
	other.Scenario = "scroll"
	accept(t, s, other, newRun("1", day(1), nil, 1), newRun("2", day(2), nil, 1), newRun("3", day(3), nil, 1), newRun("4", day(4), nil, 1))
	add(t, s, newRun("5", day(5), nil, 1))
	refs := func() []string { return ids(references(t, s, query(nil))) }

	mark(t, s, runstore.Mark{State: runstore.Rebaselined, Note: "new renderer"}, "3", "2")
	wantEqual(t, "from 2 on", refs(), []string{"4", "3", "2"})
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "5")
	wantEqual(t, "one more", refs(), []string{"5", "4", "3", "2"})
	mark(t, s, runstore.Mark{State: runstore.Rebaselined}, "4")
	wantEqual(t, "from 4 on", refs(), []string{"5", "4"})
	mark(t, s, runstore.Mark{State: runstore.Rebaselined, Since: day(5)}, "4")
	wantEqual(t, "from a day on", refs(), []string{"5"})
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "4")
	wantEqual(t, "back to the level before", refs(), []string{"5", "4", "3", "2"})
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "2", "3")
	wantEqual(t, "no level left", refs(), []string{"5", "4", "1"})

	q := query(nil)
	q.Scenario = "scroll"
	wantEqual(t, "the other scenario", ids(references(t, s, q)), []string{"other"})
}

// retiredRunsAreTold tests that List and Get agree with References on a level.
func retiredRunsAreTold(t *testing.T, s runstore.Store) {
	other := newRun("other", day(1), nil, 1)
	other.App.Package = "org.example.game"
	accept(t, s, other, newRun("1", day(1), nil, 1), newRun("2", day(2), nil, 1), newRun("3", day(3), nil, 1))
	add(t, s, newRun("0", day(0), nil, 1))
	retired := func() []string {
		out := []string{}
		for e, err := range s.List(t.Context(), runstore.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Get(t.Context(), e.Run.ID)
			if err != nil || got.Retired != e.Retired {
				t.Errorf("run %s: Get says retired %v, List %v, %v", e.Run.ID, got.Retired, e.Retired, err)
			}
			if e.Retired {
				out = append(out, e.Run.ID)
			}
		}
		return out
	}
	wantEqual(t, "retired before there is a level", retired(), []string{})
	mark(t, s, runstore.Mark{State: runstore.Rebaselined, Batch: "one operation"}, "2")
	wantEqual(t, "retired", retired(), []string{"1", "0"})
	accepted := runstore.Filter{States: []runstore.State{runstore.Accepted, runstore.Rebaselined}, Level: true}
	wantEqual(t, "accepted on the level", sorted(list(t, s, accepted)), []string{"2", "3", "other"})
	accepted.Limit = 2
	wantEqual(t, "the newest two of them", list(t, s, accepted), []string{"3", "2"})
	e, err := s.Get(t.Context(), "2")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "batch", e.Mark.Batch, "one operation")
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "2")
	wantEqual(t, "retired after the level is taken back", retired(), []string{})
}
