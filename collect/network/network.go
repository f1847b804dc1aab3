// Package network brings a device to a network: Wi-Fi, mobile data or none, and as slow
// as its name says, where the device or its emulator can be told so.
//
// It owns the networks by name, which way of shaping each device offers, and that what
// was set is read back. What tc and the console are told is package shaping's, and how it
// is put back target's, since a run that was killed leaves that to the next one. It takes
// two stands: a network that could not be slowed down is told as what it is, and the run
// has no property that says otherwise; and the emulator's Wi-Fi is never shaped, since
// its console shapes mobile data alone.
package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// Set brings the device to the network of that name until the run ends; "" leaves it as
// it is. What could not be shaped is a warning, or an error where it is refused. It
// returns how it is shaped, as the run's context has it: "" where it is not. It is called
// again after the device was lost.
func Set(ctx context.Context, t *target.Target, name string, refuse bool) (shaped string, err error) {
	if name == "" {
		return "", nil
	}
	p := Named(name)
	if err := reach(ctx, t, p); err != nil || p.Radio != "data" {
		return "", err
	}
	own, err := mobile(ctx, t.Ask)
	if err != nil {
		return "", err
	}
	asked, has := generations[strings.ToLower(name)], generations[strings.ToLower(own)]
	switch is := isOwn(name, own, t.Facts); {
	case p.Shape.Any() && !is:
		return slow(ctx, t, p, own, refuse)
	case asked == "" || is || has == "" && !t.Facts.IsEmulator():
	case t.Facts.IsEmulator():
		t.Journal.Warnf("the network %q is the emulator's own link, as fast as this computer's: 5g, lte, 3g and edge are the names that are slowed down", name)
	default:
		t.Journal.Warnf("the network was set to %q, and the device's mobile network is %s: it is nothing slower", name, own)
	}
	return "", nil
}

// slow shapes the network, or tells that it can't be.
func slow(ctx context.Context, t *target.Target, p Profile, own string, refuse bool) (string, error) {
	shaped, err := shape(ctx, t, p)
	var unable *unableError
	switch {
	case !errors.As(err, &unable):
		return shaped, err
	case refuse:
		return "", t.Advise(loss.Configuration, fmt.Errorf("make the network like %q: %w", p.Name, err), hintShape)
	}
	t.Journal.Warnf("the network could not be made like %q, and is as fast as the device's own, which is %s: %v (%s)", p.Name, cmp.Or(own, "unknown"), err, hintShape)
	return "", nil
}

// hintShape says what a network can be shaped by.
const hintShape = "an emulator that runs on this computer can be slowed down, and a device where adb has root; docs/labs.md, section Networks"

// hintWireless says how a device is measured whose Wi-Fi is to be turned off.
const hintWireless = "connect the device by cable, or measure it on wifi"

// unableError says why the device can't be slowed down.
type unableError struct{ err error }

func (e *unableError) Error() string { return e.err.Error() }
func (e *unableError) Unwrap() error { return e.err }

func unable(format string, args ...any) error { return &unableError{fmt.Errorf(format, args...)} }

// reach has the device use the radio of a network, and waits for that.
func reach(ctx context.Context, t *target.Target, p Profile) error {
	if p.Radio == "wifi" {
		if err := radios(ctx, t, true, false); err != nil {
			return err
		}
		return await(ctx, t, p.Name, func(kind string) bool { return kind != device.NetworkNone && kind != "MOBILE" })
	}
	wireless, err := onWifi(ctx, t.Device().Serial(), t.Ask)
	if err != nil {
		return err
	}
	if wireless {
		return t.Advise(loss.Configuration, fmt.Errorf("set the network to %q: adb itself reaches %s over its Wi-Fi, which that turns off", p.Name, t.Device().Serial()),
			hintWireless)
	}
	none := p.Radio == "none"
	if err := radios(ctx, t, false, !none); err != nil {
		return err
	}
	return await(ctx, t, p.Name, func(kind string) bool { return (kind == device.NetworkNone) == none && kind != "WIFI" })
}

// How long a network is waited for, and how often it is asked for.
const (
	awaitFor   = 30 * time.Second
	awaitEvery = 500 * time.Millisecond
)

