package phone

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/anr"
	"github.com/apkgate/apkgate/simulator/internal/build"
	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/dumps"
	"github.com/apkgate/apkgate/simulator/internal/gfxinfo"
	"github.com/apkgate/apkgate/simulator/internal/home"
	"github.com/apkgate/apkgate/simulator/internal/link"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/packages"
	"github.com/apkgate/apkgate/simulator/internal/pipeline"
	"github.com/apkgate/apkgate/simulator/internal/screen"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
	"github.com/apkgate/apkgate/simulator/internal/system"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Connection is what faults do to the way to the phone: the adb daemon's handle.
type Connection interface {
	Drop()
	Hang(on bool)
	Offline(on bool)
	Refuse(on bool)
	// Drip lets so many bytes through, and the next once the channel is closed that
	// next returns; nil lets all through again.
	Drip(bytes int, next func() <-chan struct{})
}

// Options of a phone. The zero value is a phone on wifi without faults.
type Options struct {
	Network string         // "wifi" unless set
	Faults  []simapp.Fault // beside those of the apps
	// Rate lets the clock run by itself, so many phone seconds to a real one,
	// to watch a phone live. 0: only Clock and commands move it.
	Rate float64
	// Powered and Sensors differ from the profile's where they are set.
	Powered string
	Sensors *profile.Sensors
	// Keyguard is the lock screen that shows when the phone is made and whenever its
	// screen went off: none where it is "", else "swipe" or "pin".
	Keyguard string
	// Ignored are settings ("system screen_off_timeout") that the phone lets nobody
	// change over adb, without a word, as some makers' do.
	Ignored []string
	// NoSystemUI leaves the process com.android.systemui out, as watches and boards do.
	NoSystemUI bool
	// RateTakes is how long the display takes to change its rate when a setting does: 600
	// ms unless set.
	RateTakes time.Duration
	// KeepsAfter is how long the system takes to keep what a process counted of its frames
	// that has ended, 0: 30 to 250 ms.
	KeepsAfter time.Duration
	// HotFor is how long heat slows the phone down, from when it is made.
	HotFor time.Duration
	// Verifier refuses what adb installs, as Play Protect may, until the setting
	// verifier_verify_adb_installs is 0.
	Verifier bool
	// GivesUp are services whose dumps take so long that dumpsys ends in the middle of
	// them, after its ten seconds, with status 0.
	GivesUp []string
	// ClosedTmp lets nobody write to /data/local/tmp.
	ClosedTmp bool
	// Hz is the display's highest rate where it is another than the profile's.
	Hz int
	// Even has it do everything alike: an app plays a scenario as it did the first time,
	// and the compositor is never late itself.
	Even bool
	// NoNetem and NoIFB have the kernel lack what slows a network down.
	NoNetem, NoIFB bool
	// Magisk gives it the su of a rooted phone, which takes a command line.
	Magisk bool
	// Renderer is what draws for an emulator: "Google SwiftShader" unless set.
	Renderer string
	// Root has adb's shell run as root, as after `adb root` on a build that allows it.
	Root bool
	// Lies is how it lies: by how many quarters its picture is turned where it turns with
	// the phone (accelerometer_rotation).
	Lies int
	// Boot is how it starts, from when it is made and after a restart: long ago unless set.
	Boot system.Boot
	// FixedPerformance is how much longer all work takes while the fixed performance mode
	// holds the clocks (1.2), which then vary less from session to session; 0: the phone's
	// Power HAL has no such mode.
	FixedPerformance float64
	// Struck is told of each fault that strikes, and when on the phone's clock; nil for
	// nobody. The phone does nothing until it returns.
	Struck func(f simapp.Fault, at time.Duration) `json:"-"`
	// Chatter is how much what is not simulated writes to the log, in bytes a second:
	// logcat.Chatter unless set, nothing where it is below 0. FixedLog lets nobody change
	// how much of the log is kept, and LowRAM keeps less.
	Chatter          int
	FixedLog, LowRAM bool
	// Tracing is how its maker has Perfetto's service: "off" until somebody turns it on, as
	// adb's shell may (persist.traced.enable), "locked", where that may not, or "on", which it
	// is unless set, but for phones with Android 10 that are no Pixels.
	Tracing string
	// Production makes it a build as it is sold (user), which has no `adb root`.
	Production bool
}

// Phone is a simulated phone. It serves the adb daemon's Phone interface.
type Phone struct {
	*storage.Sync // its files, for the adb daemon

	profile profile.Profile
	seed    uint64
	options Options

	mu         sync.Mutex
	clock      *clock.Queue
	files      *storage.Files
	packages   *packages.Manager
	host       *shell.Host
	log        *logcat.Log
	book       *anr.Book // of what went wrong
	timeline   *timeline.Timeline
	flinger    *pipeline.SurfaceFlinger
	home       *home.Home
	power      *account.Account
	screen     *screen.Screen
	link       *link.Link
	system     *system.System
	state      state
	connection Connection
	stopRate   func()
	died       chan struct{}
	waiting    waiting
}

