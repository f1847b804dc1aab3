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

// Connection is the connection to the phone, which faults break: the adb daemon's handle.
type Connection interface {
	Drop()
	Hang(on bool)
	Offline(on bool)
	Refuse(on bool)
	// Drip sends the given number of bytes at a time, and more once the channel that next
	// returned is closed; a nil next ends it.
	Drip(bytes int, next func() <-chan struct{})
}

// Options configure a phone. The zero value is a phone on Wi-Fi without faults.
type Options struct {
	Network string         // "" means "wifi"
	Faults  []simapp.Fault // in addition to those of the apps
	// Rate makes the clock advance by itself, by this many phone seconds per real second, to
	// watch a phone live. With 0 only Clock and commands advance it.
	Rate float64
	// Powered and Sensors override the profile's if they are set.
	Powered string
	Sensors *profile.Sensors
	// Keyguard is the lock screen that is shown at first and after the screen was off: "" for
	// none, "swipe" or "pin".
	Keyguard string
	// Ignored are settings ("system screen_off_timeout") whose change over adb the phone
	// silently ignores, like some makers' phones.
	Ignored []string
	// NoSystemUI omits the process com.android.systemui, as on watches and boards.
	NoSystemUI bool
	// RateTakes is how long a change of the refresh rate by a setting takes; 0 means 600 ms.
	RateTakes time.Duration
	// KeepsAfter is how long the system takes to keep the frame statistics of an ended
	// process; 0 means 30 to 250 ms.
	KeepsAfter time.Duration
	// HotFor is how long heat slows the phone down, from its creation.
	HotFor time.Duration
	// Verifier refuses installations over adb, as Play Protect may, until the setting
	// verifier_verify_adb_installs is 0.
	Verifier bool
	// GivesUp are services whose dumps take so long that dumpsys ends in the middle, after its
	// timeout of ten seconds, with status 0.
	GivesUp []string
	// ClosedTmp makes /data/local/tmp read-only.
	ClosedTmp bool
	// Hz overrides the profile's highest refresh rate.
	Hz int
	// Even removes all variation: an app plays a scenario as it did the first time, and the
	// compositor is never late itself.
	Even bool
	// NoNetem and NoIFB remove the kernel's traffic shaping.
	NoNetem, NoIFB bool
	// Magisk adds the su of a rooted phone, which takes a command line.
	Magisk bool
	// Renderer is an emulator's renderer; "" means "Google SwiftShader".
	Renderer string
	// Root runs adb's shell as root, as after `adb root` on a build that permits it.
	Root bool
	// Lies is the orientation in which the phone lies: the number of quarter turns of its
	// picture if it auto-rotates (accelerometer_rotation).
	Lies int
	// Boot is how the phone boots, after its creation and after a restart; the zero value
	// booted long ago.
	Boot system.Boot
	// FixedPerformance is the slowdown of all work while the fixed performance mode is on
	// (1.2), in which sessions vary less; 0 means that the phone's Power HAL has no such mode.
	FixedPerformance float64
	// Struck is called for each fault with its time on the phone's clock; nil is not called.
	// The phone is blocked until it returns.
	Struck func(f simapp.Fault, at time.Duration) `json:"-"`
	// Chatter is how much other processes write to the log, in bytes a second: 0 means
	// logcat.Chatter, less than 0 nothing. FixedLog prevents changes of the log's size, and
	// LowRAM reduces it.
	Chatter          int
	FixedLog, LowRAM bool
	// Tracing is the maker's setting of Perfetto's service: "off" until adb's shell turns it
	// on (persist.traced.enable), "locked" if the shell may not, or "on", the default except
	// for phones with Android 10 other than Pixels.
	Tracing string
	// LoadKilledAfter is after how long Android kills the processes that hold memory for a load; 0
	// means never. Lacks are commands that its Android doesn't have.
	LoadKilledAfter time.Duration
	Lacks           []string
	// Production makes it a user build, without `adb root`.
	Production bool
}

// Phone is a simulated phone. It implements the adb daemon's Phone interface.
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
	book       *anr.Book // of failures
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
	load       *load // of the shell's programs, nil for none
}

