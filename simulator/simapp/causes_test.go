package simapp

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const scrolls = "apkgate-simulated-app/1\npackage a.b\nscenario s 5s\n1s scroll 60\n2s tap 30\n"

func TestParseReadsCauses(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	scroll := []string{"scroll"}
	for line, want := range map[string]Cause{
		"blocks binder com.x.y:remote IFeed::query 24ms after scroll,tap every 4 from 2 in measure": {
			Kind: Binder, For: 24 * ms, After: []string{"scroll", "tap"}, Every: 4, First: 2, Stage: Measure, Peer: Peer{"com.x.y:remote", "IFeed", "query"}},
		"blocks binder system_server IWindowManager::addWindow 9ms through /system/bin/vold IVold::mount after scroll": {
			Kind: Binder, For: 9 * ms, After: scroll, Every: 1, First: 1, Stage: StageAnimation,
			Peer: Peer{"system_server", "IWindowManager", "addWindow"}, Through: &Peer{"/system/bin/vold", "IVold", "mount"}},
		"blocks disk 12ms after scroll":                     {Kind: Disk, For: 12 * ms, After: scroll, Every: 1, First: 1, Stage: StageAnimation, Name: DiskRead},
		"blocks disk 12ms after scroll by fsync in input":   {Kind: Disk, For: 12 * ms, After: scroll, Every: 1, First: 1, Stage: StageInput, Name: DiskSync},
		"blocks lock db-writer 30ms after scroll":           {Kind: Lock, For: 30 * ms, After: scroll, Every: 1, First: 1, Stage: StageAnimation, Name: "db-writer"},
		"blocks lock db-writer 30ms through disk after tap": {Kind: Lock, For: 30 * ms, After: []string{"tap"}, Every: 1, First: 1, Stage: StageAnimation, Name: "db-writer", OnDisk: true},
		"blocks task load after scroll every 9 in layout":   {Kind: AwaitedTask, After: scroll, Every: 9, First: 1, Stage: Layout, Name: "load"},
		"blocks cpu 40ms after scroll by com.android.vending": {
			Kind: CPU, For: 40 * ms, After: scroll, Every: 1, First: 1, Stage: StageAnimation, Name: "com.android.vending"},
		"blocks composition 20ms after scroll":              {Kind: Composition, For: 20 * ms, After: scroll, Every: 1, First: 1},
		"work layout 8ms after scroll of FeedView.onLayout": {Kind: Layout, For: 8 * ms, After: scroll, Every: 1, First: 1, Name: "FeedView.onLayout"},
		"work inflate 8ms after scroll of com.x.Card":       {Kind: Inflate, For: 8 * ms, After: scroll, Every: 1, First: 1, Name: "com.x.Card"},
		"work shader 22ms after scroll every 16 from 8":     {Kind: Shader, For: 22 * ms, After: scroll, Every: 16, First: 8},
		"gc 15ms after scroll in draw":                      {Kind: GC, For: 15 * ms, After: scroll, Every: 1, First: 1, Stage: Draw},
		"gpu 15ms after scroll":                             {Kind: GPU, For: 15 * ms, After: scroll, Every: 1, First: 1},
		"little after scroll":                               {Kind: Little, After: scroll, Every: 1, First: 1},
		"slow-clock after scroll":                           {Kind: SlowClock, After: scroll, Every: 1, First: 1},
	} {
		app, err := Parse([]byte(scrolls + "unit work handler-thread\ntask load on work after scroll\ntask post on main after scroll\n" + line + "\n"))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !reflect.DeepEqual(app.Causes[0], want) {
			t.Errorf("%s: %+v, want %+v", line, app.Causes[0], want)
		}
	}
}

func TestParseCausesErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"blocks rain 3ms after scroll":                                  "want one of binder, disk, lock, task, cpu, composition",
		"blocks":                                                        "want one of binder, disk",
		"work hard 3ms after scroll":                                    "want one of measure, layout, draw, inflate, compose, shader",
		"blocks binder a.b query 3ms after scroll":                      `"query" is not INTERFACE::METHOD`,
		"blocks binder a.b":                                             "want a process and INTERFACE::METHOD",
		"blocks binder a;b I::m 3ms after scroll":                       "is not a process's name",
		"blocks binder a.b I::m 3ms after scroll through x":             "through: want PROCESS INTERFACE::METHOD",
		"blocks lock":                                                   "want the thread that holds the lock",
		"blocks disk 3ms after scroll through disk":                     "disk behind blocks lock",
		"blocks disk 3ms after scroll by erase":                         `by: "erase" is not one of read, write, fsync`,
		"blocks disk 3ms":                                               "it names no event",
		"blocks task":                                                   "want the task that the UI thread waits for",
		"blocks task gone after scroll":                                 "a task of that name on another thread, and there is none",
		"task post on main after scroll\nblocks task post after scroll": "a task of that name on another thread, and there is none",
		"blocks task gone 3ms after scroll":                             "3ms: not one of after, every, from, in",
		"blocks disk 0s after scroll":                                   "a delay of 0s has no effect",
		"gc":                                                            "want a duration and the events",
		"gc 3ms after nope":                                             "no scenario has that event",
		"gc 3ms after scroll every 0":                                   "every: \"0\" is not a whole number",
		"gc 3ms after scroll by x":                                      "by: not one of after, every, from, in",
		"gc 3ms after scroll in shower":                                 `in: "shower" is not one of input, animation, measure, layout, draw`,
		"work compose 3ms after scroll of X":                            "of: not one of after, every, from",
		"little after scroll every 2":                                   "every: not one of after",
		"slow-clock 3ms after scroll":                                   "3ms: not one of after",
	} {
		if _, err := Parse([]byte(scrolls + line + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", line, err, want)
		}
	}
}

// A cause affects each N-th frame, from the K-th on.
func TestCauseStrikes(t *testing.T) {
	t.Parallel()
	c := Cause{Every: 4, First: 3}
	var struck []int
	for n := range 13 {
		if c.Strikes(n) {
			struck = append(struck, n)
		}
	}
	if want := []int{3, 7, 11}; !reflect.DeepEqual(struck, want) {
		t.Errorf("it strikes %v, want %v", struck, want)
	}
}