// state is what a reboot or an app can change.
type state struct {
	props       map[string]string
	su          int // commands that run as root
	settings    map[string]string
	network     string
	running     map[string]*process // by package
	foreground  string              // package
	nextPID     int
	garbage     bool
	hung        bool                  // adb answers nothing
	dripping    bool                  // what it sends comes in drops
	frozen      bool                  // the system answers nothing
	held        []func()              // what goes on once the system does
	late        map[*shell.Shell]bool // command lines that waited for it, and go on
	starts      int                   // of the system since the phone started
	systemSince time.Duration         // when it was last
	wifiUpAt    time.Duration         // when the phone is on Wi-Fi that was turned on
	repetitions map[string]int        // scenarios played, by app, scenario and network
	played      int                   // scenarios played in all
	windows     int                   // opened, and processes started, since the phone was made
	processes   int
	asked       int           // how often it was drawn what a command costs
	stalled     time.Duration // see Stalled
	boots       int           // restarts
	graphics    gfxinfo.Packages
}

// New makes a phone. Two phones of the same profile, seed and options are alike.
func New(p profile.Profile, seed uint64, o Options) *Phone {
	if o.Network == "" {
		o.Network = "wifi"
	}
	o.Renderer = cmp.Or(o.Renderer, "Google SwiftShader")
	o.RateTakes = cmp.Or(o.RateTakes, 600*time.Millisecond)
	if o.Hz > 0 {
		p.Hz = o.Hz
	}
	ph := &Phone{profile: p, seed: seed, options: o, clock: clock.New(clock.Boot), died: make(chan struct{})}
	ph.files = storage.New(clock.Epoch, func() time.Time { return clock.Wall(ph.clock.Now()) }, ph.proc)
	ph.Sync = storage.NewSync(&ph.mu, ph.files)
	ph.files.Root = o.Root
	ph.files.RootsOwn = func(path string) bool { return dumps.RootsOwn(ph.power, path) }
	if o.ClosedTmp {
		ph.files.Closed = "/data/local/tmp"
	}
	ph.packages = packages.New(packages.Phone{API: p.API, ABI: p.ABI, ABIs: p.ABIs(), Clock: ph.clock, Files: ph.files, Kill: ph.kill, Refuses: ph.refuses})
	ph.host = &shell.Host{
		Lock: &ph.mu, Clock: ph.clock, Files: ph.files, API: p.API,
		Commands: ph.commands(), Others: ph.processes, Runs: o.Rate > 0,
	}
	ph.log = &logcat.Log{API: p.API, Clock: ph.clock, Boot: clock.Wall(0), Fixed: o.FixedLog, LowRAM: o.LowRAM, Chatter: max(cmp.Or(o.Chatter, logcat.Chatter), 0)}
	ph.book = &anr.Book{API: p.API}
	ph.timeline = &timeline.Timeline{}
	ph.flinger = &pipeline.SurfaceFlinger{Timeline: ph.timeline, Seed: ph.random("SurfaceFlinger").Uint64(), Punctual: o.Even}
	ph.link = ph.newLink()
	ph.host.Open()
	ph.state = state{
		props: build.Properties(p, o.Production, o.LowRAM), settings: build.Settings(), network: o.Network,
		running: map[string]*process{}, nextPID: 4200,
		repetitions: map[string]int{}, graphics: gfxinfo.Packages{}, starts: 1, late: map[*shell.Shell]bool{},
	}
	if o.Tracing == "" && p.API == 29 && p.Manufacturer != "Google" {
		ph.options.Tracing = "off"
	}
	if ph.state.props[tracedService] = "running"; ph.options.Tracing == "off" || ph.options.Tracing == "locked" {
		ph.state.props[tracedService], ph.state.props[tracedEnabled] = "stopped", "0"
	}
	width, height := p.Size()
	ph.system = system.New(system.Phone{API: p.API, Clock: ph.clock, Boot: o.Boot, Emulator: ph.sensors().Emulator,
		Performance: o.FixedPerformance > 0, Width: width, Height: height, Kill: ph.closeApp})
	ph.power = account.New(account.Phone{Profile: p, Sensors: ph.sensors(), Clock: ph.clock, Hot: ph.isHot, Random: ph.random,
		Timeline: ph.timeline, Composed: ph.composed, Kept: ph.kept, Worked: ph.system.Worked})
	ph.screen = screen.New(screen.Phone{Account: ph.power, Keyguard: o.Keyguard, RateTakes: o.RateTakes, Setting: ph.setting, TimedOut: ph.timedOut})
	for _, dir := range dumps.PolicyDirs(ph.power) {
		_ = ph.files.MakeDir(dir, true)
	}
	ph.home = home.New(home.Phone{API: p.API, Clock: ph.clock, Pipeline: ph.newPipeline, Conditions: ph.beside, Advance: ph.advance, Random: ph.random})
	ph.boot()
	ph.screen.UserActivity()
	if o.Rate > 0 {
		ph.run(o.Rate)
	}
	return ph
}

