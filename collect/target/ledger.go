package target

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/devicelock"
)

// Change is a change of the device that is undone when the run ends. It is recorded on the device
// before it is made, so that the next run can undo it if this one is killed.
type Change struct {
	Kind  Kind
	Space string // of a setting: "system", "global", "secure"
	Name  string // of a setting, a property, a switch of the network, a package
	// Before and Put are the values before and after the change. A value other than Put was set by
	// somebody else since, and stays.
	Before, Put string
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes. Put is the size of a package's file in bytes, and the paths of files.
const (
	Setting  Kind = "setting"
	Property Kind = "property"
	StayOn   Kind = "stay-on"  // svc power stayon
	Network  Kind = "network"  // svc wifi, svc data
	Battery  Kind = "battery"  // dumpsys battery unplug
	Package  Kind = "package"  // was installed
	App      Kind = "app"      // may run until it is stopped
	Files    Kind = "files"    // were created
	Programs Kind = "programs" // run in the background
	Results  Kind = "results"  // of the Macrobenchmark of that package
	Console  Kind = "console"  // network speed, network delay of the emulator's console
	Shaping  Kind = "shaping"  // tc, as root
	// Performance is the fixed performance mode, whose state no device reports, and Dexopt whether
	// the job scheduler compiles apps in the background.
	Performance Kind = "performance"
	Dexopt      Kind = "dexopt"
)

// Background matches the command lines of background programs of this or a killed run, but not that
// of the search itself.
const Background = `[a]pkgate(-[12])?(\.pftrace|-perf\.data|-exit)`

// ledger is the file on the device that lists what a run changed, one change a line.
const ledger = devicelock.DeviceFolder + "/apkgate-changed"

const (
	readLedger = "cat " + ledger + " 2>/dev/null"
	// maxChanges limits how many changes are read from it.
	maxChanges = 500
)

// note returns the command that records the change, to be run before the one that makes it.
func (c Change) note() string {
	line := url.Values{"kind": {string(c.Kind)}, "space": {c.Space}, "name": {c.Name}, "before": {c.Before}, "put": {c.Put}}.Encode()
	return "{ echo " + device.Quote(line) + " >>" + ledger + "; } 2>/dev/null; "
}

// parseLedger parses the file. A truncated line is of a change that was not made.
func parseLedger(text []byte) (out []Change) {
	for line := range bytes.Lines(text) {
		values, err := url.ParseQuery(string(bytes.TrimSpace(line)))
		if err != nil || !values.Has("put") || len(out) == maxChanges {
			continue
		}
		out = append(out, Change{
			Kind: Kind(values.Get("kind")), Space: values.Get("space"), Name: values.Get("name"), Before: values.Get("before"), Put: values.Get("put"),
		})
	}
	return out
}

// String describes how the change is undone, for messages: "uninstall com.example.mail".
func (c Change) String() string {
	switch c.Kind {
	case Setting:
		if c.Before == unset {
			return "unset the setting " + c.Name
		}
		return fmt.Sprintf("set the setting %s back to %s", c.Name, c.Before)
	case Property:
		return fmt.Sprintf("set the property %s back to %q", c.Name, c.Before)
	case StayOn:
		return "set back whether the screen stays on with a charger"
	case Network:
		return fmt.Sprintf("turn %s %s", map[string]string{"wifi": "Wi-Fi", "data": "mobile data"}[c.Name], map[string]string{"enable": "on", "disable": "off"}[c.Before])
	case Console:
		return "give the emulator's network its speed back (network speed, network delay)"
	case Shaping:
		return "end what slows " + c.Name + " down (tc qdisc)"
	case Battery:
		return "end the faked battery state (dumpsys battery reset)"
	case Package:
		return "uninstall " + c.Name
	case App:
		return "stop " + c.Name
	case Files:
		return "remove apkgate's files"
	case Programs:
		return "end apkgate's recorders"
	case Results:
		return "remove the results of the Macrobenchmark " + c.Name
	case Performance:
		return "turn the fixed performance mode off"
	case LogSize:
		return "have the device keep of its log what it did (" + c.Before + ")"
	case Dexopt:
		return "have Android compile apps in the background again"
	}
	return string(c.Kind)
}

// Record records the changes and runs the command line that makes them, in one command. The caller
// registers their undoing by UndoLater.
func (t *Target) Record(ctx context.Context, line string, changes ...Change) error {
	_, err := t.Recorded(ctx, line, changes...)
	return err
}

// Recorded is Record, with the output of the command line.
func (t *Target) Recorded(ctx context.Context, line string, changes ...Change) (device.Output, error) {
	noted := ""
	for _, c := range changes {
		noted += c.note()
	}
	return t.Ask(ctx, noted+line)
}

// Do makes a change by a command line until the run ends. If this run made the same change before,
// as before the device was lost, Before stays that of the first time.
func (t *Target) Do(ctx context.Context, line string, c Change) error {
	switch o := t.made(c); {
	case o == nil:
		t.undo = append(t.undo, undo{what: c.String(), change: &c})
		return t.Record(ctx, line, c)
	case o.Put != c.Put:
		o.Put = c.Put
		return t.Record(ctx, line, *o)
	}
	return t.Record(ctx, line)
}

// Before returns the value that a change's subject had before this run changed it; known is false
// if it has not.
func (t *Target) Before(c Change) (before string, known bool) {
	if o := t.made(c); o != nil {
		return o.Before, true
	}
	return "", false
}

// Attempt is Do for a change that a device may refuse by its exit status. A refused change is not
// undone.
func (t *Target) Attempt(ctx context.Context, line string, c Change) (device.Output, error) {
	if t.made(c) != nil {
		return t.Ask(ctx, line)
	}
	out, err := t.Recorded(ctx, line, c)
	if err != nil || out.ExitCode == 0 {
		t.undo = append(t.undo, undo{what: c.String(), change: &c})
	}
	return out, err
}

// made returns the change of the same subject that this run has made already, nil for none.
func (t *Target) made(c Change) *Change {
	for _, u := range t.undo {
		if o := u.change; o != nil && o.Kind == c.Kind && o.Space == c.Space && o.Name == c.Name {
			return o
		}
	}
	return nil
}

// ReplaceSetting changes a setting, whose earlier value is known, until the run ends, and reads it
// back. Called again, as after the device was lost, it sets it again.
func (t *Target) ReplaceSetting(ctx context.Context, c Change) error {
	put := device.Quote("settings", "put", c.Space, c.Name, c.Put)
	if err := t.Do(ctx, put, c); err != nil {
		return fmt.Errorf("put the setting %s: %w", c.Name, err)
	}
	now, err := t.Setting(ctx, c.Space, c.Name)
	if err == nil && now != "" && now != c.Put {
		t.ignored(c.Name, c.Put, now)
	}
	return err
}

// ChangeProperty changes a property until the run ends. A property without a value is undone by
// setting it to none, since properties can't be deleted.
func (t *Target) ChangeProperty(ctx context.Context, name, value, none string) error {
	c := Change{Kind: Property, Name: name, Before: cmp.Or(t.Facts.Properties[name], none), Put: value}
	return t.Do(ctx, device.Quote("setprop", name, value), c)
}

// putBack undoes a change, unless somebody else has changed the same thing since: then it returns
// the value found.
func (t *Target) putBack(ctx context.Context, c Change) (found string, err error) {
	switch c.Kind {
	case Setting:
		return t.putBackSetting(ctx, c)
	case Property:
		now, err := t.Output(ctx, "getprop", c.Name)
		if now = strings.TrimSpace(now); err != nil || now != c.Put {
			return other(now, c.Before), err
		}
		return "", t.Try(ctx, "setprop", c.Name, c.Before)
	case StayOn:
		return t.putBackStayOn(ctx, c)
	case Network:
		return "", t.Try(ctx, "svc", c.Name, c.Before)
	case Console:
		return t.putBackConsole(ctx, c)
	case Shaping:
		return t.putBackShaping(ctx, c)
	case Battery:
		return "", t.Try(ctx, "dumpsys", "battery", "reset")
	case Package:
		return t.uninstallOurs(ctx, c)
	case App:
		return "", t.Try(ctx, "am", "force-stop", c.Name)
	case Files:
		return "", t.removeFiles(ctx, c)
	case Programs:
		return "", t.endBackground(ctx)
	case Results:
		return "", t.removeResults(ctx, c)
	case Performance:
		return "", t.Try(ctx, "cmd", "power", "set-fixed-performance-mode-enabled", "false")
	case Dexopt:
		return t.putBackDexopt(ctx)
	case LogSize:
		return t.putBackLogSize(ctx, c)
	}
	return "", fmt.Errorf("%q is a change that this apkgate does not know", journal.Line(string(c.Kind)))
}

// other returns what was found, if that differs from the earlier value too.
func other(now, before string) string {
	if now == before {
		return ""
	}
	return "is " + journal.Line(now) + " by now"
}

func (t *Target) putBackSetting(ctx context.Context, c Change) (found string, err error) {
	now, err := t.Setting(ctx, c.Space, c.Name)
	if err != nil || now != c.Put {
		return other(now, c.Before), err
	}
	return "", t.reset(ctx, c.Space, c.Name, c.Before)
}

// DexoptQuestion queries the state of the job that compiles apps in the background, by its number
// since Android 14 (art/libartservice, BackgroundDexoptJob.JOB_ID): "waiting" or similar,
// "unknown(1000/jid27873780)" if somebody has turned it off (JobSchedulerService.getJobState).
const DexoptQuestion = "cmd jobscheduler get-job-state android 27873780"

// DexoptOff reports whether that job was turned off, by the answer to DexoptQuestion.
func DexoptOff(answer []byte) bool { return bytes.Contains(answer, []byte("unknown(")) }

func (t *Target) putBackDexopt(ctx context.Context) (found string, err error) {
	out, err := t.Ask(ctx, DexoptQuestion)
	if err != nil || !DexoptOff(out.Stdout) {
		return "", err // a restart of the device, or somebody else, has turned it on again
	}
	return "", t.Try(ctx, "pm", "bg-dexopt-job", "--enable")
}

// anyCharger is what "svc power stayon true" sets: AC and USB, wireless (Android 4.2), a dock (13).
var anyCharger = []string{"3", "7", "15"}

func (t *Target) putBackStayOn(ctx context.Context, c Change) (found string, err error) {
	if c.Before == "" {
		return "", t.Try(ctx, "svc", "power", "stayon", "false")
	}
	now, err := t.Setting(ctx, "global", StayOnSetting)
	if err != nil || !slices.Contains(anyCharger, now) {
		return other(now, c.Before), err
	}
	return "", t.reset(ctx, "global", StayOnSetting, c.Before)
}

var packageName = regexp.MustCompile(`^[A-Za-z0-9_.]{1,255}$`)

// uninstallOurs uninstalls a package if its file still has the size of the one that this run
// installed.
func (t *Target) uninstallOurs(ctx context.Context, c Change) (found string, err error) {
	if !packageName.MatchString(c.Name) {
		return "", fmt.Errorf("%q is no package", journal.Line(c.Name))
	}
	text, err := t.Output(ctx, "pm", "path", c.Name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		path, isPath := strings.CutPrefix(strings.TrimSpace(line), "package:")
		if !isPath {
			continue
		}
		listed, err := t.Output(ctx, "ls", "-l", path)
		if err != nil {
			return "", err
		}
		if sizes := strings.Split(c.Put, ","); c.Put != "" && listed != "" && !slices.ContainsFunc(strings.Fields(listed), func(f string) bool { return slices.Contains(sizes, f) }) {
			return "was reinstalled since", nil
		}
		return "", t.dev.Uninstall(ctx, c.Name)
	}
	return "", nil
}

// How long background programs may take to end and to write their files, and how often they are
// signaled.
const (
	backgroundFor   = 10 * time.Second
	backgroundEvery = 500 * time.Millisecond
)

// endBackground ends the background programs of a run.
func (t *Target) endBackground(ctx context.Context) error {
	ended, err := t.Poll(ctx, backgroundEvery, backgroundFor, func() (bool, error) {
		out, err := t.Exec(ctx, "pkill", "-f", Background) // by SIGTERM, which old toybox can't spell
		return out.ExitCode != 0, err
	})
	if err == nil && !ended {
		err = fmt.Errorf("it still runs after %v; it ends by itself, or with a restart of the device", backgroundFor)
	}
	return err
}

// removeFiles removes files with apkgate's name, and no others.
func (t *Target) removeFiles(ctx context.Context, c Change) error {
	paths := strings.Fields(c.Put)
	for _, path := range paths {
		if !strings.Contains(path, "/apkgate") || strings.Contains(path, "..") {
			return fmt.Errorf("%q is no file of apkgate's", journal.Line(path))
		}
	}
	return t.Try(ctx, append([]string{"rm", "-f"}, paths...)...)
}

// ResultsOf is the folder of a Macrobenchmark's results, by its package: an app may write to its
// own media folder without permission, and adb may read it (scoped storage, Android 11).
func ResultsOf(pkg string) string {
	return "/sdcard/Android/media/" + pkg + "/additional_test_output"
}

// named matches a package as a folder's name: nothing that leads elsewhere.
var named = regexp.MustCompile(`^[A-Za-z0-9_]{1,255}(\.[A-Za-z0-9_]{1,255})*$`)

// removeResults removes the folder of one package's results.
func (t *Target) removeResults(ctx context.Context, c Change) error {
	if !named.MatchString(c.Name) {
		return fmt.Errorf("%q is no package", journal.Line(c.Name))
	}
	// A benchmark may outlive the connection of a killed run, and write its results later.
	_, err := t.Ask(ctx, device.Quote("am", "force-stop", c.Name)+"; "+device.Quote("rm", "-rf", ResultsOf(c.Name)))
	return err
}

// putBackLeft undoes what a killed run left, the last change first, and reports it.
func (t *Target) putBackLeft(ctx context.Context, left []Change) error {
	if len(left) == 0 {
		return nil
	}
	var done, kept []string
	var failed []Change
	for _, c := range slices.Backward(left) {
		switch found, err := t.putBack(ctx, c); {
		case loss.IsGone(err) || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case err != nil:
			failed = append(failed, c)
			t.Journal.Warnf("a killed run left this to do: %s: %v", journal.Line(c.String()), err)
		case found != "":
			kept = append(kept, fmt.Sprintf("%s (it %s)", journal.Line(c.String()), found))
		default:
			done = append(done, journal.Line(c.String()))
		}
	}
	if len(done) > 0 {
		t.Journal.Warnf("a killed run had left the device changed; this was still to do, and is done: %s", strings.Join(done, "; "))
	}
	if len(kept) > 0 {
		t.Journal.Warnf("a killed run left this to undo, but it was changed since, so it is left as it is: %s", strings.Join(kept, "; "))
	}
	t.failed = failed
	_, err := t.Ask(ctx, keepNoted(failed)+":")
	return err
}

// keepNoted returns the command that leaves in the ledger what is still to be undone, given last
// first.
func keepNoted(left []Change) string {
	line := device.Quote("rm", "-f", ledger) + "; "
	for _, c := range slices.Backward(left) {
		line += c.note()
	}
	return line
}
