package phone

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/dumps"
	"github.com/apkgate/apkgate/simulator/internal/gfxinfo"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/screen"
	"github.com/apkgate/apkgate/simulator/profile"
)

// services are the services that dumpsys can dump, with the API level that introduced each.
var services = map[string]struct {
	since int
	dump  func(c *call) int
}{
	"gfxinfo":        {dump: dumpGraphics},
	"graphicsstats":  {since: 24, dump: dumpGraphicsStats},
	"battery":        {dump: dumpBattery},
	"power":          {dump: dumpPower},
	"window":         {dump: dumpWindow},
	"display":        {since: 17, dump: dumpDisplay},
	"activity":       {dump: dumpActivity},
	"package":        {dump: func(c *call) int { return c.packages.Dump(c.Call) }},
	"meminfo":        {dump: dumpMemory},
	"thermalservice": {since: 29, dump: dumpThermal},
	"connectivity":   {dump: dumpConnectivity},
	"SurfaceFlinger": {dump: func(c *call) int { return dumps.SurfaceFlinger(c.power, c.options.Renderer, c.Call) }},
	"batterystats":   {since: 19, dump: func(c *call) int { return dumps.BatteryStats(c.power, c.Call) }},
	"dropbox":        {dump: func(c *call) int { return c.book.DumpBox(c.Call) }},
	"sensorservice":  {dump: func(c *call) int { return dumps.Sensors(c.power, c.Call) }},
}

// dumpGraphics is dumpsys gfxinfo.
func dumpGraphics(c *call) int {
	c.advance()
	running := []*gfxinfo.Process{{Package: "system", PID: logcat.SystemPID}} // system_server, without windows
	for _, pkg := range sortedKeys(c.state.running) {
		running = append(running, &c.state.running[pkg].Process)
	}
	return c.graphics().Dump(c.Call, running)
}

// dumpGraphicsStats is dumpsys graphicsstats.
func dumpGraphicsStats(c *call) int {
	c.advance()
	var running []*gfxinfo.Process
	for _, pkg := range sortedKeys(c.state.running) {
		running = append(running, &c.state.running[pkg].Process)
	}
	return c.graphics().Packages(c.Call, c.state.graphics, running)
}

func (p *Phone) graphics() gfxinfo.Phone {
	return gfxinfo.Phone{API: p.profile.API, Now: p.clock.Now(), Boottime: clock.Boottime(p.clock.Now())}
}

// keepGraphics keeps the statistics of a process that ends, after a while: the system is
// notified of its end, and writes a file.
func (p *Phone) keepGraphics(pr *process) {
	at := p.graphics()
	takes := p.options.KeepsAfter
	if takes == 0 {
		takes = p.about(30*time.Millisecond, 220*time.Millisecond)
	}
	p.clock.At(at.Now+takes, func() { p.state.graphics.Keep(at, &pr.Process) })
}

// dumpBattery is dumpsys battery.
func dumpBattery(c *call) int {
	was := c.power.OnBattery()
	code := dumps.Battery(c.power, c.Call)
	if was != c.power.OnBattery() { // PowerManagerService, updateIsPoweredLocked
		c.screen.UserActivity()
	}
	return code
}

// dumpsys is dumpsys SERVICE [ARGUMENTS].
func dumpsys(c *call, then func(code int)) {
	if len(c.Args) > 1 && c.Arg(0) == "-t" {
		c.Args = c.Args[2:]
	}
	name := c.Arg(0)
	if name == "-l" || name == "" {
		c.listServices()
		then(0)
		return
	}
	s, ok := services[name]
	if !ok || c.profile.API < s.since {
		c.Errorf("Can't find service: %s\n", name)
		then(0)
		return
	}
	out, code := c.Out, 0
	c.Args = c.Args[1:]
	tell := func() {
		var text bytes.Buffer
		c.Out = &text
		code = s.dump(c)
		if c.state.garbage {
			out.Write(c.garble(text.Bytes()))
		} else {
			out.Write(text.Bytes())
		}
	}
	if slices.Contains(c.options.GivesUp, name) {
		var text bytes.Buffer
		to := out
		out = &text
		tell()
		_, _ = to.Write(text.Bytes()[:text.Len()/2])
		c.giveUp(to, name, then)
		return
	}
	switch {
	case name == "activity" && c.Arg(0) == "top" && c.keepsStill():
		c.clock.Spend(topFor, func() {
			tell()
			then(code)
		})
		return
	case name == "gfxinfo":
		c.dumpFrames(tell, func() { then(code) })
		return
	case name == "meminfo":
		c.addUp(tell, func() { then(code) })
		return
	}
	tell()
	then(code)
}

