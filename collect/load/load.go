// Package load keeps a device busy beside a workload: its processors, its memory, its storage and
// its network, by the device's own shell and what Android has (dd, nc, curl). Nothing is installed.
//
// It owns the script that does it, and the life of its processes: that a load is there before the
// workload begins and while it is measured, and gone afterwards. Each part is limited in size, and
// all of them in time: a load that is not stopped ends by itself, or when the next run removes its
// file. When loads run belongs to package repetition, and what they are to
// package config.
package load

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

//go:embed apkgate-load.sh
var script string

// The files on the device. The load ends when the switch is gone.
const (
	path       = "/data/local/tmp/apkgate-load"
	scriptFile = path + ".sh"
	logFile    = path + ".log"
	switchFile = path + "-on"
)

// mostFiles is how many files a load writes at most.
const mostFiles = 8

func files() string {
	all := []string{switchFile, scriptFile, logFile}
	for n := range mostFiles {
		all = append(all, fmt.Sprint(path, "-w", n+1))
	}
	return strings.Join(all, " ")
}

// Since is the API level from which on a load can run: Android 6 has toybox.
const Since = 23

// How long a load may take to be there and to be gone, how often that is checked, and how much
// longer than its workload it may run.
const (
	readyFor  = time.Minute
	goneFor   = 20 * time.Second
	lookEvery = 200 * time.Millisecond
	spare     = 2 * time.Minute
)

// Load is the load of one scenario on one device. A nil Load does nothing.
type Load struct {
	target *target.Target
	wanted config.BackgroundLoad
	pid    string // of the script's first process; "": it does not run
	from   state  // when it was there
	holds  int64  // bytes of memory
	full   bool   // it was reported that memory is in use without a load
}

// New returns the load that a scenario wants, nil for none.
func New(t *target.Target, wanted *config.BackgroundLoad) *Load {
	if wanted == nil {
		return nil
	}
	return &Load{target: t, wanted: *wanted}
}

// Start starts the load, and returns when all its parts are there. It ends by itself some time after
// the longest duration of the workload.
func (l *Load) Start(ctx context.Context, longest time.Duration) error {
	if l == nil {
		return nil
	}
	if err := l.start(ctx, longest); err != nil {
		return errors.Join(fmt.Errorf("start the load of the workload (%s): %w", l.wanted.String(), err), l.end(ctx))
	}
	return nil
}

func (l *Load) start(ctx context.Context, longest time.Duration) error {
	t := l.target
	if t.Facts.API < Since {
		return t.Advise(loss.Configuration, fmt.Errorf("it needs Android 6 or later, and this is API level %d", t.Facts.API), "leave load out for this device")
	}
	if err := l.end(ctx); err != nil { // that of a lost repetition
		return err
	}
	line := device.Quote("rm", "-f", switchFile, logFile)
	if err := t.Do(ctx, line, target.Change{Kind: target.Files, Name: "load", Put: files()}); err != nil {
		return err
	}
	if err := t.Device().Push(ctx, strings.NewReader(script), scriptFile, 0o644, time.Unix(0, 0)); err != nil {
		return fmt.Errorf("copy its script to the device: %w", err)
	}
	now, err := l.look(ctx)
	if err != nil {
		return err
	}
	out, err := t.Ask(ctx, fmt.Sprintf(": >%s && { nohup %s </dev/null >%s 2>&1 & echo $!; }", switchFile, device.Quote(l.command(now, longest)...), logFile))
	if err != nil {
		return err
	}
	m := number.FindSubmatch(out.Stdout)
	if m == nil {
		return fmt.Errorf("the shell says %s", target.FirstLine(out.Stderr, out.Stdout))
	}
	l.pid = string(m[1])
	return l.await(ctx)
}

var number = regexp.MustCompile(`(?m)^\s*(\d{1,10})\s*$`)

// command returns the command line of the script.
func (l *Load) command(now state, longest time.Duration) []string {
	if longest <= 0 {
		longest = time.Hour
	}
	words := []string{"sh", scriptFile, strconv.Itoa(int((longest + readyFor + spare).Seconds()))}
	add := func(more ...any) {
		for _, w := range more {
			words = append(words, fmt.Sprint(w))
		}
	}
	if l.wanted.CPU > 0 {
		add("cpu", max(now.cpus, 1), int(float64(l.wanted.CPU)*100+0.5))
	}
	l.holds = 0
	if l.wanted.Memory > 0 {
		l.holds = max(0, now.available-int64(float64(now.memory)*(1-float64(l.wanted.Memory))))
		if l.holds == 0 && !l.full {
			l.full = true
			l.target.Journal.Warnf("the load holds no memory: %.0f %% of it is in use without", 100*now.inUse())
		}
	}
	if l.holds > 0 {
		add("memory", (l.holds+1<<20-1)>>20)
	}
	if l.wanted.Storage > 0 {
		add("storage", l.wanted.Storage)
	}
	if l.wanted.Downloads > 0 {
		add("downloads", l.wanted.Downloads, l.wanted.From)
	}
	return words
}

