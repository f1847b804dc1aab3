package shaping

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
)

var slow = Shape{DownKbit: 1600, UpKbit: 768, Delay: 300 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 10}

func TestReadRoute(t *testing.T) {
	for text, want := range map[string]string{
		"8.8.8.8 via 10.0.2.2 dev wlan0 table wlan0 src 10.0.2.16 uid 2000 \n    cache \n": "wlan0",
		"8.8.8.8 dev rmnet_data1 table 1004 src 10.1.2.3 uid 2000\n":                       "rmnet_data1",
		"8.8.8.8 dev tun0\n":                            "tun0",
		"RTNETLINK answers: Network is unreachable\n":   "",
		"local 8.8.8.8 dev lo table local\n":            "",
		"8.8.8.8 dev dummy0 table 1002\n":               "",
		"8.8.8.8 dev wlan0;reboot table wlan0\n":        "",
		"8.8.8.8 dev averyveryverylongname table x\n":   "",
		"8.8.8.8 dev $(reboot) table wlan0 uid 2000 \n": "",
	} {
		if got := ReadRoute(text); got != want {
			t.Errorf("%q is over %q, want %q", text, got, want)
		}
	}
}

func TestForeign(t *testing.T) {
	const (
		ofOurs = "qdisc prio 5150: root refcnt 2 bands 2 priomap 1 1\nqdisc netem 5151: parent 5150:2 limit 1000\nqdisc clsact ffff: parent ffff:fff1\n"
		plain  = "qdisc mq 0: root\nqdisc fq_codel 0: parent :1 limit 10240p\n"
	)
	for state, want := range map[string]string{
		"": "", plain: "", ofOurs: "", "qdisc noqueue 0: root refcnt 2\n": "",
		"qdisc netem 8001: root refcnt 2 limit 1000 delay 100ms\n": "netem",
		"qdisc tbf 1: root refcnt 2 rate 1Mbit burst 32Kb\n":       "tbf",
		"qdisc htb 1: root refcnt 9\n":                             "htb",
		"qdisc ingress ffff: parent ffff:fff1 ----------------\n":  "ingress",
	} {
		if got := Foreign(state); got != want {
			t.Errorf("%q is %q, want %q", state, got, want)
		}
	}
	if !HasClsact(ofOurs) || HasClsact(plain) || HasClsact("qdisc ingress ffff:\n") {
		t.Error("a place for filters is not told from what is none")
	}
}

func TestCheck(t *testing.T) {
	const (
		out = "qdisc prio 5150: root refcnt 2 bands 2 priomap 1 1\nqdisc netem 5151: parent 5150:2 limit 1000 delay 300.0ms  20.0ms loss 10% rate 768Kbit\n"
		in  = "qdisc netem 5152: root refcnt 2 limit 1000 delay 300ms  20ms loss 10% rate 1600Kbit\n"
	)
	for _, c := range []struct {
		shown string
		both  bool
		want  string
	}{
		{out + in, true, ""},
		{out, false, ""},
		{out, true, "what comes in"},
		{in, false, "what goes out"},
		{"", false, "shows nothing"},
		{strings.Replace(out, "300.0ms", "30.0ms", 1), false, "a delay of 30 ms, and 300"},
		{strings.Replace(out, "  20.0ms", "", 1), false, "a jitter of 0 ms, and 20"},
		{strings.Replace(out, "loss 10%", "loss 1%", 1), false, "a loss of 1 %, and 10"},
		{strings.Replace(out, "768Kbit", "768Mbit", 1), false, "kbit/s, and 768"},
		{strings.Replace(out, " rate 768Kbit", "", 1), false, "a rate of 0 kbit/s, and 768"},
		{strings.Replace(out, "300.0ms", "300000us", 1), false, ""},
		{strings.Replace(out, "300.0ms", "0.3s", 1), false, ""},
		{strings.Replace(out, "768Kbit", "768000bit", 1), false, ""},
	} {
		err := Check(c.shown, slow, c.both)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.shown, err, c.want)
		}
	}
	if err := Check("qdisc netem 5151: parent 5150:2 limit 1000 delay 5.0ms rate 1174Mbit\n", Shape{UpKbit: 1_174_000, Delay: 5 * time.Millisecond}, false); err != nil {
		t.Error(err)
	}
}

