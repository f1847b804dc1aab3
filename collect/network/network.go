// Package network brings a device to a network by name: Wi-Fi, mobile data or none, slowed down as
// the name says if the device or its emulator can do so.
//
// It owns the networks' names, which shaping each device offers, and reading back what was set. The
// commands of tc and the console belong to package shaping; undoing them belongs to package target,
// since a killed run leaves that to the next one. A network that could not be slowed down is
// reported as what it is, and the run has no property that says otherwise. The emulator's Wi-Fi is
// never shaped, since its console shapes mobile data alone.
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

// Set brings the device to the named network until the run ends; "" leaves it as it is. A failure
// to shape it is a warning, or an error if refuse is set. Set returns how the network is shaped, as
// in the run's context, "" if it is not. It is called again after the device was lost.
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

// slow shapes the network, or reports that it can't.
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

// hintShape lists what can shape a network.
const hintShape = "an emulator that runs on this computer can be slowed down, and a device where adb has root; docs/labs.md, section Networks"

// hintWireless is how to measure a device whose Wi-Fi is to be turned off.
const hintWireless = "connect the device by cable, or measure it on wifi"

// unableError is why the device can't be slowed down.
type unableError struct{ err error }

func (e *unableError) Error() string { return e.err.Error() }
func (e *unableError) Unwrap() error { return e.err }

func unable(format string, args ...any) error { return &unableError{fmt.Errorf(format, args...)} }

// reach switches the device to the radio of a network, and waits until it uses it.
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

// How long to wait for a network, and how often to poll.
const (
	awaitFor   = 30 * time.Second
	awaitEvery = 500 * time.Millisecond
)

// await waits until the device is on a network of the requested kind: svc returns at once, and
// Wi-Fi takes seconds to connect. It returns at once if the device does not report its network.
func await(ctx context.Context, t *target.Target, name string, wanted func(kind string) bool) error {
	kind := device.NetworkNotReported
	there, err := t.Poll(ctx, awaitEvery, awaitFor, func() (bool, error) {
		out, err := t.Ask(ctx, device.NetworkQuery)
		if err != nil {
			return false, fmt.Errorf("wait for the network %q: %w", name, err)
		}
		kind = device.ReadNetwork(string(out.Stdout))
		return kind == device.NetworkNotReported || wanted(kind), nil
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

// pairedSerial is part of the serial of a device that adb discovered on the network.
const pairedSerial = "._adb-tls-connect._tcp"

// onWifi reports whether adb reaches the device by the address of the device's own Wi-Fi. It is
// false if the device does not report one, as for an emulator that is reached over the network.
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
		return false, fmt.Errorf("check whether adb reaches the device over Wi-Fi: %w", err)
	}
	for line := range strings.Lines(text) { // "30: wlan0    inet 10.0.0.7/24 brd …"
		fields := strings.Fields(line)
		if len(fields) > 3 && strings.HasPrefix(fields[1], "wlan") && strings.HasPrefix(fields[3], host+"/") {
			return true, nil
		}
	}
	return false, nil
}

// generations maps the names of mobile networks to those that Android reports
// (TelephonyManager.getNetworkTypeName).
var generations = map[string]string{
	"2g": "2g", "gsm": "2g", "gprs": "2g", "edge": "2g", "cdma": "2g", "1xrtt": "2g",
	"3g": "3g", "umts": "3g", "hsdpa": "3g", "hsupa": "3g", "hspa": "3g", "hspa+": "3g", "hspap": "3g", "td_scdma": "3g", "ehrpd": "3g",
	"4g": "4g", "lte": "4g", "lte_ca": "4g",
	"5g": "5g", "nr": "5g", "nr_sa": "5g", "nr_nsa": "5g",
}

// isOwn reports whether a phone reports to be on the named network.
func isOwn(name, own string, f target.Facts) bool {
	asked := generations[strings.ToLower(name)]
	return asked != "" && asked == generations[strings.ToLower(own)] && !f.IsEmulator()
}

// asking runs a command line on the device.
type asking func(ctx context.Context, line string) (device.Output, error)

// output returns what a command printed, "" if the device does not know it.
func (ask asking) output(ctx context.Context, line string) (string, error) {
	out, err := ask(ctx, line)
	if err != nil || out.ExitCode != 0 {
		return "", err
	}
	return string(out.Stdout), nil
}

// mobile returns the mobile network that the device reports for the first SIM ("LTE,Unknown"), ""
// if it reports none.
func mobile(ctx context.Context, ask asking) (string, error) {
	text, err := ask.output(ctx, "getprop gsm.network.type")
	if err != nil {
		return "", fmt.Errorf("read what mobile network the device has: %w", err)
	}
	name, _, _ := strings.Cut(strings.TrimSpace(text), ",")
	return journal.Line(name), nil
}