// listServices lists the services that dumpsys can dump.
func (c *call) listServices() {
	c.Printf("Currently running services:\n")
	for _, n := range sortedKeys(services) {
		if c.profile.API >= services[n].since {
			c.Printf("  %s\n", n)
		}
	}
}

// dumpFor is dumpsys's timeout for a service (Android 8).
const dumpFor = 10 * time.Second

// gaveUp prints the message for the timeout.
func gaveUp(out io.Writer, service string, longest time.Duration) {
	fmt.Fprintf(out, "\n*** SERVICE '%s' DUMP TIMEOUT (%dms) EXPIRED ***\n\n", service, longest.Milliseconds())
}

// giveUp makes a dump time out (frameworks/native/cmds/dumpsys/dumpsys.cpp).
func (c *call) giveUp(out io.Writer, name string, then func(code int)) {
	c.clock.Spend(dumpFor, func() {
		gaveUp(out, name, dumpFor)
		then(0)
	})
}

// garble inserts random bytes between lines and truncates one line.
func (p *Phone) garble(text []byte) []byte {
	r := p.random("garbage", p.clock.Now())
	lines := bytes.SplitAfter(text, []byte("\n"))
	var b []byte
	for i, line := range lines {
		if i > 0 && r.IntN(4) == 0 {
			for range 1 + r.IntN(40) {
				b = append(b, byte(r.Uint32()))
			}
			line = line[r.IntN(len(line)+1):]
		}
		b = append(b, line...)
	}
	return b
}

func dumpPower(c *call) int {
	on := c.power.Screen().On
	plugged, plug := c.power.Plugged() != "", screen.PlugTypes[c.power.Plugged()]
	if c.profile.API < 17 {
		state, bits := 3, "SCREEN_BRIGHT_BIT SCREEN_ON_BIT"
		if !on {
			state, bits = 0, "0"
		}
		c.Printf("Power Manager State:\n  mIsPowered=%t mPowerState=%d mScreenOffTime=120000 ms\n  mPowerState=%s\n", plugged, state, bits)
		return 0
	}
	wakefulness, display := "Awake", "ON"
	if !on {
		wakefulness, display = "Asleep", "OFF"
	}
	c.Printf("POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mDirty=0x0\n  mWakefulness=%s\n  mIsPowered=%t\n  mPlugType=%d\n  mBatteryLevel=%d\n  mStayOn=%t\n",
		wakefulness, plugged, plug, c.power.BatteryLevel(), c.screen.StaysOn())
	if c.profile.API >= 21 {
		c.Printf("\nDisplay Power: state=%s\n", display)
	}
	return 0
}

func dumpDisplay(c *call) int {
	width, height := c.profile.Size()
	state := "ON"
	if !c.power.Screen().On {
		state = "OFF"
	}
	c.Printf("DISPLAY MANAGER (dumpsys display)\n  mOnlyCore=false\n\nDisplay Devices: size=1\n  DisplayDeviceInfo{\"Built-in Screen\": %d x %d, %.1f fps, density %d, state %s}\n\n",
		width, height, float64(c.screen.Hz()), c.profile.DPI, state)
	c.Printf("  mBaseDisplayInfo=DisplayInfo{\"Built-in Screen\", real %d x %d, renderFrameRate %.1f, density %d", width, height, c.shownHz(), c.profile.DPI)
	if c.profile.API >= 23 {
		c.Printf(", modes [")
		for i, hz := range c.screen.Modes() {
			c.Printf("%s{id=%d, width=%d, height=%d, fps=%.6f}", map[bool]string{true: ", "}[i > 0], i+1, width, height, float64(hz))
		}
		c.Printf("]")
	}
	c.Printf("}\n")
	return 0
}

