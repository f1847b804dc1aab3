package apkgate_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var updateSentences = flag.Bool("update-sentences", false, "rewrite the list of sentences")

// sentencesFile has every sentence that the program prints, a line each, by its package.
const sentencesFile = "testdata/sentences.txt"

// printing are the folders of the program's own sentences: the simulated phones speak as Android
// does, and the experiments of research are no part of what users run.
var printing = []string{"cli", "collect", "config", "device", "diagnose", "energy", "evidence", "gate", "importer", "metric", "report", "run", "runstore", "trace", "usecase"}

var (
	word     = regexp.MustCompile(`\pL[\pL'’-]+`)
	helpers  = regexp.MustCompile(`test(/|$)`)
	markup   = regexp.MustCompile(`<[a-z/]+[ >]|^[ \t]*[-@{]|=%|SELECT |INSERT |DELETE |UPDATE |CREATE |ALTER `)
	awkward  = regexp.MustCompile(`(?i)\b(somebody|nobody|anew|in turns|beside|is told|are told|tells? (of|no|none|nothing|its|the|what)|stands (twice|for|in|at|behind)|unlike in|for want of|sets? beside|like contexts?|waver|chance to overlook)\b`)
	verbatim = regexp.MustCompile(`%\[?\d*\]?[+#]?[\d.*]*[a-zA-Z]`)
)

// sentences returns every string literal of four words or more, each as "package: text", sorted.
func sentences(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, folder := range printing {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				if entry.Name() == "testdata" || helpers.MatchString(path) {
					return filepath.SkipDir
				}
				return nil
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			list = append(list, sentencesOf(t, path)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func sentencesOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(n.Value)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if len(word.FindAllString(verbatim.ReplaceAllString(text, ""), 4)) == 4 && strings.Contains(strings.TrimSpace(text), " ") && !markup.MatchString(text) {
				list = append(list, filepath.ToSlash(filepath.Dir(path))+": "+strings.Join(strings.Fields(text), " "))
			}
		}
		return true
	})
	return list
}

// Every sentence of the program is in one list, where a change of words shows and can be read aloud.
func TestSentences(t *testing.T) {
	have := sentences(t)
	if *updateSentences {
		if err := os.WriteFile(sentencesFile, []byte(strings.Join(have, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(sentencesFile)
	if err != nil {
		t.Fatal(err)
	}
	var differ []string
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, s := range have {
		if _, found := slices.BinarySearch(want, s); !found {
			differ = append(differ, "+ "+s)
		}
	}
	for _, s := range want {
		if _, found := slices.BinarySearch(have, s); !found {
			differ = append(differ, "- "+s)
		}
	}
	if len(differ) > 0 {
		t.Errorf("%s differs in %d lines: read the new ones aloud, then go test . -run TestSentences -update-sentences\n%s",
			sentencesFile, len(differ), strings.Join(differ[:min(len(differ), 20)], "\n"))
	}
}

// Sentences begin with their subject and use the usual verb: these are the words that readers
// stumbled over.
func TestSentencesAreNative(t *testing.T) {
	for _, s := range sentences(t) {
		if found := awkward.FindString(s); found != "" {
			t.Errorf("%q in %.300s", found, s)
		}
	}
}
