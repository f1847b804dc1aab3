package phone

import (
	"time"

	"github.com/apkgate/apkgate/internal/simlab/choreo"
	"github.com/apkgate/apkgate/internal/simlab/pipeline"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

// home is what draws beside the apps: the launcher where an app goes away, and the
// system's splash screen where one starts. Both are other processes than the app's, and
// traces have their frames among its own.
type home struct {
	launcher, splash *pipeline.App
	splashed         *timeline.Layer // the splash screen that shows, or nil
	drew             int
}

// homeApp is how the two draw.
var homeApp = simapp.App{Package: "com.google.android.apps.nexuslauncher", Cost: 4 * time.Millisecond, Noise: simapp.Noise{Frame: 0.2}}

// Process IDs of the launcher and of the system UI.
const (
	launcherPID = 2969
	systemUIPID = 1187
)

// newHome is the launcher, in front. Before Android 12 nothing tells its frames.
func (p *Phone) newHome() home {
	if p.profile.API < 31 {
		return home{}
	}
	h := home{launcher: p.newPipeline(), splash: p.newPipeline()}
	h.launcher.Open(&timeline.Layer{PID: launcherPID, Title: homeApp.Package + "/" + homeApp.Package + ".NexusLauncherActivity", Opened: p.clock.Now()})
	return h
}

// shown are the launcher and the splash screen, where there are.
func (h *home) shown() []*pipeline.App {
	if h.launcher == nil {
		return nil
	}
	return []*pipeline.App{h.launcher, h.splash}
}

// drawHome has one of the two draw for some frames.
func (p *Phone) drawHome(a *pipeline.App, frames int) {
	p.home.drew++
	c := choreo.Conditions{Context: p.context(), Speed: p.profile.Speed, LowEnd: 1, Session: 1}
	a.Play(choreo.Play(&homeApp, simapp.Scenario{Start: frames}, c, p.random("home", p.home.drew)), p.clock.Now())
}

// goHome shows the launcher, which moves its icons into place.
func (p *Phone) goHome() {
	const frames = 16
	p.endSplash()
	if p.home.launcher != nil {
		p.drawHome(p.home.launcher, frames)
	}
}

// leaveHome shows the splash screen of an app that starts, until its window is there.
func (p *Phone) leaveHome(pr *process, until time.Duration) {
	const frames = 8
	if p.home.launcher == nil {
		return
	}
	p.endSplash()
	p.home.launcher.Stop(p.clock.Now())
	l := &timeline.Layer{PID: systemUIPID, Title: "Splash Screen " + pr.app.Package, Opened: p.clock.Now()}
	p.home.splash.Open(l)
	p.home.splashed = l
	p.drawHome(p.home.splash, frames)
	p.clock.At(p.clock.Now()+until, func() {
		if p.home.splashed == l {
			p.endSplash()
		}
	})
}

func (p *Phone) endSplash() {
	if l := p.home.splashed; l != nil {
		p.home.splashed = nil
		p.advance()
		p.home.splash.Close(l, p.clock.Now())
	}
}
