package anrtraces

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/run"
)

// told is what the device says.
type told struct {
	// files are the stacks that Android wrote of each ANR, boxed the drop box's text of it:
	// nil where there is none of it, or it can't be had.
	files, boxed [][]byte
	exits        string
	log          []byte
	said         string // why there is no file, in the device's words
}

// add adds what the device says later: what it had before is not lost where it doesn't say
// it again.
func (t *told) add(later told) {
	for i := range t.boxed {
		if later.files[i] != nil {
			t.files[i] = later.files[i]
		}
		if later.boxed[i] != nil {
			t.boxed[i] = later.boxed[i]
		}
	}
	t.said = cmp.Or(later.said, t.said)
}

// none says why there are no stacks.
func (t told) none(own string) string {
	text := "the device has no stacks of it that may be read"
	if t.said != "" {
		text += " (" + t.said + ")"
	}
	if own != "" {
		text += ", and the app could not be made to write them: " + own
	}
	return text
}

// await asks until there are stacks for each ANR, or Android has had time to write them. An
// answer that fails ends the asking; what was had before it stays.
func (a *Asker) await(ctx context.Context, r Repetition, anrs []run.ANR) told {
	t := told{files: make([][]byte, len(anrs)), boxed: make([][]byte, len(anrs))}
	_, err := a.Target.Poll(ctx, askEvery, writes, func() (bool, error) {
		now, err := a.ask(ctx, r, anrs)
		t.add(now)
		return t.whole(), err
	})
	if err == nil || !loss.IsGone(err) {
		err = errors.Join(err, a.askOnce(ctx, &t))
	}
	if err != nil {
		a.Target.Journal.Warnf("repetition %d: what the device tells of an ANR could not be read: %v", r.N, err)
	}
	return t
}

// whole reports whether the drop box has each ANR: that comes last.
func (t told) whole() bool {
	return !slices.ContainsFunc(t.boxed, func(text []byte) bool { return text == nil })
}

// ask asks for stacks. The file of an ANR is the system's alone since Android 8, which
// shows the shell the last one; before, it is for everybody to read. The drop box has what
// was cut to 192 or 256 KiB, with what Android says of the process and the CPUs.
//
// Sources: ActivityManagerService.java (dumpLastANRTracesLocked, since Android 10 in
// ActivityTaskManagerService.java; appNotResponding and its files; addErrorToDropBox),
// DropBoxManagerService.java (dump, which asks for the permissions DUMP and
// PACKAGE_USAGE_STATS, and the shell has both).
func (a *Asker) ask(ctx context.Context, r Repetition, anrs []run.ANR) (t told, err error) {
	t.files, t.boxed = make([][]byte, len(anrs)), make([][]byte, len(anrs))
	file := "cat /data/anr/traces.txt"
	if a.Target.Facts.API >= 26 {
		file = "dumpsys activity lastanr-traces"
	}
	out, err := a.Target.Ask(ctx, file)
	if err != nil {
		return t, err
	}
	for i, one := range slices.Backward(anrs) {
		if len(out.Stdout) <= maxDump && shows(out.Stdout, one.PID) {
			t.files[i] = out.Stdout
			return t, a.askBox(ctx, r, anrs, t.boxed)
		}
	}
	if len(out.Stderr) > 0 {
		t.said = journal.Line(target.LastLine(out.Stderr))
	}
	return t, a.askBox(ctx, r, anrs, t.boxed)
}

// askBox gives each ANR its entry of the drop box. It is asked day by day: printed in whole,
// what it holds of the weeks before may be more than is read of one answer.
func (a *Asker) askBox(ctx context.Context, r Repetition, anrs []run.ANR, boxed [][]byte) error {
	date, err := a.Target.Output(ctx, "date", "+%Y-%m-%d %H:%M:%S")
	if err != nil {
		return err
	}
	now, err := time.Parse(time.DateTime, strings.TrimSpace(date))
	if err != nil {
		return nil // which entries are of the repetition can't be told
	}
	from, to := now.Add(-r.Lasted-tolerance), now.Add(tolerance)
	for _, tag := range tags(anrs) {
		for _, day := range days(from, to) {
			out, err := a.Target.Exec(ctx, "dumpsys", "dropbox", "--print", day, tag)
			if err != nil {
				return err
			}
			assign(entriesOf(string(out.Stdout), from, to), anrs, boxed)
		}
	}
	return nil
}

// days are the last days that a time touches, as the drop box writes them: no repetition
// takes more.
func days(from, to time.Time) (out []string) {
	const most = 3
	for at := to; len(out) < most; at = at.AddDate(0, 0, -1) {
		out = append(out, at.Format(time.DateOnly))
		if out[len(out)-1] <= from.Format(time.DateOnly) {
			break
		}
	}
	slices.Reverse(out)
	return out
}

// tolerance is how far the device's clock may be set while an ANR is handled.
const tolerance = 5 * time.Minute

// tags are those of the drop box that the ANRs may have: one of the app for whichever way
// it was installed, and one of the watchdog.
func tags(anrs []run.ANR) (out []string) {
	for _, a := range anrs {
		of := []string{"data_app_anr", "system_app_anr"}
		if a.Kind == run.SNR {
			of = []string{"system_server_watchdog"}
		}
		for _, tag := range of {
			if !slices.Contains(out, tag) {
				out = append(out, tag)
			}
		}
	}
	return out
}

// askOnce asks for what is there when the stacks are: for which reasons the app's processes
// ended (Android 11), and the log.
func (a *Asker) askOnce(ctx context.Context, t *told) (err error) {
	if a.Target.Facts.API >= 30 {
		if t.exits, err = a.Target.Output(ctx, "dumpsys", "activity", "exit-info", a.App); err != nil {
			return err
		}
	}
	words := []string{"logcat", "-d", "-v", "threadtime"}
	if !a.Target.Facts.WallLog {
		words = append(words, "-v", "monotonic", "-v", "uid")
	}
	for _, buffer := range []string{"main", "system", "events", "crash"} {
		if buffer != "crash" || a.Target.Facts.API >= 21 {
			words = append(words, "-b", buffer)
		}
	}
	out, err := a.Target.Exec(ctx, words...)
	t.log = out.Stdout
	return err
}
