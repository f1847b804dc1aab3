package phone

import (
	"github.com/apkgate/apkgate/simulator/console"
	"github.com/apkgate/apkgate/simulator/internal/link"
)

// newLink returns the phone's network link: over Wi-Fi or its mobile interface, which an
// emulator calls eth0.
func (p *Phone) newLink() *link.Link {
	onMobile := func() bool { return p.state.network != "wifi" && p.state.network != "none" }
	return &link.Link{
		Address: "10.0.2.16", NoNetem: p.options.NoNetem, NoIFB: p.options.NoIFB,
		Root: p.isRoot, OnMobile: onMobile,
		Interface: func() string {
			switch {
			case onMobile() && p.profile.Sensors.Emulator:
				return "eth0"
			case onMobile():
				return "rmnet_data0"
			case p.state.network == "wifi":
				return "wlan0"
			}
			return ""
		},
	}
}

// Emulate applies the network set by the emulator's console. It only shapes mobile data: the
// emulated Wi-Fi has its own route to the host (WifiService.cpp).
func (p *Phone) Emulate(n console.Network) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link.Mobile = n
}

// isRoot reports whether the caller is root: adb's shell, or a command under su.
func (p *Phone) isRoot() bool { return p.files.Root || p.state.su > 0 }

// id is id [-u].
func id(c *call) int {
	uid, name := 2000, "shell"
	if c.isRoot() {
		uid, name = 0, "root"
	}
	if c.Arg(0) == "-u" {
		c.Printf("%d\n", uid)
		return 0
	}
	c.Printf("uid=%d(%s) gid=%d(%s) groups=%d(%s) context=u:r:shell:s0\n", uid, name, uid, name, uid, name)
	return 0
}

// su is su 0 COMMAND…, as in AOSP's debug builds, or with Options.Magisk su -c COMMAND. A user
// build has none.
func su(c *call, then func(code int)) {
	command := c.Args[min(1, len(c.Args)):]
	switch {
	case c.options.Magisk && c.Arg(0) == "-c":
		command = []string{"sh", "-c", c.Arg(1)}
	case c.options.Magisk:
		command = append([]string{"sh"}, command...) // taken as a script
	case c.options.Production:
		c.Errorf("/system/bin/sh: su: inaccessible or not found\n")
		then(127)
		return
	case c.Arg(0) != "0" && c.Arg(0) != "root":
		c.Errorf("su: invalid uid/gid '%s'\n", c.Arg(0))
		then(1)
		return
	}
	if len(command) == 0 {
		then(0)
		return
	}
	c.state.su++
	c.Run(command, c.Streams, func(code int) {
		c.state.su--
		then(code)
	})
}
