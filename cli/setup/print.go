package setup

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// showFindings prints the findings on a device, and reports whether it is fit. Each finding has a
// line with the state and what a run does about it and, if more can be done, how: serial is the
// device's in adb.
func showFindings(c terminal.Console, title, serial string, findings []device.Finding) (fit bool) {
	return showAll(c, terminal.Plain(title), "fit to measure on", "NOT fit to measure on", serial, findings)
}

// showAll prints findings below a line on whether all of them are good. Bad ones come first, and
// are named in that line. Without a serial there is no device for adb.
func showAll(c terminal.Console, title, fine, wrong, serial string, findings []device.Finding) bool {
	var good, bad []device.Finding
	var names []string
	for _, f := range findings {
		if f.OK {
			good = append(good, f)
			continue
		}
		bad, names = append(bad, f), append(names, f.Name)
	}
	says := fine
	if len(bad) > 0 {
		says = wrong + ": " + strings.Join(names, ", ")
	}
	fmt.Fprintf(c.Stdout, "%s: %s\n", title, says)
	for _, f := range append(bad, good...) {
		showFinding(c, serial, f)
	}
	return len(bad) == 0
}

func showFinding(c terminal.Console, serial string, f device.Finding) {
	mark, line := "ok  ", terminal.Plain(f.Detail)
	if !f.OK {
		mark = "BAD "
	}
	if f.Run != "" {
		line += " → a run " + f.Run
	}
	fmt.Fprintf(c.Stdout, "  %s %-12s %s\n", mark, f.Name, line)
	if f.Hint != "" {
		fmt.Fprintf(c.Stdout, "       %-12s hint: %s\n", "", f.Hint)
	}
	if f.Fix != "" && serial != "" {
		by := "fix:  "
		if f.OK {
			by = "by hand: "
		}
		fmt.Fprintf(c.Stdout, "       %-12s %sadb -s %s shell %s\n", "", by, device.Quote(terminal.Plain(serial)), shellWord(f.Fix))
	}
}

// shellWord quotes a command line for the device's shell for typing it on this computer, whose
// shell would otherwise interpret some of it.
func shellWord(line string) string {
	if strings.ContainsAny(line, ";|&$<>\"'()*?") {
		return device.Quote(line)
	}
	return line
}