// await waits until all parts of the load are there.
func (l *Load) await(ctx context.Context) error {
	var missing []string
	there, err := l.target.Poll(ctx, lookEvery, readyFor, func() (bool, error) {
		now, err := l.look(ctx)
		if err != nil {
			return false, err
		}
		l.from = now
		if why := now.said("failed"); len(why) > 0 {
			return false, errors.New(strings.Join(why, "; "))
		}
		if !now.alive {
			return false, fmt.Errorf("it has ended at once: %s", target.LastLine(now.log))
		}
		missing = l.missing(now)
		return len(missing) == 0, nil
	})
	if err == nil && !there {
		err = fmt.Errorf("%s was not there after %v", strings.Join(missing, " and "), readyFor)
	}
	return err
}

// near is the share of what is held that memory in use may differ by: other processes come and go.
const near = 0.25

// missing returns the parts that are not there yet.
func (l *Load) missing(now state) (parts []string) {
	for part, wanted := range map[string]bool{"cpu": l.wanted.CPU > 0, "storage": l.wanted.Storage > 0, "downloads": l.wanted.Downloads > 0} {
		if wanted && !slices.Contains(now.said("ready"), part) {
			parts = append(parts, part)
		}
	}
	if l.short(now) > 0 {
		parts = append(parts, "memory")
	}
	return parts
}

// short returns how many bytes more than expected are available, 0 if the memory is held.
func (l *Load) short(now state) int64 {
	if l.holds == 0 {
		return 0
	}
	left := int64(float64(now.memory) * (1 - float64(l.wanted.Memory)))
	return max(0, now.available-left-int64(near*float64(l.holds)))
}

// Stop ends the load, and warns of what of it was not there while the repetition was measured. It
// fails if something of it is left, or the device is gone.
func (l *Load) Stop(ctx context.Context, repetition int) error {
	if l == nil || l.pid == "" {
		return nil
	}
	now, err := l.look(ctx)
	if err != nil {
		return err
	}
	for _, doubt := range l.doubts(now) {
		l.target.Journal.Warnf("repetition %d was not measured under all of its load: %s", repetition, doubt)
	}
	if err := l.end(ctx); err != nil {
		return fmt.Errorf("end the load of the workload: %w", err)
	}
	return nil
}

// doubts returns what of the load was not there.
func (l *Load) doubts(now state) (out []string) {
	for _, kind := range []string{"failed", "ended"} {
		for _, what := range now.said(kind) {
			out = append(out, journal.Line(what))
		}
	}
	if !now.alive {
		return append(out, "its processes had ended before the workload")
	}
	if busy, known := now.busySince(l.from); known && l.wanted.CPU > 0 && busy < (1-near)*float64(l.wanted.CPU) {
		out = append(out, fmt.Sprintf("the processors were busy for %.0f %% of the time, and the load alone takes %.0f %%", 100*busy, 100*float64(l.wanted.CPU)))
	}
	if now.written < l.wanted.Storage && len(out) == 0 {
		out = append(out, fmt.Sprintf("%d of %d files were still written at the end", now.written, l.wanted.Storage))
	}
	if l.short(now) > 0 {
		out = append(out, fmt.Sprintf("%.0f %% of the memory was in use at the end, and the load makes it %.0f %%", 100*now.inUse(), 100*float64(l.wanted.Memory)))
	}
	return out
}

// Release ends the load of a repetition that was lost. On a device that is gone it ends by itself,
// and after an interrupt with the switch, which is removed when the device is left as it was found.
func (l *Load) Release(ctx context.Context) {
	if l == nil || l.pid == "" || ctx.Err() != nil {
		return
	}
	if err := l.end(ctx); err != nil && !loss.IsGone(err) {
		l.target.Journal.Warnf("end the load of the workload: %v", err)
	}
}

// ours matches the command lines of a load's processes, but not that of the search itself.
const ours = `[a]pkgate-load\.sh`

// end ends the load and makes sure that nothing of it is left.
func (l *Load) end(ctx context.Context) error {
	if l.pid == "" {
		return nil
	}
	t := l.target
	if err := t.Try(ctx, "rm", "-f", switchFile); err != nil {
		return err
	}
	gone := func(longest time.Duration, line string) (bool, error) {
		return t.Poll(ctx, lookEvery, longest, func() (bool, error) {
			out, err := t.Ask(ctx, line)
			return out.ExitCode != 0, err
		})
	}
	over, err := gone(goneFor, device.Quote("test", "-d", "/proc/"+l.pid))
	if err == nil { // what hangs in a read or a write may have missed it
		over, err = gone(goneFor/4, device.Quote("pkill", "-KILL", "-f", ours))
	}
	if err != nil {
		return err
	}
	l.pid = ""
	if err := t.Try(ctx, append([]string{"rm", "-f"}, strings.Fields(files())...)...); err != nil {
		return err
	}
	if !over {
		return fmt.Errorf("its processes still run %v after they were to end; they end by themselves, or with a restart of the device", goneFor)
	}
	return nil
}
