package network

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/network/shaping"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/console"
)

// shape slows the network down by the best means that the device offers, and returns which. The
// error is an *unableError if there is none.
func shape(ctx context.Context, t *target.Target, p Profile) (string, error) {
	var why []error
	if t.Console != 0 && p.Loss == 0 {
		err := byConsole(ctx, t, p.Shape)
		if err == nil {
			return p.ByConsole(), nil
		}
		if ctx.Err() != nil || loss.IsGone(err) {
			return "", err
		}
		why = append(why, err)
	}
	if t.Console != 0 && p.Loss > 0 {
		why = append(why, errLossless)
	}
	both, err := byTC(ctx, t, p.Shape)
	var no *unableError
	switch {
	case err == nil:
		if !both {
			t.Journal.Warnf("the network %q is shaped in what goes out alone, since this device can't slow down what comes in: downloads are as fast as they come", p.Name)
		}
		return p.ByTC(both), nil
	case !errors.As(err, &no):
		return "", err
	}
	return "", unable("%w", errors.Join(append(why, err)...))
}

var errLossless = errors.New("the emulator's console loses no packets")

// byConsole makes the emulator shape mobile data. Emulators whose source is public swap the speeds
// of the two directions if they are set over the console, but not if they are set on the command
// line (netshaper_set_rate in their console.cpp and net-android.cpp). Both directions therefore get
// the download speed, which is right in either case.
func byConsole(ctx context.Context, t *target.Target, s shaping.Shape) error {
	c, err := t.OpenConsole(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nolint:errcheck // everything was answered by then
	before, err := c.Network(ctx)
	if err != nil {
		return err
	}
	speed := int64(s.DownKbit) * 1000
	want := console.Network{Up: speed, Down: speed, Least: s.Delay - s.Jitter, Most: s.Delay + s.Jitter}
	if err := t.Do(ctx, ":", target.ConsoleChange(before, want)); err != nil {
		return err
	}
	return c.SetNetwork(ctx, want)
}

// byTC makes the device's kernel shape the interface of its default network, in both directions if
// it can.
func byTC(ctx context.Context, t *target.Target, s shaping.Shape) (both bool, err error) {
	as, err := rootOf(ctx, t.Ask)
	if err != nil {
		return false, err
	}
	route, err := t.Ask(ctx, shaping.Route)
	if err != nil {
		return false, err
	}
	iface := shaping.ReadRoute(string(route.Stdout))
	if iface == "" {
		return false, unable("the device doesn't report over which interface it reaches the internet: %s", target.FirstLine(route.Stderr, route.Stdout))
	}
	root := func(script string) (device.Output, error) { return t.Ask(ctx, as.Run(script, device.Quote)) }
	state, err := root(shaping.State(iface))
	if err != nil {
		return false, err
	}
	if by := shaping.Foreign(string(state.Stdout)); by != "" {
		return false, unable("%s is already shaped by another program (%s)", iface, journal.Line(by))
	}
	clsact := shaping.HasClsact(string(state.Stdout))
	change := target.ShapingChange(iface, as, clsact)
	if had, known := t.Before(change); known { // our own earlier additions are not the device's
		clsact = had != ""
	}
	if err := t.Do(ctx, as.Run(shaping.Undo(iface, clsact), device.Quote), change); err != nil {
		return false, err
	}
	port := adbPort(t)
	var last string
	for _, both := range []bool{true, false} {
		script := shaping.Out(iface, port, s)
		if both {
			script = shaping.Out(iface, port, s.Half()) + " && " + shaping.In(iface, port, s.Half(), clsact)
		}
		done, err := apply(root, iface, clsact, script, s, both)
		if err != nil {
			return false, err
		}
		if done == "" {
			return both, nil
		}
		last = done
	}
	return false, unable("tc does not slow %s down: %s", iface, last)
}

// apply runs a script as root and compares what tc shows with the request. If they differ, it
// undoes the script and returns the difference as why.
func apply(root func(string) (device.Output, error), iface string, clsact bool, script string, s shaping.Shape, both bool) (why string, err error) {
	out, err := root(script)
	if err != nil {
		return "", err
	}
	if out.ExitCode != 0 {
		why = target.FirstLine(out.Stderr, out.Stdout)
	} else {
		shown, err := root(shaping.Show(iface))
		if err != nil {
			return "", err
		}
		if both {
			s = s.Half()
		}
		if err := shaping.Check(string(shown.Stdout), s, both); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		_, err = root(shaping.Undo(iface, clsact))
	}
	return why, err
}

// rootOf finds a way to run commands as root.
func rootOf(ctx context.Context, ask asking) (shaping.As, error) {
	for _, as := range shaping.Ways() {
		out, err := ask(ctx, as.Run("id -u", device.Quote)+" 2>/dev/null")
		if err != nil {
			return "", fmt.Errorf("check whether adb has root: %w", err)
		}
		if strings.TrimSpace(string(out.Stdout)) == "0" {
			return as, nil
		}
	}
	return "", unable("adb has no root on the device")
}

// adbPort returns the port on which adbd listens, 0 if it does not listen on the network.
func adbPort(t *target.Target) int {
	if port, err := strconv.Atoi(t.Facts.Properties["service.adb.tcp.port"]); err == nil && port > 0 && port <= 65535 {
		return port
	}
	return shaping.DefaultPort
}
