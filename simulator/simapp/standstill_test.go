package simapp

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseANRReasons(t *testing.T) {
	for text, want := range map[string]Fault{
		"anr":                                {Kind: ANR},
		"anr after go for 7s":                {Kind: ANR, After: "go", For: 7 * time.Second},
		"anr kind service":                   {Kind: ANR, Timeout: ServiceTimeout, Because: Standstill{Why: OwnWork}},
		"anr because lock pool-1-thread-2":   {Kind: ANR, Timeout: InputTimeout, Because: Standstill{Why: HeldLock, Thread: "pool-1-thread-2"}},
		"anr kind job because deadlock A":    {Kind: ANR, Timeout: JobTimeout, Because: Standstill{Why: Deadlock, Thread: "A"}},
		"anr for 5s because work a.B.c":      {Kind: ANR, Timeout: InputTimeout, For: 5 * time.Second, Because: Standstill{Why: OwnWork, Method: "a.B.c"}},
		"anr repetition 2 because idle":      {Kind: ANR, Timeout: InputTimeout, Repetition: 2, Because: Standstill{Why: NothingUp}},
		"anr because binder a.b a.I::m":      {Kind: ANR, Timeout: InputTimeout, Because: Standstill{Why: SlowPeer, Calls: []Peer{{"a.b", "a.I", "m"}}}},
		"anr because binder a.b a.I::m disk": {Kind: ANR, Timeout: InputTimeout, Because: Standstill{Why: SlowPeer, Calls: []Peer{{"a.b", "a.I", "m"}}, There: SlowDisk}},
		"anr because binder x a.I::m through y b.J::n through z c.K::o lock L": {Kind: ANR, Timeout: InputTimeout, Because: Standstill{
			Why: SlowPeer, Calls: []Peer{{"y", "b.J", "n"}, {"z", "c.K", "o"}, {"x", "a.I", "m"}}, There: HeldLock, Thread: "L",
		}},
	} {
		if f, err := ParseFault(text); err != nil || !reflect.DeepEqual(f, want) {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
}

func TestParseANRReasonsErrors(t *testing.T) {
	for text, why := range map[string]string{
		"anr kind key":                       `"key" is not one of input, broadcast, service, provider, job, start, test`,
		"anr because":                        "because names no reason",
		"anr because rain":                   `because "rain" is not one of lock THREAD, binder`,
		"anr because lock":                   "want the name of the thread that holds it",
		"anr because lock A after go":        `because lock: unexpected "after" after it`,
		"anr because work":                   "want the method that runs",
		"anr because work run":               `method "run" has no class`,
		"anr because binder a.b":             "want a process and INTERFACE::METHOD",
		"anr because binder a.b a.I.m":       `"a.I.m" is not INTERFACE::METHOD`,
		"anr because binder a.b I::m":        "is not an interface with its package",
		"anr because binder a.b a.I::m lock": "want the name of the thread",
		"anr because binder a.b a.I::m" + strings.Repeat(" through a.b a.I::m", 12): "13 calls, want at most 12",
		"anr kind broadcast for 9s because idle":                                    "for 9s is too short: the system's timeout is 10s",
		"crash because idle":                                                        "kind and because belong to an anr, not to crash",
	} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
}
