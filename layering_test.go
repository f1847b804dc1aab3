// Package apkgate_test tests the repository against its design: which package may import which,
// what the pure ones must not use, and that each has a comment on its purpose. It reads the
// sources; it runs nothing.
package apkgate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/apkgate/apkgate"

// mayImport is the one-way table of dependencies between our packages. The entry of the nearest
// folder counts. A package may always import its own parents, siblings and subfolders; nothing else
// may be imported that isn't listed.
var mayImport = map[string][]string{
	"metric":   {},
	"run":      {"metric", "stat"},
	"context":  {"metric"},
	"stat":     {},
	"rules":    {},
	"gate":     {"run", "metric", "context", "stat", "rules"},
	"diagnose": {"run", "metric", "gate", "context"},
	// Comparing two stacks is defined once, where they are read. How far repetitions differ by
	// chance follows from Student's distribution.
	"diagnose/contrast":  {"diagnose", "run", "gate", "stat"},
	"diagnose/jankcause": {"diagnose", "diagnose/contrast", "run", "gate"},
	"diagnose/calls":     {"diagnose", "diagnose/contrast", "run", "gate"},
	"diagnose/queueing":  {"diagnose", "diagnose/contrast", "run", "gate", "metric"},
	"diagnose/anrcause":  {"diagnose", "run", "gate", "context", "trace/anr/signature"},
	"report":             {}, // each owns its format

	// The wording, drawing and rendering of any answer: these packages don't know verdicts.
	"report/wording":     {"metric", "run"},
	"report/document":    {"report/wording"},
	"report/figure":      {"report/document", "report/wording", "metric", "run", "stat"},
	"report/text":        {"report/document", "report/wording"},
	"report/markdown":    {"report/document", "report/wording", "report/figure"},
	"report/html":        {"report/document", "report/wording", "report/figure"},
	"report/svg":         {"report/document", "report/wording", "report/figure"},
	"report/sarif":       {"report/document"},
	"report/codequality": {"report/document"},
	// The words of a verdict, and its saved form.
	"report/causes":    {"report/document", "report/wording", "report/figure", "gate", "diagnose"},
	"report/layout":    {"report/document", "report/wording", "report/figure", "report/causes", "report/saved", "gate", "diagnose", "run", "metric"},
	"report/diagnosis": {"report/document", "report/wording", "report/causes", "report/figure", "report/saved", "diagnose", "run"},
	"report/trends":    {"report/document", "report/wording", "report/figure", "gate", "metric"},
	"report/saved":     {"report/document", "report/wording", "gate", "diagnose", "run"},

	"device":   {"internal/filelock"},
	"trace":    {"run", "metric", "internal/pprofile"},
	"energy":   {"trace", "run", "metric", "stat", "internal/pprofile"},
	"config":   {"metric", "run", "gate"},
	"collect":  {"config", "device", "trace", "energy", "run", "metric", "context", "evidence", "importer", "internal/apk", "stat"},
	"runstore": {"run", "context", "metric"},
	"evidence": {"run", "internal/filelock"},
	"importer": {"run", "metric", "context"},

	// The evaluation of the gate on series, which uses the product's code.
	"research/evaluation": {"gate", "run", "metric", "stat"},

	forAll:                  {},
	"internal/apk":          {},
	"internal/filelock":     {},
	"internal/gradle":       {},
	"internal/pprofile":     {},
	"internal/version":      {},
	"usecase/perfettoui":    {"trace/perfetto/packets"},
	"simulator":             {"device", "run", "metric"},
	"simulator/standin":     {"simulator", "internal/filelock"},
	"usecase/githubactions": {"report", "gate", "metric", "run", "usecase/restapi", "usecase/thread"},
	"usecase/workflowtest":  {},
	"internal/corpustest":   {},
	"internal/unprivileged": {},
	// Measurements of the time and memory given in the documents.
	"research/performance": {},
	// What a command does, without its flags.
	"usecase": {"runstore", "collect", "config", "context", "device", "diagnose", "energy", "evidence", "gate", "importer", "metric", "report", "rules", "run", "simulator", "stat", "trace", "internal/apk", "internal/filelock", "internal/gradle", "internal/version"},
	"cli":     {"*"},
	"cmd":     {"cli"},
}

// forAll may be imported by every package: it imports none of ours itself.
const forAll = "internal/prose"

// pure are the packages that decide and show. They give the same result on every machine and every
// day, so that a verdict can be reproduced.
var pure = []string{"metric", "run", "context", "stat", "rules", "gate", "diagnose", "report", "trace/anr/signature", "collect/record", forAll}

