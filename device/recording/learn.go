package recording

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/device"
)

// questions are read from a device before it is recorded, so that its confidential words are
// known wherever they occur. The answers are not recorded. A device prints nothing for a
// question that it does not support.
var questions = []string{
	"pm list packages -3 2>/dev/null; echo",
	"dumpsys account 2>/dev/null; echo",
	"cmd wifi status 2>/dev/null; dumpsys wifi 2>/dev/null | grep SSID; echo",
	"getprop 2>/dev/null; echo",
	"settings get global device_name; settings get secure bluetooth_name; settings get secure bluetooth_address; settings get secure android_id; echo",
	"getprop ro.product.model; getprop ro.product.device; getprop ro.product.name; getprop ro.product.manufacturer; getprop ro.product.brand; getprop ro.product.marketname; echo",
}

var (
	thirdParty  = regexp.MustCompile(`(?m)^package:([A-Za-z0-9_.]{1,255})\s*$`)
	accountLine = regexp.MustCompile(`Account \{name=([^,}\n]{1,255}), type=`)
	ssidLine    = regexp.MustCompile(`SSID[=:] ?"?([^",\n<]{1,64})"?[,\n]|connected to "([^"\n]{1,64})"`)
)

// LearnFrom reads the confidential words from the device: its serial numbers and names, its
// accounts, its Wi-Fi networks, and the other installed packages.
func (b *Blackout) LearnFrom(ctx context.Context, d device.Device) error {
	b.Learn(Serials, d.Serial())
	var answers []string
	for _, q := range questions {
		out, err := d.Exec(ctx, q)
		if err != nil {
			return fmt.Errorf("read the words to black out from the device: %w", err)
		}
		answers = append(answers, strings.ReplaceAll(string(out.Stdout), "\r", ""))
	}
	for line := range strings.Lines(answers[5]) { // a device is often named after its model
		if model := strings.TrimSpace(line); model != "" {
			b.exempt = append(b.exempt, model)
		}
	}
	for _, m := range thirdParty.FindAllStringSubmatch(answers[0], -1) {
		b.Learn(Packages, m[1])
	}
	for _, m := range accountLine.FindAllStringSubmatch(answers[1], -1) {
		b.Learn(Accounts, m[1])
	}
	for _, m := range ssidLine.FindAllStringSubmatch(answers[2], -1) {
		b.Learn(Networks, m[1], m[2])
	}
	for _, p := range patterns {
		if p.kind != Serials && p.kind != Names {
			continue
		}
		for _, m := range p.what.FindAllStringSubmatch(answers[3], -1) {
			b.Learn(p.kind, m[1])
		}
	}
	b.Learn(Names, strings.Split(answers[4], "\n")...)
	return nil
}