// shownHz returns the rate at which the display is refreshing.
func (p *Phone) shownHz() float64 {
	period := max(p.screen.Period(), p.screen.Still())
	if pr := p.state.running[p.state.foreground]; pr != nil {
		p.advance()
		period = pr.draws.Period(p.clock.Now())
	}
	return float64(time.Second) / float64(period)
}

// focusedWindow returns the title of the window with the focus: a system dialog's, or that of
// the front component.
func (p *Phone) focusedWindow() string {
	if d := p.system.Front(); d != nil {
		return d.Title()
	}
	return p.focused()
}

// focused returns the front component: an app's, or the launcher's.
func (p *Phone) focused() string {
	if pr := p.state.running[p.state.foreground]; pr != nil {
		return pr.component()
	}
	return "com.android.launcher3/com.android.launcher3.Launcher"
}

func dumpWindow(c *call) int {
	c.Printf("WINDOW MANAGER POLICY STATE (dumpsys window policy)\n")
	switch {
	case c.profile.API < 24:
		c.Printf("    mShowingLockscreen=%t mShowingDream=false mDreamingLockscreen=false\n", c.screen.Locked)
	default:
		c.Printf("    KeyguardServiceDelegate\n      showing=%t\n      showingAndNotOccluded=%t\n      inputRestricted=%t\n      secure=%t\n",
			c.screen.Locked, c.screen.Locked, c.screen.Locked, c.options.Keyguard == "pin")
	}
	c.Printf("    mScreenOnEarly=true mScreenOnFully=true\n    mAwake=true\n")
	c.Printf("\nWINDOW MANAGER WINDOWS (dumpsys window windows)\n  mCurrentFocus=Window{2a1b3c u0 %s}\n  mFocusedApp=AppWindowToken{4d5e6f token=Token{7a8b9c ActivityRecord{1f2e3d u0 %s t12}}}\n", c.focusedWindow(), c.focused())
	c.printRotation()
	if c.profile.API < 17 { // later it is part of the displays' contents
		c.Printf("\n  Display: %s\n", displayLine(c.profile))
	}
	return 0
}

// printRotation prints the window manager's line for the rotation (DisplayRotation.dump since
// Android 10, before it WindowManagerService).
func (c *call) printRotation() {
	turned := c.state.settings["system user_rotation"]
	if c.state.settings["system accelerometer_rotation"] == "1" || turned == "" {
		turned = strconv.Itoa(c.options.Lies)
	}
	if c.profile.API >= 29 {
		degrees := map[string]string{"1": "90", "2": "180", "3": "270"}[turned]
		c.Printf("  mCurrentRotation=ROTATION_%s\n", cmp.Or(degrees, "0"))
		return
	}
	c.Printf("  mRotation=%s\n", turned)
}

// displayLine returns Android 4.1's line for its only display: its size, and the range of
// sizes that an app gets, without a status bar of 25 dp.
func displayLine(p profile.Profile) string {
	var width, height int
	if _, err := fmt.Sscanf(p.Screen, "%dx%d", &width, &height); err != nil {
		return ""
	}
	bar := (25*p.DPI + 80) / 160
	least, most := min(width, height), max(width, height)
	return fmt.Sprintf("init=%s cur=%s app=%s rng=%dx%d-%dx%d", p.Screen, p.Screen, p.Screen, least, least-bar, most, most-bar)
}

// dumpActivity is dumpsys activity [activities | top | lastanr | lastanr-traces | exit-info].
func dumpActivity(c *call) int {
	if c.Arg(0) == "top" {
		return c.dumpTop()
	}
	if code, ok := c.dumpTroubles(); ok {
		return code
	}
	c.Printf("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n")
	key := "mResumedActivity:"
	if c.profile.API >= 29 {
		key = "topResumedActivity="
	}
	c.Printf("  %s ActivityRecord{1f2e3d u0 %s t12}\n", strings.TrimSuffix(key, " "), c.focused())
	if c.profile.API < 24 {
		c.Printf("  mFocusedActivity: ActivityRecord{1f2e3d u0 %s t12}\n", c.focused())
	}
	return 0
}