// bannedInPure are packages that a pure one must not import, with the reason.
var bannedInPure = map[string]string{
	"os":           "no files, environment or exit: callers pass readers, writers and values",
	"io/ioutil":    "no files: callers pass readers and writers",
	"os/exec":      "no processes",
	"os/signal":    "no processes",
	"net":          "no network",
	"net/http":     "no network",
	"syscall":      "no operating system",
	"database/sql": "no stores: history is passed in",
	"log":          "no output of its own: doubts are data, printed by the caller",
	"log/slog":     "no output of its own: doubts are data, printed by the caller",
	"math/rand":    "no chance: the same input gives the same verdict",
	"math/rand/v2": "no chance: the same input gives the same verdict",
	"crypto/rand":  "no chance: the same input gives the same verdict",
}

// clockCalls read or wait for the clock; in a pure package time is an argument.
var clockCalls = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// vagueNames are names of folders and files that say nothing about their contents.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "types"}

// source is one Go file of the repository.
type source struct {
	path string // from the root, with slashes
	dir  string // "." for the root
	test bool
	file *ast.File
	fset *token.FileSet
}

// at returns the position of a node, for messages.
func (s source) at(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// parsed are all sources, parsed once for all tests, which only read them.
var parsed = sync.OnceValues(parse)

// parse reads every Go file except those in testdata and hidden folders.
func parse() (out []source, err error) {
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != "."
		if entry.IsDir() && (hidden || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(name)
		out = append(out, source{slashed, path.Dir(slashed), strings.HasSuffix(name, "_test.go"), file, fset})
		return nil
	})
	return out, err
}

// sources returns the Go files of the repository.
func sources(t *testing.T) []source {
	t.Helper()
	out, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found %d Go files: is this the root of the repository?", len(out))
	}
	return out
}

// imports returns a file's imports: the path, and ours without the module.
func imports(s source) (all []string, ours []string) {
	for _, spec := range s.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		all = append(all, p)
		if dir, ok := strings.CutPrefix(p, module+"/"); ok {
			ours = append(ours, dir)
		}
	}
	return all, ours
}

// within reports whether dir is the folder or below it.
func within(dir, folder string) bool {
	return dir == folder || strings.HasPrefix(dir, folder+"/")
}

// entryOf returns the folder of mayImport that counts for dir.
func entryOf(dir string) (string, bool) {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, ok := mayImport[d]; ok {
			return d, true
		}
	}
	return "", false
}

func TestDependenciesGoOneWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		entry, ok := entryOf(s.dir)
		if !ok {
			t.Errorf("%s: folder %s is not in the table of dependencies: add it, with what it may import", s.path, s.dir)
			continue
		}
		_, ours := imports(s)
		for _, to := range ours {
			kin := within(to, entry)
			listed := to == forAll || slices.ContainsFunc(mayImport[entry], func(f string) bool { return f == "*" || within(to, f) })
			if !kin && !listed {
				t.Errorf("%s imports %s, but %s may import only %q", s.path, to, entry, mayImport[entry])
			}
		}
	}
}

// Simulators are never part of what measures.
func TestInternalPackagesHaveOneUser(t *testing.T) {
	users := map[string][]string{"simulator": {"usecase", "cli"}, "cli": {"cmd"}, "simulator/standin": nil, "research": {"cli"}}
	for _, s := range sources(t) {
		_, ours := imports(s)
		for _, to := range ours {
			for folder, all := range users {
				mayUse := s.test || within(s.dir, folder) || slices.ContainsFunc(all, func(user string) bool { return within(s.dir, user) }) || within(s.dir, "simulator/standin")
				if within(to, folder) && !mayUse {
					t.Errorf("%s imports %s, which is for tests and for %q", s.path, to, all)
				}
			}
		}
	}
}

// Use cases are called with values: flags belong to package cli.
func TestTheApplicationKnowsNoFlags(t *testing.T) {
	for _, s := range sources(t) {
		if !within(s.dir, "usecase") {
			continue
		}
		all, _ := imports(s)
		for _, p := range all {
			if p == "flag" || strings.HasPrefix(p, "github.com/spf13/") {
				t.Errorf("%s imports %s: flags are defined in cli", s.path, p)
			}
		}
	}
}

// A kind of cause imports what all causes have in common, and no other kind.
func TestKindsOfCausesStandAlone(t *testing.T) {
	shared := []string{"diagnose", "diagnose/contrast"}
	for _, s := range sources(t) {
		kind, ok := strings.CutPrefix(s.dir, "diagnose/")
		if !ok || s.test {
			continue
		}
		kind, _, _ = strings.Cut(kind, "/")
		_, ours := imports(s)
		for _, to := range ours {
			if within(to, "diagnose") && !slices.Contains(shared, to) && !within(to, "diagnose/"+kind) {
				t.Errorf("%s imports %s: what kinds of causes share stands in %q", s.path, to, shared)
			}
		}
	}
}