// systemUI is always there, and renders nothing.
var systemUI = simapp.App{Package: "com.android.systemui", Activity: ".SystemUI", MemoryKB: 70_000}

// boot starts what runs on every phone.
func (p *Phone) boot() {
	if p.options.NoSystemUI {
		return
	}
	p.state.running[systemUI.Package] = p.newProcess(&systemUI, home.SystemUIPID)
	p.log.System("main", 'I', "boot", "simulated phone %s", p.profile.Name)
}

// closeApp ends a process from the dialog that says what is wrong with it; System UI comes
// back by itself.
func (p *Phone) closeApp(process string) {
	if p.kill(process); process == systemUI.Package {
		p.boot()
	}
}

// Attach gives the phone the way by which it is reached, for faults to break.
func (p *Phone) Attach(c Connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connection = c
	if silent := p.options.Boot.Silent; silent > 0 {
		c.Hang(true)
		p.clock.At(p.clock.Now()+silent, func() { c.Hang(false) })
	}
}

// Close ends everything that runs on the phone.
func (p *Phone) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopRate != nil {
		p.stopRate()
	}
	p.host.EndAll(137)
}

// Start begins a command line in the phone's shell; see shell.Host.
func (p *Phone) Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) (wait func() int) {
	return p.host.Start(ctx, command, stdin, stdout, stderr)
}

// adbdPID is the process that runs what adb sends.
const adbdPID = 560

// Asked counts what was run on the phone over adb.
func (p *Phone) Asked() shell.Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.host.Asked
}

// processes are all that the shell did not start, in the order of their packages.
func (p *Phone) processes() []shell.Process {
	out := []shell.Process{{PID: 1}, {PID: logcat.SystemPID, Name: "system_server"}, {PID: adbdPID, Name: "adbd"}}
	for _, pkg := range sortedKeys(p.state.running) {
		pr := p.state.running[pkg]
		out = append(out, shell.Process{PID: pr.PID, Name: pkg, End: func() { p.kill(pkg) }, Quit: func(as string) bool {
			if as != pkg && !p.files.Root {
				return false
			}
			p.dumpThreads(pr)
			return true
		}})
	}
	return out
}

// Banner is the phone's identity in adb's handshake.
func (p *Phone) Banner() string { return build.Banner(p.profile) }

// Profile is what the phone is.
func (p *Phone) Profile() profile.Profile { return p.profile }

// random is a source that follows from the seed, the profile and some words.
func (p *Phone) random(words ...any) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%q", p.seed, p.profile.Name, fmt.Sprint(words...)))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}

// context is what the conditions in an app's file are about.
func (p *Phone) context() simapp.Context {
	return simapp.Context{SDK: p.profile.SDK, API: p.profile.API, Network: p.state.network}
}

// conditions are those of a scenario that is played now.
func (p *Phone) conditions(app *simapp.App, start choreo.Start) choreo.Conditions {
	noise := p.profile.Noise
	if p.system.Fixed {
		noise *= heldNoise
	}
	var slow func(*rand.Rand) time.Duration
	if p.link.Shaped() {
		slow = p.link.Wait
	}
	return choreo.Conditions{
		Slow:    slow,
		Context: p.context(),
		Speed:   p.profile.Speed * p.heatFactor() * p.clockFactor() * p.packages.CodeFactor(app, start == choreo.Cold), LowEnd: p.profile.LowEnd, Start: start,
		Session: choreo.SessionFactor(app, noise, p.random("session", app.Package, p.state.network)),
		Little:  p.power.Hardware.OnLittle(), SlowClock: p.power.Hardware.HeldDown(),
	}
}

// beside are the conditions in which what is no app draws now.
func (p *Phone) beside() choreo.Conditions {
	return choreo.Conditions{Context: p.context(), Speed: p.profile.Speed, LowEnd: 1, Session: 1}
}

// Install puts an app on the phone, as pm install does.
func (p *Phone) Install(parts ...[]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.packages.Install(parts...)
	return err
}

// Sessions are how many installations have begun and not ended.
func (p *Phone) Sessions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.packages.Sessions()
}

// refuses reports whether the verifier refuses what adb installs.
func (p *Phone) refuses() bool {
	return p.options.Verifier && p.state.settings["global verifier_verify_adb_installs"] != "0"
}
