// Package desktop boots virtual devices of Genymotion Desktop on this computer, through
// the vendor's program gmtool.
//
// It owns how gmtool is told and what its answers mean, by the vendor's Gradle plugin for
// versions 2.x, and by the vendor's reference of 2026 and captures for 3.x; docs/labs.md
// says which. It does not install Genymotion, nor register its licence.
//
// It takes a stand: a device that was there is never deleted, and stopped only where this
// lab has started it; one that this lab created is gone only once gmtool lists it no more.
package desktop

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/prose"
)

// Kind is the lab's, as a configuration names it.
const Kind = "genymotion"

// How long the commands of gmtool may take, of which it is told itself (--timeout, up to an
// hour) so that it says more than that it was killed.
const (
	shortly      = time.Minute
	startWithin  = 5 * time.Minute
	stopWithin   = time.Minute
	createWithin = 30 * time.Minute // it downloads the image of Android where it has none
)

// Lab is Genymotion Desktop.
type Lab struct {
	computer  genymotion.Computer
	lookEvery time.Duration
	mayAppear time.Duration
}

// New is the lab, on a computer.
func New(c genymotion.Computer) *Lab {
	return &Lab{computer: c, lookEvery: 2 * time.Second, mayAppear: mayAppear}
}

// Kind is "genymotion".
func (l *Lab) Kind() string { return Kind }

// Check looks whether gmtool is here and answers, and which licence it has.
func (l *Lab) Check(ctx context.Context) []device.Finding {
	text, err := l.run(ctx, "ask gmtool for its version", shortly, "version")
	if err != nil {
		return []device.Finding{boot.Finding("gmtool", err, "")}
	}
	found := []device.Finding{{Name: "gmtool", OK: true, Detail: "version " + readVersion(text)}}
	machines, err := l.list(ctx, "list the virtual devices")
	if err != nil {
		return append(found, boot.Finding("engine", err, ""))
	}
	found = append(found, device.Finding{Name: "engine", OK: true, Detail: "answers; it has " + prose.Count(len(machines), "virtual device", "virtual devices")})
	return append(found, l.license(ctx))
}

// license tells the licence. Without one nothing is wrong: it takes one to create devices,
// and none to start those that are there.
func (l *Lab) license(ctx context.Context) device.Finding {
	text, err := l.run(ctx, "ask for the license", shortly, "license", "info")
	f := device.Finding{Name: "license", OK: true}
	for _, b := range readBlocks(text) {
		if b["License Type"] != "" {
			f.Detail = prose.Short(prose.OneLine(b["License Type"]))
			return f
		}
	}
	f.Detail, f.Hint = "gmtool tells none: devices that are there can be started, none created", adviceLicense
	if err != nil {
		f.Detail = prose.OneLine(err.Error()) + ": devices that are there can be started, none created"
	}
	return f
}

// list asks for all virtual devices.
func (l *Lab) list(ctx context.Context, doing string) ([]machine, error) {
	text, err := l.run(ctx, doing, shortly, "admin", "list")
	if err != nil {
		return nil, err
	}
	machines, err := readList(text)
	if err != nil {
		return nil, &boot.Error{Lab: called, What: doing + ": read what gmtool admin list prints: " + err.Error()}
	}
	return machines, nil
}

// installed are the folders into which Genymotion's installer puts gmtool.
func (l *Lab) installed() []string {
	folders := []string{
		"/Applications/Genymotion.app/Contents/MacOS",
		"/opt/genymobile/genymotion", "/opt/genymotion",
		`C:\Program Files\Genymobile\Genymotion`,
	}
	if home := l.computer.Getenv("HOME"); home != "" {
		folders = append(folders, home+"/genymotion")
	}
	return folders
}

// gmtool is the program.
func (l *Lab) gmtool() genymotion.Program {
	return genymotion.Program{
		Lab: called, Name: "gmtool", Installed: l.installed(), Slow: adviceStart,
		Missing: boot.Error{What: "gmtool is neither in the PATH nor where Genymotion's installer puts it", Advice: "install Genymotion Desktop, or add its folder to the PATH"},
	}
}

// run runs a command of gmtool and returns what it printed.
func (l *Lab) run(ctx context.Context, doing string, within time.Duration, args ...string) (string, error) {
	const more = 15 * time.Second // than it is told, so that it can say that it gave up
	args = append([]string{"--timeout", strconv.Itoa(int(within.Seconds()))}, args...)
	r, err := l.computer.Run(ctx, l.gmtool(), doing, within, within+more, args...)
	switch {
	case err != nil:
		return "", err
	case r.ExitCode != 0:
		return "", refused(doing, r.ExitCode, string(r.Stdout), string(r.Stderr))
	}
	return strings.ToValidUTF8(string(r.Stdout), "\uFFFD"), nil
}
