package gradle

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// readModule reads a module's build file; nil if it has none.
func readModule(root fs.FS, at string) (*Module, error) {
	m := &Module{Path: at, suffixes: map[string]string{}}
	dir := m.folder()
	if !fs.ValidPath(dir) {
		return nil, errors.New("its folder is outside of the project")
	}
	src, name, err := readOne(root, in(dir, "build.gradle.kts"), in(dir, "build.gradle"), in(dir, m.name()+".gradle.kts"), in(dir, m.name()+".gradle"))
	if err != nil || name == "" {
		return nil, err
	}
	file, err := parse(src)
	if err != nil {
		return nil, err
	}
	m.file = name
	file.each(func(in []string, b block) {
		m.plugins(in, b)
		m.androids(in, b)
		m.variants(in, b)
		m.emulator(in, b)
	})
	return m, nil
}

func in(dir, name string) string {
	if dir == "." || dir == "" {
		return name
	}
	return dir + "/" + name
}

// unknown stands for a value that is not literal.
const unknown = "?"

var macro = regexp.MustCompile(`(?i)benchmark[-.]?macro|macro[-.]?benchmark`)

// plugins records the ids of id("x"), id 'x', apply plugin: 'x', and the words of alias(a.b.c); and
// whether a dependency is Macrobenchmark's.
func (m *Module) plugins(in []string, b block) {
	joined := ""
	for _, t := range b.head {
		joined += t.text
	}
	switch {
	case slices.Contains(in, "plugins") && len(b.head) > 1 || strings.HasPrefix(joined, "applyplugin:"):
		for _, t := range b.head[1:] {
			if t.kind == text {
				m.Plugins = append(m.Plugins, t.text)
				return
			}
		}
		m.Plugins = append(m.Plugins, strings.Trim(strings.TrimPrefix(joined, "alias"), "()"))
	case slices.Contains(in, "dependencies"):
		m.macro = m.macro || macro.MatchString(joined)
	}
}

// androids records the settings of the android block for the whole module.
func (m *Module) androids(in []string, b block) {
	if len(in) == 0 || in[0] != "android" {
		return
	}
	keys := map[string]*string{"namespace": &m.Namespace, "targetProjectPath": &m.Target}
	switch {
	case len(in) == 2 && in[1] == "defaultConfig":
		keys = map[string]*string{"applicationId": &m.ApplicationID, "testInstrumentationRunner": &m.Runner}
	case len(in) > 1:
		return
	}
	for key, to := range keys {
		if v, given, plain := b.value(key); given && plain {
			*to = v
		} else if given {
			*to = map[string]string{"targetProjectPath": unknown}[key]
		}
	}
	if len(b.head) > 2 && b.head[0].text == "experimentalProperties" && b.head[len(b.head)-1].text == "true" {
		m.SelfInstrumenting = m.SelfInstrumenting || slices.ContainsFunc(b.head, func(t token) bool { return t.text == "android.experimental.self-instrumenting" })
	}
}

// variants records build types and flavors by their names, and suffixes of the application's id.
func (m *Module) variants(in []string, b block) {
	if len(in) < 2 || in[0] != "android" {
		return
	}
	switch group := in[1]; {
	case len(in) == 2 && b.open && (group == "buildTypes" || group == "productFlavors"):
		list := &m.BuildTypes
		if group == "productFlavors" {
			list = &m.Flavors
		}
		if name := b.called(); name != "" && len(*list) < maxFound && !slices.Contains(*list, name) && name != "all" && name != "configureEach" {
			*list = append(*list, name)
		}
		for _, s := range b.body {
			if v, given, plain := s.value("applicationIdSuffix"); given {
				if !plain {
					v = unknown
				}
				m.suffixes[b.called()] = v
			}
		}
	}
}

var notADevice = []string{"groups", "create", "register", "maybeCreate"}

// emulator records a device of testOptions.managedDevices.
func (m *Module) emulator(in []string, b block) {
	if !b.open || len(in) < 2 || !slices.Contains(in, "testOptions") {
		return
	}
	switch in[len(in)-1] {
	case "devices", "localDevices", "allDevices":
	default:
		return
	}
	e := Emulator{Name: b.called(), Source: "google"}
	if e.Name == "" || slices.Contains(notADevice, e.Name) || len(m.emulators) >= maxFound {
		return
	}
	for _, s := range b.body {
		for key, to := range map[string]*string{"device": &e.Device, "apiLevel": &e.API, "sdkVersion": &e.API, "systemImageSource": &e.Source} {
			if v, given, plain := s.value(key); given && plain {
				*to = v
			} else if given {
				*to = ""
			}
		}
	}
	m.emulators = append(m.emulators, e)
}
