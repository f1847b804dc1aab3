// Package home is what draws on a simulated phone beside its apps: the launcher where an
// app goes away, and the system's splash screen where one starts. Both are other processes
// than the app's, and traces have their frames among its own.
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

// Phone is on whose display the two draw.
type Phone struct {
	API   int
	Clock *clock.Queue
	// Pipeline is one for the frames of another process.
	Pipeline func() *pipeline.App
	// Conditions are those in which the two draw now.
	Conditions func() choreo.Conditions
	// Advance works out all frames up to now.
	Advance func()
	// Random is a source that follows from the phone and some words.
	Random func(words ...any) *rand.Rand
}

// Home is the launcher and the splash screen of one phone.
type Home struct {
	Phone
	launcher, splash *pipeline.App
	splashed         *timeline.Layer // the splash screen that shows, or nil
	drew             int
}

// homeApp is how the two draw.
var homeApp = simapp.App{Package: "com.google.android.apps.nexuslauncher", Cost: 4 * time.Millisecond, Noise: simapp.Noise{Frame: 0.2}}

// Process IDs of the launcher and of the system UI, which draws the splash screen.
const (
	launcherPID = 2969
	SystemUIPID = 1187
)

// New is the launcher, in front. Before Android 12 nothing tells its frames.
func New(p Phone) *Home {
	h := &Home{Phone: p}
	if p.API < 31 {
		return h
	}
	h.launcher, h.splash = p.Pipeline(), p.Pipeline()
	h.launcher.Open(&timeline.Layer{PID: launcherPID, Title: homeApp.Package + "/" + homeApp.Package + ".NexusLauncherActivity", Opened: p.Clock.Now()})
	return h
}

// Shown are the launcher and the splash screen, where there are.
func (h *Home) Shown() []*pipeline.App {
	if h.launcher == nil {
		return nil
	}
	return []*pipeline.App{h.launcher, h.splash}
}

// draw has one of the two draw for some frames.
func (h *Home) draw(a *pipeline.App, frames int) {
	h.drew++
	a.Play(choreo.Play(&homeApp, simapp.Scenario{Start: frames}, h.Conditions(), h.Random("home", h.drew)), h.Clock.Now())
}

// Show shows the launcher, which moves its icons into place.
func (h *Home) Show() {
	const frames = 16
	h.endSplash()
	if h.launcher != nil {
		h.draw(h.launcher, frames)
	}
}

// Leave shows the splash screen of an app that starts, until its window is there.
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
