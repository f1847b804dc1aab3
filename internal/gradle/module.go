package gradle

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// readModule reads a module's build file, with the scripts that it applies; nil if it has none.
func (p *Project) readModule(at place) (*Module, error) {
	m := &Module{Path: at.path, dir: at.dir, names: map[string]string{}}
	if !fs.ValidPath(m.dir) {
		return nil, errors.New("its folder is outside of the project")
	}
	src, name, err := p.tree.first(path.Join(m.dir, "build.gradle.kts"), path.Join(m.dir, "build.gradle"), path.Join(m.dir, m.name()+".gradle.kts"), path.Join(m.dir, m.name()+".gradle"))
	if err != nil || name == "" {
		return nil, err
	}
	if err := p.readScript(m, name, src); err != nil {
		return nil, err
	}
	if m.namespace == "" {
		m.namespace = p.manifestPackage(m)
	}
	if m.Path == ":" {
		for name, value := range m.names {
			p.shared[name] = value
		}
	}
	return m, nil
}

// readScript reads one script of a module. What it applies comes first, so that it may set it anew.
func (p *Project) readScript(m *Module, name, src string) error {
	file, doubt, err := parse(src)
	if err != nil {
		return err
	}
	p.doubt(name, doubt)
	file.each(func(in []string, b block) {
		if name, value, ok := b.assigned(); ok && (len(in) == 0 || slices.Contains([]string{"ext", "extra", "buildscript"}, in[0])) {
			m.names[name] = value.text
		}
	})
	file.each(func(in []string, b block) {
		p.readPlugin(m, in, b)
		p.followApply(m, path.Dir(name), b)
	})
	file.each(func(in []string, b block) {
		p.readAndroid(m, in, b)
		p.readVariants(m, in, b)
		p.readEmulator(m, in, b)
	})
	return nil
}

// followApply reads a script that is applied: apply from: "x", apply(from = "x").
func (p *Project) followApply(m *Module, dir string, b block) {
	if len(b.head) < 3 || b.head[0].text != "apply" || !b.says("from") {
		return
	}
	texts := textsOf(b.head)
	if len(texts) != 1 || m.applied >= maxApplied {
		m.doubts = append(m.doubts, m.Path+" applies a script that is not looked at")
		return
	}
	m.applied++
	at := texts[0]
	for _, root := range []string{"$rootDir/", "${rootDir}/", "$rootProject.projectDir/", "${rootProject.projectDir}/", "${project.rootDir}/"} {
		if rest, ok := strings.CutPrefix(at, root); ok {
			at, dir = rest, "."
		}
	}
	if b.says("rootProject") || b.says("rootDir") {
		dir = "."
	}
	name := path.Join(dir, at)
	if src, found, err := p.tree.first(name); found == "" || err != nil || p.readScript(m, name, src) != nil {
		m.doubts = append(m.doubts, m.Path+" applies "+at+", which is not looked at")
	}
}

var macro = regexp.MustCompile(`(?i)benchmark[-.]?macro|macro[-.]?benchmark`)

// readPlugin records a plugin of plugins { id("x"); alias(libs.plugins.x) } and of apply plugin:
// 'x', and whether a dependency is Macrobenchmark's. What is not applied is none of the module's.
func (p *Project) readPlugin(m *Module, in []string, b block) {
	joined := ""
	for _, t := range b.head {
		joined += t.text
	}
	switch {
	case slices.Contains(in, "dependencies"):
		m.macro = m.macro || macro.MatchString(joined)
		return
	case slices.Contains(in, "plugins") && len(b.head) > 1:
	case strings.HasPrefix(joined, "applyplugin:"), strings.HasPrefix(joined, "apply(plugin="):
	default:
		return
	}
	if strings.Contains(joined, "applyfalse") || strings.Contains(joined, "apply(false)") || len(m.plugins) >= maxFound {
		return
	}
	id := ""
	if texts := textsOf(b.head[1:]); len(texts) > 0 {
		id = texts[0]
	} else if alias, ok := strings.CutPrefix(joined, "alias(libs.plugins."); ok {
		alias = strings.Trim(alias, "()")
		if id = p.catalog.plugins[alias]; id == "" {
			id = alias
		}
	} else if alias, ok := strings.CutPrefix(joined, "aliaslibs.plugins."); ok { // in Groovy
		if id = p.catalog.plugins[alias]; id == "" {
			id = alias
		}
	} else if id = joined; strings.HasPrefix(id, "`") || id == "" {
		return
	}
	m.plugins = append(m.plugins, id)
	if script, own := p.scripts[id]; own && m.applied < maxApplied {
		m.applied++
		if src, found, err := p.tree.first(script); found != "" && err == nil {
			_ = p.readScript(m, script, src) // what can't be read of it is unknown
		}
	}
}

