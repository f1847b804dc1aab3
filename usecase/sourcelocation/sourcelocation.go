// Package sourcelocation finds where a scenario is defined in the repository: the source of its test, or
// its line in the configuration. Findings in SARIF and the check run's annotations point there.
//
// It reads as little as possible, and returns no place if it finds none.
package sourcelocation

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Of returns a function that finds the places of a configuration when it is called.
func Of(c terminal.Console, cfg *config.Config, configPath string) func() document.Places {
	return func() document.Places { return Find(c, cfg, configPath) }
}

// Find finds where the scenarios are defined in the repository: the test's own source if found, or
// else their lines in the configuration.
func Find(c terminal.Console, cfg *config.Config, configPath string) document.Places {
	file := repositoryPath(c, configPath)
	if file == "" || cfg == nil {
		return nil
	}
	out := document.Places{"": {Path: file}}
	lines := scenarioLines(configPath)
	for _, s := range cfg.Scenarios {
		at := document.Place{Path: file, Line: lines[s.Name]}
		if source, ok := workloadSource(c, s.Workload); ok {
			at = source
		}
		out[s.Name] = at
	}
	return out
}

// scenarioLines returns the lines of the scenarios' names in the configuration.
func scenarioLines(configPath string) map[string]int {
	var doc struct {
		Scenarios []struct{ Name yaml.Node }
	}
	if data, err := readSource(configPath); err == nil {
		_ = yaml.Unmarshal(data, &doc) // it was read before; what is wrong now has no line
	}
	out := map[string]int{}
	for _, s := range doc.Scenarios {
		out[s.Name.Value] = s.Name.Line
	}
	return out
}

// workloadSource finds the file that drives the app.
func workloadSource(c terminal.Console, w config.Workload) (document.Place, bool) {
	var file string
	switch {
	case w.Instrumentation != nil:
		return testSource(c, w.Instrumentation.Class)
	case w.Maestro != nil:
		file = w.Maestro.Flow
	case w.Shell != nil:
		file = w.Shell.Script
	default:
		return document.Place{}, false
	}
	at := document.Place{Path: repositoryPath(c, file)}
	return at, at.Path != ""
}

// Limits on the search for a test's source.
const (
	maxSearched = 100_000 // files and folders
	maxSource   = 1 << 20 // bytes
)

// testSource finds the source of a test by the convention that a class a.b.C is in a/b/C.kt or
// a/b/C.java, and in it the line of the method, or of the class.
func testSource(c terminal.Console, class string) (document.Place, bool) {
	class, method, _ := strings.Cut(class, "#")
	if class == "" {
		return document.Place{}, false
	}
	stem := "/" + strings.ReplaceAll(class, ".", "/")
	var found string
	searched := 0
	_ = filepath.WalkDir(c.Workspace("."), func(name string, entry fs.DirEntry, err error) error {
		searched++
		switch base := entry; {
		case err != nil || searched > maxSearched:
			return fs.SkipAll
		case base.IsDir() && skipped(name, base.Name()):
			return fs.SkipDir
		case !base.Type().IsRegular():
			return nil
		}
		slashed := filepath.ToSlash(name)
		if ext := path.Ext(slashed); (ext == ".kt" || ext == ".java") && strings.HasSuffix("/"+strings.TrimSuffix(slashed, ext), stem) {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	at := document.Place{Path: repositoryPath(c, found)}
	if found == "" || at.Path == "" {
		return document.Place{}, false
	}
	at.Line = declaration(found, class[strings.LastIndex(class, ".")+1:], method)
	return at, true
}

func skipped(name, base string) bool {
	return base == "build" || base == "node_modules" || (strings.HasPrefix(base, ".") && name != ".")
}

// declaration returns the line of the method in the file, or of the class; 0 for none.
func declaration(file, class, method string) int {
	data, err := readSource(file)
	if err != nil {
		return 0
	}
	wanted := []string{`\bclass\s+` + regexp.QuoteMeta(class) + `\b`}
	if method != "" {
		wanted = append([]string{"\\b(?:fun|void)\\s+`?" + regexp.QuoteMeta(method) + "`?\\s*\\("}, wanted...)
	}
	for _, pattern := range wanted {
		if at := regexp.MustCompile(pattern).FindIndex(data); at != nil {
			return 1 + bytes.Count(data[:at[0]], []byte("\n"))
		}
	}
	return 0
}

func readSource(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource))
}

// repositoryPath returns a path relative to the workspace's root, with slashes; "" if it is
// outside.
func repositoryPath(c terminal.Console, path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	root, err := filepath.Abs(c.Workspace("."))
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}
