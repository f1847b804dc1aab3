package target

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
)

// pulseEvery is how often a device's pulse is felt while it is waited for, on its clock.
const pulseEvery = 2 * time.Second

// Rest lets time pass on the device's clock. Meanwhile the device's pulse is felt: one
// that dies, hangs or restarts is known within 5 s, also while nothing else is asked of it.
func (t *Target) Rest(ctx context.Context, d time.Duration) error {
	for until := t.Clock.Now() + d; ; {
		if err := t.Feel(ctx); err != nil {
			return err
		}
		left := until - t.Clock.Now() // feeling it takes some of the time
		if left <= 0 {
			return nil
		}
		if err := t.Clock.Sleep(ctx, min(left, pulseEvery)); err != nil {
			return err
		}
	}
}

// Feel feels the device's pulse, where that is due.
func (t *Target) Feel(ctx context.Context) error {
	if err := t.Lost(); err != nil {
		return err
	}
	if now := t.Clock.Now(); t.felt && now-t.pulsed < pulseEvery {
		return nil
	}
	return t.Pulse(ctx)
}

// Vitals are the processes whose files in /proc tell of the device while an app is measured,
// in the same command as what is read of the app.
type Vitals struct {
	System int   // Android's own process; 0: not known
	Watch  []int // that what is asked of the device runs in: adbd, the shell that is kept, and what follows the log
}

// FindVitals looks for them: pidof came with Android 6.
func (t *Target) FindVitals(ctx context.Context) error {
	const mark = "apkgate-next"
	out, err := t.Ask(ctx, "pidof system_server; echo "+mark+"; pidof adbd; echo "+mark+"; pidof logcat")
	if err != nil {
		return fmt.Errorf("look for the processes that watching takes: %w", err)
	}
	t.Vitals, t.light = Vitals{}, life{}
	for i, part := range strings.SplitN(string(out.Stdout), mark, 3) {
		for word := range strings.FieldsSeq(part) {
			pid, err := strconv.Atoi(word)
			switch {
			case err != nil || pid <= 0 || len(t.Vitals.Watch) == maxWatch:
			case i == 0:
				t.Vitals.System = pid
			default:
				t.Vitals.Watch = append(t.Vitals.Watch, pid)
			}
		}
	}
	return t.findShell(ctx)
}

// findShell looks for the process of the shell that the device keeps, which tells it itself.
func (t *Target) findShell(ctx context.Context) error {
	if !device.KeepsShell(ctx, t.dev.Device) {
		return nil
	}
	out, err := t.dev.Ask(ctx, "echo $$")
	if err != nil {
		return fmt.Errorf("look for the shell that the device keeps: %w", err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout))); err == nil && pid > 0 {
		t.Vitals.Watch = append(t.Vitals.Watch, pid)
	}
	return nil
}

// maxWatch bounds the processes of a device that watch it.
const maxWatch = 10

// bootID is another after each start of the kernel (random(4)).
const bootID = "/proc/sys/kernel/random/boot_id"

// Files are those that tell of them, and of the device's start.
func (v Vitals) Files() []string {
	if v.System == 0 {
		return nil
	}
	files := []string{bootID, fmt.Sprintf("/proc/%d/stat", v.System)}
	for _, pid := range v.Watch {
		files = append(files, fmt.Sprintf("/proc/%d/stat", pid))
	}
	return files
}

// Felt is Pulse by what was read anyhow: the device's boot_id, and when Android's own process
// began, "" where it is gone. Whether that process still answers is not asked while the app
// works: what it is asked for is printed under its locks, and an app that works is no sign of
// one that hangs.
func (t *Target) Felt(ctx context.Context, boot, began string, works bool) error {
	was := t.light
	t.light = life{boot, began}
	switch {
	case boot == "" || was.boot == "" || was.system == "":
		return nil
	case was.boot != boot:
		return errRestarted
	case was.system != began:
		return errSystemRestarted
	case t.Heard == nil:
		return nil
	}
	accidents, follows := t.Heard()
	if !follows {
		return nil
	}
	if works || t.Asked {
		t.felt, t.pulsed = true, t.Clock.Now()
	}
	return t.behindDialog(ctx, accidents)
}