// readAndroid records the settings of the android block for the whole module.
func (p *Project) readAndroid(m *Module, in []string, b block) {
	if b.says("archivesBaseName") || b.says("archivesName") || slices.Contains(textsOf(b.head), "archivesBaseName") {
		m.archive = unknown
		last := b.head[len(b.head)-1:]
		if last[0].text == ")" && len(b.head) > 1 {
			last = b.head[len(b.head)-2 : len(b.head)-1]
		}
		if value, ok := p.resolve(m, last); ok && last[0].kind == text {
			m.archive = value
		}
	}
	m.renames = m.renames || b.says("outputFileName")
	if len(in) == 0 || in[0] != "android" {
		return
	}
	keys := map[string]*string{"namespace": &m.namespace, "targetProjectPath": &m.target, "testBuildType": &m.testType}
	if len(in) == 1 && len(b.head) > 3 && b.head[0].text == "defaultConfig" && b.head[1].text == "." {
		in, b = append(slices.Clone(in), "defaultConfig"), block{head: b.head[2:]}
	}
	switch {
	case len(in) == 2 && in[1] == "defaultConfig":
		keys = map[string]*string{"applicationId": &m.applicationID, "testInstrumentationRunner": &m.runner, "testApplicationId": &m.testID, "applicationIdSuffix": &m.suffix}
		m.signed = m.signed || b.signs()
	case len(in) > 1:
		return
	}
	for key, to := range keys {
		if value, given := b.assigns(key); given {
			*to = p.valueOr(m, value)
		}
	}
	if b.says("experimentalProperties") && b.head[len(b.head)-1].text == "true" && slices.Contains(textsOf(b.head), "android.experimental.self-instrumenting") {
		m.selfInstruments = true
	}
}

// valueOr returns the value of an expression, and else unknown, or how it accesses a project.
func (p *Project) valueOr(m *Module, expression []token) string {
	if value, ok := p.resolve(m, expression); ok {
		return value
	}
	joined := ""
	for _, t := range expression {
		joined += t.text
	}
	if strings.HasPrefix(joined, "projects.") {
		return strings.TrimSuffix(joined, ".path")
	}
	return unknown
}

// modulePath returns the path of the module that a type-safe accessor means: projects.coreData is
// :core-data.
func (p *Project) modulePath(target string) string {
	name, ok := strings.CutPrefix(target, "projects.")
	if !ok {
		return target
	}
	plain := strings.NewReplacer(":", "", ".", "", "-", "", "_", "")
	for _, m := range p.modules {
		if strings.EqualFold(plain.Replace(m.Path), plain.Replace(name)) {
			return m.Path
		}
	}
	return target
}

var packageOf = regexp.MustCompile(`<manifest[^>]*\spackage\s*=\s*"([A-Za-z0-9_.]+)"`)

// manifestPackage returns the package of a module's manifest, which was its namespace once.
func (p *Project) manifestPackage(m *Module) string {
	text, _, err := p.tree.first(path.Join(m.dir, "src/main/AndroidManifest.xml"))
	if found := packageOf.FindStringSubmatch(text); err == nil && found != nil {
		return found[1]
	}
	return ""
}
