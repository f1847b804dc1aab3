package shaping

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The numbers and the name of everything that apkgate adds, by which it is recognized.
const (
	root   = "5150:" // prio: adb's port first, all else in the second band
	upward = "5151:" // netem of outgoing packets
	inward = "5152:" // netem of incoming packets, on the interface to which they are redirected
	ours   = "apkgate0"
	spared = 5150 // the filter that passes adb's packets unchanged
	divert = 5151 // the filter that redirects the others
	clsact = "clsact"
)

// DefaultPort is the port on which adbd listens on the network.
const DefaultPort = 5555

var interfaceName = regexp.MustCompile(`^[A-Za-z0-9_.@-]{1,15}$`)

// IsInterface reports whether name can be the name of a network interface.
func IsInterface(name string) bool { return interfaceName.MatchString(name) }

// Route asks over which interface the device reaches the internet. Each Android network has its own
// routing table; the rules choose one by the asking user.
const Route = "ip route get 8.8.8.8"

var device = regexp.MustCompile(`\bdev (\S{1,15})(?:\s|$)`)

// ReadRoute returns the interface in the answer, "" for none.
func ReadRoute(text string) string {
	m := device.FindStringSubmatch(text)
	if m == nil || !IsInterface(m[1]) || m[1] == "lo" || m[1] == "dummy0" {
		return ""
	}
	return m[1]
}

// State asks how an interface is shaped.
func State(iface string) string { return "tc qdisc show dev " + iface }

var qdisc = regexp.MustCompile(`(?m)^qdisc (\S+) (\S+)`)

// Foreign returns the discipline by which somebody else shapes the interface, "" for none.
// Disciplines that are not listed belong to the kernel, and return when their replacement is
// removed.
func Foreign(state string) string {
	shapes := []string{"netem", "tbf", "htb", "hfsc", "cbq", "prio", "cake"}
	for _, m := range qdisc.FindAllStringSubmatch(state, -1) {
		if slices.Contains(shapes, m[1]) && m[2] != root && m[2] != upward {
			return m[1]
		}
		if m[1] == "ingress" { // takes clsact's place
			return m[1]
		}
	}
	return ""
}

// HasClsact reports whether the interface has a clsact already, as netd adds for its programs.
func HasClsact(state string) bool { return strings.Contains(state, "qdisc "+clsact+" ") }

// netem is the discipline of one direction.
func netem(rate int, s Shape) string {
	text := "netem limit 1000"
	if s.Delay > 0 {
		text += fmt.Sprintf(" delay %dus", s.Delay.Microseconds())
		if s.Jitter > 0 {
			text += fmt.Sprintf(" %dus", s.Jitter.Microseconds())
		}
	}
	if s.Loss > 0 {
		text += " loss " + strconv.FormatFloat(s.Loss, 'f', -1, 64) + "%"
	}
	if rate > 0 {
		text += fmt.Sprintf(" rate %dkbit", rate)
	}
	return text
}

// Out returns the script that shapes outgoing packets, except adb's.
func Out(iface string, port int, s Shape) string {
	return strings.Join([]string{
		"tc qdisc add dev " + iface + " root handle " + root + " prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
		"tc qdisc add dev " + iface + " parent " + root + "2 handle " + upward + " " + netem(s.UpKbit, s),
		fmt.Sprintf("tc filter add dev %s parent %s protocol ip prio 1 u32 match ip sport %d 0xffff flowid %s1", iface, root, port, root),
	}, " && ")
}

