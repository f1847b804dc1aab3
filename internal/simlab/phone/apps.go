package phone

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/account"
	"github.com/apkgate/apkgate/internal/simlab/choreo"
	"github.com/apkgate/apkgate/internal/simlab/gfxinfo"
	"github.com/apkgate/apkgate/internal/simlab/logcat"
	"github.com/apkgate/apkgate/internal/simlab/pipeline"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
)

// installed is a package on the phone.
type installed struct {
	app     *simapp.App
	path    string   // of its base
	splits  []string // the names of the others
	updated time.Duration
	uid     int
	filter  string // the compiler's filter: "speed-profile", "speed"
	// profiled says that the app's baseline profile is installed, hot that the code which
	// it names is compiled.
	profiled, hot bool
	// granted are the runtime permissions that the app has.
	granted map[string]bool
	made    int // how often its activity was made
	// queryable: every app may see and bind to it (Android 11).
	queryable bool
}

// paths are where the parts of the app are, its base first.
func (a *installed) paths() []string {
	paths := []string{a.path}
	for _, name := range a.splits {
		paths = append(paths, a.folder()+"/split_"+name+".apk")
	}
	return paths
}

// folder is where the app's files are.
func (a *installed) folder() string { return a.path[:strings.LastIndexByte(a.path, '/')] }

// install puts an app on the phone: one file, or its base and its splits. Errors are
// in the words of the package manager.
func (p *Phone) install(parts ...[]byte) (*simapp.App, error) {
	app, contents, err := p.assemble(parts)
	switch {
	case err != nil:
		return nil, err
	case p.files.Full:
		return nil, fmt.Errorf("INSTALL_FAILED_INSUFFICIENT_STORAGE")
	}
	p.kill(app.Package)
	path := "/data/app/" + app.Package + "-1/base.apk"
	if p.profile.API < 21 {
		path = "/data/app/" + app.Package + "-1.apk"
	}
	granted := map[string]bool{}
	if before := p.state.apps[app.Package]; before != nil {
		granted = before.granted
		p.discard(before)
	}
	splits := sortedKeys(contents)[1:] // the base is first, it has no name
	p.state.apps[app.Package] = &installed{
		app: app, path: path, splits: splits, updated: p.clock.Now(), uid: p.uidOf(app.Package), filter: "verify", granted: granted,
	}
	return app, p.store(p.state.apps[app.Package], contents)
}

// store writes the app's files: its APKs, and the native libraries in them for the
// phone, unpacked.
func (p *Phone) store(a *installed, contents map[string][]byte) error {
	folder := a.folder()
	if err := p.files.MakeDir(folder, true); err != nil {
		return err
	}
	for i, name := range append([]string{""}, a.splits...) {
		apk := contents[name]
		if err := p.files.Write(a.paths()[i], apk, 0o644); err != nil {
			return err
		}
		libraries, err := simapp.Libraries(apk, p.profile.ABI)
		if err != nil {
			return fmt.Errorf("INSTALL_FAILED_INVALID_APK: %w", err)
		}
		lib := folder + "/lib/" + strings.TrimSuffix(p.profile.ABI, "-v8a")
		for _, name := range sortedKeys(libraries) {
			if err := errors.Join(p.files.MakeDir(lib, true), p.files.Write(lib+"/"+name, make([]byte, libraries[name]), 0o755)); err != nil {
				return err
			}
		}
	}
	return nil
}

// discard removes the app's files.
func (p *Phone) discard(a *installed) {
	for _, name := range append(a.paths(), a.folder()+"/lib") {
		_ = p.files.Remove(name, true) // what is not there need not be removed
	}
}

// needsSplitsSince is the API level from which on a base that is no app without
// others is refused (isSplitRequired).
const needsSplitsSince = 29

