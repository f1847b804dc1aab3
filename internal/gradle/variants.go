package gradle

import (
	"path"
	"slices"
	"strings"
)

// buildType is a build type of a module, as far as its files say.
type buildType struct {
	name, suffix, from string // from is the build type that it begins as
	signed             bool   // it has a signing configuration, whatever happens
}

// flavor is a product flavor.
type flavor struct {
	name, dimension, applicationID, testID, suffix string
	preferred                                      bool // isDefault
}

// variant is a build type with one flavor of each dimension.
type variant struct {
	build   string
	flavors []flavor
}

// signs reports whether the statement sets a signing configuration without a condition.
func (b block) signs() bool {
	value, given := b.assigns("signingConfig")
	return given && !slices.ContainsFunc(value, func(t token) bool {
		return t.text == "null" || t.text == "if" || t.text == "?" || t.text == "findByName" || t.text == "getOrNull" || t.text == "orNull"
	})
}

// readVariants records build types and flavors.
func (p *Project) readVariants(m *Module, in []string, b block) {
	switch {
	case len(in) == 0 || in[0] != "android":
	case len(in) == 1 && len(b.head) > 1 && b.head[0].text == "flavorDimensions":
		for _, d := range textsOf(b.head) {
			if len(m.dimensions) < maxFound && !slices.Contains(m.dimensions, d) {
				m.dimensions = append(m.dimensions, d)
			}
		}
	case len(in) == 2 && in[1] == "buildTypes" && b.creates():
		p.readBuildType(m, b)
	case len(in) == 2 && in[1] == "productFlavors" && b.creates():
		p.readFlavor(m, b)
	}
}

// creates reports whether a statement names an element of a container: one with braces, or
// create("x").
func (b block) creates() bool {
	name := b.called()
	return name != "" && !slices.Contains([]string{"all", "configureEach", "forEach", "each", "if", "else", "named"}, name) &&
		(b.open || b.says("create") || b.says("register") || b.says("maybeCreate"))
}

func (p *Project) readBuildType(m *Module, b block) {
	t, i := buildType{name: b.called()}, slices.IndexFunc(m.types, func(t buildType) bool { return t.name == b.called() })
	if i >= 0 {
		t = m.types[i]
	}
	for _, s := range b.body {
		if value, given := s.assigns("applicationIdSuffix"); given {
			t.suffix = p.valueOr(m, value)
		}
		if value, given := s.assigns("initWith"); given {
			t.from = nameIn(value)
		}
		if _, given := s.assigns("signingConfig"); given {
			t.signed = s.signs()
		}
	}
	if i >= 0 {
		m.types[i] = t
	} else if len(m.types) < maxFound {
		m.types = append(m.types, t)
	}
}

// nameIn returns the build type of initWith(getByName("x")), initWith(buildTypes.x) and the like.
func nameIn(value []token) string {
	if texts := textsOf(value); len(texts) > 0 {
		return texts[0]
	}
	for _, t := range slices.Backward(value) {
		if t.kind == word && t.text != "get" {
			return t.text
		}
	}
	return ""
}

func (p *Project) readFlavor(m *Module, b block) {
	f, i := flavor{name: b.called()}, slices.IndexFunc(m.flavors, func(f flavor) bool { return f.name == b.called() })
	if i >= 0 {
		f = m.flavors[i]
	}
	for _, s := range b.body {
		for key, to := range map[string]*string{"dimension": &f.dimension, "applicationId": &f.applicationID, "applicationIdSuffix": &f.suffix, "testApplicationId": &f.testID} {
			if value, given := s.assigns(key); given {
				*to = p.valueOr(m, value)
			}
		}
		for _, key := range []string{"isDefault", "getIsDefault"} {
			if _, given := s.assigns(key); given {
				f.preferred = s.says("true")
			}
		}
	}
	if i >= 0 {
		m.flavors[i] = f
	} else if len(m.flavors) < maxFound {
		m.flavors = append(m.flavors, f)
	}
}