// commands are the packages of cli with commands, each with the packages whose commands it runs.
var commands = map[string][]string{
	"action": {"baselinecmd", "measure"}, "baselinecmd": {}, "demo": {"baselinecmd"}, "diagnosecmd": {},
	"energycmd": {}, "evaluate": {}, "measure": {}, "publish": {}, "recorddevice": {}, "setup": {}, "show": {}, "why": {},
}

// What commands share imports none of them, and no command imports another except to run it.
func TestCommandsStandAlone(t *testing.T) {
	for _, s := range sources(t) {
		here, below := strings.CutPrefix(s.dir, "cli/")
		if !below || s.test {
			continue
		}
		_, ours := imports(s)
		for _, to := range ours {
			command, below := strings.CutPrefix(to, "cli/")
			if _, ok := commands[command]; ok && below && command != here && !slices.Contains(commands[here], command) {
				t.Errorf("%s imports %s, which holds commands: what is shared has a package of its own", s.path, to)
			}
		}
	}
}

// prints is the folder of packages that print what a reader with the same name reads.
const prints = "simulator"

// TestPackageNamesAreUnique reports names of several folders, which are ambiguous. A simulated
// phone's printer has the name of its reader.
func TestPackageNamesAreUnique(t *testing.T) {
	folders := map[string][]string{}
	for _, s := range sources(t) {
		name := s.file.Name.Name
		if name != "main" && !s.test && !within(s.dir, prints) && !slices.Contains(folders[name], s.dir) {
			folders[name] = append(folders[name], s.dir)
		}
	}
	for name, all := range folders {
		if len(all) > 1 {
			t.Errorf("%q have the same name, %s", all, name)
		}
	}
}

func TestPurePackagesTouchNothing(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.ContainsFunc(pure, func(p string) bool { return within(s.dir, p) }) {
			continue
		}
		all, _ := imports(s)
		for _, p := range all {
			if reason, banned := bannedInPure[p]; banned {
				t.Errorf("%s imports %s: %s", s.path, p, reason)
			}
		}
		for _, call := range clockUses(s) {
			t.Errorf("%s reads the clock: time is an argument here", call)
		}
	}
}

