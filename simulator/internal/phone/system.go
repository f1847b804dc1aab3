package phone

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/views"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// property returns a property; those of the boot change while the phone boots.
func (p *Phone) property(name string) string {
	if name == "sys.system_server.start_count" && p.profile.API >= 29 && p.system.Serves() { // SystemServer.java
		return strconv.Itoa(p.state.starts)
	}
	if value, starts := p.system.Property(name); starts {
		return value
	}
	if name == "gsm.network.type" && p.profile.API >= 17 { // the SIM's network, whichever is used
		return cmp.Or(map[string]string{"3g": "UMTS", "2g": "EDGE", "5g": "NR"}[p.options.Network], "LTE")
	}
	return p.state.props[name]
}

func getprop(c *call) int {
	switch len(c.Args) {
	case 0:
		for _, name := range sortedKeys(c.state.props) {
			c.Printf("[%s]: [%s]\n", name, c.property(name))
		}
	default:
		value := c.property(c.Arg(0))
		if value == "" {
			value = c.Arg(1)
		}
		c.Printf("%s\n", value)
	}
	return 0
}

// maxProperties limits how many entries setprop and settings can add.
const maxProperties = 2000

func setprop(c *call) int {
	if len(c.Args) != 2 {
		c.Errorf("usage: setprop <key> <value>\n")
		return 1
	}
	name := c.Arg(0)
	if _, there := c.state.props[name]; strings.HasPrefix(name, "ro.") || !there && len(c.state.props) > maxProperties {
		c.Errorf("could not set property\n")
		return 1
	}
	if name == dropCaches && !c.dropsCaches() {
		c.Errorf("could not set property\n")
		return 1
	}
	if name == tracedEnabled {
		return c.traces(c.Arg(1))
	}
	c.state.props[name] = c.Arg(1)
	return 0
}

// A property controls whether Perfetto's service runs, which adb's shell may set since Android
// 10 (perfetto.rc; shell.te: traced_enabled_prop).
const (
	tracedEnabled = "persist.traced.enable"
	tracedService = "init.svc.traced"
	tracedStarts  = 300 * time.Millisecond
)

// traces makes init start or stop the service.
func (c *call) traces(value string) int {
	if c.options.Tracing == "locked" || c.profile.API < 29 {
		c.Errorf("Failed to set property '%s' to '%s'.\nSee dmesg for error reason.\n", tracedEnabled, value)
		return 1
	}
	if c.state.props[tracedEnabled] = value; value != "1" {
		c.state.props[tracedService] = "stopped"
		return 0
	}
	c.clock.At(c.clock.Now()+tracedStarts, func() {
		if c.state.props[tracedEnabled] == "1" {
			c.state.props[tracedService] = "running"
		}
	})
	return 0
}

// settings is settings get|put|delete|list NAMESPACE KEY [VALUE].
func settings(c *call) int {
	key := c.Arg(1) + " " + c.Arg(2)
	switch {
	case c.Arg(0) == "get" && len(c.Args) >= 3:
		value, ok := c.state.settings[key]
		if !ok {
			value = "null"
		}
		c.Printf("%s\n", value)
	case c.Arg(0) == "put" && len(c.Args) >= 4 && len(c.state.settings) < maxProperties:
		if !c.set(key, c.Arg(3)) {
			return 0
		}
		if key == "system screen_brightness" {
			c.screen.SetBrightness(c.Arg(3))
		}
		c.screen.Follow(key)
		c.screen.Watch()
	case c.Arg(0) == "delete" && len(c.Args) >= 3:
		delete(c.state.settings, key)
		c.screen.Follow(key)
		c.Printf("Deleted 1 rows\n")
	case c.Arg(0) == "list":
		for _, k := range sortedKeys(c.state.settings) {
			if rest, ok := strings.CutPrefix(k, c.Arg(1)+" "); ok {
				c.Printf("%s=%s\n", rest, c.state.settings[k])
			}
		}
	default:
		c.Errorf("usage:  settings [--user NUM] get namespace key\n        settings [--user NUM] put namespace key value\n")
		return 1
	}
	return 0
}

// set changes a setting; false if the phone ignores it.
func (p *Phone) set(key, value string) bool {
	if slices.Contains(p.options.Ignored, key) {
		return false
	}
	p.state.settings[key] = value
	return true
}

// setting returns a setting, and whether it is set.
func (p *Phone) setting(key string) (value string, there bool) {
	value, there = p.state.settings[key]
	return value, there
}

