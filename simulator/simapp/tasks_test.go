package simapp

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const withTasks = Format + "\npackage com.example.a\nunit pool-1 thread-pool size 3 wrapped\nunit work handler-thread\nunit io coroutines size 4\n%s\nscenario main 5s\n 1s tap 40\n 2s back 1\n"

func TestParseTasks(t *testing.T) {
	t.Parallel()
	app, err := Parse(fmt.Appendf(nil, withTasks, `task load on pool-1 after tap,start count 4 every 5ms runs 20ms io 30ms binder com.x.y IFeed::query 40ms at 10ms shows 12 until back cancels of com.example.Feed$1 from a.B.c(B.java:42),com.example.Feed.load
task tell on work after load delay 50ms code -7 replaces traces Feed.tell
task fetch on io after tap network 1s suspends`))
	if err != nil {
		t.Fatal(err)
	}
	if len(app.Units) != 3 || app.Units[0] != (Unit{Name: "pool-1", Kind: ThreadPool, Size: 3, Wrapped: true}) || app.Units[1].Size != 1 || len(app.Tasks) != 3 {
		t.Fatalf("%+v and %d tasks", app.Units, len(app.Tasks))
	}
	load, tell, fetch := app.Tasks[0], app.Tasks[1], app.Tasks[2]
	if load.Count != 4 || load.Every != 5*time.Millisecond || load.Runs != 20*time.Millisecond || load.Waits[WaitIO] != 30*time.Millisecond || load.Waits[WaitBinder] != 40*time.Millisecond || load.Peer != (Peer{"com.x.y", "IFeed", "query"}) || load.Shows != 12 || !load.Cancels || len(load.Context) != 2 || load.Class != "com.example.Feed$1" {
		t.Errorf("%+v", load)
	}
	if tell.After[0] != "load" || tell.Code != -7 || tell.Delay != 50*time.Millisecond || !tell.Replaces || tell.Count != 1 || !fetch.Suspends {
		t.Errorf("%+v, %+v", tell, fetch)
	}
	if strings.Contains(app.Plain, "task") || strings.Contains(app.Plain, "unit") {
		t.Errorf("tasks change the random numbers of frames: %s", app.Plain)
	}
}

func TestParseRejectsTasks(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"task a on gone after tap":                                  `there is no unit "gone"`,
		"task a on work after tapp":                                 `no scenario has that event, and no task above it`,
		"task b on work after a\ntask a on work after tap":          `no task above it`,
		"task a on work after tap\ntask a on work after tap":        `twice`,
		"task tap on work after tap":                                `would schedule itself again`,
		"task a on work after tap suspends":                         "only coroutines",
		"task a on work after tap cancels":                          "want until EVENT",
		"task a on pool-1 after tap code 1":                         "no messages",
		"task a on work after tap runs":                             "has no value",
		"task a on work after tap binder com.x.y IFeed::query":      "binder: want PROCESS INTERFACE::METHOD and a duration",
		"task a on work after tap binder com.x.y query 1s":          `binder: "query" is not INTERFACE::METHOD`,
		"task a on work after tap until gone":                       "no scenario has that event",
		"task a on work after tap from a(b":                         "not a frame such as",
		"task a on work after tap from " + strings.Repeat("a,", 70): "want at most 64",
		"task a on work":                                            "want NAME on UNIT",
		"unit x y":                                                  "is not one of",
		"unit x thread-pool":                                        "want size",
		"unit x handler-thread size 2":                              `has no "size"`,
		"unit main handler-thread":                                  "main is each app's own",
		"unit work thread":                                          "twice",
		"task a on work after tap count 5000":                       "from 1 to 1000",
		"task a on work after tap network 2h":                       "not a duration",
	} {
		if _, err := Parse(fmt.Appendf(nil, withTasks, line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", line, err, want)
		}
	}
}
