package gradle

import (
	"path"
	"slices"
	"strings"
)

// readPlugins finds the plugins that the project builds for itself (buildSrc, includeBuild). Those
// that are scripts are followed where a module has them: x.gradle.kts is the plugin x.
func (p *Project) readPlugins(settings block) {
	p.scripts = map[string]string{}
	var builds []string
	if p.tree.has("buildSrc") {
		builds = []string{"buildSrc"}
	}
	settings.each(func(_ []string, b block) {
		if len(b.head) > 1 && b.head[0].text == "includeBuild" {
			builds = append(builds, textsOf(b.head)...)
		}
	})
	p.ownPlugins = len(builds) > 0
	for _, dir := range builds {
		p.tree.walk(path.Clean(dir), func(name string) {
			id, isScript := strings.CutSuffix(strings.TrimSuffix(path.Base(name), ".kts"), ".gradle")
			if isScript && strings.Contains(name, "/src/main/") && len(p.scripts) < maxFound {
				p.scripts[id] = name
			}
		})
	}
}

// isApplication reports whether a module is an application, and whether that is only a guess by the
// name of a plugin of the project's own.
func (p *Project) isApplication(m *Module) (is, guessed bool) {
	switch {
	case m.target != "", m.has("com.android.library"), m.has("com.android.dynamic-feature"), m.has("com.android.test"):
		return false, false
	case m.has("com.android.application"), m.has("android"), m.applicationID != "":
		return true, false
	}
	own := slices.ContainsFunc(m.plugins, func(id string) bool {
		words := strings.FieldsFunc(id, func(r rune) bool { return r == '.' || r == '-' || r == '_' })
		return len(words) > 1 && (slices.Contains(words, "application") || words[len(words)-1] == "app")
	})
	return own && p.tree.has(path.Join(m.dir, "src/main/AndroidManifest.xml")), true
}
