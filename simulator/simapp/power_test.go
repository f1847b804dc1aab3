package simapp

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const base = `apkgate-simulated-app/1
package com.example.a
scenario main 5s
  1s tap 40
  2s swipe 40
`

func TestParseReadsPower(t *testing.T) {
	app, err := Parse([]byte(base + `debuggable
unprofileable
method a.Feed.bind 30%
method _ZN4feed6decodeEv 0.2 power x1.5 from a.Feed.bind kind native
method a.Image.scale jank from _ZN4feed6decodeEv
load 250ms after tap,swipe in a.Feed.bind
traffic 120 after swipe sent 4
wakelock com.example.a:sync from tap for 2s
uses gps from swipe for 1500ms
sensor gyroscope from tap for 30s
screen-off from swipe for 1s
`))
	if err != nil {
		t.Fatal(err)
	}
	p := app.Power
	if !p.Debuggable || !p.Unprofileable {
		t.Error("the flags are not there")
	}
	want := []Method{
		{Name: "a.Feed.bind", Share: 0.3, Power: 1, Kind: Java},
		{Name: "_ZN4feed6decodeEv", Share: 0.2, Power: 1.5, From: "a.Feed.bind", Kind: Native},
		{Name: "a.Image.scale", Jank: true, Power: 1, From: "_ZN4feed6decodeEv", Kind: Java},
	}
	if !slices.Equal(p.Methods, want) || p.JankMethod() != 2 || !slices.Equal(p.Chain(2), []int{2, 1, 0}) {
		t.Errorf("methods %+v, the jank in %d, its chain %v", p.Methods, p.JankMethod(), p.Chain(2))
	}
	if l := p.Loads[0]; l.For != 250*time.Millisecond || !slices.Equal(l.After, []string{"tap", "swipe"}) || l.In != "a.Feed.bind" {
		t.Errorf("load %+v", l)
	}
	if tr := p.Traffic[0]; tr.KB != 120 || tr.SentKB != 4 || tr.After[0] != "swipe" {
		t.Errorf("traffic %+v", tr)
	}
	holds := []Hold{{Part: "wakelock", Wakelock: "com.example.a:sync", Period: Period{"tap", 2 * time.Second}}, {Part: "gps", Period: Period{"swipe", 1500 * time.Millisecond}},
		{Part: "sensor", Sensor: "gyroscope", Period: Period{"tap", 30 * time.Second}}}
	if !slices.Equal(p.Holds, holds) || p.ScreenOff[0] != (Period{"swipe", time.Second}) {
		t.Errorf("held %+v, dark %+v", p.Holds, p.ScreenOff)
	}
	if app.Plain != base {
		t.Errorf("what chance sees of the file is %q", app.Plain)
	}
}

func TestParsePowerErrors(t *testing.T) {
	for lines, want := range map[string]string{
		"method a.b":                                     "want a name and a share",
		"method 1.b 5%":                                  "not a method's name",
		"method a.b 120%":                                "not a share",
		"method a.b 60%\nmethod a.c 60%":                 "add up to 120%",
		"method a.b 5%\nmethod a.b 5%":                   "is there twice",
		"method a.b 5% from a.c":                         "no such method",
		"method a.b 5% from a.c\nmethod a.c 5% from a.b": "calls itself",
		"method a.b 5% kind wasm":                        "not one of",
		"method a.b jank\nmethod a.c jank":               "only one method",
		"method a.b 5% power 3":                          "not a factor",
		"load 5ms after":                                 "want a CPU time",
		"load 5ms in a.b":                                "names no event",
		"method a.b 5%\nload 5ms in a.b in a.b":          "names no event",
		"load 5ms after tap in a.b":                      "no such method",
		"load 5ms after shake":                           "no scenario has that event",
		"traffic x after tap":                            "not a whole number",
		"traffic 5 sent 4 sent 5":                        "names no event",
		"wakelock tag from tap":                          "want a name",
		"wakelock tag from shake for 2s":                 "no scenario has that event",
		"wakelock tag for 2s for 2s":                     "want from EVENT",
		"uses laser from tap for 2s":                     "want one of gps",
		"screen-off from tap for 2h":                     "not a duration",
		"debuggable yes":                                 "want nothing behind it",
	} {
		if _, err := Parse([]byte(base + lines + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lines, err, want)
		}
	}
}
