package shell_test

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/clock"
	"github.com/apkgate/apkgate/internal/simlab/shell"
	"github.com/apkgate/apkgate/internal/simlab/storage"
)

// newHost is a host with a clock, files and one command, "hello", that came with API
// level 20.
func newHost(api int) *shell.Host {
	made := time.Unix(1e9, 0)
	h := &shell.Host{
		Lock: new(sync.Mutex), Clock: clock.New(time.Minute), API: api,
		Files:  storage.New(made, func() time.Time { return made }, func(string) (string, bool) { return "", false }),
		Others: func() []shell.Process { return []shell.Process{{PID: 7, Name: "app"}} },
		Commands: map[string]shell.Command{"hello": {Since: 20, Run: func(c *shell.Call, then func(code int)) {
			c.Printf("hello %s\n", c.Arg(0))
			then(0)
		}}},
	}
	h.Open()
	return h
}

func TestAShellNeedsNoPhone(t *testing.T) {
	t.Parallel()
	h := newHost(30)
	for _, c := range []struct {
		line, out, errs string
		code            int
	}{
		{"hello you > /sdcard/x && cat /sdcard/x | grep -c you", "1\n", "", 0},
		{"kill -0 7 && pidof app", "7\n", "", 0},
		{"pidof none app", "7\n", "", 0},
		{"kill 8", "", "/system/bin/sh: kill: 8: No such process\n", 1},
		{"hi", "", "/system/bin/sh: hi: inaccessible or not found\n", 127},
		{"(exit 3); echo $?", "3\n", "", 0},
		{`export ANDROID_LOG_TAGS=""; exec hello logcat; echo no`, "hello logcat\n", "", 0},
		{"(exec false; echo no); echo $?", "1\n", "", 0},
		{`printf '%s is %d %%\n' it 7`, "it is 7 %\n", "", 0},
	} {
		var out, errs strings.Builder
		code := h.Start(t.Context(), c.line, strings.NewReader(""), &out, &errs)()
		if out.String() != c.out || errs.String() != c.errs || code != c.code {
			t.Errorf("%s: %q, %q, exit code %d; want %q, %q, %d", c.line, &out, &errs, code, c.out, c.errs, c.code)
		}
	}
}

func TestACommandIsThereFromItsAndroidOn(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := newHost(19).Start(t.Context(), "hello", strings.NewReader(""), &out, &errs)(); code != 127 || errs.String() != "/system/bin/sh: hello: not found\n" {
		t.Errorf("exit code %d, %q, %q", code, &out, &errs)
	}
}

func TestASleepLastsOnTheHostsClock(t *testing.T) {
	t.Parallel()
	h := newHost(30)
	var out strings.Builder
	wait := h.Start(t.Context(), "sleep 5; echo over", strings.NewReader(""), &out, &out)
	before := h.Clock.Now()
	h.Lock.Lock()
	h.Clock.Advance(5 * time.Second)
	h.Lock.Unlock()
	if code := wait(); code != 0 || out.String() != "over\n" || h.Clock.Now() != before+5*time.Second {
		t.Errorf("exit code %d, %q, %v later", code, &out, h.Clock.Now()-before)
	}
}

func TestWhatIsPipedInIsReadByWhateverReadsIt(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cat":                            "abc\n",
		"echo first; cat":                "first\nabc\n",
		"exec cat":                       "abc\n",
		"(cat) | grep -c abc":            "1\n",
		"{ echo first; grep b; }":        "first\nabc\n",
		"cat < /dev/null; echo over":     "over\n",
		"(cat\n) </dev/null; echo over":  "over\n",
		"echo nobody reads it":           "nobody reads it\n",
		"cat > /sdcard/x; cat /sdcard/x": "abc\n",
	} {
		var out, errs strings.Builder
		if newHost(30).Start(t.Context(), line, strings.NewReader("abc\n"), &out, &errs)(); out.String() != want || errs.Len() > 0 {
			t.Errorf("%s: %q, %q; want %q", line, &out, &errs, want)
		}
	}
}

// A terminal that stays open holds up no command that reads nothing from it.
func TestACommandThatReadsNothingDoesNotWaitForInput(t *testing.T) {
	t.Parallel()
	stdin, open := io.Pipe()
	defer open.Close()
	var out strings.Builder
	if newHost(30).Start(t.Context(), "echo x | cat; echo y", stdin, &out, &out)(); out.String() != "x\ny\n" {
		t.Errorf("%q", &out)
	}
}
