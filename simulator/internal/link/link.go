// Package link simulates a phone's network link: its interfaces, traffic shaping, and the
// delay of content.
//
// It owns the subset of tc and ip that is used, and the emulator's slow mobile data. It does
// not know what is loaded, nor which network the phone is on. It is as strict as Linux: only
// root may change anything, a kernel may lack netem, ifb or both, a discipline is removed only
// by its own handle, and incoming traffic is slowed only if it is redirected to a slow
// outgoing interface.
package link

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/console"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// Link is the network link of one phone.
type Link struct {
	// Interface returns the interface of its default network: "wlan0", "" for none.
	Interface func() string
	// Address is its IP address.
	Address string
	// Root reports whether the caller is root.
	Root func() bool
	// NoNetem and NoIFB simulate kernels that lack them.
	NoNetem, NoIFB bool
	// Mobile is the emulator's shaping of mobile data.
	Mobile console.Network
	// OnMobile reports whether the default network is mobile data.
	OnMobile func() bool

	devices map[string]*deviceState
}

// deviceState is the shaping of an interface.
type deviceState struct {
	root   string // the handle of a prio, or of a netem
	prio   bool
	netem  *netem
	clsact bool
	divert string // the target of redirected incoming traffic
	rules  map[string]bool
}

// netem is one netem discipline.
type netem struct {
	handle        string
	delay, jitter time.Duration
	loss          float64 // percent
	kbit          float64
}

func (l *Link) device(name string) *deviceState {
	if l.devices == nil {
		l.devices = map[string]*deviceState{}
	}
	if l.devices[name] == nil && (name == "wlan0" || name == "rmnet_data0" || name == "eth0") {
		l.devices[name] = &deviceState{rules: map[string]bool{}}
	}
	return l.devices[name]
}

// Restart drops the kernel's state. The emulator's stays.
func (l *Link) Restart() { l.devices = nil }

// The parts of a load: a TLS connection, a request, and content.
const (
	roundTrips = 3
	contentKB  = 96
	packet     = 1448 // bytes
	again      = 60 * time.Millisecond
)

// Shaped reports whether the default network is slowed down.
func (l *Link) Shaped() bool {
	out, in := l.lines()
	return out != nil || in != nil
}

// lines returns the shaping of outgoing and incoming traffic, nil for none.
func (l *Link) lines() (out, in *netem) {
	if d := l.device(l.Interface()); d != nil {
		out = d.netem
		if to := l.devices[d.divert]; to != nil {
			in = to.netem
		}
	}
	if n := l.Mobile; l.OnMobile() && n != (console.Network{}) {
		// The console applies the download speed to outgoing traffic, and vice versa.
		middle, half := (n.Least+n.Most)/2, (n.Most-n.Least)/2
		return &netem{delay: middle, jitter: half, kbit: n.Down / 1000}, &netem{kbit: n.Up / 1000}
	}
	return out, in
}

// Wait returns the additional delay of content compared with an unshaped link.
func (l *Link) Wait(r *rand.Rand) time.Duration {
	out, in := l.lines()
	wait := time.Duration(0)
	for _, n := range []*netem{out, in} {
		if n == nil {
			continue
		}
		for range roundTrips {
			wait += n.delay + time.Duration((2*r.Float64()-1)*float64(n.jitter))
		}
		for range contentKB << 10 / packet {
			if r.Float64()*100 < n.loss {
				wait += again
			}
		}
	}
	if in != nil && in.kbit > 0 {
		wait += time.Duration(contentKB * 8192 / in.kbit * float64(time.Millisecond))
	}
	return wait
}

// IP is ip route get, ip addr and ip link.
func (l *Link) IP(c *shell.Call) int {
	args := c.Args
	if len(args) > 0 && args[0] == "-o" {
		args = args[1:]
	}
	iface := l.Interface()
	switch line := strings.Join(args, " "); {
	case strings.HasPrefix(line, "route get "):
		if iface == "" {
			c.Errorf("RTNETLINK answers: Network is unreachable\n")
			return 2
		}
		c.Printf("%s via 10.0.2.2 dev %s table %s src %s uid 2000 \n    cache \n", args[2], iface, iface, l.Address)
	case line == "addr":
		c.Printf("1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever\n")
		if iface != "" {
			c.Printf("12: %s    inet %s/24 brd 10.0.2.255 scope global %s\\       valid_lft forever preferred_lft forever\n", iface, l.Address, iface)
		}
	case len(args) >= 3 && args[0] == "link":
		return l.link(c, args[1:])
	default:
		c.Errorf("Object \"%s\" is unknown, try \"ip help\".\n", c.Arg(0))
		return 1
	}
	return 0
}

// link is ip link add NAME type ifb, set NAME up, del NAME.
func (l *Link) link(c *shell.Call, args []string) int {
	there := l.device(args[1]) != nil
	switch {
	case !l.Root():
		c.Errorf("RTNETLINK answers: Operation not permitted\n")
	case args[0] == "add" && l.NoIFB:
		c.Errorf("RTNETLINK answers: Operation not supported\n")
	case args[0] == "add" && there:
		c.Errorf("RTNETLINK answers: File exists\n")
	case args[0] == "add" && len(args) == 4 && args[3] == "ifb":
		l.devices[args[1]] = &deviceState{rules: map[string]bool{}}
		return 0
	case !there:
		c.Errorf("Cannot find device \"%s\"\n", args[1])
		return 1
	case args[0] == "del":
		delete(l.devices, args[1])
		return 0
	case args[0] == "set":
		return 0
	}
	return 2
}