// Set changes a setting as a user does: "system screen_brightness_mode", "1".
func (p *Phone) Set(key, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.settings[key] = value
}

// wm is wm size, density and dismiss-keyguard (Android 7).
func wm(c *call) int {
	switch c.Arg(0) {
	case "size":
		c.Printf("Physical size: %s\n", c.profile.Screen)
	case "density":
		c.density()
	case "dismiss-keyguard":
		if c.profile.API < 24 {
			c.Errorf("Error: unknown command '%s'\n", c.Arg(0))
			return 1
		}
		c.screen.DismissKeyguard()
	default:
		c.Errorf("Error: unknown command '%s'\n", c.Arg(0))
		return 1
	}
	return 0
}

// density is wm density [reset|NUMBER].
func (c *call) density() {
	const key = "secure display_density_forced"
	switch c.Arg(1) {
	case "":
		c.Printf("Physical density: %d\n", c.profile.DPI)
		if forced := c.state.settings[key]; forced != "" {
			c.Printf("Override density: %s\n", forced)
		}
	case "reset":
		delete(c.state.settings, key)
	default:
		c.set(key, c.Arg(1))
	}
}

// svc is svc wifi|data|power.
func svc(c *call) int {
	what, value := c.Arg(0), c.Arg(1)
	switch {
	case (what == "wifi" || what == "data") && (value == "enable" || value == "disable"):
		c.switchNetwork(what, value == "enable")
	case what == "power" && value == "stayon":
		return stayOn(c)
	default:
		c.Errorf("Available commands:\n    help     Show information about the subcommands\n    power    Control the power manager\n    data     Control mobile data connectivity\n    wifi     Control the Wi-Fi manager\n")
		return 1
	}
	return 0
}

// stayOn is svc power stayon true|false|usb|ac|wireless: which chargers keep the screen on. It
// also turns the screen on (PowerCommand).
func stayOn(c *call) int {
	all := 7
	if c.profile.API >= 33 { // also a dock
		all = 15
	}
	bits, ok := map[string]int{"true": all, "false": 0, "ac": 1, "usb": 2, "wireless": 4}[c.Arg(2)]
	if !ok {
		c.Errorf("Control the power manager\n\nusage: svc power stayon [true|false|usb|ac|wireless]\n")
		return 1
	}
	if bits != 0 {
		c.screen.Turn(true)
	}
	c.set("global stay_on_while_plugged_in", strconv.Itoa(bits))
	c.screen.Watch()
	return 0
}

// wifiTakes is how long Wi-Fi takes to connect, get an address and become the default network
// after it was turned on.
const wifiTakes = 4500 * time.Millisecond

// switchNetwork returns at once, like svc, although the radio takes longer.
func (p *Phone) switchNetwork(what string, on bool) {
	name := "global " + map[string]string{"wifi": "wifi_on", "data": "mobile_data"}[what]
	was := p.state.settings[name]
	if p.set(name, map[bool]string{true: "1", false: "0"}[on]) && what == "wifi" && on && was != "1" {
		p.state.wifiUpAt = p.clock.Now() + wifiTakes
		p.clock.At(p.state.wifiUpAt, func() { p.state.network = p.networkNow() })
	}
	p.state.network = p.networkNow()
}

// networkNow returns the network by the switches: Wi-Fi first, then the mobile network from
// the options.
func (p *Phone) networkNow() string {
	wifi := p.state.settings["global wifi_on"] == "1" && p.clock.Now() >= p.state.wifiUpAt
	switch {
	case wifi && p.options.Network == "wifi":
		return "wifi"
	case p.state.settings["global mobile_data"] != "1":
		return "none"
	case p.options.Network == "wifi":
		return "4g"
	}
	return p.options.Network
}

// SetNetwork changes the phone's type of network: "wifi", "3g", "4g", "none" or any other that
// the apps know.
func (p *Phone) SetNetwork(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.Network, p.state.network = name, name
	p.state.settings["global wifi_on"] = map[bool]string{true: "1", false: "0"}[name == "wifi"]
}

func logCommand(c *call) int {
	priority, tag, args := byte('I'), "log", c.Args
	for len(args) >= 2 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-p":
			if p := strings.ToUpper(args[1]); len(p) == 1 && strings.Contains(logcat.Priorities, p) {
				priority = p[0]
			}
		case "-t":
			tag = args[1]
		}
		args = args[2:]
	}
	c.log.Add(logcat.Entry{Buffer: "main", PID: 3999, Priority: priority, Tag: tag, Text: strings.Join(args, " ")})
	return 0
}