// assemble makes an app of its parts (PackageInstallerSession.validateApkInstallLocked),
// and tells these apart by their names, of which the base has none.
func (p *Phone) assemble(parts [][]byte) (base *simapp.App, contents map[string][]byte, err error) {
	var first *simapp.App
	contents = map[string][]byte{}
	for _, text := range parts {
		app, err := parseAPK(text)
		switch {
		case err != nil:
			return nil, nil, err
		case first == nil:
			first = app
		case app.Package != first.Package:
			return nil, nil, fmt.Errorf("INSTALL_FAILED_INVALID_APK: %s package %s inconsistent with %s", app.Split, app.Package, first.Package)
		case app.VersionCode != first.VersionCode:
			return nil, nil, fmt.Errorf("INSTALL_FAILED_INVALID_APK: %s version code %d inconsistent with %d", app.Split, app.VersionCode, first.VersionCode)
		}
		if contents[app.Split] != nil {
			return nil, nil, fmt.Errorf("INSTALL_FAILED_INVALID_APK: Split %s was defined multiple times", cmp.Or(app.Split, "null"))
		}
		contents[app.Split] = text
		if app.Split == "" {
			base = app
		}
	}
	switch {
	case base == nil:
		return nil, nil, errors.New("INSTALL_FAILED_INVALID_APK: Full install must include a base package")
	case base.NeedsSplits && len(parts) == 1 && p.profile.API >= needsSplitsSince:
		return nil, nil, fmt.Errorf("INSTALL_FAILED_MISSING_SPLIT: Missing split for %s", base.Package)
	}
	return base, contents, nil
}

func parseAPK(apk []byte) (*simapp.App, error) {
	text, err := simapp.TextOf(apk)
	if err != nil {
		return nil, fmt.Errorf("INSTALL_PARSE_FAILED_NOT_APK: %w", err)
	}
	if !simapp.Is(text) {
		return nil, fmt.Errorf("INSTALL_PARSE_FAILED_NOT_APK: this is no simulated app: its first line is not %s", simapp.Format)
	}
	app, err := simapp.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: %v", err)
	}
	return app, nil
}

// firstUID is that of the first app that is installed.
const firstUID = 10120

// uidOf is the user of a package; one that comes back gets its old one.
func (p *Phone) uidOf(pkg string) int {
	if p.state.uids == nil {
		p.state.uids = map[string]int{}
	}
	uid, ok := p.state.uids[pkg]
	if !ok {
		uid = firstUID + len(p.state.uids)
		p.state.uids[pkg] = uid
	}
	return uid
}

// process is the process of an app, with the frames it rendered.
type process struct {
	gfxinfo.Process
	app        *simapp.App
	dead       bool
	busy       []choreo.Block
	told       []choreo.Block // when it wrote of its frames
	toldFrames time.Duration  // until when long frames were logged
	workload   *workload      // which drives it, or nil
	deeds      *account.Deeds // what it did that costs power
	draws      *pipeline.App  // its frames
	task       task
}

// newProcess is a process that begins now.
func (p *Phone) newProcess(app *simapp.App, pid int) *process {
	return &process{app: app, draws: p.newPipeline(), Process: gfxinfo.Process{Package: app.Package, PID: pid, Since: p.clock.Now()}}
}

// component is the activity's name in full.
func (pr *process) component() string { return pr.app.Package + "/" + pr.app.ActivityClass() }

// launch starts the process of an app, to show its activity.
func (p *Phone) launch(app *simapp.App, why string) *process {
	pr := p.startProcess(app, why)
	p.toFront(pr)
	return pr
}

// startProcess starts the process of an app.
func (p *Phone) startProcess(app *simapp.App, why string) *process {
	p.state.nextPID += 17
	p.state.processes++
	pr := p.newProcess(app, p.state.nextPID)
	if v := p.state.props["debug.hwui.profile"]; v == "true" || v == "visual_bars" && p.profile.API >= 17 {
		pr.Profiled = true
	}
	p.state.running[app.Package] = pr
	p.forgetFrames()
	p.openWindow(pr, pr.component())
	p.beginDeeds(pr)
	p.log.System("system", 'I', "ActivityManager", "Start proc %d:%s/u0a120 for %s %s", pr.PID, app.Package, why, app.Component())
	p.log.Event("am_proc_start", 0, pr.PID, 10120, app.Package, why, app.Component())
	p.log.Event("am_proc_bound", 0, pr.PID, app.Package)
	return pr
}

// kill stops a package, as am force-stop does; what drove it is told.
func (p *Phone) kill(pkg string) {
	pr := p.state.running[pkg]
	if pr == nil {
		return
	}
	p.die(pr)
	p.log.Event("am_kill", 0, pr.PID, pkg, 0, "stop "+pkg)
	if w := pr.workload; w != nil {
		w.appDied("Process crashed.")
	}
}

