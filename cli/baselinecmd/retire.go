package baselinecmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// retiredBy returns the accepted runs that no longer count once the chosen ones are rebaselined
// together.
func retiredBy(ctx context.Context, s runstore.Store, chosen []runstore.Entry) ([]runstore.Entry, error) {
	isChosen := map[string]bool{}
	for _, e := range chosen {
		isChosen[e.Run.ID] = true
	}
	var out []runstore.Entry
	for of, since := range runstore.LevelOf(chosen) {
		if since.IsZero() {
			continue // nothing starts before it
		}
		before := runstore.Filter{
			Package: of.Package, Scenario: of.Scenario, Until: since, Level: true,
			States: []runstore.State{runstore.Accepted, runstore.Rebaselined},
		}
		for e, err := range s.List(ctx, before) {
			if err != nil {
				return nil, openstore.Error(err)
			}
			if !isChosen[e.Run.ID] {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// withoutDevices returns the retired runs of devices without a chosen run, whose history would have
// to start again.
func withoutDevices(retired, chosen []runstore.Entry) []runstore.Entry {
	type series struct {
		runstore.Subject
		device string
	}
	has := map[series]bool{}
	of := func(e runstore.Entry) series {
		return series{runstore.Subject{Package: e.Run.App.Package, Scenario: e.Run.Scenario}, deviceOf(e)}
	}
	for _, e := range chosen {
		has[of(e)] = true
	}
	var out []runstore.Entry
	for _, e := range retired {
		if !has[of(e)] {
			out = append(out, e)
		}
	}
	return out
}

// deviceOf names the kind of device that a run was made on.
func deviceOf(e runstore.Entry) string {
	return cmp.Or(devctx.Name(e.Run.Context, devctx.Device), fmt.Sprint(devctx.Only(e.Run.Context, nil))) // maps print sorted
}

// namedDevices is how many devices are listed by name.
const namedDevices = 5

// ofDevices counts runs and their devices, and names the devices if they are few: "11 accepted runs
// on 2 devices (Google Pixel 5, LG G4)".
func ofDevices(entries []runstore.Entry, noun string) string {
	text := fmt.Sprintf("%d %s", len(entries), prose.Plural(len(entries), noun, noun+"s"))
	if len(entries) == 0 {
		return text
	}
	var names []string
	seen := map[string]bool{}
	for _, e := range entries {
		if d := deviceOf(e); !seen[d] {
			seen[d] = true
			names = append(names, terminal.Plain(prose.Short(d)))
		}
	}
	text += fmt.Sprintf(" on %d %s", len(names), prose.Plural(len(names), "device", "devices"))
	if len(names) > namedDevices || strings.HasPrefix(names[0], "map[") {
		return text
	}
	return text + " (" + strings.Join(names, ", ") + ")"
}
