package collect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator"
)

// Whatever explains differences between today's phones and emulators is among a run's properties,
// and is queried in few commands.
func TestContextIsComplete(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string]map[string]string{
		"pixel-7-android-14": {
			"security_patch": "2026-01-05", "ram": "8 GB", "cores": "8", "cpu_mhz": "4x1803 4x2802", "density": "420",
			"gpu": "Adreno (TM) 640", "thermal": "none", "virtual": "", "translation": "", "app_abi": "", "host": "", "density_override": "",
		},
		"sdk-gphone64-x86-android-14": {
			"virtual": "emulator", "ram": "2 GB", "cores": "8", "gpu": "swiftshader", "density": "420", "cpu_mhz": "", "host": "told",
		},
		"optimus-l3-android-4.1.1": {"screen": "240x320", "ram": "1 GB", "density": "", "security_patch": "", "thermal": ""},
	} {
		_, job := simulated(t, profile, simulator.Options{})
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		if want["host"] != "" {
			job.Console = 5554
		}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		for name, value := range want {
			switch got := r.Run.Context[name]; {
			case value == "told" && got == "", value != "told" && got != value:
				t.Errorf("%s: %s is %q, want %q", profile, name, got, value)
			}
		}
	}
}

// An emulator's renderer is in the context, and a user-set density is reported.
func TestRendererAndDensityAreReported(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "sdk-gphone64-x86-android-14", simulator.Options{Renderer: "NVIDIA GeForce GTX 1080/PCIe/SSE2"})
	job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
	onPhone(t, s, "wm density 320")
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 1)
	for name, want := range map[string]string{"gpu": "NVIDIA GeForce GTX 1080/PCIe/SSE2", "density": "320", "density_override": "320"} {
		if got := r.Run.Context[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// counting counts the commands of a device.
type counting struct {
	device.Device
	lines *[]string
}

func (c counting) Exec(ctx context.Context, line string) (device.Output, error) {
	*c.lines = append(*c.lines, line)
	return c.Device.Exec(ctx, line)
}

func TestContextTakesOneCommand(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
	open, lines := job.Open, []string{}
	job.Open = func(ctx context.Context) (device.Device, error) {
		dev, err := open(ctx)
		return counting{dev, &lines}, err
	}
	wantComplete(t, collect.Collect(t.Context(), job, collect.Options{}), 1)
	asked := 0
	for _, line := range lines {
		if strings.Contains(line, "wm size") || strings.Contains(line, "SurfaceFlinger") || strings.Contains(line, "dumpsys package com.example.demo ") || strings.Contains(line, "/proc/meminfo") {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the context took %d commands, want one: %q", asked, lines)
	}
}
