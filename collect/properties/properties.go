// Package properties reads the context of a run from the device: the software, hardware and runtime
// profiles of the paper (section 5.2.1), and whatever explains differences between today's
// emulators and phones.
//
// It owns the queries, how an answer is parsed on which Android, and to what step a number is
// rounded, so that two runs of one device have one context. Which properties count when contexts
// are compared belongs to package devctx. All queries are in one command, since each round trip to
// a remote device takes longer than the answer. What the device does not report has no property,
// since a guessed value would create a context of its own.
package properties

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/jank"
)

// Reading are a device's answers.
type Reading struct {
	// Properties are those of the context; none has the value "".
	Properties map[string]string
	// Version is the app's, "" if it isn't installed.
	Version string
	// Display is the display by which frames are judged, if TellsDisplay.
	Display      jank.Display
	TellsDisplay bool
}

// question is one query, from an API level on, with what its answer is for.
type question struct {
	since   int
	command string
	read    func(r *reader, answer string)
}

// questions are asked in this order. A missing command has an empty answer.
func questions(app string) []question {
	return []question{
		{18, "wm size", (*reader).size},
		{18, "wm density", (*reader).density},
		{17, "dumpsys display", (*reader).display},
		{0, "dumpsys battery", (*reader).battery},
		{0, device.NetworkQuery, (*reader).network},
		{0, device.Quote("dumpsys", "package", app), (*reader).app},
		{29, "dumpsys thermalservice", (*reader).thermal},
		{0, "dumpsys SurfaceFlinger | grep GLES:", (*reader).renderer},
		{0, "cat /proc/meminfo", (*reader).memory},
		{0, "cat " + cpuFolder + "present", (*reader).cores},
		{0, "cat " + fastest(), (*reader).clocks},
	}
}

// section separates the answers.
const section = "apkgate-asks"

// reader turns answers into properties.
type reader struct {
	Reading
	facts target.Facts
}

// Read queries the device's properties and the app's. network is what the run sets up, "" if it
// uses the device's.
func Read(ctx context.Context, t *target.Target, app, network string) (Reading, error) {
	r := &reader{facts: t.Facts, Reading: Reading{Properties: map[string]string{"network": network}}}
	var commands []string
	asked := questions(app)
	for i, q := range asked {
		if t.Facts.API >= q.since {
			commands = append(commands, fmt.Sprintf("echo %s %d", section, i), q.command+" 2>/dev/null")
		}
	}
	out, err := t.Ask(ctx, strings.Join(commands, "; "))
	if err != nil {
		return Reading{}, err
	}
	answers := split(string(out.Stdout), len(asked))
	for i, q := range asked {
		q.read(r, answers[i])
	}
	if r.Properties["screen"] == "" { // Android 4.1
		text, err := t.Output(ctx, "dumpsys", "window")
		if err != nil {
			return Reading{}, err
		}
		r.setSize(windowInit, text)
	}
	r.build()
	if t.Console != 0 {
		r.Properties[devctx.Host] = host()
	}
	for name, value := range r.Properties {
		if value == "" {
			delete(r.Properties, name)
		}
	}
	return r.Reading, nil
}

// split returns the answers to so many questions, "" for a question that was not asked.
func split(text string, questions int) []string {
	answers := make([]string, questions)
	for part := range strings.SplitSeq("\n"+text, "\n"+section+" ") {
		head, answer, _ := strings.Cut(part, "\n")
		var i int
		if _, err := fmt.Sscanf(head, "%d", &i); err == nil && i >= 0 && i < questions {
			answers[i] = answer
		}
	}
	return answers
}

// build sets the properties of the Android build.
func (r *reader) build() {
	p := r.facts.Properties
	for name, property := range map[string]string{
		"sdk": "ro.build.version.release", "api": "ro.build.version.sdk",
		"manufacturer": "ro.product.manufacturer", "model": "ro.product.model",
		"cpu": "ro.product.cpu.abi", "build": "ro.build.type",
		devctx.SecurityPatch: "ro.build.version.security_patch", // Android 6 and later
	} {
		r.Properties[name] = p[property]
	}
	r.Properties[devctx.Virtual] = virtual(r.facts)
}

// virtual returns the kind of a virtual device, "" for a phone.
func virtual(f target.Facts) string {
	hardware := f.Properties["ro.hardware"]
	switch {
	case !f.IsEmulator():
		return ""
	case strings.HasPrefix(hardware, "vbox86"), strings.Contains(strings.ToLower(f.Properties["ro.product.manufacturer"]), "genymo"):
		return "genymotion"
	case strings.HasPrefix(hardware, "cutf"):
		return "cuttlefish"
	case strings.HasPrefix(hardware, "redroid"):
		return "redroid"
	}
	return "emulator"
}

// period returns the duration of a frame at a rate in Hz.
func period(hz float64) time.Duration { return time.Duration(float64(time.Second) / hz) }
