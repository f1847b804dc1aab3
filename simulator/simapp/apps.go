package simapp

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed apps/*.simapp
var shipped embed.FS

// Shipped returns the names of the apps that apkgate ships, in order: "demo-good", "k9-5.006",
// "spaceblaster", "exoplayer", "exoplayer-mutated", …
func Shipped() []string {
	files, err := fs.Glob(shipped, "apps/*.simapp")
	if err != nil {
		return nil // the pattern is constant and valid
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, "apps/"), ".simapp"))
	}
	return names
}

// Open returns the text of a shipped app.
func Open(name string) ([]byte, error) {
	data, err := shipped.ReadFile("apps/" + name + ".simapp")
	if err != nil {
		return nil, fmt.Errorf("no simulated app is named %q; there are %s", name, strings.Join(Shipped(), ", "))
	}
	return data, nil
}
