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

// aliveEvery is how often a device is checked while it is waited for, on its clock.
const aliveEvery = 2 * time.Second

// Rest waits on the device's clock. The device is checked while it rests, so that one that dies,
// hangs or restarts is detected within 5 s.
func (t *Target) Rest(ctx context.Context, d time.Duration) error {
	for until := t.Clock.Now() + d; ; {
		if err := t.CheckAliveIfDue(ctx); err != nil {
			return err
		}
		left := until - t.Clock.Now() // the check takes some of the time
		if left <= 0 {
			return nil
		}
		if err := t.Clock.Sleep(ctx, min(left, aliveEvery)); err != nil {
			return err
		}
	}
}

// CheckAliveIfDue is CheckAlive if the last check is old enough.
func (t *Target) CheckAliveIfDue(ctx context.Context) error {
	if err := t.Lost(); err != nil {
		return err
	}
	if now := t.Clock.Now(); t.lifeKnown && now-t.checked < aliveEvery {
		return nil
	}
	return t.CheckAlive(ctx)
}

// Vitals are the processes whose files in /proc show the device's state while an app is measured,
// read in the same command as the app's own.
type Vitals struct {
	System int   // Android's system process; 0: unknown
	Watch  []int // the processes that queries run in: adbd, the shell that is kept open, and the log's follower
}

// FindVitals finds the processes: pidof came with Android 6.
func (t *Target) FindVitals(ctx context.Context) error {
	const mark = "apkgate-next"
	out, err := t.Ask(ctx, "pidof system_server; echo "+mark+"; pidof adbd; echo "+mark+"; pidof logcat")
	if err != nil {
		return fmt.Errorf("look for the processes that watching takes: %w", err)
	}
	t.Vitals, t.lifeRead = Vitals{}, life{}
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

// findShell finds the process of the shell that the device keeps open, by asking the shell.
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

// maxWatch limits how many watching processes of a device are tracked.
const maxWatch = 10

// bootID changes with each start of the kernel (random(4)).
const bootID = "/proc/sys/kernel/random/boot_id"

// Files returns the files that show the state of the processes and of the device's start.
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

// CheckAliveFrom is CheckAlive by values that were read anyway: the device's boot_id, and when
// Android's system process began, "" if it is gone. While the app works it does not query the
// system process: the answer needs the system's locks, and an app that works shows that the device
// does not hang.
func (t *Target) CheckAliveFrom(ctx context.Context, boot, began string, works bool) error {
	was := t.lifeRead
	t.lifeRead = life{boot, began}
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
		t.lifeKnown, t.checked = true, t.Clock.Now()
	}
	return t.behindDialog(ctx, accidents)
}

var (
	errRestarted       = fmt.Errorf("%w: it has restarted by itself", device.ErrGone)
	errSystemRestarted = fmt.Errorf("%w: its system has restarted by itself, and ended all apps", device.ErrGone)
)

// CheckAlive makes sure that the device has the same start of its kernel and of its system as
// before: an adb server may restore the connection after a restart before any command fails.
//
// boot_id changes with each start of the kernel, and the count increases with each start of the
// system process (SystemServer.java, Android 10).
func (t *Target) CheckAlive(ctx context.Context) error {
	line := "cat " + bootID + "; getprop sys.system_server.start_count"
	if !t.Asked {
		line += "; " + systemQuestion
	}
	if t.Heard == nil {
		line += "; echo " + accidentsMark + "; " + accidentsQuestion
	}
	out, err := t.Question(ctx, line)
	if err != nil {
		return fmt.Errorf("check that the device is alive: %w", err)
	}
	if t.lifeKnown, t.checked = true, t.Clock.Now(); !t.Asked {
		t.dev.hear(&t.dev.system)
	}
	pulse, accidents, _ := strings.Cut(string(out.Stdout), accidentsMark)
	if t.Heard != nil {
		var follows bool
		if accidents, follows = t.Heard(); !follows {
			t.Heard = nil // from the next check on the log is queried
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

// life identifies one start of a device; boot is "" if unknown, and system if the device does not
// count.
type life struct{ boot, system string }

var lifeLines = regexp.MustCompile(`^([0-9a-f-]{36})\s+(\d{0,9})\s*$`)

func lifeIn(text string) life {
	m := lifeLines.FindStringSubmatch(text)
	if m == nil {
		return life{}
	}
	return life{m[1], m[2]}
}

// The last entries of the system's event log about processes that don't respond or have crashed:
// more of them than a busy phone writes between two checks.
const (
	accidentsMark     = "apkgate-accidents"
	accidentsQuestion = "logcat -d -b events -v threadtime -t 400 am_anr:V am_crash:V '*:S' 2>/dev/null"
)

// accident is such an entry: am_anr has the user, the process's number and name, and am_crash the
// number, the user and the name (EventLogTags.logtags).
var accident = regexp.MustCompile(`am_(?:anr|crash)\s*: \[\d+,\d+,([^,\]]{1,255})`)

// behindDialog reports that the focus is on a dialog about another process than the app's that does
// not respond or has crashed. The focus is queried when the log first names such a process, since
// that costs more than reading the log.
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
	out, err := t.Ask(ctx, device.FocusQuery)
	if err != nil {
		return fmt.Errorf("look for a dialog of the system: %w", err)
	}
	if d, shown := device.ReadDialog(string(out.Stdout)); shown && !slices.Contains(t.Apps, d.Process) {
		return fmt.Errorf("%w: %s", loss.ErrDialog, journal.Line(d.String()))
	}
	return nil
}
