package gradle

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxSources limits the files of tests of one module that are read.
const maxSources = 500

var (
	packageLine = regexp.MustCompile(`(?m)^\s*package\s+([A-Za-z_][A-Za-z0-9_.]*)`)
	classLine   = regexp.MustCompile(`(?m)^((?:[a-z@A-Z]+(?:\([^)\n]*\))?[ \t]+)*)class\s+([A-Za-z_][A-Za-z0-9_]*)`)
	testLine    = regexp.MustCompile(`(?m)^\s*@(?:org\.junit\.)?(?:Test|LargeTest|MediumTest)\b`)
	ignoredLine = regexp.MustCompile(`(?m)^@(?:Ignore|Suppress\("unused)`)
)

// drives are what shows that a test drives the app as a user does, the surest first.
var drives = []string{"UiDevice", "createAndroidComposeRule", "createEmptyComposeRule", "ActivityScenario", "ActivityTestRule", "IntentsTestRule", "launchActivity"}

// eventLine is how a test marks a UI event: Log.i("apkgate", …), or by what apkgate init --events prints.
var eventLine = regexp.MustCompile(`"apkgate"|\buiEvent\(|\.(?:before|perform)\("`)

// test is a class of tests in a module's sources.
type test struct {
	class  string
	rank   int // 0 is best: the place in drives
	events bool
}

// connectedTests returns the tests that drive the app's screen, the best to begin with first: those
// that look like a whole way through the app, by what they use and by their names.
func (p *Project) connectedTests(folders ...string) (out []test) {
	p.eachClass(folders, func(class, src string) {
		rank := slices.IndexFunc(drives, func(word string) bool { return strings.Contains(src, word) })
		if rank < 0 || !testLine.MatchString(src) || ignoredLine.MatchString(src) {
			return
		}
		out = append(out, test{class, rank, eventLine.MatchString(src)})
	})
	slices.SortStableFunc(out, func(a, b test) int {
		return cmp.Or(byName(a.class)-byName(b.class), a.rank-b.rank, strings.Compare(a.class, b.class))
	})
	return out
}

// byName orders names of tests by how likely they go through the app.
func byName(class string) int {
	name := strings.ToLower(class[strings.LastIndexByte(class, '.')+1:])
	for i, words := range [][]string{{"journey", "scroll", "endtoend", "e2e", "smoke"}, {"startup", "launch", "navigation", "mainactivity"}} {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) }) {
			return i
		}
	}
	return 2
}

// macrobenchmarks returns the classes of Macrobenchmarks in a module, and whether it has any
// sources.
func (p *Project) macrobenchmarks(m *Module) (classes []string, sources bool) {
	p.eachClass([]string{path.Join(m.dir, "src/main")}, func(class, src string) {
		sources = true
		if strings.Contains(src, "MacrobenchmarkRule(") && testLine.MatchString(src) {
			classes = append(classes, class)
		}
	})
	return classes, sources
}

// eachClass visits the first class of each file of Kotlin or Java in the folders, except abstract
// ones.
func (p *Project) eachClass(folders []string, visit func(class, src string)) {
	read := 0
	for _, folder := range folders {
		p.tree.walk(folder, func(name string) {
			base, isKotlin := strings.CutSuffix(path.Base(name), ".kt")
			if !isKotlin {
				var isJava bool
				if base, isJava = strings.CutSuffix(base, ".java"); !isJava {
					return
				}
			}
			if read++; read > maxSources {
				return
			}
			src, err := p.tree.read(name)
			if err != nil {
				return
			}
			class := ""
			for _, m := range classLine.FindAllStringSubmatch(src, -1) {
				if strings.Contains(m[1], "abstract") {
					continue
				}
				if class == "" || m[2] == base {
					class = m[2]
				}
			}
			if of := packageLine.FindStringSubmatch(src); of != nil && class != "" {
				visit(of[1]+"."+class, src)
			}
		})
	}
}