// In returns the script that shapes incoming packets. The kernel does not queue packets that have
// arrived, so they are redirected to an interface of their own (ifb), which is shaped.
func In(iface string, port int, s Shape, hasClsact bool) string {
	commands := []string{"ip link add " + ours + " type ifb", "ip link set " + ours + " up"}
	if !hasClsact {
		commands = append(commands, "tc qdisc add dev "+iface+" "+clsact)
	}
	return strings.Join(append(commands,
		fmt.Sprintf("tc filter add dev %s ingress protocol ip prio %d u32 match ip dport %d 0xffff action ok", iface, spared, port),
		fmt.Sprintf("tc filter add dev %s ingress protocol all prio %d u32 match u32 0 0 action mirred egress redirect dev %s", iface, divert, ours),
		"tc qdisc add dev "+ours+" root handle "+inward+" "+netem(s.DownKbit, s),
	), " && ")
}

// Undo returns the script that removes whatever Out and In added.
func Undo(iface string, hasClsact bool) string {
	commands := []string{
		"tc qdisc del dev " + iface + " root handle " + root,
		fmt.Sprintf("tc filter del dev %s ingress protocol ip prio %d", iface, spared),
		fmt.Sprintf("tc filter del dev %s ingress protocol all prio %d", iface, divert),
		"ip link del " + ours,
	}
	if !hasClsact {
		commands = append(commands, "tc qdisc del dev "+iface+" "+clsact)
	}
	return quiet(commands...)
}

// Show asks what of apkgate's exists on the interface and on ifb.
func Show(iface string) string { return quiet(State(iface), State(ours)) }

// Left reports whether anything of apkgate's still exists.
func Left(shown string) bool {
	return strings.Contains(shown, "prio "+root) || strings.Contains(shown, "netem "+inward)
}

var (
	netemLine = regexp.MustCompile(`(?m)^qdisc netem (515[12]:) .*$`)
	delayOf   = regexp.MustCompile(`\bdelay ([0-9.]+)(us|ms|s)\b(?:\s+([0-9.]+)(us|ms|s)\b)?`)
	lossOf    = regexp.MustCompile(`\bloss ([0-9.]+)%`)
	rateOf    = regexp.MustCompile(`\brate ([0-9.]+)([KMG]?)bit\b`)
)

// Check compares what tc shows with the request, in both directions or outgoing only. The error
// names the first difference.
func Check(shown string, s Shape, both bool) error {
	lines := map[string]string{}
	for _, m := range netemLine.FindAllStringSubmatch(shown, -1) {
		lines[m[1]] = m[0]
	}
	if err := checkNetem("goes out", lines[upward], s.UpKbit, s); err != nil || !both {
		return err
	}
	return checkNetem("comes in", lines[inward], s.DownKbit, s)
}

// checkNetem allows for how tc rounds the values that it shows.
func checkNetem(what, line string, kbit int, s Shape) error {
	if line == "" {
		return fmt.Errorf("tc shows nothing that slows down what %s", what)
	}
	delay, jitter, loss, rate := time.Duration(0), time.Duration(0), 0.0, 0.0
	if m := delayOf.FindStringSubmatch(line); m != nil {
		delay, jitter = duration(m[1], m[2]), duration(m[3], m[4])
	}
	if m := lossOf.FindStringSubmatch(line); m != nil {
		loss, _ = strconv.ParseFloat(m[1], 64)
	}
	if m := rateOf.FindStringSubmatch(line); m != nil {
		rate, _ = strconv.ParseFloat(m[1], 64)
		rate *= map[string]float64{"": 0.001, "K": 1, "M": 1e3, "G": 1e6}[m[2]]
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"a delay of %g ms", ms(delay), ms(s.Delay)}, {"a jitter of %g ms", ms(jitter), ms(s.Jitter)},
		{"a loss of %g %%", loss, s.Loss}, {"a rate of %g kbit/s", rate, float64(kbit)},
	} {
		if math.Abs(c.got-c.want) > max(0.1, 0.02*c.want) {
			return fmt.Errorf("of what %s tc shows "+c.name+", and %g was asked for", what, c.got, c.want)
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// duration parses a time as tc prints it.
func duration(number, unit string) time.Duration {
	n, _ := strconv.ParseFloat(number, 64)
	return time.Duration(n * float64(map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}[unit]))
}
