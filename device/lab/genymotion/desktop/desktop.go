// Package desktop boots virtual devices of Genymotion Desktop on this computer, through the
// vendor's program gmtool.
//
// It owns the command lines for gmtool and the parsing of its output, by the vendor's Gradle
// plugin for versions 2.x, and by the vendor's reference of 2026 and captures for 3.x;
// docs/collection/labs.md has the sources. It does not install Genymotion, nor register its licence.
//
// An existing device is never deleted, and stopped only if this lab has started it. A created
// device counts as deleted only once gmtool no longer lists it.
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

// Kind is the lab's name in a configuration.
const Kind = "genymotion"

// Timeouts of the commands of gmtool. They are also passed to it (--timeout, up to an hour),
// so that its own message explains a timeout.
const (
	shortly      = time.Minute
	startWithin  = 5 * time.Minute
	stopWithin   = time.Minute
	createWithin = 30 * time.Minute // includes the download of the Android image
)

// Lab is Genymotion Desktop.
type Lab struct {
	computer  genymotion.Computer
	lookEvery time.Duration
	mayAppear time.Duration
}

// New returns the lab on a computer.
func New(c genymotion.Computer) *Lab {
	return &Lab{computer: c, lookEvery: 2 * time.Second, mayAppear: mayAppear}
}

// Kind is "genymotion".
func (l *Lab) Kind() string { return Kind }

// Check checks whether gmtool is installed and answers, and which licence it has.
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

// license returns the finding for the licence. A missing one is no problem: only creating
// devices requires a licence, starting existing ones does not.
func (l *Lab) license(ctx context.Context) device.Finding {
	text, err := l.run(ctx, "ask for the license", shortly, "license", "info")
	f := device.Finding{Name: "license", OK: true}
	for _, b := range readBlocks(text) {
		if b["License Type"] != "" {
			f.Detail = prose.Short(prose.OneLine(b["License Type"]))
			return f
		}
	}
	f.Detail, f.Hint = "gmtool lists none: existing devices can be started, but none created", adviceLicense
	if err != nil {
		f.Detail = prose.OneLine(err.Error()) + ": devices that are there can be started, none created"
	}
	return f
}

// list returns all virtual devices.
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

// installed returns the folders into which Genymotion's installer puts gmtool.
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

// run runs a command of gmtool and returns its output.
func (l *Lab) run(ctx context.Context, doing string, within time.Duration, args ...string) (string, error) {
	const more = 15 * time.Second // than gmtool's own timeout, so that it can report it
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
