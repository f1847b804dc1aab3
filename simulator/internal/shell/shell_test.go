package shell_test

import (
	"bufio"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// newHost returns a host with a clock, files and one command, "hello", introduced in API level
// 20.
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

func TestHost(t *testing.T) {
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

func TestCommandSince(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := newHost(19).Start(t.Context(), "hello", strings.NewReader(""), &out, &errs)(); code != 127 || errs.String() != "/system/bin/sh: hello: not found\n" {
		t.Errorf("exit code %d, %q, %q", code, &out, &errs)
	}
}

func TestSleep(t *testing.T) {
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

func TestStandardInput(t *testing.T) {
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

// An open terminal does not block a command that reads nothing from it.
func TestOpenInputDoesNotBlock(t *testing.T) {
	t.Parallel()
	stdin, open := io.Pipe()
	defer open.Close()
	var out strings.Builder
	if newHost(30).Start(t.Context(), "echo x | cat; echo y", stdin, &out, &out)(); out.String() != "x\ny\n" {
		t.Errorf("%q", &out)
	}
}

// A shell without a command runs each line as it arrives, in a single process.
func TestSession(t *testing.T) {
	t.Parallel()
	h := newHost(30)
	stdin, client := io.Pipe()
	answers, out := io.Pipe()
	var errs strings.Builder
	wait := h.Start(t.Context(), "", stdin, out, &errs)
	ended := make(chan int, 1)
	go func() {
		ended <- wait()
		out.Close()
	}()
	lines := bufio.NewScanner(answers)
	ask := func(line string) string {
		io.WriteString(client, line+"\n")
		lines.Scan()
		return lines.Text()
	}
	pid := ask("echo $$")
	for _, c := range []struct{ line, answer string }{
		{"hello you", "hello you"},
		{"(exit 3); echo $?", "3"},
		{"{ cat; echo nothing; } </dev/null", "nothing"},
		{"{ echo begun\n}", "begun"},
		{"echo 'two\nlines' | grep lines", "lines"},
		{"echo $$", pid},
		{"pidof sh", pid},
	} {
		if got := ask(c.line); got != c.answer {
			t.Errorf("%s: %q, want %q", c.line, got, c.answer)
		}
	}
	if got := h.Asked.Processes; got != 6 { // itself, hello, the subshell, grep, pidof, and the pipe's first echo
		t.Errorf("%d processes were started", got)
	}
	var kill strings.Builder
	if code := h.Start(t.Context(), "kill -9 "+pid, strings.NewReader(""), &kill, &kill)(); code != 0 {
		t.Errorf("kill: %q", &kill)
	}
	if code := <-ended; code != 137 || errs.String() != "" {
		t.Errorf("exit code %d, %q; want 137", code, &errs)
	}
}

// A non-interactive shell ends at a syntax error, at exit and at the end of its input.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]struct {
		out, errs string
		code      int
	}{
		"echo a\nexit 3\necho b\n":      {"a\n", "", 3},
		"echo a\n;; echo b\necho c\n":   {"a\n", "/system/bin/sh: syntax error: unexpected ';'\n", 1},
		"echo a\nfalse":                 {"a\n", "", 1},
		"echo a\n(echo b\n":             {"a\n", "/system/bin/sh: syntax error: '(' unmatched\n", 1},
		"echo a; exec cat\nall\nthis\n": {"a\nall\nthis\n", "", 0},
		"":                              {"", "", 0},
	} {
		var out, errs strings.Builder
		code := newHost(30).Start(t.Context(), "", strings.NewReader(lines), &out, &errs)()
		if out.String() != want.out || errs.String() != want.errs || code != want.code {
			t.Errorf("%q: %q, %q, exit code %d; want %+v", lines, &out, &errs, code, want)
		}
	}
}
