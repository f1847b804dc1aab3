package gradle

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Built describes a build of the project for the Macrobenchmark.
type Built struct {
	// Package is the app's, TestPackage the test's; "" if unknown.
	Package, TestPackage string
	// Runner is the test's runner, "" for the default one.
	Runner string
	// APK and TestAPK are where Gradle puts them, relative to the project's root.
	APK, TestAPK string
	// Command builds both.
	Command string
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)

// Build returns the build, as far as it is known. What is unknown is added to Left.
func (p *Project) Build() (b Built) {
	variant, flavor := p.variant(), ""
	if p.App != nil {
		if flavor = first(p.App.Flavors); len(p.App.Flavors) > 1 {
			p.leave("the app has the flavors %s: the first is taken, and more than one dimension is not looked at", strings.Join(p.App.Flavors, ", "))
		}
		if b.Package = p.App.ApplicationID; b.Package == "" {
			b.Package = p.App.Namespace
		}
		for _, part := range []string{flavor, variant} {
			if suffix := p.App.suffixes[part]; suffix != "" && b.Package != "" {
				if suffix == unknown {
					p.leave("the suffix of the application's id of %s is not written down plainly", part)
					continue
				}
				b.Package += "." + strings.TrimPrefix(suffix, ".")
			}
		}
		b.APK = p.App.apk(flavor, variant)
		b.Command = "./gradlew " + p.App.task(flavor, variant)
	}
	if !identifier.MatchString(b.Package) {
		b.Package = ""
		p.leave("the application's id is not written down plainly (applicationId): fill in app.package")
	}
	m := p.Benchmark
	if m == nil {
		return b
	}
	switch {
	case p.App == nil && m.Target == unknown:
		p.leave("which app %s tests is not written down plainly (targetProjectPath): fill in app.apk", m.Path)
	case p.App == nil:
		p.leave("the module %s tests %s, whose build file is not where Gradle looks by convention: fill in app.apk", m.Path, m.Target)
	}
	if b.TestPackage = m.Namespace; !identifier.MatchString(b.TestPackage) {
		b.TestPackage = ""
		p.leave("the namespace of %s is not written down plainly: fill in test-package", m.Path)
	}
	if !slices.Contains(m.Flavors, flavor) {
		flavor = "" // for a module without flavors missingDimensionStrategy chooses the app's
	}
	b.Runner, b.TestAPK = m.Runner, m.apk(flavor, variant)
	b.Command = strings.TrimSpace(b.Command + " " + m.task(flavor, variant))
	if !strings.HasPrefix(b.Command, "./gradlew") {
		b.Command = "./gradlew " + b.Command
	}
	if !m.SelfInstrumenting && !m.profiles() {
		p.leave("%s does not say that it instruments itself (experimentalProperties[\"android.experimental.self-instrumenting\"] = true), without which Macrobenchmark refuses to measure", m.Path)
	}
	return b
}

// variant returns the build type that is measured: the benchmark module's own; that of the plugin
// of baseline profiles; or else release.
func (p *Project) variant() string {
	m := p.Benchmark
	if m == nil {
		return "release"
	}
	for _, name := range m.BuildTypes {
		if name != "debug" && name != "release" {
			return name
		}
	}
	if m.profiles() || p.App != nil && p.App.profiles() {
		return "benchmarkRelease"
	}
	p.leave("no build type for benchmarks is written down in %s: release is taken", m.Path)
	return "release"
}

// profiles reports whether the plugin androidx.baselineprofile is applied, which creates the build
// types benchmarkRelease and nonMinifiedRelease.
func (m Module) profiles() bool {
	return slices.ContainsFunc(m.Plugins, func(id string) bool {
		return strings.Contains(strings.ToLower(strings.NewReplacer("-", "", ".", "", "_", "").Replace(id)), "baselineprofile")
	})
}

// apk returns where Gradle puts a module's APK.
func (m Module) apk(flavor, variant string) string {
	name := m.name()
	if flavor != "" {
		name += "-" + flavor
	}
	return path.Join(m.folder(), "build/outputs/apk", flavor, variant, name+"-"+variant+".apk")
}

func (m Module) task(flavor, variant string) string {
	return m.Path + ":assemble" + capital(flavor) + capital(variant)
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func first(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[0]
}
