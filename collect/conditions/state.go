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

// System settings, and values of them.
const (
	brightnessMode = "screen_brightness_mode"
	brightness     = "screen_brightness"      // 0 to 255
	turns          = "accelerometer_rotation" // the screen turns with the device
	rotation       = "user_rotation"          // quarter turns of a screen that does not turn by itself
	on, off        = "1", "0"
)

// dexoptSince is the first version whose background compilation can be turned off and on again (ART
// Service, Android 14). Before, `pm bg-dexopt-job` takes the next argument for the name of a
// package, and begins to compile.
const dexoptSince = 34

// rotationQuestion asks for the current rotation of the screen: by name in DisplayRotation.dump
// since Android 10, in quarter turns in WindowManagerService.dump before.
const rotationQuestion = "dumpsys window | grep -E 'mCurrentRotation=|mRotation='"

// state is what a device reports of the conditions that can be held; "" if it does not report one.
type state struct {
	brightnessMode, brightness string
	turns, rotation            string
	turned                     string // the current rotation, in quarter turns
	animations                 string
	dexopt                     string // the state of the job
}

// questions returns the commands whose answers read parses.
func questions(api int) []string {
	out := make([]string, 0, 7)
	for _, name := range []string{brightnessMode, brightness, turns, rotation} {
		out = append(out, "settings get system "+name)
	}
	out = append(out, device.AnimationQuery, rotationQuestion)
	if api >= dexoptSince {
		out = append(out, target.DexoptQuestion)
	}
	return out
}

var (
	turnedByName   = regexp.MustCompile(`mCurrentRotation=ROTATION_(0|90|180|270)\b`)
	turnedByNumber = regexp.MustCompile(`mRotation=([0-3])\b`)
)

// read parses the answers to questions.
func read(output string, api int) (s state) {
	answers := device.SplitAnswers(output, len(questions(api)))
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

// setting parses the value of a setting: a number, or "null" if it was never set.
func setting(answer string) string {
	value := strings.TrimSpace(answer)
	if _, err := strconv.Atoi(value); err != nil && value != "null" {
		return ""
	}
	return value
}

// holdBrightness keeps ambient light from changing the screen's brightness, which stays at the
// level last set by hand or is set to the configured one.
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

// level converts a share of full brightness to a value of the setting.
func level(share float64) string { return strconv.Itoa(max(1, int(share*255+0.5))) }

// holdRotation keeps the screen from turning: it stays as it is, or is turned as configured.
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

// holdDexopt stops the job scheduler from compiling in the background. Before Android 14 this can't
// be turned off and on again; there the job waits until the screen has been off for half an hour,
// which never happens during a measurement.
func (h *Holder) holdDexopt(ctx context.Context, now state) error {
	if now.dexopt == "" || h.Want.BackgroundDexopt || target.DexoptOff([]byte(now.dexopt)) {
		return nil
	}
	out, err := h.Target.Attempt(ctx, "pm bg-dexopt-job --disable", target.Change{Kind: target.Dexopt, Put: "disable"})
	if err != nil {
		return fmt.Errorf("turn background compilation off: %w", err)
	}
	if out.ExitCode != 0 {
		h.Report(device.Finding{Name: "dexopt", Detail: "background compilation can't be turned off: " + target.FirstLine(out.Stderr, out.Stdout)})
	}
	return nil
}
