package desktop

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/prose"
)

// machine is a row of gmtool admin list: a virtual device of this computer.
type machine struct {
	State  string // "On", "Off", "Aborted", "Starting", …
	Serial string // adb's; "" while it is off
	UUID   string
	Name   string
}

// off reports whether the machine is not running. VirtualBox reports one as aborted that ended
// without a shutdown.
func (m machine) off() bool { return m.State == "Off" || m.State == "Aborted" }

// readList parses the table of gmtool admin list: State, ADB Serial (IP Address in versions
// before 2.8), UUID and Name, in columns whose widths differ by version.
func readList(text string) (out []machine, err error) {
	headed := false
	for line := range strings.Lines(text) {
		cells := strings.SplitN(line, "|", 4) // a name may contain a bar
		if len(cells) < 4 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "State" {
			if !strings.EqualFold(cells[2], "UUID") || !strings.EqualFold(cells[3], "Name") {
				return nil, fmt.Errorf("its columns are %s", prose.Quote(prose.OneLine(line), 120))
			}
			headed = true
			continue
		}
		if headed && cells[0] != "" && cells[3] != "" {
			out = append(out, machine{State: cells[0], Serial: serial(cells[1]), UUID: cells[2], Name: cells[3]})
		}
	}
	if !headed {
		return nil, errors.New("it has no table of virtual devices")
	}
	return out, nil
}

var hostPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,99}(:[0-9]{1,5})?$`)

// serial returns a machine's serial in adb: versions before 3 omit the port, and print 0.0.0.0
// for one that is off.
func serial(cell string) string {
	if !hostPattern.MatchString(cell) || strings.HasPrefix(cell, "0.0.0.0") {
		return ""
	}
	return adb.DevicePort(cell)
}

// readBlocks parses "Key : value" lines, with a blank line between items: details and
// templates.
func readBlocks(text string) (out []map[string]string) {
	block := map[string]string{}
	end := func() {
		if len(block) > 0 {
			out = append(out, block)
			block = map[string]string{}
		}
	}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		switch {
		case strings.TrimSpace(line) == "":
			end()
		case ok:
			block[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	end()
	return out
}

// readTemplates returns the templates of gmtool admin templates --full, by name.
func readTemplates(text string) (out []genymotion.Offer) {
	for _, b := range readBlocks(text) {
		if b["Name"] != "" && b["Android Version"] != "" {
			out = append(out, genymotion.Offer{ID: b["Name"], Name: b["Name"], Android: b["Android Version"]})
		}
	}
	return out
}

// readVersion returns the version that gmtool version prints, "" for none.
func readVersion(text string) string {
	for _, b := range readBlocks(text) {
		if b["Version"] != "" {
			return prose.Clip(prose.OneLine(b["Version"]), 40)
		}
	}
	return ""
}