func rebootCommand(c *call) int {
	c.strike(simapp.Fault{Kind: simapp.Reboot}, nil)
	return 0
}

// Control handles requests that change the adb daemon, with its services' messages
// (restart_service.cpp).
func (p *Phone) Control(service, argument string) (answer string, restarts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch service {
	case "root":
		switch {
		case p.files.Root:
			return "adbd is already running as root\n", false
		case p.state.props["ro.debuggable"] != "1":
			return "adbd cannot run as root in production builds\n", false
		}
		p.files.Root = true
		return "restarting adbd as root\n", true
	case "unroot":
		if !p.files.Root {
			return "adbd not running as root\n", false
		}
		p.files.Root = false
		return "restarting adbd as non root\n", true
	case "tcpip":
		port, err := strconv.Atoi(argument)
		if err != nil || port <= 0 || port > 65535 {
			return "invalid port\n", false
		}
		p.state.props["service.adb.tcp.port"] = argument
		return fmt.Sprintf("restarting in TCP mode port: %d\n", port), true
	}
	delete(p.state.props, "service.adb.tcp.port")
	return "restarting in USB mode\n", true
}

// uiautomator is uiautomator dump [FILE] (DumpCommand): it waits up to ten seconds until
// nothing moves, reads the app's views, and prints that it wrote the file whether or not it
// succeeded.
func uiautomator(c *call, then func(code int)) {
	if c.Arg(0) != "dump" {
		c.Errorf("Usage: uiautomator <subcommand> [options]\n")
		then(1)
		return
	}
	const starts, idle = 900 * time.Millisecond, 10 * time.Second
	file := cmp.Or(c.Arg(1), "/sdcard/window_dump.xml")
	c.clock.Spend(starts, func() {
		if pr := c.state.running[c.state.foreground]; c.system.Front() == nil && pr != nil && pr.draws.Busy(c.clock.Now()) {
			c.clock.Spend(idle, func() {
				c.Errorf("ERROR: could not get idle state.\n")
				then(0)
			})
			return
		}
		if c.keepsStill() { // AccessibilityInteractionClient waits five seconds for the views
			c.clock.Spend(time.Second+topFor, func() {
				c.Errorf("ERROR: null root node returned by UiTestAutomationBridge.\n")
				then(0)
			})
			return
		}
		c.clock.Spend(time.Second, func() {
			_ = c.files.Write(file, []byte(c.hierarchy()), 0o600)
			c.Printf("UI hierchary dumped to: %s\n", file)
			then(0)
		})
	})
}

// hierarchy returns the output of uiautomator for the window with the focus.
func (p *Phone) hierarchy() string {
	if w, ok := p.window(); ok && p.system.Front() == nil && len(w.App.Layers) > 0 {
		return w.XML()
	}
	return p.system.Hierarchy(p.focused())
}

// window returns the app's front window, for dumps of its views.
func (p *Phone) window() (w views.Window, ok bool) {
	pr := p.state.running[p.state.foreground]
	if pr == nil {
		return w, false
	}
	width, height := p.profile.Size()
	w = views.Window{API: p.profile.API, App: pr.app, PID: pr.PID, Width: width, Height: height}
	if l := pr.front(); l != nil {
		w.Hash = uint32(l.Hash)
	}
	return w, true
}

// topFor is the activity manager's timeout for an activity's dump, which runs on its UI thread
// (TransferPipe.DEFAULT_TIMEOUT).
const topFor = 5 * time.Second

// keepsStill reports whether the front UI thread does not respond.
func (p *Phone) keepsStill() bool {
	pr := p.state.running[p.state.foreground]
	return pr != nil && pr.stands != nil
}

// dumpTop is dumpsys activity top.
func (c *call) dumpTop() int {
	if w, ok := c.window(); ok {
		c.Printf("%s", w.Top(c.keepsStill()))
	}
	return 0
}

// ShowDialog shows the system's dialog for a process that does not respond, or that crashed.
func (p *Phone) ShowDialog(process string, crashed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.system.Show(process, crashed)
}

// Dialog returns the title of the system's dialog that has the focus, "" for none.
func (p *Phone) Dialog() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.system.Front(); d != nil {
		return d.Title()
	}
	return ""
}

// Held reports whether the clocks are fixed, and whether the job scheduler may compile apps in
// the background.
func (p *Phone) Held() (performance, dexopt bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.system.Fixed, !p.system.DexoptOff()
}

// Setting returns the value of a setting: "system screen_brightness_mode", "" if it is not
// set.
func (p *Phone) Setting(key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.settings[key]
}
