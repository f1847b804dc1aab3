package collect_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// tenMinutes is an app that is used for ten minutes, with a list that binds its items for so long at
// a random second; 0 for none.
func tenMinutes(r *rand.Rand, long time.Duration) (app string, second int) {
	second = 20 + r.IntN(560)
	var b strings.Builder
	b.WriteString("apkgate-simulated-app/1\npackage com.example.demo\nnoise session 2% repetition 1% frame 10% tail 0.3%x3\ncost 5ms\n")
	if long > 0 {
		fmt.Fprintf(&b, "calls com.example.chat.List.onLayout 5ms after swipe\ncalls com.example.chat.List.bind %v after swipe times 3 from com.example.chat.List.onLayout\n", long/3)
	}
	b.WriteString("scenario back 10m\n  start 30\n")
	told := false
	for at := 5; at < 598; at += 13 {
		if !told && at >= second {
			fmt.Fprintf(&b, "  %ds swipe 20\n", second)
			told = true
		}
		if at != second {
			fmt.Fprintf(&b, "  %ds look 12\n", at)
		}
	}
	if !told {
		fmt.Fprintf(&b, "  %ds swipe 20\n", second)
	}
	return b.String() + "test com.example.chat.BackTest#goes back\n", second
}

// TestCallsJustInTime is row 8 of the issue: a jank at a random second of ten minutes is kept with
// the guilty method on top, and of undisturbed minutes nothing is. A few of each here,
// and 200 of each with APKGATE_EVALUATION=full (docs/evaluation/methods-in-time.md).
func TestCallsJustInTime(t *testing.T) {
	t.Parallel()
	runs := 2
	if os.Getenv("APKGATE_EVALUATION") == "full" {
		runs = 200
	} else if testing.Short() {
		t.Skip("simulates forty minutes of a phone: not with -short")
	}
	var mu sync.Mutex
	kept, guilty, quiet, bytes := 0, 0, 0, []int64{}
	group := make(chan struct{}, 2)
	var all sync.WaitGroup
	one := func(i int, disturbed bool) {
		defer func() { <-group; all.Done() }()
		r := rand.New(rand.NewPCG(uint64(i), 24))
		long := time.Duration(0)
		if disturbed {
			long = 750*time.Millisecond + time.Duration(r.IntN(750))*time.Millisecond
		}
		app, second := tenMinutes(r, 10*long/7) // a fast phone
		profile, by, source := "pixel-7-android-16", config.MethodsLong, "art-long"
		if i%2 == 1 {
			profile, by, source = "pixel-7-android-14", config.MethodsSamples, "simpleperf"
		}
		_, job, options := calling(t, profile, app, config.Methods{Keep: config.KeepAnomalies, By: by}, simulator.Options{Chatter: -1})
		job.Scenario.WarmUp, job.Scenario.Timeout = 0, 15*time.Minute
		got := collect.Collect(t.Context(), job, options)
		mu.Lock()
		defer mu.Unlock()
		m, n := got.Run.MethodTraces, profiles(got.Run)
		switch {
		case got.Err != nil:
			t.Errorf("%d: %v", i, got.Err)
		case !disturbed && n > 0:
			quiet++
			t.Errorf("%d: %d files of a run in which nothing went wrong", i, n)
		case disturbed && n == 1:
			kept++
			at := slices.IndexFunc(got.Run.Evidence, func(e run.Evidence) bool { return e.Kind == run.Profile })
			bytes = append(bytes, got.Run.Evidence[at].Bytes)
			if m != nil && len(m.List) > 0 && m.List[0].Name == "com.example.chat.List.bind" && m.Source == source {
				guilty++
				break
			}
			t.Logf("%d: %s at second %d: %+v %v", i, by, second, m, got.Run.Warnings)
		case disturbed:
			t.Logf("%d: %s: %v at second %d: %d files, %v", i, by, long, second, n, got.Run.Warnings)
		}
	}
	for i := range runs {
		for _, disturbed := range []bool{true, false} {
			group <- struct{}{}
			all.Add(1)
			go one(i, disturbed)
		}
	}
	all.Wait()
	slices.Sort(bytes)
	t.Logf("%d runs with a jank: %d kept one file, %d with the method on top; files of %v bytes", runs, kept, guilty, bytes)
	if 100*guilty < 98*runs {
		t.Errorf("%d of %d have the method on top", guilty, runs)
	}
}
