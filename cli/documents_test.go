package cli

import (
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/terminal"
)

// documentedCommand matches a command of a document, in a block or within a line of text: its words
// to the end of the command.
var documentedCommand = regexp.MustCompile("(?m)(?:^(?: {4,}|\\$ )(?:\\$ |\\./)?|`)apkgate ([^`(|#&;<>\n…][^`|#&;<>\n…]*)")

// The commands that documents name exist, and have the flags that are used there.
func TestDocumentsUseCommandsAndFlagsThatAreThere(t *testing.T) {
	t.Parallel()
	root := commands(terminal.Console{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }})
	found := 0
	check := func(document, text string) {
		text = strings.ReplaceAll(text, "\\\n", " ")
		for _, m := range documentedCommand.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			cmd, rest, err := root.Find(words)
			if err != nil || cmd == root && len(words) > 0 && !strings.HasPrefix(words[0], "-") && words[0] != "help" && words[0] != "completion" {
				t.Errorf("%s: there is no command apkgate %s", document, m[1])
				continue
			}
			found++
			cmd.InitDefaultHelpFlag()
			for _, word := range rest {
				name, _, _ := strings.Cut(strings.TrimRight(word, ".,:)"), "=")
				if long, ok := strings.CutPrefix(name, "--"); ok && long != "" && long != "version" && cmd.Flag(long) == nil {
					t.Errorf("%s: apkgate %s has no flag %s, as in\napkgate %s", document, cmd.Name(), name, m[1])
				}
			}
		}
	}
	files := os.DirFS("..")
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name != "." && name != "docs" && !strings.HasPrefix(name, "docs/") {
			return fs.SkipDir
		}
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		check(name, string(text))
		return err
	})
	if err != nil || found < 200 {
		t.Fatalf("%d commands in documents: %v", found, err)
	}
	t.Logf("%d commands", found)
}