// TC is tc qdisc and tc filter.
func (l *Link) TC(c *shell.Call) int {
	args := c.Args
	if len(args) < 4 || args[2] != "dev" {
		c.Errorf("Usage: tc [ OPTIONS ] OBJECT { COMMAND | help }\n")
		return 1
	}
	d := l.device(args[3])
	switch {
	case args[0] == "qdisc" && args[1] == "show" && args[3] == "lo":
		c.Printf("qdisc noqueue 0: root refcnt 2 \n")
		return 0
	case d == nil:
		c.Errorf("Cannot find device \"%s\"\n", args[3])
		return 1
	case args[0] == "qdisc" && args[1] == "show":
		d.show(c)
		return 0
	case !l.Root():
		c.Errorf("RTNETLINK answers: Operation not permitted\n")
		return 2
	}
	why := ""
	switch args[0] + " " + args[1] {
	case "qdisc add":
		why = l.add(d, args[4:])
	case "qdisc del":
		why = d.remove(args[4:])
	case "filter add", "filter del":
		why = d.filter(args[1] == "add", args[4:])
	default:
		why = "Invalid argument"
	}
	if why != "" {
		c.Errorf("%s\n", why)
		return 2
	}
	return 0
}

// add is tc qdisc add dev … WHAT.
func (l *Link) add(d *deviceState, what []string) string {
	line := strings.Join(what, " ")
	handle := after(what, "handle")
	switch {
	case line == "clsact" && d.clsact, strings.HasPrefix(line, "root") && d.root != "":
		return "Error: Exclusivity flag on, cannot modify."
	case line == "clsact":
		d.clsact = true
	case strings.Contains(line, " netem ") && l.NoNetem:
		return "Error: Specified qdisc kind is unknown."
	case strings.HasPrefix(line, "root ") && strings.Contains(line, " prio "):
		d.root, d.prio = handle, true
	case strings.HasPrefix(line, "root ") && strings.Contains(line, " netem "):
		d.root, d.netem = handle, readNetem(handle, what)
	case strings.HasPrefix(line, "parent ") && strings.Contains(line, " netem "):
		if !d.prio || !strings.HasPrefix(what[1], d.root) {
			return "Error: Parent Qdisc not found."
		}
		d.netem = readNetem(handle, what)
	default:
		return "Error: Specified qdisc kind is unknown."
	}
	return ""
}

// remove is tc qdisc del dev … WHAT.
func (d *deviceState) remove(what []string) string {
	switch handle := after(what, "handle"); {
	case what[0] == "clsact" && d.clsact:
		d.clsact, d.divert = false, ""
	case what[0] == "root" && d.root != "" && (handle == "" || handle == d.root):
		d.root, d.prio, d.netem = "", false, nil
	default:
		return "Error: Invalid handle."
	}
	return ""
}

// filter is tc filter add and del dev … WHAT.
func (d *deviceState) filter(add bool, what []string) string {
	line := strings.Join(what, " ")
	if what[0] == "parent" && d.root == "" || what[0] == "ingress" && !d.clsact {
		return "Error: Parent Qdisc doesn't exists."
	}
	rule := what[0] + " " + after(what, "prio")
	if !add && !d.rules[rule] {
		return "Error: Filter with specified priority/protocol not found."
	}
	d.rules[rule] = add
	if strings.Contains(line, "protocol all") {
		d.divert = ""
		if add {
			d.divert = after(what, "dev")
		}
	}
	return ""
}

// after returns the word that follows another, "" for none.
func after(words []string, name string) string {
	for i, w := range words[:max(0, len(words)-1)] {
		if w == name {
			return words[i+1]
		}
	}
	return ""
}

func readNetem(handle string, words []string) *netem {
	n := &netem{handle: handle}
	micros := func(text string) time.Duration {
		us, _ := strconv.ParseFloat(strings.TrimSuffix(text, "us"), 64)
		return time.Duration(us * float64(time.Microsecond))
	}
	for i, w := range words {
		switch {
		case w == "delay":
			n.delay = micros(words[i+1])
			if i+2 < len(words) && strings.HasSuffix(words[i+2], "us") {
				n.jitter = micros(words[i+2])
			}
		case w == "loss":
			n.loss, _ = strconv.ParseFloat(strings.TrimSuffix(words[i+1], "%"), 64)
		case w == "rate":
			n.kbit, _ = strconv.ParseFloat(strings.TrimSuffix(words[i+1], "kbit"), 64)
		}
	}
	return n
}

// show is tc qdisc show, in iproute2's format.
func (d *deviceState) show(c *shell.Call) {

	switch {
	case d.prio:
		c.Printf("qdisc prio %s root refcnt 2 bands 2 priomap  1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", d.root)
	case d.root == "":
		c.Printf("qdisc pfifo_fast 0: root refcnt 2 bands 3 priomap  1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n")
	}
	if n := d.netem; n != nil {
		at := "root refcnt 2"
		if d.prio {
			at = "parent " + d.root + "2"
		}
		c.Printf("qdisc netem %s %s limit 1000", n.handle, at)
		if n.delay > 0 {
			c.Printf(" delay %s", shownTime(n.delay))
			if n.jitter > 0 {
				c.Printf("  %s", shownTime(n.jitter))
			}
		}
		if n.loss > 0 {
			c.Printf(" loss %g%%", n.loss)
		}
		if n.kbit > 0 {
			c.Printf(" rate %s", shownRate(n.kbit))
		}
		c.Printf("\n")
	}
	if d.clsact {
		c.Printf("qdisc clsact ffff: parent ffff:fff1\n")
	}
}

// shownTime is sprint_time of iproute2.
func shownTime(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%dus", d.Microseconds())
}

// shownRate is sprint_rate of iproute2.
func shownRate(kbit float64) string {
	if kbit >= 10_000 {
		return fmt.Sprintf("%gMbit", kbit/1000)
	}
	return fmt.Sprintf("%gKbit", kbit)
}
