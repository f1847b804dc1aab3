package setup

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/dexopt"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/load"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/apk"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/validate"
)

// conditionsFit returns what a run would do to the device for its scenarios, and the resulting
// findings on the device or the installed app.
func conditionsFit(ctx context.Context, d device.Device, cfg *config.Config) ([]device.Finding, error) {
	if len(cfg.Scenarios) == 0 {
		return nil, nil
	}
	out, err := d.Exec(ctx, "getprop ro.build.version.sdk")
	if err != nil {
		return nil, fmt.Errorf("read the API level: %w", err)
	}
	api, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil {
		return nil, nil //nolint:nilerr // nolint:nilerr // no finding without an answer
	}
	code, err := codeFinding(ctx, d, cfg, api)
	if err != nil {
		return nil, err
	}
	rate, err := rateFinding(ctx, d, cfg.Scenarios, api)
	if err != nil {
		return nil, err
	}
	told, err := framesFinding(ctx, d, cfg.Scenarios, api)
	if err != nil {
		return nil, err
	}
	own, err := sectionsFinding(ctx, d, cfg, api)
	if err != nil {
		return nil, err
	}
	loads, err := load.Findings(ctx, d, api, cfg.Scenarios)
	return slices.Concat(code, warmUps(cfg.Scenarios), told, own, rate, loads, startFindings(cfg.Scenarios, api)), err
}

// sectionsFinding reports that the app's own sections are missing from traces, if traces are to
// explain slow frames.
func sectionsFinding(ctx context.Context, d device.Device, cfg *config.Config, api int) ([]device.Finding, error) {
	if !cfg.Evidence.Keeps() || !recorders.HasPerfetto(target.Facts{API: api}) || !validate.Untraceable(cfg.App) {
		return nil, nil
	}
	out, err := d.Exec(ctx, "getprop ro.debuggable")
	if err != nil {
		return nil, fmt.Errorf("check whether Android's build is for developers: %w", err)
	}
	if strings.TrimSpace(string(out.Stdout)) == "1" { // there all apps' sections are traced
		return nil, nil
	}
	return []device.Finding{{
		Name: "sections", OK: true, Detail: "the app's own sections are in no trace: causes of slow frames name none of its functions, composables and items",
		Hint: "add " + apk.TraceableLine + " to <application> in the app's manifest",
	}}, nil
}

// warmUps reports how often each scenario runs before it is measured: the paper's warm-up, which
// fills caches, and makes the runtime load and compile the app's code.
func warmUps(scenarios []config.Scenario) []device.Finding {
	var each []string
	for _, s := range scenarios {
		if s.Workload.Benchmark() == nil {
			each = append(each, fmt.Sprintf("%s %s", s.Name, times(s.WarmUp)))
		}
	}
	if len(each) == 0 { // Macrobenchmarks see to that themselves
		return nil
	}
	return []device.Finding{{Name: "warm-up", OK: true, Detail: "before it is measured, a run plays " + prose.List(each)}}
}

func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// startFindings reports start-ups whose activity the device can't be queried for.
func startFindings(scenarios []config.Scenario, api int) (findings []device.Finding) {
	for _, s := range scenarios {
		if w := s.Workload.Startup; w != nil && w.Activity == "" && api < 24 {
			findings = append(findings, device.Finding{
				Name: "start", Detail: fmt.Sprintf("scenario %q names no activity, and Android reports the launcher's since version 7", s.Name), Hint: "name it: workload.startup.activity in apkgate.yml",
			})
		}
	}
	return findings
}

// framesFinding reports the source of frames: frames of two sources are never compared.
func framesFinding(ctx context.Context, d device.Device, scenarios []config.Scenario, api int) ([]device.Finding, error) {
	const dumps = "read from dumps of gfxinfo, which cost the app time"
	f := device.Finding{Name: "frames", OK: true, Detail: "read from " + framesource.Timeline.String()}
	shown := slices.ContainsFunc(scenarios, func(s config.Scenario) bool { return s.FramesBy == config.FramesShown })
	switch facts := (target.Facts{API: api}); {
	case shown && !framesource.HasBuffers(facts):
		f.OK, f.Detail, f.Hint = false, dumps+": only Android 11 and later report what was shown", "leave frames-by out for this device"
		return []device.Finding{f}, nil
	case shown:
		f.Detail = "read from " + framesource.Shown.String()
	case !framesource.HasTimeline(facts):
		f.Detail = dumps + ", as before Android 12"
		return []device.Finding{f}, nil
	}
	out, err := d.Exec(ctx, "getprop persist.traced.enable")
	if err != nil {
		return nil, fmt.Errorf("check whether tracing is turned on: %w", err)
	}
	if strings.TrimSpace(string(out.Stdout)) == "0" {
		f.Detail += "; tracing is turned off, and a run turns it on for as long as it takes (persist.traced.enable)"
	}
	return []device.Finding{f}, nil
}

// codeFinding reports what would be compiled, and where Android would compile nothing.
func codeFinding(ctx context.Context, d device.Device, cfg *config.Config, api int) ([]device.Finding, error) {
	var modes []string
	for _, s := range cfg.Scenarios {
		if s.Workload.Benchmark() == nil && !slices.Contains(modes, s.Compile) {
			modes = append(modes, s.Compile)
		}
	}
	if len(modes) == 0 { // Macrobenchmarks see to that themselves
		return nil, nil
	}
	f := device.Finding{Name: "code", OK: true, Detail: "a run has the app compiled: " + prose.List(modes)}
	switch {
	case api < 24:
		f.Detail = "Android compiles all of the app when it is installed"
	case slices.Equal(modes, []string{config.CompileNone}):
		f.Detail = "the app is measured as it was installed"
	default:
		out, err := d.Exec(ctx, device.Quote("dumpsys", "package", cfg.App.Package))
		if err != nil {
			return nil, fmt.Errorf("read what %s is: %w", cfg.App.Package, err)
		}
		if cfg.App.APK == "" && dexopt.IsDebug(string(out.Stdout)) {
			f.Detail += "; of the build that is installed Android compiles nothing, since it is a debug build"
			f.Hint = "measure a release build: a debug build is slower, and slowest while it starts"
		}
	}
	return []device.Finding{f}, nil
}

// rateFinding checks that the display has the configured rates.
func rateFinding(ctx context.Context, d device.Device, scenarios []config.Scenario, api int) ([]device.Finding, error) {
	var asked []int
	for _, s := range scenarios {
		if s.RefreshHz > 0 && !slices.Contains(asked, s.RefreshHz) {
			asked = append(asked, s.RefreshHz)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	out, err := d.Exec(ctx, "dumpsys display")
	if err != nil {
		return nil, fmt.Errorf("read the display's rates: %w", err)
	}
	rates := device.RefreshRates(string(out.Stdout))
	var findings []device.Finding
	for _, hz := range asked {
		f := device.Finding{Name: "refresh", OK: true, Detail: fmt.Sprintf("a run holds the display at %d Hz", hz)}
		switch {
		case api < 29:
			f = device.Finding{Name: "refresh", Detail: fmt.Sprintf("the display can't be held at %d Hz: only Android 10 and later allow that", hz), Hint: "leave refresh-hz out for this device"}
		case len(rates) > 0 && !slices.Contains(rates, hz):
			f = device.Finding{Name: "refresh", Detail: fmt.Sprintf("the display has no %d Hz", hz), Hint: "set refresh-hz to one of its rates: " + strings.Trim(fmt.Sprint(rates), "[]")}
		}
		findings = append(findings, f)
	}
	return findings, nil
}
