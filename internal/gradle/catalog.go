package gradle

import (
	"regexp"
	"strings"
)

// catalog is the version catalog libs: versions and the ids of plugins, by their accessors, with
// points for "-" and "_".
type catalog struct{ versions, plugins map[string]string }

var (
	tomlLine = regexp.MustCompile(`^\s*"?([A-Za-z0-9_.-]+)"?\s*=\s*(.*)$`)
	tomlText = regexp.MustCompile(`^["']([^"']*)["']`)
	pluginID = regexp.MustCompile(`\bid\s*=\s*["']([^"']*)["']`)
)

// readCatalog reads gradle/libs.versions.toml, as far as it says what is needed.
func (p *Project) readCatalog() {
	p.catalog = catalog{map[string]string{}, map[string]string{}}
	const file = "gradle/libs.versions.toml"
	text, name, err := p.tree.first(file)
	if err != nil {
		p.doubts = append(p.doubts, "the version catalog is not read: "+err.Error())
	}
	if name == "" {
		return
	}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[] ")
			continue
		}
		m := tomlLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		plain := tomlText.FindStringSubmatch(m[2])
		switch {
		case section == "versions" && plain != nil:
			p.catalog.versions[accessor(m[1])] = plain[1]
		case section == "plugins" && plain != nil:
			id, _, _ := strings.Cut(plain[1], ":")
			p.catalog.plugins[accessor(m[1])] = id
		case section == "plugins":
			if id := pluginID.FindStringSubmatch(m[2]); id != nil {
				p.catalog.plugins[accessor(m[1])] = id[1]
			}
		}
	}
}

// accessor returns how build files write a name of the catalog.
func accessor(name string) string { return strings.NewReplacer("-", ".", "_", ".").Replace(name) }

// readProperties reads what gradle.properties assigns.
func (p *Project) readProperties() {
	text, _, err := p.tree.first("gradle.properties")
	if err != nil {
		return
	}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); ok && key != "" && !strings.HasPrefix(key, "#") {
			p.shared[key] = strings.TrimSpace(value)
		}
	}
}