// await waits until the device is on a network of the kind that was asked for: svc
// returns at once, and Wi-Fi takes seconds to connect. A device that does not tell is
// not waited for.
func await(ctx context.Context, t *target.Target, name string, wanted func(kind string) bool) error {
	kind := device.NetworkNotTold
	there, err := t.Poll(ctx, awaitEvery, awaitFor, func() (bool, error) {
		out, err := t.Ask(ctx, device.NetworkQuestion)
		if err != nil {
			return false, fmt.Errorf("wait for the network %q: %w", name, err)
		}
		kind = device.ReadNetwork(string(out.Stdout))
		return kind == device.NetworkNotTold || wanted(kind), nil
	})
	if err == nil && !there {
		t.Journal.Warnf("the network was set to %q, and after %v the device is on %s: what the app loads may fail, or come in another time", name, awaitFor, cmp.Or(kind, "none"))
	}
	return err
}

// radios turns Wi-Fi and mobile data on and off.
func radios(ctx context.Context, t *target.Target, wifi, data bool) error {
	word := map[bool]string{true: "enable", false: "disable"}
	for _, c := range []target.Change{
		{Kind: target.Network, Name: "wifi", Before: word[t.Facts.WifiOn], Put: word[wifi]},
		{Kind: target.Network, Name: "data", Before: word[t.Facts.DataOn], Put: word[data]},
	} {
		if err := t.Do(ctx, device.Quote("svc", c.Name, c.Put), c); err != nil {
			return err
		}
	}
	return nil
}

// pairedSerial is part of the serial of a device that adb found by itself on the
// network.
const pairedSerial = "._adb-tls-connect._tcp"

// onWifi reports whether adb reaches the device over the device's own Wi-Fi: by an
// address that is the Wi-Fi's. A device that does not tell is not on it, as an
// emulator isn't that is reached over the network.
func onWifi(ctx context.Context, serial string, ask asking) (bool, error) {
	if strings.Contains(serial, pairedSerial) {
		return true, nil
	}
	host, _, notNetwork := net.SplitHostPort(serial)
	if notNetwork != nil || net.ParseIP(host) == nil {
		return false, nil
	}
	text, err := ask.output(ctx, "ip -o addr")
	if err != nil {
		return false, fmt.Errorf("look whether adb reaches the device over Wi-Fi: %w", err)
	}
	for line := range strings.Lines(text) { // "30: wlan0    inet 10.0.0.7/24 brd …"
		fields := strings.Fields(line)
		if len(fields) > 3 && strings.HasPrefix(fields[1], "wlan") && strings.HasPrefix(fields[3], host+"/") {
			return true, nil
		}
	}
	return false, nil
}

// generations are the mobile networks by what names they are asked for, and told by
// (TelephonyManager.getNetworkTypeName).
var generations = map[string]string{
	"2g": "2g", "gsm": "2g", "gprs": "2g", "edge": "2g", "cdma": "2g", "1xrtt": "2g",
	"3g": "3g", "umts": "3g", "hsdpa": "3g", "hsupa": "3g", "hspa": "3g", "hspa+": "3g", "hspap": "3g", "td_scdma": "3g", "ehrpd": "3g",
	"4g": "4g", "lte": "4g", "lte_ca": "4g",
	"5g": "5g", "nr": "5g", "nr_sa": "5g", "nr_nsa": "5g",
}

// isOwn reports whether a phone is on the network of that name by its own account.
func isOwn(name, own string, f target.Facts) bool {
	asked := generations[strings.ToLower(name)]
	return asked != "" && asked == generations[strings.ToLower(own)] && !f.IsEmulator()
}

// asking runs a command line on the device.
type asking func(ctx context.Context, line string) (device.Output, error)

// output is what a command printed, "" where the device does not know it.
func (ask asking) output(ctx context.Context, line string) (string, error) {
	out, err := ask(ctx, line)
	if err != nil || out.ExitCode != 0 {
		return "", err
	}
	return string(out.Stdout), nil
}

// mobile is the mobile network that the device is on by its own account, "" where it
// doesn't tell: that of the first SIM ("LTE,Unknown").
func mobile(ctx context.Context, ask asking) (string, error) {
	text, err := ask.output(ctx, "getprop gsm.network.type")
	if err != nil {
		return "", fmt.Errorf("read what mobile network the device has: %w", err)
	}
	told, _, _ := strings.Cut(strings.TrimSpace(text), ",")
	return journal.Line(told), nil
}
