package simapp

import (
	"strings"
	"testing"
	"time"
)

const called = Format + `
package com.example.a
scenario s 5s
  1s tap 10
calls com.example.A.open 2ms after tap
calls com.example.A.bind 10ms after tap times 3 from com.example.A.open
calls com.example.A.text 1ms after tap times 2 from com.example.A.bind kind inlined
calls com.example.A.waits 5ms after tap when api>=30 waits
`

// 2 ms and 3 times 10 ms and 2 times 1 ms: 38 ms in 10 calls; on Android 11 another one waits 5 ms.
func TestCallsAfterAnEvent(t *testing.T) {
	t.Parallel()
	app, err := Parse([]byte(called))
	if err != nil {
		t.Fatal(err)
	}
	for api, want := range map[int]struct {
		calls int
		total time.Duration
	}{29: {10, 38 * time.Millisecond}, 30: {11, 43 * time.Millisecond}} {
		calls, total := Count(app.CallsAfter("tap", Context{API: api}))
		if calls != want.calls || total != want.total {
			t.Errorf("API %d: %d calls of %v, want %d of %v", api, calls, total, want.calls, want.total)
		}
	}
	if m := app.Power.Method("com.example.A.bind"); m < 0 || app.Power.Methods[m].From != "com.example.A.open" {
		t.Errorf("a recorder of samples does not name the caller: %+v", app.Power.Methods)
	}
	if app.Power.Method("com.example.A.text") >= 0 {
		t.Error("a recorder of samples names a method that has no code of its own")
	}
}

func TestCallsAreRejected(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"calls com.example.A.x 1ms after swipe":                                                                               `no scenario has that event`,
		"calls com.example.A.x 1ms after tap from com.example.B.y":                                                            "no such calls",
		"calls com.example.A.waits 1ms after tap from com.example.A.waits":                                                    "calls itself",
		"calls com.example.A.x 1ms after tap times 200001":                                                                    "whole number",
		"calls com.example.A.x 1ms after tap times 90000":                                                                     "more than a minute",
		"calls com.example.A.x 1us after tap times 1000\ncalls com.example.A.y 1us after tap times 1000 from com.example.A.x": "more than 200000 calls",
		"calls com.example.A.x 1ms from com.example.A.open":                                                                   "names no event",
		"calls com.example.A.x 1ms after tap kind aot":                                                                        "not one of",
	} {
		if _, err := Parse([]byte(called + line + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", line, err, want)
		}
	}
}
