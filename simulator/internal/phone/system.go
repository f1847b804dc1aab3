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

// property reads a property; those of the boot change while the phone starts.
func (p *Phone) property(name string) string {
	if name == "sys.system_server.start_count" && p.profile.API >= 29 && p.system.Serves() { // SystemServer.java
		return strconv.Itoa(p.state.starts)
	}
	if value, starts := p.system.Property(name); starts {
		return value
	}
	if name == "gsm.network.type" && p.profile.API >= 17 { // what the SIM is on, whatever is used
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

// maxProperties bounds what setprop and settings can add.
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

// Whether Perfetto's service runs follows from a property, which adb's shell may set since
// Android 10 (perfetto.rc; shell.te: traced_enabled_prop).
const (
	tracedEnabled = "persist.traced.enable"
	tracedService = "init.svc.traced"
	tracedStarts  = 300 * time.Millisecond
)

// traces has init start or stop the service.
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

// set changes a setting; false where the phone ignores it.
func (p *Phone) set(key, value string) bool {
	if slices.Contains(p.options.Ignored, key) {
		return false
	}
	p.state.settings[key] = value
	return true
}

// setting reads a setting; whether it is there.
func (p *Phone) setting(key string) (value string, there bool) {
	value, there = p.state.settings[key]
	return value, there
}

// Set is what somebody sets by hand: "system screen_brightness_mode", "1".
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

// stayOn is svc power stayon true|false|usb|ac|wireless: which chargers keep the
// screen on. It turns the screen on (PowerCommand).
func stayOn(c *call) int {
	all := 7
	if c.profile.API >= 33 { // and a dock
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

// wifiTakes is how long after it was turned on Wi-Fi has found its access point, has
// an address, and is the default network.
const wifiTakes = 4500 * time.Millisecond

// switchNetwork returns at once, as svc does, whatever the radio still has to do.
func (p *Phone) switchNetwork(what string, on bool) {
	name := "global " + map[string]string{"wifi": "wifi_on", "data": "mobile_data"}[what]
	was := p.state.settings[name]
	if p.set(name, map[bool]string{true: "1", false: "0"}[on]) && what == "wifi" && on && was != "1" {
		p.state.wifiUpAt = p.clock.Now() + wifiTakes
		p.clock.At(p.state.wifiUpAt, func() { p.state.network = p.networkNow() })
	}
	p.state.network = p.networkNow()
}

// networkNow is the network that the switches leave: wifi first, then the mobile
// one that the phone was made with.
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

// SetNetwork changes the type of the network that the phone is on: "wifi", "3g",
// "4g", "none" or whatever the apps know.
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

// Control answers what asks the adb daemon to become another, in the words of its
// services (restart_service.cpp).
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

// uiautomator is uiautomator dump [FILE] (DumpCommand): it waits until nothing moves, ten
// seconds at most, asks the app for its views, and says that it wrote the file whether it
// could or not.
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

// hierarchy is what uiautomator writes of what has the focus.
func (p *Phone) hierarchy() string {
	if w, ok := p.window(); ok && p.system.Front() == nil && len(w.App.Layers) > 0 {
		return w.XML()
	}
	return p.system.Hierarchy(p.focused())
}

// window is the app's window in front, as its views are dumped.
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

// topFor is how long the activity manager waits for an activity to dump itself, which it
// does on its UI thread (TransferPipe.DEFAULT_TIMEOUT).
const topFor = 5 * time.Second

// keepsStill reports whether the UI thread of what is in front does nothing that it is asked.
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

// ShowDialog has the system say that a process does not respond, or that it crashed.
func (p *Phone) ShowDialog(process string, crashed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.system.Show(process, crashed)
}

// Dialog is the title of the system's dialog that has the focus, "" for none.
func (p *Phone) Dialog() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.system.Front(); d != nil {
		return d.Title()
	}
	return ""
}

// Held reports whether the clocks are held, and whether the job scheduler may compile apps
// in the background.
func (p *Phone) Held() (performance, dexopt bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.system.Fixed, !p.system.DexoptOff()
}

// Setting is what a setting is: "system screen_brightness_mode", "" where nobody set it.
func (p *Phone) Setting(key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.settings[key]
}