// byDimension returns the module's flavors, those of each dimension apart.
func (m *Module) byDimension() (out [][]flavor) {
	dimensions := slices.Clone(m.dimensions)
	for _, f := range m.flavors {
		if f.dimension != "" && !slices.Contains(dimensions, f.dimension) {
			dimensions = append(dimensions, f.dimension)
		}
	}
	if len(dimensions) == 0 {
		dimensions = []string{""}
	}
	for _, d := range dimensions {
		var its []flavor
		for _, f := range m.flavors {
			if f.dimension == d || f.dimension == "" && len(dimensions) == 1 {
				its = append(its, f)
			}
		}
		if len(its) > 0 {
			out = append(out, its)
		}
	}
	return out
}

// preferred returns the flavors of the variant that Android Studio would show first: of each
// dimension the default one, or the first.
func (m *Module) preferred() (out []flavor) {
	for _, of := range m.byDimension() {
		i := max(0, slices.IndexFunc(of, func(f flavor) bool { return f.preferred }))
		out = append(out, of[i])
	}
	return out
}

// buildTypes returns the names of the module's build types, which always has debug and release.
func (m *Module) buildTypes() []string {
	names := []string{}
	for _, t := range m.types {
		names = append(names, t.name)
	}
	for _, name := range []string{"debug", "release"} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if m.profiles() {
		names = append(names, "benchmarkRelease")
	}
	return names
}

// inherits returns what a build type has of its own or from the one that it begins as.
func (m *Module) inherits(name string) (suffix string, signed bool) {
	signed = m.signed || name == "debug" || name == "benchmarkRelease" && m.profiles()
	for range len(m.types) {
		i := slices.IndexFunc(m.types, func(t buildType) bool { return t.name == name })
		if i < 0 {
			break
		}
		t := m.types[i]
		if signed = signed || t.signed || t.from == "debug"; suffix == "" {
			suffix = t.suffix
		}
		if name = t.from; name == "" {
			break
		}
	}
	if suffix == "" && name == "benchmarkRelease" && m.profiles() {
		suffix, _ = m.inherits("release")
	}
	return suffix, signed
}

// flavorName returns the variant's flavors as Gradle names them together: demoFull.
func (v variant) flavorName() string {
	name := ""
	for _, f := range v.flavors {
		name += capital(f.name)
	}
	return uncapital(name)
}

func (v variant) String() string {
	if name := v.flavorName(); name != "" {
		return name + capital(v.build)
	}
	return v.build
}

// apk returns where Gradle puts the APK of a module's variant, relative to the root.
func (m *Module) apk(v variant, test bool) string {
	name := m.name()
	if m.archive != "" && m.archive != unknown {
		name = m.archive
	}
	for _, f := range v.flavors {
		name += "-" + f.name
	}
	name += "-" + v.build
	if test {
		return path.Join(m.dir, "build/outputs/apk/androidTest", v.flavorName(), v.build, name+"-androidTest.apk")
	}
	if _, signed := m.inherits(v.build); !signed && m.target == "" {
		name += "-unsigned"
	}
	return path.Join(m.dir, "build/outputs/apk", v.flavorName(), v.build, name+".apk")
}

// task returns the task that builds a variant.
func (m *Module) task(v variant, test bool) string {
	name := strings.TrimSuffix(m.Path, ":") + ":assemble" + capital(v.String())
	if test {
		name += "AndroidTest"
	}
	return name
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func uncapital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// profiles reports whether the plugin androidx.baselineprofile is applied, which creates the build
// types benchmarkRelease and nonMinifiedRelease.
func (m *Module) profiles() bool {
	return slices.ContainsFunc(m.plugins, func(id string) bool {
		return strings.Contains(strings.ToLower(strings.NewReplacer("-", "", ".", "", "_", "").Replace(id)), "baselineprofile")
	})
}