// state is the state that a reboot or an app can change.
type state struct {
	props       map[string]string
	su          int // commands running as root
	settings    map[string]string
	network     string
	running     map[string]*process // by package
	foreground  string              // package
	nextPID     int
	garbage     bool
	hung        bool                  // adb does not answer
	dripping    bool                  // its connection is throttled
	frozen      bool                  // the system does not answer
	held        []func()              // continuations for when the system answers
	late        map[*shell.Shell]bool // command lines that waited for it, and continue
	starts      int                   // of the system since boot
	systemSince time.Duration         // when the system last started
	wifiUpAt    time.Duration         // when a Wi-Fi that was turned on is connected
	repetitions map[string]int        // of scenarios, by app, scenario and network
	played      int                   // all scenarios played
	windows     int                   // windows opened and processes started since the phone was created
	processes   int
	asked       int           // random durations of commands drawn
	stalled     time.Duration // see Stalled
	boots       int           // restarts
	graphics    gfxinfo.Packages
}

// New returns a new phone. Two phones with the same profile, seed and options behave
// identically.
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

// systemUI is always running, and draws nothing.
var systemUI = simapp.App{Package: "com.android.systemui", Activity: ".SystemUI", MemoryKB: 70_000}

// boot starts the processes of every phone.
func (p *Phone) boot() {
	if p.options.NoSystemUI {
		return
	}
	p.state.running[systemUI.Package] = p.newProcess(&systemUI, home.SystemUIPID)
	p.log.System("main", 'I', "boot", "simulated phone %s", p.profile.Name)
}

// closeApp ends a process from the dialog about it; System UI restarts by itself.
func (p *Phone) closeApp(process string) {
	if p.kill(process); process == systemUI.Package {
		p.boot()
	}
}

// Attach sets the connection to the phone, for faults to break.
func (p *Phone) Attach(c Connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connection = c
	if silent := p.options.Boot.Silent; silent > 0 {
		c.Hang(true)
		p.clock.At(p.clock.Now()+silent, func() { c.Hang(false) })
	}
}

// Close ends everything on the phone.
func (p *Phone) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopRate != nil {
		p.stopRate()
	}
	p.host.EndAll(137)
}

// Start starts a command line in the phone's shell; see shell.Host.
func (p *Phone) Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) (wait func() int) {
	return p.host.Start(ctx, command, stdin, stdout, stderr)
}

// adbdPID is the process that runs adb's commands.
const adbdPID = 560

// Asked returns the costs of the commands over adb.
func (p *Phone) Asked() shell.Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.host.Asked
}

// processes returns all processes that the shell did not start, by package.
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

// Banner returns the phone's banner in adb's handshake.
func (p *Phone) Banner() string { return build.Banner(p.profile) }

// Profile returns the phone's profile.
func (p *Phone) Profile() profile.Profile { return p.profile }

// random returns a random source that is determined by the seed, the profile and the words.
func (p *Phone) random(words ...any) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%q", p.seed, p.profile.Name, fmt.Sprint(words...)))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}

// context returns the input of the conditions in an app's file.
func (p *Phone) context() simapp.Context {
	return simapp.Context{SDK: p.profile.SDK, API: p.profile.API, Network: p.state.network}
}

// conditions returns the conditions for a scenario that is played now.
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
		Little:  p.power.Hardware.OnLittle(), SlowClock: p.power.Hardware.HeldDown(), Recorded: p.recordingCost(app), Loads: p.load.factors(),
	}
}

// beside returns the current conditions for drawing by other processes than apps.
func (p *Phone) beside() choreo.Conditions {
	return choreo.Conditions{Context: p.context(), Speed: p.profile.Speed, LowEnd: 1, Session: 1}
}

// Install installs an app on the phone, like pm install.
func (p *Phone) Install(parts ...[]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.packages.Install(parts...)
	return err
}

// Sessions returns how many installations are in progress.
func (p *Phone) Sessions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.packages.Sessions()
}

// refuses reports whether the verifier refuses installations over adb.
func (p *Phone) refuses() bool {
	return p.options.Verifier && p.state.settings["global verifier_verify_adb_installs"] != "0"
}
