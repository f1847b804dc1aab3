package setup

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// answer collects what doctor finds, and prints it at once as text, or in the end as JSON.
type answer struct {
	terminal.Console
	as       output.Format
	verbose  bool // what is fine is listed, too
	examined []examined
	unused   []unused
	fine     int
	problems []string // what is wrong, each with where
}

// examined are the findings on one device, lab or farm in apkgate.doctor/1.
type examined struct {
	Name     string    `json:"name"`
	Serial   string    `json:"serial,omitempty"`
	Fit      bool      `json:"fit"`
	Findings []finding `json:"findings"`
}

type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
	Run    string `json:"run,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

// unused is a device that adb sees and can't use.
type unused struct {
	Serial string `json:"serial"`
	State  string `json:"state"`
	Hint   string `json:"hint"`
}

// show shows the findings on a device, a lab or a farm, and reports whether all are good: problems
// first, then what is good and has a hint, or with --verbose all of it. Each finding has a line with
// the state and what a run does about it and, if more can be done, how: serial is the device's in
// adb, "" for a lab or a farm, of which all is shown: it has versions and prices.
func (a *answer) show(title, serial string, findings []device.Finding) (fit bool) {
	var good, bad []device.Finding
	for _, f := range findings {
		if f.OK {
			good = append(good, f)
			continue
		}
		bad = append(bad, f)
		a.problems = append(a.problems, f.Name+" of "+title)
	}
	a.fine += len(good)
	fit, ordered := len(bad) == 0, append(bad, good...)
	if a.as == output.FormatJSON {
		one := examined{Name: title, Serial: serial, Fit: fit, Findings: []finding{}}
		for _, f := range ordered {
			one.Findings = append(one.Findings, finding{f.Name, f.OK, f.Detail, f.Hint, f.Run, f.Fix})
		}
		a.examined = append(a.examined, one)
		return fit
	}
	says := checksFine(len(good))
	if !fit {
		says = prose.Count(len(bad), "problem", "problems") + ", " + says
	}
	fmt.Fprintf(a.Stdout, "%s: %s\n", terminal.Plain(title), says)
	for _, f := range ordered {
		if a.verbose || serial == "" || !f.OK || f.Hint != "" {
			showFinding(a.Console, serial, f)
		}
	}
	return fit
}

func checksFine(n int) string { return prose.Count(n, "check", "checks") + " fine" }

// problem notes what is wrong apart from findings: an error says the details.
func (a *answer) problem(what string) { a.problems = append(a.problems, what) }

// others shows the devices that adb sees and can't use.
func (a *answer) others(devices []measurement.Unused) {
	for _, d := range devices {
		if a.as == output.FormatJSON {
			a.unused = append(a.unused, unused{d.Serial, d.State, d.Advice})
			continue
		}
		fmt.Fprintf(a.Stdout, "%s\n  not used: it is %q\n  hint: %s\n", terminal.Plain(d.Serial), terminal.Plain(d.State), d.Advice)
	}
}

// end prints how many problems there are, or as JSON all that was found.
func (a *answer) end() error {
	if a.as != output.FormatJSON {
		sum := "no problem: " + checksFine(a.fine)
		if n := len(a.problems); n > 0 {
			sum = prose.Count(n, "problem", "problems") + ": " + prose.List(a.problems)
		}
		_, err := fmt.Fprintln(a.Stdout, terminal.Plain(sum))
		return exit.InfrastructureIf(err)
	}
	return printJSON(a.Console, struct {
		Format   string     `json:"format"`
		Examined []examined `json:"examined"`
		Unused   []unused   `json:"unused,omitempty"`
	}{"apkgate.doctor/1", append([]examined{}, a.examined...), a.unused})
}

// printJSON prints a value in lines that people can read too.
func printJSON(c terminal.Console, value any) error {
	enc := json.NewEncoder(c.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
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
