package load

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// Findings report whether a device of that API level can have the loads of the scenarios. They start
// none.
func Findings(ctx context.Context, d device.Device, api int, scenarios []config.Scenario) (findings []device.Finding, err error) {
	has := map[string]bool{}
	if api >= Since && slices.ContainsFunc(scenarios, func(s config.Scenario) bool { return s.Load != nil }) {
		out, err := d.Exec(ctx, "command -v dd; command -v timeout; command -v nc; command -v curl")
		if err != nil {
			return nil, fmt.Errorf("look for the commands that loads need: %w", err)
		}
		for path := range strings.FieldsSeq(string(out.Stdout)) {
			has[path[strings.LastIndexByte(path, '/')+1:]] = true
		}
	}
	for _, s := range scenarios {
		if s.Load != nil {
			findings = append(findings, finding(s, api, has))
		}
	}
	return findings, nil
}

func finding(s config.Scenario, api int, has map[string]bool) device.Finding {
	f := device.Finding{Name: "load", OK: true, Detail: fmt.Sprintf("%s is measured under a load: %s", s.Name, s.Load)}
	no := func(hint, format string, args ...any) device.Finding {
		return device.Finding{Name: "load", Detail: fmt.Sprintf("%s can't be measured under its load: ", s.Name) + fmt.Sprintf(format, args...), Hint: hint}
	}
	plain := strings.HasPrefix(s.Load.From, "http://")
	switch {
	case api < Since:
		return no("leave load out for this device", "only Android 6 and later have the commands")
	case (s.Load.Memory > 0 || s.Load.Storage > 0) && !has["dd"]:
		return no("leave memory and storage out for this device", "the device has no dd")
	case s.Load.Downloads > 0 && !has["timeout"]:
		return no("leave downloads out for this device", "the device has no timeout")
	case s.Load.Downloads > 0 && !plain && !has["curl"]:
		return no("name an address of http, or leave downloads out for this device", "the device has no curl, which https needs")
	case s.Load.Downloads > 0 && !has["nc"] && !has["curl"]:
		return no("leave downloads out for this device", "the device has neither nc nor curl to download with")
	}
	return f
}