// clockUses returns the uses of the clock in a file, by the name under which the file imports
// package time.
func clockUses(s source) (out []string) {
	name := ""
	for _, spec := range s.file.Imports {
		if spec.Path.Value == `"time"` {
			name = "time"
			if spec.Name != nil {
				name = spec.Name.Name
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(clockCalls, sel.Sel.Name) {
			if id, ok := sel.X.(*ast.Ident); ok && name != "" && id.Name == name {
				out = append(out, s.at(sel)+": "+name+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return out
}

var sentenceEnd = regexp.MustCompile(`[a-z)"'0-9][.!?:](\s|$)`)

func TestEachPackageSaysWhatItIs(t *testing.T) {
	docs, files := map[string]string{}, map[string]source{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		files[s.dir] = s
		if s.file.Doc != nil {
			if docs[s.dir] != "" {
				t.Errorf("%s: package %s has a second package comment", s.path, s.dir)
			}
			docs[s.dir] = s.file.Doc.Text()
		}
	}
	for dir, s := range files {
		name := s.file.Name.Name
		doc := docs[dir]
		switch {
		case doc == "":
			t.Errorf("package %s has no comment: say what it owns, what it doesn't, and the stand it takes", dir)
		case name != "main" && !strings.HasPrefix(doc, "Package "+name+" "):
			t.Errorf("the comment of package %s begins %.40q, want %q", dir, doc, "Package "+name+" ")
		case len(sentenceEnd.FindAllString(doc, -1)) < 2:
			t.Errorf("the comment of package %s is one sentence: say what it owns, and what it doesn't", dir)
		}
	}
}

func TestNamesSayWhatIsInside(t *testing.T) {
	for _, s := range sources(t) {
		for _, part := range append(strings.Split(s.dir, "/"), stemOf(s.path)) {
			if slices.Contains(vagueNames, part) {
				t.Errorf("%s: %q says nothing: name it for what it owns", s.path, part)
			}
		}
	}
}

// mostFiles is the maximum number of files in a package, without tests, unless its comment gives a
// reason with these words.
const (
	mostFiles   = 15
	moreBecause = "more files than"
)

// platforms end a file's name; only before them and before "_test" there is an underscore.
var platforms = regexp.MustCompile(`_(linux|unix|windows|darwin|other|amd64|arm64)$`)

// stemOf returns a file's name without the parts that have a meaning for Go and its build.
func stemOf(name string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test")
	return platforms.ReplaceAllString(stem, "")
}

// A package is small enough to review, or its comment gives a reason.
func TestPackagesCanBeLookedOver(t *testing.T) {
	files, reasons := map[string]int{}, map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			files[s.dir]++
			reasons[s.dir] = reasons[s.dir] || s.file.Doc != nil && strings.Contains(s.file.Doc.Text(), moreBecause)
		}
	}
	for dir, n := range files {
		switch {
		case n > mostFiles && !reasons[dir]:
			t.Errorf("package %s has %d files, want at most %d, or the reason in its comment (%q)", dir, n, mostFiles, moreBecause)
		case n <= mostFiles && reasons[dir]:
			t.Errorf("package %s has %d files, and still says why it has more than %d", dir, n, mostFiles)
		}
	}
}

// A prefix that files of a folder share should be the name of a folder.
func TestNoPrefixDoesAFoldersWork(t *testing.T) {
	const several, letters = 3, 4 // files that begin with the same letters
	stems := map[string][]string{}
	for _, s := range sources(t) {
		stem := stemOf(s.path)
		if strings.Contains(stem, "_") {
			t.Errorf("%s: want no _ in a file's name but before test and a platform: what stands before it is a folder's name", s.path)
		}
		if !s.test && !slices.Contains(stems[s.dir], stem) {
			stems[s.dir] = append(stems[s.dir], stem)
		}
	}
	for dir, names := range stems {
		slices.Sort(names)
		for i := several - 1; i < len(names); i++ {
			if n := shared(names[i-several+1], names[i]); n >= letters {
				t.Errorf("%s: %q begin alike: give what they share a folder", dir, names[i-several+1:i+1])
			}
		}
	}
}

// shared returns the length of the common prefix of two names, in bytes.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// inWords are names of functions that truncated texts and counted nouns in many places before
// package prose did.
var inWords = regexp.MustCompile(`(?i)^(clip|clipto|clipped|shorten|truncate|ellipsi[sz]e?|plural|pluralof|pluralize)$`)

// cutOtherwise are functions with such a name that do something else, with a description of it.
var cutOtherwise = map[string]string{
	"collect/journal.Line": "makes one printable line of what a device says, and leaves the cutting to words",
	"report/saved.clipped": "bounds a member's name by passing it over, and shows nothing",
}

// Texts are truncated and nouns agree with their numbers in one package: with several, some split
// characters.
func TestTextsAreCutInOnePlace(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.dir == forAll {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || cutOtherwise[s.dir+"."+f.Name.Name] != "" {
				continue
			}
			if inWords.MatchString(f.Name.Name) {
				t.Errorf("%s: %s is package prose's work", s.at(f), f.Name.Name)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if b, ok := n.(*ast.BinaryExpr); ok {
					if lit, ok := b.Y.(*ast.BasicLit); ok && b.Op == token.ADD && lit.Value == `"…"` && cuts(b.X) {
						t.Errorf("%s: cut texts with words.Clip, words.Short or words.Fit", s.at(b))
					}
				}
				return true
			})
		}
	}
}

// cuts reports whether an expression takes a part of something.
func cuts(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		_, slice := n.(*ast.SliceExpr)
		found = found || slice
		return true
	})
	return found
}

// quoting are files that name the forbidden words, or contain words of other programs.
var quoting = []string{"cli/hostiletest/input_test.go", "simulator/internal/system/commands.go", "simulator/internal/phone/system.go", "simulator/internal/anr/anr.go", "simulator/internal/logcat/ring.go", "simulator/internal/phone/logsize_test.go",
	"simulator/standin/genymotion/saas.go", "simulator/standin/genymotion/desktop.go",
	"trace/logcat/anr.go", "trace/logcat/anr_test.go"}

// An error names the operation, its object, and the allowed values.
func TestErrorsSayWhatWasBeingDone(t *testing.T) {
	words := "failed" + " to"
	for _, s := range sources(t) {
		if slices.Contains(quoting, s.path) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if ok && lit.Kind == token.STRING && strings.Contains(strings.ToLower(lit.Value), words) {
				t.Errorf("%s: the text says %q: say what was being done, on what, and what was allowed", s.at(lit), words)
			}
			return true
		})
	}
}

var (
	unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	withIssue  = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\(#\d+\)`)
)

func TestUnfinishedWorkHasAnIssue(t *testing.T) {
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if unfinished.MatchString(c.Text) && !withIssue.MatchString(c.Text) {
					t.Errorf("%s: %.60q has no issue: write TODO(#12)", s.at(c), c.Text)
				}
			}
		}
	}
}
