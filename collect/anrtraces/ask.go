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

// answers are what the device returned.
type answers struct {
	// files are the stacks that Android wrote of each ANR, boxed their drop box texts: nil if there
	// is none, or it can't be read.
	files, boxed [][]byte
	exits        string
	log          []byte
	reason       string // why there is no file, in the device's words
}

// add adds later answers without losing earlier ones that are not repeated.
func (t *answers) add(later answers) {
	for i := range t.boxed {
		if later.files[i] != nil {
			t.files[i] = later.files[i]
		}
		if later.boxed[i] != nil {
			t.boxed[i] = later.boxed[i]
		}
	}
	t.reason = cmp.Or(later.reason, t.reason)
}

// missing returns why there are no stacks.
func (t answers) missing(own string) string {
	text := "the device has no stacks of it that may be read"
	if t.reason != "" {
		text += " (" + t.reason + ")"
	}
	if own != "" {
		text += ", and the app could not be made to write them: " + own
	}
	return text
}

// await polls until there are stacks for each ANR, or Android has had time to write them. A failed
// query ends it; earlier answers are kept.
func (a *Asker) await(ctx context.Context, r Repetition, anrs []run.ANR) answers {
	t := answers{files: make([][]byte, len(anrs)), boxed: make([][]byte, len(anrs))}
	_, err := a.Target.Poll(ctx, askEvery, writes, func() (bool, error) {
		now, err := a.ask(ctx, r, anrs)
		t.add(now)
		return t.complete(), err
	})
	if err == nil || !loss.IsGone(err) {
		err = errors.Join(err, a.askOnce(ctx, &t))
	}
	if err != nil {
		a.Target.Journal.Warnf("repetition %d: the device's report on an ANR could not be read: %v", r.N, err)
	}
	return t
}

// complete reports whether the drop box has each ANR: that comes last.
func (t answers) complete() bool {
	return !slices.ContainsFunc(t.boxed, func(text []byte) bool { return text == nil })
}

// ask queries the stacks. Since Android 8 only the system can read the file of an ANR, and shows
// the shell the last one; before, everybody can read it. The drop box has the text cut to 192 or
// 256 KiB, with what Android reports on the process and the CPUs.
//
// Sources: ActivityManagerService.java (dumpLastANRTracesLocked, since Android 10 in
// ActivityTaskManagerService.java; appNotResponding and its files; addErrorToDropBox),
// DropBoxManagerService.java (dump, which needs the permissions DUMP and PACKAGE_USAGE_STATS, and
// the shell has both).
func (a *Asker) ask(ctx context.Context, r Repetition, anrs []run.ANR) (t answers, err error) {
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
		t.reason = journal.Line(target.LastLine(out.Stderr))
	}
	return t, a.askBox(ctx, r, anrs, t.boxed)
}

// askBox finds each ANR's drop box entry. It queries day by day: the entries of the weeks before
// may be larger than one answer may be.
func (a *Asker) askBox(ctx context.Context, r Repetition, anrs []run.ANR, boxed [][]byte) error {
	date, err := a.Target.Output(ctx, "date", "+%Y-%m-%d %H:%M:%S")
	if err != nil {
		return err
	}
	now, err := time.Parse(time.DateTime, strings.TrimSpace(date))
	if err != nil {
		return nil // the repetition's entries can't be identified
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

// days returns the last days of an interval, as the drop box writes them: no repetition takes
// longer.
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

// tags returns the drop box tags that the ANRs may have: one for each way in which the app may be
// installed, and one for the watchdog.
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

// askOnce queries what exists by the time that the stacks do: the exit reasons of the app's
// processes (Android 11), and the log.
func (a *Asker) askOnce(ctx context.Context, t *answers) (err error) {
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
