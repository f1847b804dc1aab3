// Package home simulates what draws on a phone apart from its apps: the launcher when an app
// leaves, and the system's splash screen when one starts. Both belong to other processes than
// the app's, and traces contain their frames among its own.
package home

import (
	"math/rand/v2"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/pipeline"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Phone is the phone on whose display they draw.
type Phone struct {
	API   int
	Clock *clock.Queue
	// Pipeline returns a pipeline for the frames of another process.
	Pipeline func() *pipeline.App
	// Conditions returns the current conditions for drawing.
	Conditions func() choreo.Conditions
	// Advance computes all frames up to now.
	Advance func()
	// Random returns a random source that is determined by the phone and the words.
	Random func(words ...any) *rand.Rand
}

// Home is the launcher and the splash screen of one phone.
type Home struct {
	Phone
	launcher, splash *pipeline.App
	splashed         *timeline.Layer // the visible splash screen, or nil
	drew             int
}

// homeApp is the drawing behaviour of both.
var homeApp = simapp.App{Package: "com.google.android.apps.nexuslauncher", Cost: 4 * time.Millisecond, Noise: simapp.Noise{Frame: 0.2}}

// Process IDs of the launcher and of the system UI, which draws the splash screen.
const (
	launcherPID = 2969
	SystemUIPID = 1187
)

// New returns the launcher, in front. Before Android 12 its frames are not reported.
func New(p Phone) *Home {
	h := &Home{Phone: p}
	if p.API < 31 {
		return h
	}
	h.launcher, h.splash = p.Pipeline(), p.Pipeline()
	h.launcher.Open(&timeline.Layer{PID: launcherPID, Title: homeApp.Package + "/" + homeApp.Package + ".NexusLauncherActivity", Opened: p.Clock.Now()})
	return h
}

// Shown returns the launcher and the splash screen, if they are visible.
func (h *Home) Shown() []*pipeline.App {
	if h.launcher == nil {
		return nil
	}
	return []*pipeline.App{h.launcher, h.splash}
}

// draw makes one of them draw a number of frames.
func (h *Home) draw(a *pipeline.App, frames int) {
	h.drew++
	a.Play(choreo.Play(&homeApp, simapp.Scenario{Start: frames}, h.Conditions(), h.Random("home", h.drew)), h.Clock.Now())
}

// Show shows the launcher, which animates its icons.
func (h *Home) Show() {
	const frames = 16
	h.endSplash()
	if h.launcher != nil {
		h.draw(h.launcher, frames)
	}
}

// Leave shows the splash screen of a starting app, until its window is shown.
func (h *Home) Leave(pkg string, until time.Duration) {
	const frames = 8
	if h.launcher == nil {
		return
	}
	h.endSplash()
	h.launcher.Stop(h.Clock.Now())
	l := &timeline.Layer{PID: SystemUIPID, Title: "Splash Screen " + pkg, Opened: h.Clock.Now()}
	h.splash.Open(l)
	h.splashed = l
	h.draw(h.splash, frames)
	h.Clock.At(h.Clock.Now()+until, func() {
		if h.splashed == l {
			h.endSplash()
		}
	})
}

func (h *Home) endSplash() {
	if l := h.splashed; l != nil {
		h.splashed = nil
		h.Advance()
		h.splash.Close(l, h.Clock.Now())
	}
}
