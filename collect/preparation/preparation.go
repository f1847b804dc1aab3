// Package preparation brings a device and the app on it to the state in which they are measured:
// before a run, and again before each of its repetitions.
//
// It owns the steps, their order, and what the run's context records of them. Each step is
// implemented by the package that it calls (conditions, install, dexopt, network, properties); what
// is done while the app is measured belongs to package repetition. It knows nothing of repetitions
// and recorders.
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

// Preparation prepares one device for one run.
type Preparation struct {
	Target     *target.Target
	Conditions *conditions.Holder
	Installer  *install.Installer
	Rate       *conditions.Rate
	Context    *properties.Noted

	App      config.App
	Scenario config.Scenario
	// Network is set up before the run: "wifi", "none", or any other name for mobile data; ""
	// leaves the device's network as it is.
	Network string
	// Extra are context properties that the device cannot report; they override the device's.
	Extra map[string]string
	// Energy configures how joules are measured; nil measures none.
	Energy *config.Energy
}

// profileProperty makes Android before 6 record frame times. It is read when a process starts.
const profileProperty = "debug.hwui.profile"

// Hold makes the changes that a restart of the device undoes, except for the network.
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

// Connect sets up the device's network, which a restart undoes as well.
func (p *Preparation) Connect(ctx context.Context) error {
	shaped, err := network.Set(ctx, p.Target, p.Network, p.Conditions.Want.Refuses())
	p.Context.Set(devctx.Shaped, shaped)
	return err
}

// Check reports what makes the device unfit to measure on. A hot device may cool down first, unless
// the user wants it measured hot.
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
		p.Conditions.Report(f)
	}
	return p.Conditions.Refused()
}

// Compile compiles the app's code as the scenario says, or else as energy measurements require, and
// records the resulting state in the context.
func (p *Preparation) Compile(ctx context.Context) error {
	if !dexopt.Supported(p.Target.Facts) || p.Scenario.Workload.Benchmark() != nil { // it has its own CompilationMode
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

// Reset brings the app to the state in which each repetition begins: stopped, and without data if
// the scenario says so.
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

// StopApps stops the app and its test. Whatever would restart them is stopped first.
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

// Rest lets the device cool down if required, and restores the screen that set-up left: on and
// unlocked.
func (p *Preparation) Rest(ctx context.Context, measured bool) error {
	if measured && !p.hot() {
		if err := p.Target.CoolDown(ctx); err != nil {
			return err
		}
	}
	return p.Conditions.Relight(ctx, p.App.Package)
}

// hot reports whether the user disabled resting: energy is measured without settling.
func (p *Preparation) hot() bool {
	return p.Energy.Measured() && p.Energy.Settle != nil && *p.Energy.Settle == 0
}
