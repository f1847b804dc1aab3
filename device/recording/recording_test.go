package recording_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
)

// Answers, errors, files and times are repeated, each in its turn.
func TestReplay(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.answers["pidof com.example.mail"] = []string{"", "4711\n"}
	f.files["/data/trace"] = strings.Repeat("\x00\x01trace", 5000)
	do := func(ctx context.Context, d device.Device, clock device.Clock) (log []any) {
		note := func(values ...any) { log = append(log, values...) }
		for range 2 {
			out, err := d.Exec(ctx, "pidof com.example.mail")
			note(string(out.Stdout), out.ExitCode, err, clock.Now())
		}
		note(clock.Sleep(ctx, time.Second), clock.Now(), clock.Now())
		out, err := d.Exec(ctx, "nosuch")
		note(out.ExitCode, string(out.Stderr), err)
		note(d.Push(ctx, strings.NewReader("config"), "/data/config", 0o644, time.Time{}))
		var file bytes.Buffer
		note(d.Pull(ctx, "/data/trace", &file), file.String())
		err = d.Pull(ctx, "/data/none", &file)
		note(err.Error(), errors.Is(err, fs.ErrNotExist), errors.Is(err, device.ErrGone))
		err = d.Install(ctx)
		note(err.Error(), d.Uninstall(ctx, "com.example.mail"), clock.Now())
		return log
	}
	var want []any
	dir, head := recorded(t, f, recording.NewBlackout(), func(ctx context.Context, d device.Device, clock device.Clock) { want = do(ctx, d, clock) })
	if !head.Whole {
		t.Error("the recording is not whole")
	}
	p, d := played(t, dir)
	got := do(t.Context(), d, p.Clock())
	got, want = got[:len(got)-1], want[:len(want)-1] // the clock after the last call is not recorded
	if !slices.Equal(got, want) {
		t.Errorf("replayed %v\nwant %v", got, want)
	}
	if a := p.Account(); !a.Exact() || a.Recorded != 10 {
		t.Errorf("it says %+v, want all 10 calls in order", a)
	}
}

