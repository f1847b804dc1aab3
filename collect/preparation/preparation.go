// Package preparation brings a device, and the app on it, to the state in which they are
// measured: before a run, and again before each of its repetitions.
//
// It owns what is done beforehand and in which order, and what the run's context says of it.
// How each thing is done is owned by the packages that it calls (conditions, install, dexopt,
// network, properties), what is done while the app is measured by package repetition. It knows no
// repetition and nothing that records.
package preparation

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/dexopt"
	"github.com/apkgate/apkgate/collect/install"
	"github.com/apkgate/apkgate/collect/network"
	"github.com/apkgate/apkgate/collect/properties"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
)

// Preparation is that of one device for one run.
type Preparation struct {
	Target     *target.Target
	Conditions *conditions.Holder
	Installer  *install.Installer
	Rate       *conditions.Rate
	Context    *properties.Noted

	App      config.App
	Scenario config.Scenario
	// Network is set up before the run: "wifi", "none", or any other name for mobile data; ""
	// leaves the device's as it is.
	Network string
	// Extra are properties of the context that no device can tell; they win.
	Extra map[string]string
	// Energy says how joules are measured; nil measures none.
	Energy *config.Energy
}

// profileProperty makes Android before 6 keep the times of frames. It is read
// when a process starts.
const profileProperty = "debug.hwui.profile"

// Hold sets what a restart of the device undoes, but for the network.
func (p *Preparation) Hold(ctx context.Context) error {
	if err := p.Conditions.LightUp(ctx, p.App.Package); err != nil {
		return err
	}
	for _, do := range []func(context.Context) error{p.Conditions.Unlock, p.Conditions.Hold, p.Target.EnlargeLog, p.Rate.Hold} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	if p.Target.Facts.HasFramestats() {
		return nil
	}
	return p.Target.ChangeProperty(ctx, profileProperty, "true", "false")
}

// Connect brings the device to its network, which a restart undoes as well.
func (p *Preparation) Connect(ctx context.Context) error {
	shaped, err := network.Set(ctx, p.Target, p.Network, p.Conditions.Want.Refuses())
	p.Context.Set(devctx.Shaped, shaped)
	return err
}

// Check tells of what makes a device unfit to measure on. Where nothing is measured on a
// hot one, it may cool down before.
func (p *Preparation) Check(ctx context.Context) error {
	if p.Conditions.Want.Refuses() {
		if err := p.Target.CoolDown(ctx); err != nil {
			return err
		}
	}
	findings, err := device.Preflight(ctx, p.Target.Device())
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.OK || f.Name == "network" && network.Named(p.Network).Radio == "none" {
			continue
		}
		p.Conditions.Tell(f)
	}
	return p.Conditions.Refused()
}

// Compile has the app's code compiled, as the scenario says, or where it doesn't, as energy is
// measured, and notes in the context how it stands.
func (p *Preparation) Compile(ctx context.Context) error {
	if !dexopt.Supported(p.Target.Facts) || p.Scenario.Workload.Benchmark() != nil { // it has a CompilationMode of its own
		return nil
	}
	how := p.Scenario.Compile
	if how == "" && p.Energy.Measured() {
		how = p.Energy.Compile
	}
	stands, err := dexopt.Ready(ctx, p.Target, p.App.Package, cmp.Or(how, config.CompileNone), p.Energy.Measured())
	p.Context.Set("compiled", stands)
	return err
}

// Reset brings the app to the state in which every repetition begins: it is stopped, and has no
// data where the scenario says so.
func (p *Preparation) Reset(ctx context.Context) error {
	if err := p.StopApps(ctx); err != nil {
		return err
	}
	if !p.Scenario.ClearData {
		return nil
	}
	out, err := p.Target.Exec(ctx, "pm", "clear", p.App.Package)
	if err := target.Answered("clear the app's data", out, err); err != nil {
		return err
	}
	if said := target.FirstLine(out.Stdout); said != "Success" {
		return fmt.Errorf("clear the app's data: the device says %q", said)
	}
	return p.Installer.GrantAgain(ctx)
}

// StopApps stops the app and its test; what would start them again first.
func (p *Preparation) StopApps(ctx context.Context) error {
	running := []string{p.App.Package, workload.TestPackage(p.Scenario.Workload)}
	if workload.Orchestrated(p.Scenario.Workload) {
		running = append([]string{workload.OrchestratorPackage}, running...)
	}
	for _, pkg := range running {
		if pkg == "" {
			continue
		}
		if err := p.Target.Try(ctx, "am", "force-stop", pkg); err != nil {
			return err
		}
	}
	return nil
}

// Rest has the device cool, where it is to be, and its screen on and unlocked as set-up has
// left it.
func (p *Preparation) Rest(ctx context.Context, measured bool) error {
	if measured && !p.hot() {
		if err := p.Target.CoolDown(ctx); err != nil {
			return err
		}
	}
	return p.Conditions.Relight(ctx, p.App.Package)
}

// hot reports whether the user wants no rest: energy is measured without settling.
func (p *Preparation) hot() bool {
	return p.Energy.Measured() && p.Energy.Settle != nil && *p.Energy.Settle == 0
}
