package phone

import (
	"maps"
	"slices"

	"github.com/apkgate/apkgate/simulator/internal/dumps"
	"github.com/apkgate/apkgate/simulator/internal/recorders"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// call is a command on the phone.
type call struct {
	*Phone
	*shell.Call
}

// commands returns the phone's commands apart from the shell's own.
func (p *Phone) commands() map[string]shell.Command {
	lasts := func(since int, run func(c *call, then func(code int))) shell.Command {
		return shell.Command{Since: since, Run: func(c *shell.Call, then func(code int)) { run(&call{p, c}, then) }}
	}
	ends := func(since int, run func(c *call) int) shell.Command {
		return lasts(since, func(c *call, then func(code int)) { then(run(c)) })
	}
	simpleperf := func(c *call, then func(int)) { recorders.Simpleperf(c.recorders(), c.Call, then) }
	reporter := dumps.Reporter{API: p.profile.API, Files: p.files, Property: p.property}
	all := map[string]shell.Command{
		"getprop":     ends(0, getprop),
		"setprop":     ends(0, setprop),
		"settings":    ends(17, settings),
		"wm":          ends(18, wm),
		"svc":         ends(0, svc),
		"tc":          {Run: func(c *shell.Call, then func(code int)) { then(p.link.TC(c)) }},
		"ip":          {Run: func(c *shell.Call, then func(code int)) { then(p.link.IP(c)) }},
		"id":          ends(0, id),
		"su":          lasts(0, su),
		"log":         ends(0, logCommand),
		"logcat":      {Run: func(c *shell.Call, then func(code int)) { p.log.Command(c, then) }},
		"dumpsys":     lasts(0, dumpsys),
		"pm":          lasts(0, func(c *call, then func(int)) { pm(c, then, c.packages.Command) }),
		"cmd":         lasts(24, cmd),
		"am":          lasts(0, am),
		"app_process": lasts(0, appProcess),
		"input":       lasts(0, input),
		"monkey":      lasts(0, monkey),
		"run-as":      lasts(0, runAs),
		"uiautomator": lasts(16, uiautomator),
		"service":     ends(0, func(c *call) int { return c.system.ServiceCommand(c.Call, c.hasService) }),
		"perfetto":    lasts(28, func(c *call, then func(int)) { recorders.Perfetto(c.recorders(), c.Call, then) }),
		"reboot":      ends(0, rebootCommand),
		"debuggerd":   ends(0, debuggerd),
		"date":        ends(0, date),
		"bugreport":   ends(0, func(c *call) int { return reporter.BugReport(c.Call) }),
		"bugreportz":  ends(24, func(c *call) int { return reporter.BugReportZ(c.Call) }),

		"simpleperf":        lasts(28, simpleperf),
		"pushed simpleperf": lasts(0, simpleperf),

		// Of apkgate's loads (collect/load); since when there are nc and curl is assumed.
		"dd": tool(0), "timeout": tool(23), "nc": tool(29), "curl": tool(30), "script apkgate-load.sh": lasts(0, loadScript),
	}
	for _, name := range p.options.Lacks {
		delete(all, name)
	}
	for name, cmd := range all {
		all[name] = p.costly(name, cmd)
	}
	return all
}

// recorders returns the phone as the recorders need it.
func (p *Phone) recorders() *recorders.Phone {
	return &recorders.Phone{Account: p.power, Files: p.files, Host: p.host, Property: p.property, Timeline: p.recorded, App: func(pkg string) *simapp.App {
		if a := p.packages.Apps[pkg]; a != nil {
			return a.App
		}
		return nil
	}}
}

// cmd is cmd SERVICE …: the newer interface to the package manager and the battery.
func cmd(c *call, then func(code int)) {
	switch c.Arg(0) {
	case "package":
		c.Args = c.Args[1:]
		pm(c, then, c.packages.Service)
		return
	case "power":
		c.Args = c.Args[1:]
		then(c.system.PowerCommand(c.Call))
		return
	case "jobscheduler":
		c.Args = c.Args[1:]
		then(c.system.JobCommand(c.Call))
		return
	case "battery":
		if c.Args = c.Args[1:]; len(c.Args) > 0 {
			then(dumpBattery(c))
			return
		}
	}
	c.Errorf("cmd: Can't find service: %s\n", c.Arg(0))
	then(20)
}

// pm is the package manager; the background compilation belongs to the system.
func pm(c *call, then func(code int), other func(*shell.Call, func(code int))) {
	if c.Arg(0) == "bg-dexopt-job" && c.profile.API >= 24 {
		c.Args = c.Args[1:]
		c.system.DexoptJob(c.Call, then)
		return
	}
	other(c.Call, then)
}

// hasService reports whether the phone has a service of that name, once services are up.
func (p *Phone) hasService(name string) bool {
	s, known := services[name]
	return known && p.profile.API >= s.since
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