// While recording, questions run in the kept shell; in the recording they are commands like
// any other. Whether there is a kept shell is recorded.
func TestReplayOfAKeptShell(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{true, false} {
		f := newFake()
		f.keeps = keeps
		f.answers["echo $$"] = []string{"20003\n", "20006\n"}
		do := func(ctx context.Context, d device.Device) (log []any) {
			for range 2 {
				out, err := device.Ask(ctx, d, "echo $$")
				log = append(log, device.KeepsShell(ctx, d), string(out.Stdout), err)
			}
			out, err := d.Exec(ctx, "echo $$")
			return append(log, string(out.Stdout), err)
		}
		var want []any
		dir, _ := recorded(t, f, recording.NewBlackout(), func(ctx context.Context, d device.Device, _ device.Clock) { want = do(ctx, d) })
		if want[0] != keeps || want[1] != "20003\n" || !slices.Equal(f.asked, []string{"echo $$", "echo $$"}) {
			t.Fatalf("recorded %v, asked %q", want, f.asked)
		}
		p, d := played(t, dir)
		if got := do(t.Context(), d); !slices.Equal(got, want) || !p.Account().Exact() {
			t.Errorf("replayed %v, want %v; %+v", got, want, p.Account())
		}
		text, err := os.ReadFile(filepath.Join(dir, recording.ExchangesFile))
		if err != nil || bytes.Contains(text, []byte("keeps_shell")) != keeps {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// The output of a background process is available after the same call as when it was recorded,
// however slow the reader.
func TestReplayReleasesOutputAtTheSameCall(t *testing.T) {
	t.Parallel()
	f := newFake()
	over := func(log []string) bool { return len(log) > 0 && strings.HasSuffix(log[len(log)-1], "ended") }
	do := func(ctx context.Context, d device.Device, during func(step int)) (log []string) {
		p, err := d.Start(ctx, "logcat")
		if err != nil {
			t.Fatal(err)
		}
		lines, ended := make(chan string, 10), make(chan int, 1)
		go func() {
			defer func() { _ = p.Close() }()
			for scanner := bufio.NewScanner(p.Stdout()); scanner.Scan(); {
				lines <- scanner.Text()
			}
			code, _ := p.Wait()
			ended <- code
			close(lines)
		}()
		for step := 0; !over(log); step++ {
			during(step)
			if _, err := d.Exec(ctx, "step"); err != nil {
				t.Fatal(err)
			}
			log = append(log, "")
			for len(lines) > 0 {
				log[step] += <-lines + ";"
			}
			if len(ended) > 0 {
				log[step] += "ended"
			}
		}
		return append(log, string(p.Stderr()))
	}
	print := func(step int) {
		switch step {
		case 1:
			_, _ = f.printed.Write([]byte("one\ntwo\nthr"))
		case 2:
			_, _ = f.printed.Write([]byte("ee\n"))
		case 3:
			_ = f.printed.Close()
		}
	}
	var want []string
	dir, _ := recorded(t, f, recording.NewBlackout(), func(ctx context.Context, d device.Device, _ device.Clock) { want = do(ctx, d, print) })
	<-f.closed // the device's process was hung up too
	for range 20 {
		_, d := played(t, dir)
		if got := do(t.Context(), d, func(int) {}); !slices.Equal(got, want) {
			t.Fatalf("replayed %q, want %q", got, want)
		}
	}
	if joined := strings.Join(want, ""); joined != "one;two;three;ended"+"said in the end\n" {
		t.Errorf("recorded %q", want)
	}
}

// In another order each question gets its answers in turn, and the deviation is reported.
func TestReplayInAnotherOrder(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.answers["a"], f.answers["b"] = []string{"a1", "a2"}, []string{"b1"}
	dir, _ := recorded(t, f, recording.NewBlackout(), func(_ context.Context, d device.Device, _ device.Clock) {
		said(t, d, "a")
		said(t, d, "b")
		said(t, d, "a")
	})
	p, d := played(t, dir)
	if got := said(t, d, "b") + said(t, d, "a") + said(t, d, "a"); got != "b1a2a1" { // the next after the current position, then the first
		t.Errorf("answered %q", got)
	}
	if a := p.Account(); a.Exact() || a.Asked != 4 || a.Recorded != 4 {
		t.Errorf("it says %+v", a)
	}
}

// A question without an answer ends the replay, and the error names the nearest one.
func TestReplayWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.answers["dumpsys gfxinfo com.example.mail reset"], f.answers["pidof com.example.mail"] = []string{"ok"}, []string{"4711"}
	dir, _ := recorded(t, f, recording.NewBlackout(), func(_ context.Context, d device.Device, _ device.Clock) {
		said(t, d, "dumpsys gfxinfo com.example.mail reset")
		said(t, d, "pidof com.example.mail")
	})
	for command, want := range map[string]string{
		"dumpsys gfxinfo com.example.mail framestats": `no answer to "dumpsys gfxinfo com.example.mail framestats"; the nearest that it has is "dumpsys gfxinfo com.example.mail reset"`,
		"zzz": `no answer to "zzz": apkgate sends other commands`,
	} {
		p, d := played(t, dir)
		_, err := d.Exec(t.Context(), command)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, device.ErrGone) {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
		if _, again := d.Exec(t.Context(), "pidof com.example.mail"); again == nil || again.Error() != err.Error() {
			t.Errorf("after the end: %v, want the same error", again)
		}
		if _, err := p.Open(t.Context()); err == nil {
			t.Error("it can be connected to after its end")
		}
		<-p.Died()
	}
	_, d := played(t, dir)
	said(t, d, "pidof com.example.mail")
	if _, err := d.Exec(t.Context(), "pidof com.example.mail"); err == nil || !strings.Contains(err.Error(), `the recording has 1 answer to "pidof com.example.mail", and none is left`) {
		t.Errorf("the second time: %v", err)
	}
}

// A killed recorder leaves everything up to then.
func TestReplayOfATornRecording(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.answers["a"], f.answers["b"] = []string{"1"}, []string{"2"}
	dir, _ := recorded(t, f, recording.NewBlackout(), func(_ context.Context, d device.Device, _ device.Clock) {
		said(t, d, "a")
		said(t, d, "b")
	})
	path := filepath.Join(dir, recording.ExchangesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(filepath.Join(dir, recording.HeadFile))
	if err != nil {
		t.Fatal(err)
	}
	cut := strings.Replace(string(head), `"whole": true`, `"whole": false`, 1)
	if err := errors.Join(os.WriteFile(path, text[:len(text)-9], 0o600), os.WriteFile(filepath.Join(dir, recording.HeadFile), []byte(cut), 0o600)); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Read(dir)
	if err != nil || !r.Torn || r.Whole {
		t.Fatalf("read %+v, %v; want it torn", r, err)
	}
	_, d := played(t, dir)
	if got := said(t, d, "a"); got != "1" {
		t.Errorf("answered %q, want what it had", got)
	}
	if _, err := d.Exec(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "it was cut off before its run ended") {
		t.Errorf("what was cut off: %v", err)
	}
}

// A content that differs from the recorded one is rejected.
func TestReplayRejectsAChangedContent(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.answers["dump"] = []string{strings.Repeat("a line of a long dump\n", 2000)}
	dir, _ := recorded(t, f, recording.NewBlackout(), func(_ context.Context, d device.Device, _ device.Clock) { said(t, d, "dump") })
	contents, err := filepath.Glob(filepath.Join(dir, recording.ContentFolder, "*"))
	if err != nil || len(contents) != 1 {
		t.Fatalf("%d contents, %v; want one", len(contents), err)
	}
	if err := os.WriteFile(contents[0], []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, d := played(t, dir)
	if _, err := d.Exec(t.Context(), "dump"); !errors.Is(err, recording.ErrChanged) {
		t.Errorf("answered %v, want %v", err, recording.ErrChanged)
	}
}

// A recording of the first version of the format still opens, with every kind of line in it.
func TestReadFormatVersion1(t *testing.T) {
	t.Parallel()
	p, d := played(t, filepath.Join("testdata", "version-1"))
	clock := p.Clock()
	if device.KeepsShell(t.Context(), d) {
		t.Error("it keeps a shell, which nothing in the recording says")
	}
	if got := said(t, d, "pidof com.example.mail"); got != "4711\n" {
		t.Errorf("answered %q", got)
	}
	if now := clock.Now(); now != 1500*time.Millisecond {
		t.Errorf("it is %v, want the recorded 1.5s", now)
	}
	process, err := d.Start(t.Context(), "logcat")
	if err != nil {
		t.Fatal(err)
	}
	if err := clock.Sleep(t.Context(), 0); err != nil { // not the recorded duration
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		defer func() { _ = process.Close() }()
		text, _ := bufio.NewReader(process.Stdout()).ReadString('\n')
		read <- text
		_, _ = process.Wait()
	}()
	go func() { _ = clock.Sleep(t.Context(), time.Second) }()
	if got := <-read; got != "a line\n" {
		t.Errorf("printed %q", got)
	}
}

func FuzzRead(f *testing.F) {
	line, err := os.ReadFile(filepath.Join("testdata", "version-1", recording.ExchangesFile))
	if err != nil {
		f.Fatal(err)
	}
	head, err := os.ReadFile(filepath.Join("testdata", "version-1", recording.HeadFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(head, line)
	f.Add([]byte(`{"format":"apkgate.recording/1","of":"device"}`), []byte("{\"op\":\"unit\"}\n{\"op\":\"data\",\"stream\":-1}\n{\"op\":\"exec\",\"stdout\":{\"sha256\":\"../../etc/passwd\"}}\n"))
	f.Fuzz(func(t *testing.T, head, lines []byte) {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, recording.HeadFile), head, 0o600), os.WriteFile(filepath.Join(dir, recording.ExchangesFile), lines, 0o600)); err != nil {
			t.Fatal(err)
		}
		r, err := recording.Read(dir)
		if err != nil {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := r.Play(r.Runs[0])
		if d, err := p.Open(ctx); err == nil {
			_, _ = d.Exec(ctx, "a")
			_ = p.Clock().Sleep(ctx, time.Hour)
			p.Clock().Now()
		}
	})
}
