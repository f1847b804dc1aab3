package target

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
)

// SetNetwork turns wifi and mobile data on and off: "wifi", "none", or any other
// name for mobile data; "" leaves them as they are.
func (t *Target) SetNetwork(ctx context.Context, network string) error {
	switch network {
	case "":
		return nil
	case "wifi":
		if err := t.switchNetwork(ctx, true, false); err != nil {
			return err
		}
		return t.waitNetwork(ctx, network, func(kind string) bool { return kind != device.NetworkNone && kind != "MOBILE" })
	}
	wireless, err := t.onWifi(ctx)
	if err != nil {
		return err
	}
	if wireless {
		return t.Advise(loss.Configuration, fmt.Errorf("set the network to %q: adb itself reaches %s over its Wi-Fi, which that turns off", network, t.dev.Serial()),
			"connect the device by cable, or measure it on wifi")
	}
	if err := t.tellGeneration(ctx, network); err != nil {
		return err
	}
	none := network == "none"
	if err := t.switchNetwork(ctx, false, !none); err != nil {
		return err
	}
	return t.waitNetwork(ctx, network, func(kind string) bool { return (kind == device.NetworkNone) == none && kind != "WIFI" })
}

// How long a network is waited for, and how often it is asked for.
const (
	networkFor   = 30 * time.Second
	networkEvery = 500 * time.Millisecond
)

// waitNetwork waits until the device is on a network of the kind that was asked for:
// svc returns at once, and Wi-Fi takes seconds to connect. A device that does not tell
// is not waited for.
func (t *Target) waitNetwork(ctx context.Context, network string, wanted func(kind string) bool) error {
	kind := device.NetworkNotTold
	there, err := t.Poll(ctx, networkEvery, networkFor, func() (bool, error) {
		out, err := t.Ask(ctx, device.NetworkQuestion)
		if err != nil {
			return false, fmt.Errorf("wait for the network %q: %w", network, err)
		}
		kind = device.ReadNetwork(string(out.Stdout))
		return kind == device.NetworkNotTold || wanted(kind), nil
	})
	if err == nil && !there {
		t.Journal.Warnf("the network was set to %q, and after %v the device is on %s: what the app loads may fail, or come in another time", network, networkFor, cmp.Or(kind, "none"))
	}
	return err
}

func (t *Target) switchNetwork(ctx context.Context, wifi, data bool) error {
	word := map[bool]string{true: "enable", false: "disable"}
	for _, c := range []Change{
		{Kind: Network, Name: "wifi", Before: word[t.Facts.WifiOn], Put: word[wifi]},
		{Kind: Network, Name: "data", Before: word[t.Facts.DataOn], Put: word[data]},
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
func (t *Target) onWifi(ctx context.Context) (bool, error) {
	if strings.Contains(t.dev.Serial(), pairedSerial) {
		return true, nil
	}
	host, _, notNetwork := net.SplitHostPort(t.dev.Serial())
	if notNetwork != nil || net.ParseIP(host) == nil {
		return false, nil
	}
	text, err := t.Output(ctx, "ip", "-o", "addr")
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

// tellGeneration warns where a network is named for its speed: turning Wi-Fi off and
// mobile data on makes it no slower than the one that the device has.
func (t *Target) tellGeneration(ctx context.Context, network string) error {
	asked := generations[strings.ToLower(network)]
	if asked == "" {
		return nil
	}
	text, err := t.Output(ctx, "getprop", "gsm.network.type") // "LTE,Unknown": one for each SIM
	if err != nil {
		return fmt.Errorf("read what mobile network the device has: %w", err)
	}
	told, _, _ := strings.Cut(strings.TrimSpace(text), ",")
	switch has := generations[strings.ToLower(told)]; {
	case t.Facts.IsEmulator():
		t.Journal.Warnf("the network %q is the emulator's own link, as fast as this computer's: shape it yourself (adb emu network speed umts; adb emu network delay umts)", network)
	case has != "" && has != asked:
		t.Journal.Warnf("the network was set to %q, and the device's mobile network is %s: apkgate turns Wi-Fi off and makes nothing slower", network, journal.Line(told))
	}
	return nil
}