var (
	errRestarted       = fmt.Errorf("%w: it has restarted by itself", device.ErrGone)
	errSystemRestarted = fmt.Errorf("%w: its system has restarted by itself, and ended all apps", device.ErrGone)
)

// Pulse makes sure that the device is the one that it was, with the same start of its
// kernel and of its system: an adb server may have the connection back after a restart
// before any command fails.
//
// boot_id is another after each start of the kernel, and the count one more after each of the
// system's own process (SystemServer.java, Android 10).
func (t *Target) Pulse(ctx context.Context) error {
	line := "cat " + bootID + "; getprop sys.system_server.start_count"
	if !t.Asked {
		line += "; " + systemQuestion
	}
	if t.Heard == nil {
		line += "; echo " + accidentsMark + "; " + accidentsQuestion
	}
	out, err := t.Question(ctx, line)
	if err != nil {
		return fmt.Errorf("feel the device's pulse: %w", err)
	}
	if t.felt, t.pulsed = true, t.Clock.Now(); !t.Asked {
		t.dev.hear(&t.dev.system)
	}
	pulse, accidents, _ := strings.Cut(string(out.Stdout), accidentsMark)
	if t.Heard != nil {
		var follows bool
		if accidents, follows = t.Heard(); !follows {
			t.Heard = nil // from the next pulse on it is asked
		}
	}
	now := lifeIn(pulse)
	was := t.life
	t.life = now
	switch {
	case was.boot == "" || now.boot == "" || was == now:
		return t.behindDialog(ctx, accidents)
	case was.boot == now.boot:
		return errSystemRestarted
	}
	return errRestarted
}

// life tells one start of a device from another; boot is "" where that is not known, and
// system where the device does not count.
type life struct{ boot, system string }

var lifeLines = regexp.MustCompile(`^([0-9a-f-]{36})\s+(\d{0,9})\s*$`)

func lifeIn(text string) life {
	m := lifeLines.FindStringSubmatch(text)
	if m == nil {
		return life{}
	}
	return life{m[1], m[2]}
}

// What the system's log of events tells of processes that don't respond or have crashed,
// among its last entries: more of them than a busy phone writes between two pulses.
const (
	accidentsMark     = "apkgate-accidents"
	accidentsQuestion = "logcat -d -b events -v threadtime -t 400 am_anr:V am_crash:V '*:S' 2>/dev/null"
)

// accident is an entry of it: am_anr has the user, the process's number and name, and
// am_crash the number, the user and the name (EventLogTags.logtags).
var accident = regexp.MustCompile(`am_(?:anr|crash)\s*: \[\d+,\d+,([^,\]]{1,255})`)

// behindDialog is that a dialog has the focus which says that another process than the
// app's does not respond or has crashed. It is looked for where the log tells of such a
// process for the first time, since the question for the focus costs more than the log.
func (t *Target) behindDialog(ctx context.Context, log string) error {
	var entries []string
	for line := range strings.Lines(log) {
		if m := accident.FindStringSubmatch(line); m != nil && !slices.ContainsFunc(t.Apps, func(pkg string) bool {
			return m[1] == pkg || strings.HasPrefix(m[1], pkg+":")
		}) {
			entries = append(entries, line)
		}
	}
	if len(entries) == 0 || entries[len(entries)-1] == t.accidents {
		return nil
	}
	t.accidents = entries[len(entries)-1]
	out, err := t.Ask(ctx, device.FocusQuestion)
	if err != nil {
		return fmt.Errorf("look for a dialog of the system: %w", err)
	}
	if d, shown := device.ReadDialog(string(out.Stdout)); shown && !slices.Contains(t.Apps, d.Process) {
		return fmt.Errorf("%w: %s", loss.ErrDialog, journal.Line(d.String()))
	}
	return nil
}