// die ends a process, without a word.
func (p *Phone) die(pr *process) {
	p.endDeeds(pr)
	p.closeWindows(pr)
	p.keepGraphics(pr)
	pr.dead = true
	delete(p.state.running, pr.app.Package)
	if p.state.foreground == pr.app.Package {
		p.state.foreground = ""
		p.goHome()
	}
}

// displayed logs that an activity is on the screen.
func (p *Phone) displayed(pr *process, after time.Duration) {
	if pr.dead {
		return
	}
	p.log.System("system", 'I', p.activityTag(), "Displayed %s: +%s", pr.app.Component(), spell(after))
	hash := p.random("activity", pr.app.Package).Uint32() >> 5
	prefix := "am"
	if p.profile.API >= 29 {
		prefix = "wm"
	}
	p.log.Event(prefix+"_on_resume_called", 0, pr.app.ActivityClass(), "RESUME_ACTIVITY")
	p.log.Event(prefix+"_activity_launch_time", 0, hash, pr.app.Component(), after.Milliseconds(), after.Milliseconds())
}

// fullyDrawn logs that the app says that its activity shows all that it should:
// ActivityRecord.reportFullyDrawnLocked, since Android 10 ActivityMetricsLogger.
func (p *Phone) fullyDrawn(pr *process, after time.Duration) {
	if pr.dead {
		return
	}
	if p.profile.API < 29 {
		hash := p.random("activity", pr.app.Package).Uint32() >> 5
		p.log.Event("am_activity_fully_drawn_time", 0, hash, pr.app.Component(), after.Milliseconds(), after.Milliseconds())
	}
	p.log.System("system", 'I', p.activityTag(), "Fully drawn %s: +%s", pr.app.Component(), spell(after))
}

// activityTag is that of what starts activities.
func (p *Phone) activityTag() string {
	if p.profile.API >= 29 {
		return "ActivityTaskManager"
	}
	return "ActivityManager"
}

// spell writes a duration as Android's TimeUtils does: 1s23ms.
func spell(d time.Duration) string {
	if s := d / time.Second; s > 0 {
		return fmt.Sprintf("%ds%dms", s, (d % time.Second).Milliseconds())
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// happen logs a UI event: what the test says of it, and what the system does.
func (p *Phone) happen(pr *process, e simapp.Event) {
	if !pr.app.Silent {
		p.log.Add(logcat.Entry{Buffer: "main", PID: pr.PID, TID: pr.PID + 9, Priority: 'I', Tag: "apkgate", Text: e.Name})
	}
	p.touched(pr)
	p.answer(pr, e)
	p.spend(pr, e)
	if e.Opens {
		p.openFor(pr, e)
		tag := "am_on_resume_called"
		if p.profile.API >= 29 {
			tag = "wm_on_resume_called"
		}
		p.log.Event(tag, 0, pr.app.ActivityClass(), "RESUME_ACTIVITY")
	}
}

// touched logs what the system logs of a touch: on Android 11 and later the
// windows that it goes to, before that nothing.
func (p *Phone) touched(pr *process) {
	p.userActivity()
	pr.draws.Touch(p.clock.Now())
	if p.profile.API < 30 {
		return
	}
	if l := pr.front(); l != nil {
		p.log.Event("input_interaction", fmt.Sprintf("Interaction with: %x %s (server), PointerEventDispatcher0 (server), ", l.Hash, l.Title))
	}
}

// play works out a scenario for a process, the n-th time on this phone.
func (p *Phone) play(pr *process, sc simapp.Scenario, start choreo.Start) choreo.Performance {
	key := strings.Join([]string{pr.app.Package, sc.Name, p.state.network}, " ")
	p.state.repetitions[key]++
	n := p.state.repetitions[key]
	if p.options.Even {
		n = 1
	}
	r := p.random("repetition", pr.app.Plain, key, n)
	return p.perform(pr, choreo.Play(pr.app, sc, p.conditions(pr.app, start), r))
}

// interact answers a touch that is no named event: an animation.
func (p *Phone) interact(pr *process, frames int) {
	p.touched(pr)
	sc := simapp.Scenario{Name: "touch", Start: frames}
	p.play(pr, sc, choreo.Shows)
}