func TestLeft(t *testing.T) {
	for shown, want := range map[string]bool{
		"": false, "qdisc pfifo_fast 0: root\n": false, "qdisc netem 8001: root\n": false, "qdisc prio 1: root\n": false,
		"qdisc prio 5150: root refcnt 2\n": true, "qdisc netem 5152: root refcnt 2\n": true,
	} {
		if got := Left(shown); got != want {
			t.Errorf("%q: left %t, want %t", shown, got, want)
		}
	}
}

func TestRun(t *testing.T) {
	quote := func(words ...string) string { return "<" + strings.Join(words, "|") + ">" }
	for as, want := range map[As]string{Shell: "tc x", Su0: "<su|0|sh|-c|tc x>", SuC: "<su|-c|tc x>"} {
		if got := as.Run("tc x", quote); got != want {
			t.Errorf("%s: %s, want %s", as, got, want)
		}
	}
}

func TestShapeDescriptions(t *testing.T) {
	for got, want := range map[string]string{
		slow.ByConsole(): "console: 1600 kbit/s, 300 ms ± 20",
		slow.ByTC(true):  "tc: 1600 kbit/s down, 768 up, 300 ms ± 20, 10 % lost",
		slow.ByTC(false): "tc: 768 kbit/s up, 300 ms ± 20, 10 % lost",
		Shape{DownKbit: 240, UpKbit: 200}.ByTC(true): "tc: 240 kbit/s down, 200 up",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if half := slow.Half(); half.Delay != 150*time.Millisecond || half.Loss != 5 || half.Jitter != 10*time.Millisecond || half.DownKbit != 1600 {
		t.Errorf("half is %+v", half)
	}
}

func TestOutAndInLimits(t *testing.T) {
	script := Out("wlan0", 5555, slow)
	for _, want := range []string{"dev wlan0 root handle 5150: prio", "netem limit 1000 delay 300000us 20000us loss 10% rate 768kbit &&", "sport 5555 0xffff flowid 5150:1"} {
		if !strings.Contains(script, want) {
			t.Errorf("%q is not in %s", want, script)
		}
	}
	if script := Out("wlan0", 5555, Shape{}); !strings.Contains(script, "netem limit 1000 &&") {
		t.Errorf("of a line that is nothing slower: %s", script)
	}
	if script := In("wlan0", 5555, slow, false); !strings.HasSuffix(script, "rate 1600kbit") {
		t.Errorf("what comes in has another speed: %s", script)
	}
	if !slow.Any() || (Shape{}).Any() {
		t.Error("a slow line is not told from any other")
	}
	// tc's rounding is no difference, but a tenth is.
	for delay, ok := range map[string]bool{"305.0ms": true, "290.0ms": false, "310.0ms": false} {
		if err := Check("qdisc netem 5151: parent 5150:2 delay "+delay, Shape{Delay: 300 * time.Millisecond}, false); (err == nil) != ok {
			t.Errorf("of 300 ms tc shows %s: %v", delay, err)
		}
	}
}

// Undo removes only what a script added, and nothing else.
func TestUndo(t *testing.T) {
	script := Undo("wlan0", true)
	if strings.Contains(script, "clsact") || !strings.Contains(script, "qdisc del dev wlan0 root handle 5150:") || strings.Contains(script, "ingress 2") {
		t.Errorf("with a place for filters that was there: %s", script)
	}
	if script := Undo("wlan0", false); !strings.Contains(script, "qdisc del dev wlan0 clsact") {
		t.Errorf("with one that was not: %s", script)
	}
	if script := In("wlan0", 5555, slow, true); strings.Contains(script, "clsact") || !strings.Contains(script, "dport 5555") {
		t.Errorf("with a place for filters: %s", script)
	}
}

func TestRealTcIsRead(t *testing.T) {
	for file, want := range map[string]string{"tc-qdisc-default.txt": "", "tc-qdisc-netem.txt": "netem"} {
		raw, err := os.ReadFile(corpustest.Path(t, "labs", "device", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := Foreign(string(raw)); got != want {
			t.Errorf("%s: shaped by %q, want %q", file, got, want)
		}
	}
}