// dumpMemory is dumpsys meminfo PKG.
func dumpMemory(c *call) int {
	pr := c.state.running[c.Arg(0)]
	if pr == nil {
		c.Printf("No process found for: %s\n", c.Arg(0))
		return 0
	}
	noise := 1 + 0.02*c.random("memory", pr.app.Package, pr.PID).NormFloat64()
	total := int(float64(pr.app.MemoryKB) * noise)
	unit := "Kilobytes"
	if c.profile.API < 23 {
		unit = "kB"
	}
	c.Printf("Applications Memory Usage (in %s):\nUptime: %d Realtime: %d\n\n** MEMINFO in pid %d [%s] **\n",
		unit, c.clock.Now().Milliseconds(), clock.Boottime(c.clock.Now()).Milliseconds(), pr.PID, pr.app.Package)
	c.Printf("                   Pss  Private  Private  Swapped     Heap     Heap     Heap\n                 Total    Dirty    Clean    Dirty     Size    Alloc     Free\n                ------   ------   ------   ------   ------   ------   ------\n")
	row := func(name string, share float64) {
		kb := int(float64(total) * share)
		c.Printf("%13s %8d %8d %8d %8d %8d %8d %8d\n", name, kb, kb*9/10, kb/20, 0, kb*5/4, kb, kb/4)
	}
	row("Native Heap", 0.3)
	row("Dalvik Heap", 0.2)
	row("Unknown", 0.1)
	row("TOTAL", 1)
	if c.profile.API >= 23 {
		label := "TOTAL:"
		if c.profile.API >= 31 {
			label = "TOTAL PSS:"
		}
		c.Printf("\n App Summary\n                       Pss(KB)\n                        ------\n%21s %8d       TOTAL SWAP PSS:        0\n", label, total)
	}
	return 0
}

func dumpThermal(c *call) int {
	status, skin := 0, 31.5
	if c.isHot() {
		status, skin = 3, 46.5
	}
	c.Printf("IsStatusOverride: false\nThermalEventListeners:\n\tcallbacks: 1\nThermal Status: %d\nCached temperatures:\n\tTemperature{mValue=%.1f, mType=3, mName=skin, mStatus=%d}\nHAL Ready: true\n", status, skin, status)
	return 0
}

// dumpConnectivity prints the active network.
func dumpConnectivity(c *call) int {
	id, kind, sub := 101, "MOBILE", map[string]string{"3g": "UMTS", "4g": "LTE", "2g": "EDGE"}[c.state.network]
	switch c.state.network {
	case "none":
		c.Printf("Active default network: none\n")
		return 0
	case "wifi":
		id, kind, sub = 100, "WIFI", ""
	}
	signal := ""
	if kind == "WIFI" && c.profile.API >= 24 {
		signal = "  nc{[ Transports: WIFI SignalStrength: -52]}"
	}
	info := fmt.Sprintf("type: %s[%s], state: CONNECTED/CONNECTED, reason: (unspecified), extra: simulated", kind, sub)
	switch api := c.profile.API; {
	case api < 21:
		c.Printf("NetworkInfo: %s\n", info)
	case api < 31:
		c.Printf("Active default network: %d\n\nCurrent Networks:\n  NetworkAgentInfo{ ni{[%s]}  network{%d}  nethandle{%d}  lp{{InterfaceName: wlan0}}%s }\n", id, info, id, id<<32, signal)
	default:
		c.Printf("Active default network: %d\n\nCurrent Networks:\n  NetworkAgentInfo{network{%d}  handle{%d}  ni{%s CONNECTED extra: }  created=2026-01-05T09:00:00Z%s }\n", id, id, id<<32, kind, signal)
	}
	return 0
}
