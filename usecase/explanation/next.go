package explanation

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/usecase/judging"
)

// Next returns how to explain what is unexplained, "" if everything is explained: the command that
// records both builds, or what is needed for it.
func Next(all []judging.Regressed, command string) string {
	var open, old []string
	systems := ""
	for _, r := range all {
		switch {
		case r.Open() && r.Untraced():
			old, systems = append(old, wording.Name(r.Scenario)), wording.Name(r.Context["sdk"])
		case r.Open():
			open = append(open, wording.Name(r.Scenario))
		}
	}
	var out []string
	if len(open) > 0 {
		out = append(out, fmt.Sprintf("nothing explains %s yet: %s", prose.Few(open, 3), command))
	}
	if len(old) > 0 {
		out = append(out, fmt.Sprintf("nothing explains %s: what frames wait for can be recorded from Android 10 on, and this is Android %s", prose.Few(old, 3), systems))
	}
	return strings.Join(out, "; ")
}

// Command describes how a session is explained later. flags name its configuration, each after a
// space.
func Command(session, flags string, base bool) string {
	text := Again(session, flags)
	if !base {
		return text + " --base OLD.apk, with the build before the change, records both"
	}
	return text + " records both builds again, --why 20m for longer"
}

// Again returns the command that explains a session later.
func Again(session, flags string) string { return "apkgate why " + device.Quote(session) + flags }
