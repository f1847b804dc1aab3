package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/network/shaping"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/console"
)

// OpenConsole opens the emulator's console. It fails for the console of another emulator.
func (t *Target) OpenConsole(ctx context.Context) (*console.Console, error) {
	if t.Console == 0 {
		return nil, errors.New("the device has no console on this computer")
	}
	c, err := console.Open(ctx, t.Console)
	if err != nil {
		return nil, err
	}
	name, err := c.Name(ctx)
	mine := cmp.Or(t.Facts.Properties["ro.boot.qemu.avd_name"], t.Facts.Properties["ro.kernel.qemu.avd_name"])
	if err == nil && mine != "" && strings.ReplaceAll(name, " ", "_") != strings.ReplaceAll(mine, " ", "_") {
		err = fmt.Errorf("the console on port %d is of the emulator %q, and the device is %q", t.Console, journal.Line(name), journal.Line(mine))
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// ConsoleChange is the change of the network in the emulator's console.
func ConsoleChange(before, put console.Network) Change {
	return Change{Kind: Console, Name: "network", Before: consoleText(before), Put: consoleText(put)}
}

func consoleText(n console.Network) string {
	return fmt.Sprintf("%d:%d:%d:%d", n.Up, n.Down, n.Least.Milliseconds(), n.Most.Milliseconds())
}

func readConsole(text string) (n console.Network, err error) {
	var least, most int64
	_, err = fmt.Sscanf(text, "%d:%d:%d:%d", &n.Up, &n.Down, &least, &most)
	n.Least, n.Most = time.Duration(least)*time.Millisecond, time.Duration(most)*time.Millisecond
	return n, err
}

// putBackConsole restores the emulated network, unless somebody else has changed it since or the
// emulator has restarted.
func (t *Target) putBackConsole(ctx context.Context, c Change) (found string, err error) {
	before, err := readConsole(c.Before)
	if err != nil {
		return "", fmt.Errorf("%q is no speed of an emulator's network", journal.Line(c.Before))
	}
	con, err := t.OpenConsole(ctx)
	if err != nil {
		return "", err
	}
	defer con.Close() //nolint:errcheck // nolint:errcheck // everything was answered by then
	now, err := con.Network(ctx)
	if err != nil || consoleText(now) != c.Put {
		return other(consoleText(now), c.Before), err
	}
	return "", con.SetNetwork(ctx, before)
}

// ShapingChange is the change of how tc shapes an interface, as root. hadClsact reports that the
// interface had a clsact before.
func ShapingChange(iface string, as shaping.As, hadClsact bool) Change {
	before := ""
	if hadClsact {
		before = "clsact"
	}
	return Change{Kind: Shaping, Name: iface, Before: before, Put: string(as)}
}

// putBackShaping removes what was added to an interface. A removed interface has lost it already.
func (t *Target) putBackShaping(ctx context.Context, c Change) (found string, err error) {
	if !shaping.IsInterface(c.Name) {
		return "", fmt.Errorf("%q is no network interface", journal.Line(c.Name))
	}
	as := shaping.As(c.Put)
	if _, err := t.Ask(ctx, as.Run(shaping.Undo(c.Name, c.Before == "clsact"), device.Quote)); err != nil {
		return "", err
	}
	out, err := t.Ask(ctx, as.Run(shaping.Show(c.Name), device.Quote))
	if err == nil && shaping.Left(string(out.Stdout)) {
		err = fmt.Errorf("%s is still slowed down; a restart of the device ends it", c.Name)
	}
	return "", err
}
