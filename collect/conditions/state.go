package conditions

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// Settings of the system's, and values of them.
const (
	brightnessMode = "screen_brightness_mode"
	brightness     = "screen_brightness"      // 0 to 255
	turns          = "accelerometer_rotation" // the screen turns with the device
	rotation       = "user_rotation"          // quarters by which it is turned where it doesn't
	on, off        = "1", "0"
)

// dexoptSince is the first version whose background compilation can be turned off and on again
// (ART Service, Android 14): before, `pm bg-dexopt-job` takes what follows it for the name of a
// package, and begins to compile.
const dexoptSince = 34

// rotationQuestion asks how the screen is turned now: DisplayRotation.dump since Android 10, by
// name, before it WindowManagerService.dump, in quarters.
const rotationQuestion = "dumpsys window | grep -E 'mCurrentRotation=|mRotation='"

// state is what a device says of what can be held; "" where it doesn't tell.
type state struct {
	brightnessMode, brightness string
	turns, rotation            string
	turned                     string // by how many quarters the screen is turned now
	animations                 string
	dexopt                     string // the state of the job
}

// questions are the commands whose answers read reads.
func questions(api int) []string {
	out := make([]string, 0, 7)
	for _, name := range []string{brightnessMode, brightness, turns, rotation} {
		out = append(out, "settings get system "+name)
	}
	out = append(out, device.AnimationQuestion, rotationQuestion)
	if api >= dexoptSince {
		out = append(out, target.DexoptQuestion)
	}
	return out
}

var (
	turnedByName   = regexp.MustCompile(`mCurrentRotation=ROTATION_(0|90|180|270)\b`)
	turnedByNumber = regexp.MustCompile(`mRotation=([0-3])\b`)
)

// read makes a state of the answers to questions.
func read(output string, api int) (s state) {
	answers := device.Apart(output, len(questions(api)))
	if answers == nil {
		return s
	}
	s.brightnessMode, s.brightness = setting(answers[0]), setting(answers[1])
	s.turns, s.rotation, s.animations = setting(answers[2]), setting(answers[3]), answers[4]
	if m := turnedByName.FindStringSubmatch(answers[5]); m != nil {
		degrees, _ := strconv.Atoi(m[1])
		s.turned = strconv.Itoa(degrees / 90)
	} else if m := turnedByNumber.FindStringSubmatch(answers[5]); m != nil {
		s.turned = m[1]
	}
	if api >= dexoptSince {
		s.dexopt = strings.TrimSpace(answers[6])
	}
	return s
}

// setting is a setting's value: a number, or "null" where nobody has set it.
func setting(answer string) string {
	value := strings.TrimSpace(answer)
	if _, err := strconv.Atoi(value); err != nil && value != "null" {
		return ""
	}
	return value
}

// holdBrightness keeps the light of the room from changing the screen's brightness, which is
// what was last set by hand, or what is asked for.
func (h *Holder) holdBrightness(ctx context.Context, now state) error {
	if now.brightnessMode == on {
		if err := h.set(ctx, "brightness", brightnessMode, on, off); err != nil {
			return err
		}
	}
	if h.Want.Brightness == 0 {
		return nil
	}
	return h.set(ctx, "brightness", brightness, now.brightness, level(float64(h.Want.Brightness)))
}

// level is a share of the brightness as the setting has it.
func level(share float64) string { return strconv.Itoa(max(1, int(share*255+0.5))) }

// holdRotation keeps the screen from turning: it stays as it is, or is turned as asked.
func (h *Holder) holdRotation(ctx context.Context, now state) error {
	to := now.turned
	switch {
	case h.Want.Rotation != nil:
		to = strconv.Itoa(*h.Want.Rotation / 90)
	case now.turns != on:
		return nil
	}
	if to != "" { // first, so that it turns once
		if err := h.set(ctx, "rotation", rotation, now.rotation, to); err != nil {
			return err
		}
	}
	if now.turns != on {
		return nil
	}
	return h.set(ctx, "rotation", turns, on, off)
}

// holdDexopt has the job scheduler compile nothing in the background. Before Android 14 nobody
// can turn that off and on again; there it waits until the screen has been off for half an
// hour, which it is not while something is measured.
func (h *Holder) holdDexopt(ctx context.Context, now state) error {
	if now.dexopt == "" || h.Want.BackgroundDexopt || target.DexoptOff([]byte(now.dexopt)) {
		return nil
	}
	out, err := h.Target.Attempt(ctx, "pm bg-dexopt-job --disable", target.Change{Kind: target.Dexopt, Put: "disable"})
	if err != nil {
		return fmt.Errorf("turn background compilation off: %w", err)
	}
	if out.ExitCode != 0 {
		h.Tell(device.Finding{Name: "dexopt", Detail: "background compilation can't be turned off: " + target.FirstLine(out.Stderr, out.Stdout)})
	}
	return nil
}
