package applog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/anrtraces"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/logcat"
)

// maxDumps limits the thread dumps of one repetition.
const maxDumps = 2

// dumpThreads makes the app write the current stacks of its threads: its runtime does so on
// SIGQUIT. Only root, and a debug build itself, may send it that.
func (r *Repetition) dumpThreads(ctx context.Context, a Anomaly) error {
	w := r.w
	if a.PID == 0 || len(r.dumped) == maxDumps {
		return nil
	}
	kill := []string{"kill", "-3", strconv.Itoa(a.PID)}
	out, err := w.Target.Ask(ctx, device.Quote(kill...)+" || "+device.Quote(append([]string{"run-as", w.App}, kill...)...))
	if err != nil {
		return fmt.Errorf("have the app write its threads' stacks: %w", err)
	}
	if out.ExitCode != 0 {
		r.NoDump = fmt.Sprintf("it is no debug build, and adb is not root (the device says %q)", lastSaid(out))
		return nil
	}
	r.dumped = append(r.dumped, a)
	calls, err := w.Target.Ask(ctx, openCalls)
	r.calls = append(r.calls, calls.Stdout)
	return err
}

// openCalls lists the unanswered binder calls, which the kernel shows only to root
// (system/sepolicy: binderfs_logs, debugfs_binder).
const openCalls = "cat /dev/binderfs/binder_logs/transactions 2>/dev/null || cat /sys/kernel/debug/binder/transactions 2>/dev/null"

func lastSaid(out device.Output) string { return target.LastLine(out.Stderr, out.Stdout) }

// writtenTo matches tombstoned's report of where stacks are: by their path in Android 8 to 11, and
// since Android 12 only by their name in that folder (CrashArtifactPaths of
// system/core/debuggerd/tombstoned/tombstoned.cpp).
var writtenTo = regexp.MustCompile(`^Traces for pid (\d{1,10}) written to: (?:` + tracesFolder + `)?(\w[\w.-]{0,99})$`)

// tracesFolder is where they are.
const tracesFolder = "/data/anr/"

// keepThreads keeps the stacks that the app has written. Their files are root's: on most phones
// they can't be read, which is reported.
func (r *Repetition) keepThreads(ctx context.Context, s Seen) {
	w := r.w
	if len(r.dumped) == 0 {
		return
	}
	paths, err := r.awaitThreads(ctx)
	if err != nil {
		r.NoDump = fmt.Sprintf("where they are could not be asked: %v", err)
		return
	}
	for i, a := range r.dumped {
		path := paths[i]
		if path == "" {
			r.NoDump = "it did not do so"
			continue
		}
		e := run.Evidence{Kind: run.ThreadDump, Name: fmt.Sprintf("repetition-%d-threads-%d.txt", r.n, i+1),
			Event: s.EventOf(a), FromMS: milliseconds(a.From), ToMS: milliseconds(a.To), Why: journal.Line(a.Detail)}
		if s.Lost == nil {
			e.Repetition = r.n
		}
		own := anrtraces.Dump{PID: a.PID, Calls: r.calls[i]}
		err := w.Perfetto.Programs.Take(ctx, path, func(text io.ReadSeeker) (err error) {
			if own.Text, err = io.ReadAll(io.LimitReader(text, maxDump+1)); err == nil {
				e.Digest, e.Bytes, err = w.Keeper.Keep(ctx, bytes.NewReader(own.Text), maxDump)
			}
			return err
		})
		if err != nil {
			hint := ""
			if !loss.IsGone(err) {
				hint = " (as a rule only root may read it; a bug report contains it)"
			}
			r.NoDump = fmt.Sprintf("what it wrote could not be kept: %v%s", err, hint)
			continue
		}
		w.Kept = append(w.Kept, e)
		own.Digest = e.Digest
		r.Dumps = append(r.Dumps, own)
	}
}

// How long to wait for stacks that are not complete when the repetition is over, and how often to
// poll: an app with hundreds of threads takes seconds.
const (
	threadsFor   = 10 * time.Second
	threadsEvery = 250 * time.Millisecond
)

// awaitThreads waits until the requested stacks are written, and returns their paths, "" for
// missing ones. It does not wait for a process that has ended.
func (r *Repetition) awaitThreads(ctx context.Context) (paths []string, err error) {
	t := r.w.Target
	_, err = t.Poll(ctx, threadsEvery, threadsFor, func() (bool, error) {
		lives, err := r.dumpedLive(ctx) // before the log is read, which has what they wrote by then
		if err != nil {
			return false, err
		}
		out, err := t.Exec(ctx, "logcat", "-d", "-v", "threadtime", "-v", "monotonic", "-v", "uid", "tombstoned:V", "*:S")
		if err != nil {
			return false, err
		}
		log, _ := logcat.Read(bytes.NewReader(out.Stdout))
		paths = nil
		for _, a := range r.dumped {
			paths = append(paths, pathOf(log.Entries, a, paths))
		}
		return !lives || !slices.Contains(paths, ""), nil
	})
	return paths, err
}

// dumpedLive reports whether a process lives whose stacks were requested.
func (r *Repetition) dumpedLive(ctx context.Context) (bool, error) {
	var any []string
	for _, a := range r.dumped {
		any = append(any, device.Quote("test", "-d", fmt.Sprintf("/proc/%d", a.PID)))
	}
	out, err := r.w.Target.Ask(ctx, strings.Join(any, " || "))
	return out.ExitCode == 0, err
}

// maxDump limits a thread dump, in bytes.
const maxDump = 16 << 20

// pathOf returns the path of the stacks that were requested at the anomaly, "" if unknown. Paths in
// taken are other anomalies'.
func pathOf(entries []logcat.Entry, a Anomaly, taken []string) string {
	for _, e := range entries {
		m := writtenTo.FindStringSubmatch(e.Message)
		if m != nil && !e.App && e.Tag == "tombstoned" && e.Time >= a.From && m[1] == strconv.Itoa(a.PID) && !slices.Contains(taken, tracesFolder+m[2]) {
			return tracesFolder + m[2]
		}
	}
	return ""
}
