package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// Findings report what a run would do to the device for each of the named networks, "" being none.
// port is that of the device's console on this computer, 0 for none; refuse is as in Set. They
// change nothing, and can't know whether tc or the console would take effect.
func Findings(ctx context.Context, d device.Device, port int, names []string, refuse bool) (findings []device.Finding, err error) {
	for _, name := range names {
		if name == "" {
			continue
		}
		f, err := findingOf(ctx, d, port, Named(name), refuse)
		if err != nil {
			return findings, fmt.Errorf("check the network %q: %w", name, err)
		}
		findings = append(findings, f)
	}
	return findings, nil
}

func findingOf(ctx context.Context, d device.Device, port int, p Profile, refuse bool) (device.Finding, error) {
	f := device.Finding{Name: "network", OK: true}
	if p.Radio == "wifi" {
		f.Detail, f.Run = p.Name+": the device's own Wi-Fi", "turns mobile data off"
		return f, nil
	}
	wireless, err := onWifi(ctx, d.Serial(), d.Exec)
	switch {
	case err != nil:
		return f, err
	case wireless:
		f.OK, f.Detail, f.Hint = false, p.Name+": adb itself reaches the device over its Wi-Fi, which a run would turn off", hintWireless
		return f, nil
	case p.Radio == "none":
		f.Detail, f.Run = p.Name+": no network at all", "turns Wi-Fi and mobile data off"
		return f, nil
	}
	return mobileFinding(ctx, d, port, p, refuse)
}

// mobileFinding is the finding of a network over mobile data.
func mobileFinding(ctx context.Context, d device.Device, port int, p Profile, refuse bool) (device.Finding, error) {
	f := device.Finding{Name: "network", OK: true, Run: "turns Wi-Fi off"}
	out, err := d.Exec(ctx, "getprop")
	if err != nil {
		return f, err
	}
	facts, _ := target.ReadProperties(out.Stdout) // a device that does not report it is no emulator
	own, err := mobile(ctx, d.Exec)
	if err != nil {
		return f, err
	}
	switch {
	case !p.Shape.Any() && facts.IsEmulator():
		f.Detail = p.Name + ": the emulator's own link, as fast as this computer's"
		return f, nil
	case !p.Shape.Any() || isOwn(p.Name, own, facts):
		f.Detail = p.Name + ": the device's own mobile network, which is " + cmp.Or(own, "unknown")
		return f, nil
	}
	by, err := slowedBy(ctx, d, &target.Target{Console: port, Facts: facts}, p)
	var unable *unableError
	switch {
	case err == nil:
		f.Detail, f.Run = p.Name+": mobile data can be slowed down", f.Run+", and has "+by
		return f, nil
	case !errors.As(err, &unable):
		return f, err
	}
	f.Detail = p.Name + ": mobile data can't be slowed down: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	f.OK, f.Hint = !refuse, hintShape
	if f.Run += ", has it as fast as it is, and says so"; refuse {
		f.Run = "measures nothing on it, as conditions.policy says"
	}
	return f, nil
}

// slowedBy returns what would slow the network down, tried in the order of Set. The error is an
// *unableError if nothing can.
func slowedBy(ctx context.Context, d device.Device, t *target.Target, p Profile) (how string, err error) {
	var why []error
	switch {
	case t.Console != 0 && p.Loss > 0:
		why = append(why, errLossless)
	case t.Console != 0:
		c, err := t.OpenConsole(ctx)
		if err == nil {
			return p.ByConsole(), c.Close()
		}
		why = append(why, err)
	}
	as, err := rootOf(ctx, d.Exec)
	if err == nil {
		out, asked := d.Exec(ctx, as.Run("tc qdisc show dev lo", device.Quote))
		if asked != nil || out.ExitCode == 0 {
			return p.ByTC(true), asked
		}
		err = unable("tc does not answer: %s", target.FirstLine(out.Stderr, out.Stdout))
	}
	var no *unableError
	if !errors.As(err, &no) {
		return "", err
	}
	return "", unable("%w", errors.Join(append(why, err)...))
}
